#include "report/traces/analysis_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "report/drawing/category_style.h"
#include "report/traces/recorded_style.h"

namespace orrery {
namespace {

constexpr int kLongestName = 56;  // on a page

std::string mean_text(double ns) { return to_text(Seconds(ns * 1e-9)); }
std::string known_share(double share) { return share < 0 ? "" : percent(share); }

template <class Rate>
std::string rate_text(Rate rate) {
  return rate.value() > 0 ? to_text(rate) : "";
}

std::string lane_name(const RecordedTrace& trace, const StreamRow& row) {
  return fmt::format("{}:{}", trace.lanes[row.lane].process, trace.lanes[row.lane].thread);
}

Category colour_of(WorkKind kind) {
  if (kind == WorkKind::communication) return Category::exposed_tp;
  const bool moves = kind == WorkKind::copy || kind == WorkKind::fill;
  return moves ? Category::embedding : Category::attention_projection;
}

// "gemm, relu and 3 more" of a sequence.
std::string sequence_text(const RecordedTrace& trace, const KernelSequence& sequence) {
  constexpr std::size_t kMost = 4;
  std::string out;
  for (const std::uint32_t name : first(sequence.kernels, kMost)) {
    const std::string kernel = short_name(trace.texts[name]);
    const std::size_t scope = kernel.rfind("::");
    out += (out.empty() ? "" : ", ") +
           shortened(scope == std::string::npos ? kernel : kernel.substr(scope + 2), 32);
  }
  if (sequence.kernels.size() > kMost) {
    out += fmt::format(" and {} more", sequence.kernels.size() - kMost);
  }
  return out;
}

}  // namespace

Category colour_of(RecordedWorkClass c) {
  static constexpr std::array<Category, kRecordedWorkClasses> kColours = {
      Category::attention_projection,  // product
      Category::feed_forward,          // convolution
      Category::attention_core,        // attention
      Category::recompute,             // normalization
      Category::exposed_cp,            // softmax
      Category::optimizer,             // elementwise
      Category::logits,                // reduction
      Category::embedding,             // movement
  };
  return kColours[static_cast<std::size_t>(c)];
}

std::vector<ClassTime> class_times(const RankAnalysis& rank) {
  const OperatorTotals& all = rank.operators.all;
  std::vector<ClassTime> out;
  for (std::size_t c = 0; c < kRecordedWorkClasses; ++c) {
    const auto which = static_cast<RecordedWorkClass>(c);
    out.push_back({to_text(which), all.by_class_ns[c], colour_of(which)});
  }
  out.push_back({"other", all.other_ns, Category::bubble});
  std::erase_if(out, [](const ClassTime& c) { return c.ns == 0; });
  std::ranges::stable_sort(out, std::ranges::greater(), &ClassTime::ns);
  return out;
}

bool shares_device(const RunAnalysis& analysis) {
  return std::ranges::any_of(analysis.ranks, [&](const RankAnalysis& rank) {
    return rank.whole.idle.other_process_ns > 0 ||
           analyzed_time(rank, analysis.preset).idle.other_process_ns > 0;
  });
}

namespace {

struct BreakdownRow {
  std::string rank, step;
  std::optional<TemporalBreakdown> parts;  // none: a rule
};

void add_rows(std::vector<BreakdownRow>& rows, const RunAnalysis& analysis,
              const RankAnalysis& rank, bool every_step) {
  std::string name = std::to_string(rank.rank);
  const auto number = [](const StepAnalysis& step) { return fmt::format("#{}", step.step.number); };
  const bool has_steps = analysis.preset == BreakdownPreset::orrery && !rank.steps.empty();
  const bool alone = analysis.ranks.size() == 1;
  const bool device = rank.has_device_work() && (alone || !has_steps);
  if (!rows.empty() && every_step && rank.steps.size() > 1) rows.emplace_back();
  if (device) rows.push_back({name, "device", rank.whole});
  if (!has_steps) return;
  if (!every_step) {
    const std::string steps = rank.steps.size() == 1 ? number(rank.steps.front())
                                                     : fmt::format("{} steps", rank.steps.size());
    return rows.push_back({name, steps, analyzed_time(rank, analysis.preset)});
  }
  if (device) name.clear();
  for (const StepAnalysis& step : rank.steps) {
    rows.push_back({std::exchange(name, ""), number(step), step.parts});
  }
}

}  // namespace

Table breakdown_table(const RunAnalysis& analysis, std::size_t most) {
  std::size_t lines = 0;
  for (const RankAnalysis& rank : analysis.ranks) {
    lines += std::max<std::size_t>(1, rank.steps.size());
  }
  std::vector<BreakdownRow> rows;
  for (const RankAnalysis& rank : first(analysis.ranks, most)) {
    add_rows(rows, analysis, rank, lines <= most);
  }
  std::int64_t longest = 0;
  for (const BreakdownRow& row : rows) {
    longest = std::max(longest, row.parts ? row.parts->total_ns() : 0);
  }
  Table table(left("rank", 9), left("step", 8), right("time", 9), bars(5, 24).only(Form::text),
              page_bars(), right("compute", 8), right("exposed comm", 8), right("copies", 4),
              right("idle: host", 7).only(Form::text),
              right("other process", 7).only(shares_device(analysis) ? Form::text : Form::none),
              right("kernels", 3).only(Form::text), right("other", 6).only(Form::text),
              right("idle").only(Form::page), right("overlap", 6));
  for (const BreakdownRow& row : rows) {
    if (!row.parts) {
      table.add_rule();
      continue;
    }
    const TemporalBreakdown& b = *row.parts;
    std::vector<BarSegment> bar;
    std::vector<BarSegment> stack;
    for (const RecordedPart& part : parts_of(b)) {
      const double own = share(part.ns, b.total_ns());
      bar.push_back({.share = own, .ink = {.colour = swatch(part.colour).terminal}});
      stack.push_back(
          {.share = share(part.ns, longest),
           .css_class = to_text(part.colour),
           .tip = fmt::format("{}: {}, {}", part.label, time_text(part.ns), percent(own))});
    }
    const auto of = [&](std::int64_t ns) { return percent(share(ns, b.total_ns())); };
    table.row(bold(row.rank), row.step, time_text(b.total_ns()), bar_of(bar), bar_of(stack),
              of(b.compute_ns), of(b.exposed_communication_ns), of(b.exposed_copy_ns),
              of(b.idle.own_host_wait_ns()), of(b.idle.other_process_ns), of(b.idle.kernel_wait_ns),
              of(b.idle.other_ns), of(b.idle.total_ns()),
              b.communication_ns == 0 ? "" : percent(b.overlap()));
  }
  return table;
}

// The names of collectives stay whole ("reduce-scatter"): type and group are left out before.
Table communication_table(const CommunicationTable& communication, std::size_t rows) {
  Table table(left("collective", 9).at_least(14), left("type", 4), left("group", 5),
              right("ranks", 6), right("size", 8), right("count", 7), right("duration", 7),
              right("transfer", 8), right("bus bandwidth", 8), right("waiting", 7));
  for (const CommunicationRow& row : first(communication.rows, rows)) {
    std::string bus = rate_text(row.median_bus_bandwidth());
    if (row.complete < row.instances && !bus.empty()) bus.insert(0, ">= ");
    table.row(bold(row.collective), row.type, dim(row.group),
              row.ranks == kNotRecorded ? "?" : grouped(row.ranks),
              row.bytes == kNotRecorded ? "?" : to_text(Bytes(static_cast<double>(row.bytes))),
              row.instances, time_text(row.duration.median_ns), time_text(row.transfer.median_ns),
              bus, time_text(row.waiting_ns));
  }
  return table;
}

Table waiting_table(const CommunicationTable& communication, std::size_t rows) {
  std::int64_t most = 0;
  for (const RankCommunication& rank : communication.ranks) {
    most = std::max(most, rank.caused_waiting_ns);
  }
  Table table(left("rank", 9), right("kernels", 6), right("communicating", 8).only(Form::text),
              right("transfer", 8), right("waiting", 9), right("arrived last", 8), page_bars(),
              right("others waited for it", 9));
  for (const RankCommunication& rank : first(communication.ranks, rows)) {
    table.row(bold(std::to_string(rank.rank)), rank.kernels, time_text(rank.duration_ns),
              time_text(rank.transfer_ns), time_text(rank.waiting_ns), rank.arrived_last,
              page_bar(rank.caused_waiting_ns, most, Category::exposed_pp),
              time_text(rank.caused_waiting_ns));
  }
  return table;
}

Table across_ranks_table(const RunAnalysis& analysis, std::size_t rows) {
  Table table(left("name", 9).cut_on_page(kLongestName), left("kind", 4), right("ranks", 5),
              right("total", 8), right("mean", 7), right("fastest", 8), right("rank", 7),
              right("slowest", 9), right("rank", 8), right("slowest/fastest", 9));
  for (const RunKernelRow& row : first(analysis.kernels, rows)) {
    table.row(bold(short_name(row.name)).with_tip(row.name), dim(row.kind), row.ranks,
              time_text(row.total_ns), mean_text(row.mean_ns()), mean_text(row.least_mean_ns),
              std::to_string(analysis.ranks[row.fastest].rank), mean_text(row.greatest_mean_ns),
              std::to_string(analysis.ranks[row.slowest].rank),
              fmt::format("{:.2f}", row.spread()));
  }
  return table;
}

Table operator_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows) {
  Table table(left("operator", 9).at_least(20).cut_on_page(kLongestName),
              left("shapes", 6).cut_on_page(kLongestName), right("count", 6), page_bars(),
              right("device", 9), right("mean", 0).only(Form::text),
              right("host", 0).only(Form::text), right("rate", 8), right("bandwidth", 7),
              right("of roofline", 8));
  for (const OperatorRow& row : first(rank.operators.rows, rows)) {
    if (row.own_ns == 0) break;  // sorted by it
    const std::string_view shapes = trace.texts[row.shapes];
    const Category colour = row.operator_class ? colour_of(*row.operator_class) : Category::bubble;
    table.row(cell(short_name(trace.texts[row.name])).with_tip(trace.texts[row.name]),
              dim(shapes).with_tip(shapes), row.host.count,
              page_bar(row.own_ns, rank.operators.rows.front().own_ns, colour),
              time_text(row.own_ns), mean_text(row.device.mean_ns()), time_text(row.host.total_ns),
              row.flops.value() > 0 ? to_text(row.flops_rate()) : "",
              row.bytes.value() > 0 ? to_text(row.bytes_rate()) : "", known_share(row.roofline));
  }
  return table;
}

Table kernel_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows) {
  Table table(left("name", 9).at_least(24).cut_on_page(kLongestName),
              left("kind", 4).only(Form::text), right("count", 6), page_bars(), right("total", 9),
              right("share", 8), right("mean", 7), right("least", 0).only(Form::text),
              right("greatest", 0).on_page_as("longest"), right("occupancy", 0).only(Form::text),
              right("occupancy").only(Form::page), left("launched by", 5).cut_on_page(32));
  for (const KernelRow& row : first(rank.kernels, rows)) {
    const Spread& duration = row.duration;
    const std::string bandwidth =
        row.bytes > 0 && duration.total_ns > 0
            ? to_text(Bytes(static_cast<double>(row.bytes)) / Seconds(seconds(duration.total_ns)))
            : "";
    table.row(
        cell(short_name(trace.texts[row.name])).with_tip(trace.texts[row.name]), dim(row.kind),
        duration.count,
        page_bar(duration.total_ns, rank.kernels.front().duration.total_ns, colour_of(row.kind)),
        time_text(duration.total_ns), percent(row.share), mean_text(duration.mean_ns()),
        time_text(duration.least_ns), time_text(duration.greatest_ns), known_share(row.occupancy),
        row.occupancy < 0 ? bandwidth : percent(row.occupancy), dim(trace.texts[row.caller]));
  }
  return table;
}

Table stream_table(const RecordedTrace& trace, const RankAnalysis& rank) {
  const auto gaps = [](const Spread& s) {
    return s.count == 0 ? std::string()
                        : fmt::format("{} ({} x, p90 {})", time_text(s.total_ns), grouped(s.count),
                                      time_text(s.p90_ns));
  };
  Table table(left("stream", 9), right("work", 7), right("busy", 9),
              right("idle: host", 7).only(Form::text), right("kernels", 4).only(Form::text),
              right("other", 6).only(Form::text), right("idle: host").only(Form::page),
              right("between kernels").only(Form::page), right("other").only(Form::page),
              right("longest queue", 8), right("mean", 5), right("full", 4));
  for (std::size_t i = 0; i < rank.streams.size(); ++i) {
    const StreamRow& row = rank.streams[i];
    table.row(bold(lane_name(trace, row)), row.work, time_text(row.busy_ns),
              time_text(row.idle.host_wait_ns), time_text(row.idle.kernel_wait_ns),
              time_text(row.idle.other_ns), gaps(row.gaps[0]), gaps(row.gaps[1]), gaps(row.gaps[2]),
              row.longest_queue, fmt::format("{:.1f}", rank.queues[i].mean),
              time_text(rank.queues[i].full_ns));
  }
  return table;
}

Table launch_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows) {
  Table table(left("launch call", 9).at_least(19).on_page_as("call"), right("count", 8),
              right("call", 8).on_page_as("call, median"), right("p90", 0),
              right("delay", 8).on_page_as("delay, median"), right("p90", 0),
              right("slow calls", 6), right("long delays", 6), right("work shorter than call", 7));
  for (const LaunchRow& row : first(rank.launch.rows, rows)) {
    table.row(trace.texts[row.name], row.call.count, time_text(row.call.median_ns),
              time_text(row.call.p90_ns), time_text(row.delay.median_ns),
              time_text(row.delay.p90_ns), row.slow_calls, row.long_delays,
              percent(share(row.shorter_than_call, row.call.count)));
  }
  return table;
}

Table outlier_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t slow_calls,
                    std::size_t long_delays) {
  Table table(left("", 7).only(Form::text), right("time", 9).on_page_as("call took"),
              right("at", 6).only(Form::text), left("call", 8), left("operator", 5).cut_on_page(40),
              left("work", 6).cut_on_page(kLongestName));
  const auto add = [&](const char* what, std::span<const LaunchOutlier> outliers) {
    for (const LaunchOutlier& one : outliers) {
      const std::int64_t at = trace.start_ns[one.call] - rank.whole.window.start;
      table.row(what, time_text(one.ns), dim((at < 0 ? "-" : "") + time_text(at < 0 ? -at : at)),
                trace.name_of(one.call),
                dim(one.caller == kNoEvent ? "" : trace.name_of(one.caller)),
                bold(short_name(trace.name_of(one.work))));
    }
  };
  add("slow call", first(rank.launch.slow_calls, slow_calls));
  add("long delay", first(rank.launch.long_delays, long_delays));
  return table;
}

Table section_table(const RankAnalysis& rank, std::size_t rows) {
  Table table(left("section", 9).cut_on_page(kLongestName), left("kind", 4), right("instances", 3),
              right("count", 6), page_bars(), right("device", 9), right("backward", 5),
              right("own", 8), right("host", 7), right("launched", 4));
  for (const SectionRow& row : first(rank.sections, rows)) {
    table.row(
        bold(row.name).with_tip(row.name), dim(row.kind), row.instances, row.host.count,
        page_bar(row.device_ns, rank.sections.front().device_ns,
                 row.kind == SectionKind::module ? Category::feed_forward : Category::experts),
        time_text(row.device_ns), time_text(row.backward_ns), time_text(row.own_ns),
        time_text(row.host.total_ns), row.launched);
  }
  return table;
}

Table sequence_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows) {
  Table table(left("operator", 9).cut_on_page(kLongestName), right("count", 8), right("kernels", 7),
              right("device", 8), right("host", 6), left("sequence", 8));
  for (const KernelSequence& row : first(rank.sequences, rows)) {
    table.row(bold(trace.texts[row.operator_name]), row.count, row.kernels.size(),
              time_text(row.device_ns), time_text(row.host_ns), dim(sequence_text(trace, row)));
  }
  return table;
}

Table overlap_table(const RunAnalysis& analysis) {
  std::vector<Column> columns = {left("rank", 9)};
  for (std::size_t c = 1; c < kWorkCombinations; ++c) {
    columns.push_back(right(combination_name(c), 8)
                          .shown_if(std::ranges::any_of(
                              analysis.ranks, [c](const auto& r) { return r.overlap[c] > 0; })));
  }
  const bool any = std::any_of(columns.begin() + 1, columns.end(),
                               [](const Column& c) { return c.form != Form::none; });
  Table table(std::move(columns));
  for (const RankAnalysis& rank : analysis.ranks) {
    if (!any || !rank.has_device_work()) continue;
    const auto busy = std::accumulate(rank.overlap.begin(), rank.overlap.end(), std::int64_t{0});
    std::vector<Cell> cells = {bold(std::to_string(rank.rank))};
    for (std::size_t c = 1; c < kWorkCombinations; ++c) {
      cells.push_back(cell(fmt::format("{}  {}", time_text(rank.overlap[c]),
                                       percent(share(rank.overlap[c], busy)))));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

Table gap_table(const RecordedTrace& trace, const RankAnalysis& rank) {
  static constexpr std::array<const char*, 3> kCauses = {"host", "kernels", "other"};
  Table table(left("stream", 9), left("idle", 8), right("gaps", 8), right("total", 9),
              right("share", 6), right("mean", 6), right("median", 7), right("p90", 7),
              right("longest", 7));
  for (const StreamRow& row : rank.streams) {
    for (std::size_t c = 0; c < row.gaps.size(); ++c) {
      const Spread& gaps = row.gaps[c];
      if (gaps.count == 0) continue;
      table.row(bold(lane_name(trace, row)), kCauses[c], gaps.count, time_text(gaps.total_ns),
                percent(share(gaps.total_ns, row.idle.total_ns())), mean_text(gaps.mean_ns()),
                time_text(gaps.median_ns), time_text(gaps.p90_ns), time_text(gaps.greatest_ns));
    }
  }
  return table;
}

Table copy_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows) {
  Table table(left("kind", 9), right("count", 7), right("bytes", 7), right("total", 8),
              right("rate", 9), right("least", 6), right("median", 6), right("greatest", 6));
  for (const CopyRates& row : first(rank.copies, rows)) {
    table.row(bold(trace.texts[row.name]), row.count, Bytes(static_cast<double>(row.bytes)),
              time_text(row.total_ns), row.rate(), row.least, row.median, row.greatest);
  }
  return table;
}

std::string known_work(const OperatorTotals& all) {
  if (all.device_ns == 0 || all.flops.value() <= 0) return "";
  return fmt::format("{} of known work in {} of device time: {}", to_text(all.flops),
                     time_text(all.device_ns),
                     to_text(all.flops / Seconds(seconds(all.device_ns))));
}

}  // namespace orrery
