#include "report/traces/analysis_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr Ink kBold = {.bold = true};
constexpr Ink kDim = {.dim = true};

Cell time_cell(std::int64_t ns) { return {.text = time_text(ns)}; }
Cell mean_cell(double ns) { return {.text = to_text(Seconds(ns * 1e-9))}; }

std::string of_rank(const RankAnalysis& rank) { return fmt::format("rank {}", rank.rank); }

std::string across_ranks_section(const RunAnalysis& analysis, const AnalysisView& view,
                                 const TextStyle& style) {
  if (analysis.ranks.size() < 2 || analysis.kernels.empty()) return "";
  Table table({left("name", 9), left("kind", 4), right("ranks", 5), right("total", 8),
               right("mean", 7), right("fastest", 8), right("rank", 7), right("slowest", 9),
               right("rank", 8), right("slowest/fastest", 9)});
  for (std::size_t i = 0; i < std::min(view.rows, analysis.kernels.size()); ++i) {
    const RunKernelRow& row = analysis.kernels[i];
    table.add_row({{.text = short_name(row.name), .ink = kBold},
                   {.text = std::string(to_text(row.kind)), .ink = kDim},
                   {.text = grouped(row.ranks)},
                   time_cell(row.total_ns),
                   mean_cell(row.mean_ns()),
                   mean_cell(row.least_mean_ns),
                   {.text = std::to_string(analysis.ranks[row.fastest].rank)},
                   mean_cell(row.greatest_mean_ns),
                   {.text = std::to_string(analysis.ranks[row.slowest].rank)},
                   {.text = fmt::format("{:.2f}", row.spread())}});
  }
  return heading("Kernels over all ranks", "means of each rank", style) + table.text(style);
}

std::string overlap_section(const RunAnalysis& analysis, const TextStyle& style) {
  std::vector<Column> columns = {left("rank", 9)};
  std::vector<std::size_t> combinations;
  for (std::size_t c = 1; c < kWorkCombinations; ++c) {
    const bool any = std::any_of(analysis.ranks.begin(), analysis.ranks.end(),
                                 [c](const RankAnalysis& r) { return r.overlap[c] > 0; });
    if (!any) continue;
    combinations.push_back(c);
    columns.push_back(right(combination_name(c), 8));
  }
  if (combinations.empty()) return "";
  Table table(columns);
  for (const RankAnalysis& rank : analysis.ranks) {
    if (!rank.has_device_work()) continue;
    std::int64_t busy = 0;
    for (const std::int64_t ns : rank.overlap) busy += ns;
    std::vector<Cell> cells = {{.text = std::to_string(rank.rank), .ink = kBold}};
    for (const std::size_t c : combinations) {
      cells.push_back({.text = fmt::format("{}  {}", time_text(rank.overlap[c]),
                                           percent(share(rank.overlap[c], busy)))});
    }
    table.add_row(std::move(cells));
  }
  return heading("Work alone and together", "shares of the time in which the device was busy",
                 style) +
         table.text(style);
}

std::string sections_section(const RankAnalysis& rank, const AnalysisView& view,
                             const TextStyle& style) {
  if (rank.sections.empty()) return "";
  Table table({left("section", 9), left("kind", 4), right("instances", 3), right("count", 6),
               right("device", 9), right("backward", 5), right("own", 8), right("host", 7),
               right("launched", 4)});
  for (std::size_t i = 0; i < std::min(view.rows, rank.sections.size()); ++i) {
    const SectionRow& row = rank.sections[i];
    table.add_row({{.text = row.name, .ink = kBold},
                   {.text = std::string(to_text(row.kind)), .ink = kDim},
                   {.text = grouped(row.instances)},
                   {.text = grouped(row.host.count)},
                   time_cell(row.device_ns),
                   time_cell(row.backward_ns),
                   time_cell(row.own_ns),
                   time_cell(row.host.total_ns),
                   {.text = grouped(row.launched)}});
  }
  return heading("Sections and modules",
                 of_rank(rank) + ", by the device time of what was launched in them", style) +
         table.text(style);
}

std::string sequences_section(const RecordedTrace& trace, const RankAnalysis& rank,
                              const AnalysisView& view, const TextStyle& style) {
  if (rank.sequences.empty()) return "";
  Table table({left("operator", 9), right("count", 8), right("kernels", 7), right("device", 8),
               right("host", 6), left("sequence", 8)});
  for (std::size_t i = 0; i < std::min(view.rows, rank.sequences.size()); ++i) {
    const KernelSequence& row = rank.sequences[i];
    table.add_row({{.text = printable(trace.texts[row.operator_name]), .ink = kBold},
                   {.text = grouped(row.count)},
                   {.text = grouped(static_cast<std::int64_t>(row.kernels.size()))},
                   time_cell(row.device_ns),
                   time_cell(row.host_ns),
                   {.text = sequence_text(trace, row), .ink = kDim}});
  }
  return heading("Sequences of kernels", of_rank(rank) + ", launched by one call of an operator",
                 style) +
         table.text(style);
}

std::string gaps_section(const RecordedTrace& trace, const RankAnalysis& rank,
                         const TextStyle& style) {
  static constexpr std::array<const char*, 3> kCauses = {"host", "kernels", "other"};
  Table table({left("stream", 9), left("idle", 8), right("gaps", 8), right("total", 9),
               right("share", 6), right("mean", 6), right("median", 7), right("p90", 7),
               right("longest", 7)});
  bool any = false;
  for (const StreamRow& row : rank.streams) {
    const Lane& lane = trace.lanes[row.lane];
    for (std::size_t c = 0; c < row.gaps.size(); ++c) {
      const Spread& gaps = row.gaps[c];
      if (gaps.count == 0) continue;
      any = true;
      table.add_row({{.text = fmt::format("{}:{}", lane.process, lane.thread), .ink = kBold},
                     {.text = kCauses[c]},
                     {.text = grouped(gaps.count)},
                     time_cell(gaps.total_ns),
                     {.text = percent(share(gaps.total_ns, row.idle.total_ns()))},
                     mean_cell(gaps.mean_ns()),
                     time_cell(gaps.median_ns),
                     time_cell(gaps.p90_ns),
                     time_cell(gaps.greatest_ns)});
    }
  }
  return any ? heading("Gaps of streams", of_rank(rank) + ", device:stream", style) +
                   table.text(style)
             : "";
}

std::string copies_section(const RecordedTrace& trace, const RankAnalysis& rank,
                           const AnalysisView& view, const TextStyle& style) {
  if (rank.copies.empty()) return "";
  Table table({left("kind", 9), right("count", 7), right("bytes", 7), right("total", 8),
               right("rate", 9), right("least", 6), right("median", 6), right("greatest", 6)});
  for (std::size_t i = 0; i < std::min(view.rows, rank.copies.size()); ++i) {
    const CopyRates& row = rank.copies[i];
    table.add_row({{.text = printable(trace.texts[row.name]), .ink = kBold},
                   {.text = grouped(row.count)},
                   {.text = to_text(Bytes(static_cast<double>(row.bytes)))},
                   time_cell(row.total_ns),
                   {.text = to_text(row.rate())},
                   {.text = to_text(row.least)},
                   {.text = to_text(row.median)},
                   {.text = to_text(row.greatest)}});
  }
  return heading("Copies and fills", of_rank(rank) + ", how fast they moved memory", style) +
         table.text(style);
}

std::string outliers_section(const RecordedTrace& trace, const RankAnalysis& rank,
                             const AnalysisView& view, const TextStyle& style) {
  Table table({left("", 7), right("time", 9), right("at", 6), left("call", 8), left("operator", 5),
               left("work", 6)});
  const std::int64_t origin = rank.whole.window.start;
  const auto add = [&](const char* what, const std::vector<LaunchOutlier>& outliers) {
    for (std::size_t i = 0; i < std::min(view.rows, outliers.size()); ++i) {
      const LaunchOutlier& one = outliers[i];
      const std::int64_t at = trace.start_ns[one.call] - origin;
      table.add_row({{.text = what},
                     time_cell(one.ns),
                     {.text = (at < 0 ? "-" : "") + time_text(at < 0 ? -at : at), .ink = kDim},
                     {.text = printable(trace.name_of(one.call))},
                     {.text = one.caller == kNoEvent ? "" : printable(trace.name_of(one.caller)),
                      .ink = kDim},
                     {.text = short_name(trace.name_of(one.work)), .ink = kBold}});
    }
  };
  if (rank.launch.slow_calls.empty() && rank.launch.long_delays.empty()) return "";
  add("slow call", rank.launch.slow_calls);
  add("long delay", rank.launch.long_delays);
  return heading("Launches that stand out", of_rank(rank) + ", since the first device work",
                 style) +
         table.text(style);
}

}  // namespace

std::string sequence_text(const RecordedTrace& trace, const KernelSequence& sequence) {
  constexpr std::size_t kMost = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, sequence.kernels.size()); ++i) {
    const std::string kernel = short_name(trace.texts[sequence.kernels[i]]);
    const std::size_t scope = kernel.rfind("::");
    out += (i == 0 ? "" : ", ") +
           shortened(scope == std::string::npos ? kernel : kernel.substr(scope + 2), 32);
  }
  if (sequence.kernels.size() > kMost) {
    out += fmt::format(" and {} more", sequence.kernels.size() - kMost);
  }
  return out;
}

std::string analysis_tables_text(const RecordedRun& run, const RunAnalysis& analysis,
                                 const AnalysisView& view, const TextStyle& style) {
  const RecordedTrace& trace = run.ranks[view.rank];
  const RankAnalysis& rank = analysis.ranks[view.rank];
  std::string out = across_ranks_section(analysis, view, style) + overlap_section(analysis, style) +
                    sections_section(rank, view, style);
  if (!rank.has_device_work()) return out;
  return out + sequences_section(trace, rank, view, style) + gaps_section(trace, rank, style) +
         copies_section(trace, rank, view, style) + outliers_section(trace, rank, view, style);
}

}  // namespace orrery
