// Another number of microbatches in a step, each as large as a recorded one.
//
//   microbatches N to M     N: as many as a step of the recording has (whatif/training_passes.h)
//
// The pipeline of one stage with M microbatches (whatif/pipeline_edit.cc): passes are repeated in
// turn, the last one last, so that only it reduces gradients; the global batch becomes M / N of the
// recorded one. M = N is the run as it was. Source: Lumos, arXiv 2504.09307, section 3.5. Cost:
// that of the pipeline.
#include <fmt/format.h>

#include "whatif/edit_language.h"
#include "whatif/edited_run.h"
#include "whatif/known_edits.h"
#include "whatif/training_passes.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

Result<void> apply_microbatches(EditedRun& run, AppliedEdit& edit, EditContext& context) {
  const Edit asked = edit.edit;
  const auto passes = training_passes(run);
  if (!passes) return fail(at(to_text(asked), passes.error()));
  const auto recorded = static_cast<std::int64_t>(passes->parts.microbatches);
  if (recorded != asked.from) {
    return bad_input(fmt::format("a step of the recording has {} microbatch{}", recorded,
                                 recorded == 1 ? "" : "es"),
                     to_text(asked), fmt::format("microbatches {} to {}", recorded, asked.count));
  }
  if (asked.count == recorded) {
    edit.assumed.push_back(fmt::format("{} a step, as recorded", recorded));
    return {};
  }
  edit.edit.verb = &kPipelineEdit;
  edit.edit.count = 1;
  edit.edit.microbatches = asked.count;
  auto done = kPipelineEdit.apply(run, edit, context);
  edit.edit = asked;
  return done;
}

}  // namespace

const EditVerb kMicrobatchesEdit{.verb = "microbatches",
                                 .form = "microbatches N to N",
                                 .operand = EditOperand::count_to_count,
                                 .most = 100'000,
                                 .rebuilds_passes = true,
                                 .apply = apply_microbatches};

}  // namespace orrery
