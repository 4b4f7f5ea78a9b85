// Execution traces of PyTorch's observer: which operators ran, with what inputs, but not when. They
// are linked to the profiler's traces of the same ranks.
#include <algorithm>
#include <iterator>
#include <tuple>

#include "trace/contents_table.h"
#include "trace/known_formats.h"
#include "trace/pytorch_et/host_trace.h"

namespace orrery {
namespace {

constexpr std::size_t kMostOperators = 12;  // by how often they ran

TraceContents contents(const HostTrace& trace) {
  WorkTable operators;
  WorkTable communications;
  std::int64_t threads = 0;
  std::int64_t with_schema = 0;
  std::int64_t backward = 0;
  std::int64_t user = 0;
  constexpr std::int64_t kBackwardScope = 1;
  constexpr std::int64_t kUserScope = 7;
  for (const HostNode& node : trace.nodes) {
    threads += node.is_thread() ? 1 : 0;
    if (node.is_thread() || node.is_process()) continue;
    backward += node.scope == kBackwardScope ? 1 : 0;
    user += node.scope == kUserScope ? 1 : 0;
    if (!node.schema.empty()) {
      ++with_schema;
      WorkTable::add_bytes(operators.at(node.name), tensor_bytes(node.inputs));
    }
    if (node.communication == kNoCommunication) continue;
    const HostCommunication& c = trace.communications[node.communication];
    if (c.collective == "wait" || c.collective == "init") continue;
    WorkTable::add_bytes(communications.at(c.collective, c.group), tensor_bytes(node.inputs));
  }
  Facts facts;
  facts.text("schema", trace.schema);
  facts.text("process", std::to_string(trace.process));
  if (trace.finish_ms > trace.start_ms && trace.start_ms >= 0) {
    facts.time("recorded", Seconds(static_cast<double>(trace.finish_ms - trace.start_ms) * 1e-3));
  }
  facts.number("nodes", trace.nodes.size());
  facts.number("threads", threads);
  facts.number("operators", with_schema);
  facts.number("backward_operators", backward);
  facts.number("annotations", user);
  TraceContents out{trace.file, &kHostExecution, facts.take(), communications.rows()};
  std::vector<TraceWork> rows = operators.rows();
  std::ranges::sort(rows, [](const TraceWork& a, const TraceWork& b) {
    return std::tuple(-a.count, std::string_view(a.kind)) <
           std::tuple(-b.count, std::string_view(b.kind));
  });
  rows.resize(std::min(rows.size(), kMostOperators));
  std::move(rows.begin(), rows.end(), std::back_inserter(out.work));
  return out;
}

}  // namespace

const TraceFormat kHostExecution{
    .key = "host_execution",
    .name = "a host execution trace of PyTorch",
    .plural = "host execution traces of PyTorch",
    .one_file_a_rank = true,
    .with_recordings = true,
    .told_at =
        [](std::string_view beginning) {
          return first_key(beginning, {"\"schema\"", "\"nodes\"", "\"start_ts\""});
        },
    // "nodes" alone is a key of many files.
    .confirmed =
        [](std::string_view beginning) {
          return first_key(beginning, {"\"schema\"", "\"rf_id\""}) != std::string_view::npos;
        },
    .contents = [](const std::string& file, Incomplete) -> Result<TraceContents> {
      ORRERY_TRY(const HostTrace trace, read_host_trace(file));
      return contents(trace);
    }};

}  // namespace orrery
