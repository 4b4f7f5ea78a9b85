#include "whatif/stragglers.h"

#include <fmt/format.h>

#include <set>

#include "trace/kernel_class.h"
#include "whatif/edit_language.h"
#include "whatif/edited_run.h"

namespace orrery {

Result<Stragglers> stragglers(std::span<const RecordedTrace> traces, const RunGraph& graph,
                              const Catalog& catalog) {
  if (traces.size() < 2) {
    return fail(ErrorCode::bad_input, "a single rank cannot be slower than others",
                traces.empty() ? "" : traces[0].file, "give the recordings of all ranks");
  }
  const auto time_with = [&](const std::string& text) -> Result<WhatIf> {
    ORRERY_TRY(const std::vector<Edit> edits, parse_edits(text, "stragglers"));
    return what_if(traces, graph, edits, catalog);
  };
  Stragglers out;
  ORRERY_TRY(const WhatIf even, time_with("even"));
  out.before = even.before;
  out.even = even.after;
  for (const RecordedTrace& trace : traces) {
    if (trace.rank == kNotRecorded) {
      return fail(ErrorCode::bad_input, "the recording does not state its rank", trace.file);
    }
    const std::string text = fmt::format("even rank {}", trace.rank);
    ORRERY_TRY(const WhatIf one, time_with(text));
    out.ranks.push_back({text, fmt::format("rank {}", trace.rank), out.before - one.after});
  }
  const EditedRun run(traces, graph);
  std::set<KernelClass> classes;
  for (const RunWork& work : graph.works) {
    if (!run.communicates(work)) classes.insert(run.subject(work).kernel_class);
  }
  std::vector<std::pair<std::string, std::string>> kinds = {{"even host", "host"}};
  for (const KernelClass c : classes) {
    if (c == KernelClass::communication) continue;
    kinds.emplace_back(fmt::format("even class {}", name(c)), std::string(name(c)));
  }
  for (const auto& [text, what] : kinds) {
    ORRERY_TRY(const WhatIf one, time_with(text));
    out.kinds.push_back({text, what, out.before - one.after});
  }
  return out;
}

}  // namespace orrery
