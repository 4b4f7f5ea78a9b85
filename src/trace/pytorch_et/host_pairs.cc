#include "trace/pytorch_et/host_pairs.h"

#include <algorithm>
#include <string>

namespace orrery {
namespace {

bool has_process(const RecordedTrace& trace, std::int64_t process) {
  return std::ranges::any_of(
      trace.lanes, [&](const Lane& lane) { return !lane.device && lane.process == process; });
}

std::size_t rank_of(const RecordedRun& run, const HostTrace& host, std::size_t hosts) {
  std::size_t found = kNoHost;
  int matches = 0;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    if (!has_process(run.ranks[r], host.process)) continue;
    found = r;
    ++matches;
  }
  if (matches == 1) return found;
  const std::int64_t named = rank_of_name(host.file);
  for (std::size_t r = 0; named != kNotRecorded && r < run.ranks.size(); ++r) {
    if (run.ranks[r].rank == named) return r;
  }
  return run.ranks.size() == 1 && hosts == 1 ? 0 : kNoHost;
}

}  // namespace

Result<std::vector<std::size_t>> host_pairs(const RecordedRun& run,
                                            const std::vector<HostTrace>& hosts) {
  std::vector<std::size_t> out(run.ranks.size(), kNoHost);
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    const std::size_t r = rank_of(run, hosts[h], hosts.size());
    if (r == kNoHost) {
      return bad_input("its process " + std::to_string(hosts[h].process) +
                           " is in none of the profiler's traces, or in several",
                       hosts[h].file, "name it after its rank: ..._rank3.json");
    }
    if (out[r] != kNoHost) {
      return bad_input("belongs to " + run.ranks[r].file + ", as does " + hosts[out[r]].file,
                       hosts[h].file, "one execution trace a rank");
    }
    out[r] = h;
  }
  return out;
}

}  // namespace orrery
