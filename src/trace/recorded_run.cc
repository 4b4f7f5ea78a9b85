#include "trace/recorded_run.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <string_view>

#include "parallel/parallel_for.h"
#include "trace/collective_instances.h"
#include "trace/pytorch_et/host_pairs.h"
#include "trace/recorded_time.h"
#include "trace/trace_inputs.h"

namespace orrery {
namespace {

constexpr bool is_decimal(char c) { return c >= '0' && c <= '9'; }

std::string names(const RecordedTrace& a, const RecordedTrace& b) { return a.file + ", " + b.file; }

// Why two traces cannot be of one job; empty if they can.
std::string contradiction(const RecordedTrace& a, const RecordedTrace& b) {
  if (a.world_size > 0 && b.world_size > 0 && a.world_size != b.world_size) {
    return std::to_string(a.world_size) + " ranks in one and " + std::to_string(b.world_size) +
           " in the other";
  }
  if (a.start_ns.empty() || b.start_ns.empty()) return "";
  const auto span = [](const RecordedTrace& trace) {
    const Interval of = span_of(trace);
    return std::pair(of.start + trace.base_ns, of.end + trace.base_ns);
  };
  const auto [a_start, a_end] = span(a);
  const auto [b_start, b_end] = span(b);
  // Clocks of one run may differ by seconds where they are not synchronised; runs are further
  // apart.
  constexpr std::int64_t kClocksNs = 10'000'000'000;
  if (a_end + kClocksNs < b_start || b_end + kClocksNs < a_start) {
    return "their times do not overlap";
  }
  return "";
}

// Gives cut files that lost the moment from which their times count that of the first which has
// one, and their ranks.
std::vector<std::int64_t> restore_lost_bases(std::vector<RecordedTrace>& traces) {
  std::vector<std::int64_t> restored;
  const auto known =
      std::ranges::find_if(traces, [](const RecordedTrace& trace) { return trace.base_ns != 0; });
  if (known == traces.end()) return restored;
  for (RecordedTrace& trace : traces) {
    if (!trace.truncated || trace.base_ns != 0) continue;
    trace.base_ns = known->base_ns;
    restored.push_back(trace.rank);
  }
  return restored;
}

void rebase(RecordedTrace& trace, std::int64_t base_ns) {
  const std::int64_t shift = trace.base_ns - base_ns;
  if (shift == 0) return;
  for (std::int64_t& start : trace.start_ns) start += shift;
  for (MemoryEvent& event : trace.memory) event.time_ns += shift;
  trace.base_ns = base_ns;
}

// Gives the ranks what their execution traces know.
Result<void> add_hosts(RecordedRun& run, const std::vector<HostTrace>& hosts) {
  run.hosts.resize(run.ranks.size());
  if (hosts.empty()) return {};
  ORRERY_TRY(const std::vector<std::size_t> pairs, host_pairs(run, hosts));
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    if (pairs[i] == kNoHost) continue;
    ORRERY_TRY(run.hosts[i], add_host_details(run.ranks[i], hosts[pairs[i]]));
  }
  return {};
}

}  // namespace

Result<RecordedRun> make_run(std::vector<RecordedTrace> traces, const RunOptions& options,
                             const std::vector<HostTrace>& hosts) {
  if (traces.empty()) return bad_input("no traces are given", "", "give at least one");
  RecordedRun run;
  for (RecordedTrace& trace : traces) {
    if (trace.rank == kNotRecorded) trace.rank = rank_of_name(trace.file);
    if (trace.rank == kNotRecorded && traces.size() == 1) trace.rank = 0;
    if (trace.rank == kNotRecorded) {
      return bad_input("neither the file nor its name says its rank", trace.file,
                       "name it like trace_rank3.json, or give it alone");
    }
    if (trace.world_size > 0 && trace.rank >= trace.world_size) {
      return bad_input("rank " + std::to_string(trace.rank) + " of a job of " +
                           std::to_string(trace.world_size) + " ranks",
                       trace.file, "ranks count from 0");
    }
  }
  std::ranges::stable_sort(traces, {}, &RecordedTrace::rank);
  run.lost_bases = restore_lost_bases(traces);
  for (std::size_t i = 1; i < traces.size(); ++i) {
    if (traces[i].rank == traces[i - 1].rank) {
      return bad_input("both are of rank " + std::to_string(traces[i].rank),
                       names(traces[i - 1], traces[i]), "one file a rank, of one recording");
    }
    if (const std::string why = contradiction(traces[0], traces[i]); !why.empty()) {
      return bad_input("not of one job: " + why, names(traces[0], traces[i]),
                       "give the files of one run");
    }
  }
  for (RecordedTrace& trace : traces) rebase(trace, traces.front().base_ns);
  run.ranks = std::move(traces);
  ORRERY_RETURN_IF_ERROR(add_hosts(run, hosts));
  for (const RecordedTrace& trace : run.ranks) {
    run.world_size = std::max(run.world_size, trace.world_size);
    if (trace.simulated) run.source = RunSource::replayed_run;
  }
  run.clocks = clock_offsets(run.ranks, collective_instances(run.ranks));
  if (options.clocks == Clocks::align) {
    for (std::size_t i = 0; i < run.ranks.size(); ++i) {
      shift_clock(run.ranks[i], run.clocks[i].offset_ns);
    }
  }
  return run;
}

std::int64_t rank_of_name(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  for (const std::string_view word : {"rank", "worker", "gpu"}) {
    std::size_t at = name.rfind(word);
    if (at == std::string::npos) continue;
    at += word.size();
    if (at < name.size() && (name[at] == '-' || name[at] == '_')) ++at;
    std::int64_t rank = 0;
    const std::size_t first = at;
    for (; at < name.size() && is_decimal(name[at]) && at - first < 9; ++at) {
      rank = rank * 10 + (name[at] - '0');
    }
    if (at > first) return rank;
  }
  return kNotRecorded;
}

Result<RecordedRun> read_run(const std::vector<std::string>& files, const RunOptions& options) {
  if (files.empty()) return make_run({}, options);  // which says so
  ORRERY_TRY(const TraceSources found, trace_sources(files));
  if (found.format->recording == nullptr) {
    return unsupported("is " + std::string(found.format->name), found.files[0],
                       std::string(found.format->instead));
  }
  const std::vector<std::string>& expanded = found.files;
  std::vector<std::optional<Result<std::vector<RecordedTrace>>>> read(expanded.size());
  std::vector<double> shares(expanded.size(), 0.0);
  std::mutex reporting;
  const int threads = threads_to_use(options.threads);
  parallel_for(expanded.size(), threads, [&](std::size_t i) {
    KinetoOptions of_file = options.kineto;
    of_file.progress = [&, i](std::uint64_t bytes, std::uint64_t size) {
      if (!options.progress) return;
      const std::lock_guard lock(reporting);
      shares[i] = size == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(size);
      const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
      options.progress(sum / static_cast<double>(expanded.size()), expanded[i]);
    };
    read[i] = found.format->recording(expanded[i], of_file);
  });
  std::vector<RecordedTrace> traces;
  traces.reserve(expanded.size());
  for (auto& ranks : read) {
    if (!*ranks) return fail(std::move(*ranks).error());
    for (RecordedTrace& trace : **ranks) traces.push_back(std::move(trace));
  }
  std::vector<HostTrace> hosts;
  for (const std::string& file : found.hosts) {
    ORRERY_TRY(HostTrace host, read_host_trace(file));
    hosts.push_back(std::move(host));
  }
  return make_run(std::move(traces), options, hosts);
}

}  // namespace orrery
