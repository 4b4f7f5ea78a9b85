#include "trace/recorded_run.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>

#include "parallel/parallel_for.h"
#include "trace/collective_instances.h"
#include "trace/trace_format.h"

namespace orrery {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string names(const RecordedTrace& a, const RecordedTrace& b) { return a.file + ", " + b.file; }

// Why two traces cannot be of one job; empty if they can.
std::string contradiction(const RecordedTrace& a, const RecordedTrace& b) {
  if (a.world_size > 0 && b.world_size > 0 && a.world_size != b.world_size) {
    return std::to_string(a.world_size) + " ranks in one and " + std::to_string(b.world_size) +
           " in the other";
  }
  if (a.start_ns.empty() || b.start_ns.empty()) return "";
  const auto span = [](const RecordedTrace& trace) {
    std::int64_t end = trace.start_ns.front();
    for (std::size_t i = 0; i < trace.size(); ++i) end = std::max(end, trace.end_ns(i));
    return std::pair(trace.start_ns.front() + trace.base_ns, end + trace.base_ns);
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

void rebase(RecordedTrace& trace, std::int64_t base_ns) {
  const std::int64_t shift = trace.base_ns - base_ns;
  if (shift == 0) return;
  for (std::int64_t& start : trace.start_ns) start += shift;
  for (MemoryEvent& event : trace.memory) event.time_ns += shift;
  trace.base_ns = base_ns;
}

// Traces of the profiler directly in a folder; what else stands beside them (host execution traces,
// notes) is passed over, what cannot be read is not: its own error says more.
Result<std::vector<std::string>> traces_of_folder(const std::string& folder) {
  std::vector<std::string> traces;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    const bool json = path.ends_with(".json") || path.ends_with(".json.gz");
    std::error_code ignored;
    if (!json || !entry.is_regular_file(ignored)) continue;
    const auto format = format_of_file(path);
    if (!format || *format == TraceFormat::kineto) traces.push_back(path);
  }
  if (error) return fail(ErrorCode::io, "cannot be listed: " + error.message(), folder);
  if (traces.empty()) {
    return fail(ErrorCode::not_found, "no traces of the PyTorch profiler in this folder", folder,
                "files *.json or *.json.gz were expected");
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

Result<std::vector<std::string>> expand(const std::vector<std::string>& files) {
  std::vector<std::string> expanded;
  for (const std::string& file : files) {
    std::error_code error;
    if (file == "-" || !std::filesystem::is_directory(file, error)) {
      expanded.push_back(file);
      continue;
    }
    ORRERY_TRY(const std::vector<std::string> inside, traces_of_folder(file));
    expanded.insert(expanded.end(), inside.begin(), inside.end());
  }
  return expanded;
}

}  // namespace

Result<RecordedRun> make_run(std::vector<RecordedTrace> traces, const RunOptions& options) {
  if (traces.empty()) {
    return fail(ErrorCode::bad_input, "no traces are given", "", "give at least one");
  }
  RecordedRun run;
  for (RecordedTrace& trace : traces) {
    if (trace.rank == kNotRecorded) trace.rank = rank_of_name(trace.file);
    if (trace.rank == kNotRecorded && traces.size() == 1) trace.rank = 0;
    if (trace.rank == kNotRecorded) {
      return fail(ErrorCode::bad_input, "neither the file nor its name says its rank", trace.file,
                  "name it like trace_rank3.json, or give it alone");
    }
    if (trace.world_size > 0 && trace.rank >= trace.world_size) {
      return fail(ErrorCode::bad_input,
                  "rank " + std::to_string(trace.rank) + " of a job of " +
                      std::to_string(trace.world_size) + " ranks",
                  trace.file, "ranks count from 0");
    }
  }
  std::stable_sort(traces.begin(), traces.end(),
                   [](const RecordedTrace& a, const RecordedTrace& b) { return a.rank < b.rank; });
  for (std::size_t i = 1; i < traces.size(); ++i) {
    if (traces[i].rank == traces[i - 1].rank) {
      return fail(ErrorCode::bad_input, "both are of rank " + std::to_string(traces[i].rank),
                  names(traces[i - 1], traces[i]), "one file a rank, of one recording");
    }
    if (const std::string why = contradiction(traces[0], traces[i]); !why.empty()) {
      return fail(ErrorCode::bad_input, "not of one job: " + why, names(traces[0], traces[i]),
                  "give the files of one run");
    }
  }
  for (const RecordedTrace& trace : traces) {
    run.world_size = std::max(run.world_size, trace.world_size);
  }
  if (options.ranks == Ranks::all && run.world_size > static_cast<std::int64_t>(traces.size())) {
    std::int64_t absent = 0;
    while (absent < static_cast<std::int64_t>(traces.size()) &&
           traces[static_cast<std::size_t>(absent)].rank == absent) {
      ++absent;
    }
    return fail(ErrorCode::bad_input,
                "the run has " + std::to_string(run.world_size) + " ranks and " +
                    std::to_string(traces.size()) + " are given; rank " + std::to_string(absent) +
                    " is missing",
                traces.front().file, "give the files of all ranks");
  }
  for (RecordedTrace& trace : traces) rebase(trace, traces.front().base_ns);
  run.ranks = std::move(traces);
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
    for (; at < name.size() && is_digit(name[at]) && at - first < 9; ++at) {
      rank = rank * 10 + (name[at] - '0');
    }
    if (at > first) return rank;
  }
  return kNotRecorded;
}

Result<RecordedRun> read_run(const std::vector<std::string>& files, const RunOptions& options) {
  ORRERY_TRY(const std::vector<std::string> expanded, expand(files));
  std::vector<std::optional<Result<RecordedTrace>>> read(expanded.size());
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
    read[i] = read_kineto(expanded[i], of_file);
  });
  std::vector<RecordedTrace> traces;
  traces.reserve(expanded.size());
  for (auto& trace : read) {
    if (!*trace) return fail(std::move(*trace).error());
    traces.push_back(**std::move(trace));
  }
  return make_run(std::move(traces), options);
}

}  // namespace orrery
