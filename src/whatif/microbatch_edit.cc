#include "whatif/microbatch_edit.h"

#include <fmt/format.h>

#include "whatif/edit_language.h"
#include "whatif/pipeline_edit.h"
#include "whatif/training_passes.h"

namespace orrery {

Result<std::monostate> apply_microbatches(EditedRun& run, AppliedEdit& edit,
                                          const Catalog& catalog) {
  const Edit asked = edit.edit;
  const auto passes = training_passes(run);
  if (!passes) return fail(at(to_text(asked), passes.error()));
  const auto recorded = static_cast<std::int64_t>(passes->parts.microbatches);
  if (recorded != asked.from) {
    return fail(ErrorCode::bad_input,
                fmt::format("a step of the recording has {} microbatch{}", recorded,
                            recorded == 1 ? "" : "es"),
                to_text(asked), fmt::format("microbatches {} to {}", recorded, asked.count));
  }
  if (asked.count == recorded) {
    edit.assumed.push_back(fmt::format("{} a step, as recorded", recorded));
    return std::monostate();
  }
  edit.edit.kind = EditKind::pipeline;
  edit.edit.verb = "pp";
  edit.edit.count = 1;
  edit.edit.microbatches = asked.count;
  auto done = apply_pipeline(run, edit, catalog);
  edit.edit = asked;
  return done;
}

}  // namespace orrery
