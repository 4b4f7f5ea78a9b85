// Timelines of operations of continuously recorded jobs: a list of Chrome events in which one of
// their names stands.
#include <algorithm>
#include <map>

#include "trace/contents_table.h"
#include "trace/known_formats.h"
#include "trace/operation_timeline/operation_timeline.h"

namespace orrery {
namespace {

TraceContents contents(const OperationTimeline& timeline, const std::string& file) {
  WorkTable work;
  std::map<std::int32_t, std::pair<Seconds, Seconds>> steps;
  for (const TimedOperation& operation : timeline.operations) {
    WorkTable::add_time(work.at(to_text(operation.type)), operation.end - operation.start);
    const auto [it, is_new] =
        steps.try_emplace(operation.step, std::pair(operation.start, operation.end));
    if (is_new) continue;
    it->second.first = std::min(it->second.first, operation.start);
    it->second.second = std::max(it->second.second, operation.end);
  }
  std::vector<Seconds> times;
  for (const auto& [step, span] : steps) times.push_back(span.second - span.first);
  std::ranges::sort(times);
  Facts facts;
  facts.number("data_parallel_ranks", std::int64_t{timeline.data_parallel_ranks});
  facts.number("stages", std::int64_t{timeline.stages});
  facts.number("steps", steps.size());
  facts.number("operations", timeline.operations.size());
  if (!timeline.negative_durations.empty()) {
    facts.number("negative_durations", timeline.negative_durations.size());
  }
  if (!times.empty()) {
    facts.time("fastest_step", times.front());
    facts.time("median_step", times[times.size() / 2]);
    facts.time("slowest_step", times.back());
  }
  return {file, &kOperationTimeline, facts.take(), work.rows()};
}

}  // namespace

const TraceFormat kOperationTimeline{
    .key = "operation_timeline",
    .name = "a timeline of operations",
    .plural = "timelines of operations",
    .may_be_cut = true,
    .instead = "it has no kernels: orrery trace replay and whatif --attribute read it",
    .told_at =
        [](std::string_view beginning) {
          static constexpr std::string_view kOperations[] = {
              "\"forward-compute\"",   "\"backward-compute\"", "\"forward-recv\"",
              "\"params-all-gather\"", "\"optimizer\"",        "TP rank "};
          const bool named = std::any_of(
              std::begin(kOperations), std::end(kOperations), [&](std::string_view operation) {
                return beginning.find(operation) != std::string_view::npos;
              });
          return named && is_list(beginning) ? 0 : std::string_view::npos;
        },
    .operations = read_operation_timeline,
    .contents = [](const std::string& file, Incomplete incomplete) -> Result<TraceContents> {
      ORRERY_TRY(const OperationTimeline timeline, read_operation_timeline(file, incomplete));
      return contents(timeline, shown_name(file));
    }};

}  // namespace orrery
