#include "analyze/operator_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace orrery {
namespace {

using OperatorKey = std::array<std::uint32_t, 5>;

// Work of operators, worked out once for all calls of the same texts.
class WorkCache {
 public:
  explicit WorkCache(const RecordedTrace& trace) : trace_(trace) {}

  const std::optional<RecordedWork>& of(std::uint32_t e) {
    static const std::optional<RecordedWork> kNone;
    if (trace_.details[e] == kNoDetails) return kNone;
    const OperatorDetails& details = trace_.operators[trace_.details[e]];
    if (details.input_shapes == 0) return kNone;
    const OperatorKey key = {trace_.name[e], details.input_shapes, details.input_types,
                             details.concrete_inputs, 0};
    const auto [it, is_new] = known_.try_emplace(key);
    if (is_new) {
      it->second.arguments = recorded_arguments(trace_, details);
      it->second.work = recorded_work(trace_.name_of(e), it->second.arguments);
    }
    return it->second.work;
  }

 private:
  struct Entry {
    std::vector<RecordedArgument> arguments;  // the work's type is a view into them
    std::optional<RecordedWork> work;
  };
  const RecordedTrace& trace_;
  std::map<OperatorKey, Entry> known_;
};

struct GatheredOperator {
  OperatorRow row;
  std::vector<std::int64_t> host;
  std::vector<std::int64_t> device;
  double bound_s = 0;  // what the accelerator needs at least
  bool bounded = true;
};

OperatorKey key_of(const RecordedTrace& trace, std::uint32_t e, OperatorGrouping grouping) {
  OperatorKey key = {trace.name[e], 0, 0, 0, 0};
  if (grouping == OperatorGrouping::name || trace.details[e] == kNoDetails) return key;
  const OperatorDetails& details = trace.operators[trace.details[e]];
  key[1] = details.input_shapes;
  key[2] = details.input_types;
  if (grouping == OperatorGrouping::arguments) {
    key[3] = details.input_strides;
    key[4] = details.concrete_inputs;
  }
  return key;
}

struct DeviceTime {
  std::vector<std::int64_t> all_ns;
  std::vector<std::int64_t> direct_ns;
  std::vector<std::uint32_t> pieces;
};

DeviceTime device_time(const RecordedTrace& trace, const LaunchLinks& links) {
  DeviceTime time = {.all_ns = std::vector<std::int64_t>(trace.size(), 0),
                     .direct_ns = std::vector<std::int64_t>(trace.size(), 0),
                     .pieces = std::vector<std::uint32_t>(trace.size(), 0)};
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (!is_device_work(trace.kind[e])) continue;
    const std::uint32_t direct = links.operator_of(e);
    if (direct == kNoEvent) continue;
    time.direct_ns[direct] += trace.duration_ns[e];
    time.all_ns[direct] += trace.duration_ns[e];
    ++time.pieces[direct];
  }
  // An operator comes after those that enclose it, so that sums may be handed up from the end.
  for (std::size_t e = trace.size(); e-- > 0;) {
    if (trace.kind[e] != EventKind::cpu_operator) continue;
    const std::uint32_t outer = links.inner_operator[e];
    if (outer == kNoEvent) continue;
    time.all_ns[outer] += time.all_ns[e];
    time.pieces[outer] += time.pieces[e];
  }
  return time;
}

void add_work(GatheredOperator& into, const RecordedWork& work, std::int64_t ns,
              const Accelerator* accelerator) {
  OperatorRow& row = into.row;
  row.operator_class = work.operator_class;
  ++row.with_work;
  row.with_work_ns += ns;
  row.flops += work.flops;
  row.bytes += work.bytes;
  if (accelerator == nullptr) return;
  const auto peak = peak_rate(*accelerator, work.operator_class, work.type);
  const Seconds moving = work.bytes / accelerator->memory.bandwidth;
  // Without recorded types nobody knows what an operator moves; only a product's FLOPs bound it.
  const bool is_matrix = is_matrix_work(work.operator_class);
  const bool moves = work.bytes > Bytes(0);
  if (peak && (is_matrix || moves)) {
    row.peak = *peak;
    into.bound_s += std::max(moving, work.flops / *peak).value();
  } else if (is_matrix || !moves) {
    into.bounded = false;
  } else {
    into.bound_s += moving.value();
  }
}

// Device time that belongs to each operator, so that every piece of work counts once.
std::vector<std::int64_t> own_time(OperatorTotals& totals, const RecordedTrace& trace,
                                   const LaunchLinks& links, const DeviceTime& time,
                                   WorkCache& cache, Interval window) {
  std::vector<std::int64_t> own(trace.size(), 0);
  std::vector<bool> counted(trace.size(), false);  // is, or stands in, one whose work is known
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::cpu_operator) continue;
    if (trace.start_ns[e] < window.start || trace.start_ns[e] >= window.end) continue;
    const std::uint32_t outer = links.inner_operator[e];
    if (outer != kNoEvent && counted[outer]) {
      counted[e] = true;
      continue;
    }
    const auto& work = cache.of(e);
    if (work && time.all_ns[e] > 0) {
      counted[e] = true;
      own[e] = time.all_ns[e];
      totals.flops += work->flops;
      totals.device_ns += own[e];
      totals.by_class_ns[static_cast<std::size_t>(work->operator_class)] += own[e];
    } else {
      own[e] = time.direct_ns[e];
      totals.other_ns += own[e];
    }
  }
  return own;
}

OperatorRow finished(GatheredOperator&& gathered, const Accelerator* accelerator) {
  OperatorRow row = gathered.row;
  row.host = spread_of(std::move(gathered.host));
  row.device = spread_of(std::move(gathered.device));
  if (accelerator != nullptr && gathered.bounded && row.with_work_ns > 0) {
    row.roofline = gathered.bound_s / (static_cast<double>(row.with_work_ns) * 1e-9);
  }
  return row;
}

}  // namespace

FlopsPerSecond OperatorRow::flops_rate() const {
  return with_work_ns == 0 ? FlopsPerSecond(0)
                           : flops / Seconds(static_cast<double>(with_work_ns) * 1e-9);
}

BytesPerSecond OperatorRow::bytes_rate() const {
  return with_work_ns == 0 ? BytesPerSecond(0)
                           : bytes / Seconds(static_cast<double>(with_work_ns) * 1e-9);
}

std::optional<FlopsPerSecond> peak_rate(const Accelerator& accelerator, RecordedWorkClass c,
                                        std::string_view type) {
  const PeakRates& peaks = accelerator.peaks;
  if (type == "double") return peaks.fp64;
  if (!is_matrix_work(c)) return peaks.fp32;
  if (type == "c10::BFloat16") return peaks.bf16;
  if (type == "c10::Half") return peaks.fp16;
  if (type == "float") return peaks.tf32 ? peaks.tf32 : peaks.fp32;
  if (type.find("Float8") != std::string_view::npos) return peaks.fp8;
  if (type == "signed char" || type == "unsigned char") return peaks.int8;
  return std::nullopt;
}

OperatorTable operator_table(const RecordedTrace& trace, const LaunchLinks& links,
                             OperatorGrouping grouping, const Accelerator* accelerator,
                             Interval window) {
  const DeviceTime time = device_time(trace, links);
  WorkCache cache(trace);
  OperatorTable table;
  const std::vector<std::int64_t> own = own_time(table.all, trace, links, time, cache, window);
  std::map<OperatorKey, GatheredOperator> groups;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::cpu_operator) continue;
    if (trace.start_ns[e] < window.start || trace.start_ns[e] >= window.end) continue;
    const auto [it, is_new] = groups.try_emplace(key_of(trace, e, grouping));
    GatheredOperator& group = it->second;
    if (is_new) {
      group.row.name = trace.name[e];
      group.row.shapes = it->first[1];
      group.row.types = it->first[2];
      group.row.example = e;
    }
    group.host.push_back(trace.duration_ns[e]);
    group.row.direct_ns += time.direct_ns[e];
    group.row.own_ns += own[e];
    group.row.launched += time.pieces[e];
    if (time.pieces[e] == 0) continue;
    group.device.push_back(time.all_ns[e]);
    if (time.all_ns[e] == 0) continue;
    if (const auto& work = cache.of(e)) add_work(group, *work, time.all_ns[e], accelerator);
  }
  table.rows.reserve(groups.size());
  for (auto& [key, group] : groups) table.rows.push_back(finished(std::move(group), accelerator));
  std::ranges::sort(table.rows, [&](const OperatorRow& a, const OperatorRow& b) {
    return std::tuple(-a.own_ns, -a.device.total_ns, -a.host.total_ns, trace.texts[a.name],
                      trace.texts[a.shapes], a.example) <
           std::tuple(-b.own_ns, -b.device.total_ns, -b.host.total_ns, trace.texts[b.name],
                      trace.texts[b.shapes], b.example);
  });
  return table;
}

}  // namespace orrery
