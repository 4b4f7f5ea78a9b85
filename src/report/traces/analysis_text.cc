#include <fmt/format.h>

#include <algorithm>

#include "report/traces/analysis_tables.h"
#include "report/traces/recorded_style.h"
#include "report/traces/recording_remarks.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

std::string of_rank(const RankAnalysis& rank) { return fmt::format("rank {}", rank.rank); }

std::string findings_section(const RecordedRun& run, const RunAnalysis& analysis,
                             const TextStyle& style) {
  const std::vector<Finding> found = findings(analysis);
  if (found.empty()) return "";
  constexpr int kIndent = 11;
  std::string out =
      heading("What costs the most", "the most that mending each alone could save", style);
  for (const Finding& finding : found) {
    const FindingText text = finding_text(run, analysis, finding);
    std::string paragraph =
        wrapped(fmt::format("{}. {}", finding_title(finding, text), text.detail), kIndent, style);
    const std::string label = fmt::format("  {:>7}  ", finding_label(finding));
    paragraph.replace(0, kIndent, painted(label, {.bold = true}, style));
    out += paragraph + wrapped(text.advice, kIndent + 2, style);
  }
  return out;
}

std::string breakdown_section(const RunAnalysis& analysis, const AnalysisView& view,
                              const TextStyle& style) {
  const auto ranks = first(analysis.ranks, 2 * view.rows);
  const Table table = breakdown_table(analysis, 2 * view.rows);
  std::string remark = fmt::format("device: as {} counts", to_text(analysis.preset));
  if (analysis.preset == BreakdownPreset::orrery) {
    remark = std::ranges::all_of(ranks, [](const RankAnalysis& r) { return r.steps.empty(); })
                 ? "device: first to last work"
             : analysis.ranks.size() == 1
                 ? "device: first to last work; steps as the host marked them"
                 : "steps as the host marked them";
  }
  if (table.empty()) return "";
  return section("Where the time of the device went", remark, table, style) +
         and_more(analysis.ranks.size(), ranks.size(), "ranks");
}

std::string communication_section(const RunAnalysis& analysis, const AnalysisView& view,
                                  const TextStyle& style) {
  const CommunicationTable& communication = analysis.communication;
  if (communication.rows.empty()) return "";
  std::string out = section("Communication", "medians; transfer: what is left without waiting",
                            communication_table(communication, view.rows), style) +
                    and_more(communication.rows.size(), view.rows, "kinds");
  if (analysis.ranks.size() < 2) return out;
  return out +
         heading("Who waited, and for whom",
                 fmt::format("{} communications seen from several ranks",
                             grouped(communication.matched)),
                 style) +
         waiting_table(communication, 2 * view.rows).text(style) +
         and_more(communication.ranks.size(), 2 * view.rows, "ranks");
}

// What of the device time went to which class of operator.
std::string class_section(const RankAnalysis& rank, const TextStyle& style) {
  const OperatorTotals& all = rank.operators.all;
  if (all.device_ns == 0) return "";
  std::vector<std::string> shares;
  for (const ClassTime& c : class_times(rank)) {
    shares.push_back(
        fmt::format("{} {}", c.label, percent(share(c.ns, all.device_ns + all.other_ns))));
  }
  return paragraph(style, "By class: {}.", fmt::join(shares, ", "));
}

std::string operator_section(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows,
                             const TextStyle& style) {
  const std::vector<OperatorRow>& all = rank.operators.rows;
  const Table table = operator_table(trace, rank, rows);
  if (table.empty()) return "";
  const auto with_device = std::ranges::find(all, 0, &OperatorRow::own_ns) - all.begin();
  const std::string work = known_work(rank.operators.all);
  return section(
             "Operators by device time",
             of_rank(rank) + (rank.accelerator ? ", roofline of " + rank.accelerator->name : ""),
             table, style) +
         and_more(static_cast<std::size_t>(with_device), rows, "rows") +
         class_section(rank, style) + (work.empty() ? "" : "  " + work + "\n");
}

std::string launch_section(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows,
                           const TextStyle& style) {
  const Table table = launch_table(trace, rank, rows);
  if (table.empty()) return "";
  std::string out = section("Launches", of_rank(rank) + ", medians", table, style);
  if (rank.launch.without_call > 0) {
    out += fmt::format("  {} pieces of device work were launched before the recording began\n",
                       grouped(rank.launch.without_call));
  }
  return out;
}

std::string path_section(const RecordedTrace& trace, const RankAnalysis& rank,
                         const AnalysisView& view, const TextStyle& style) {
  if (view.rank < view.paths.size()) return step_path_text(view.paths[view.rank], view.rows, style);
  const bool synchronized =
      std::ranges::find(trace.kind, EventKind::synchronization) != trace.kind.end();
  const std::string doubt =
      synchronized
          ? ""
          : paragraph(style,
                      "No synchronizations are recorded: a call that waited for the device "
                      "counts as the host's. The path of --preset orrery knows such waits.");
  return event_path_text(rank.critical, doubt, view.rows, style);
}

std::string series_section(const RankAnalysis& rank, const TextStyle& style) {
  std::string out;
  const int width = std::max(20, usable_width(style) - 4);
  if (!rank.utilization.busy.empty()) {
    out +=
        heading("Utilization",
                fmt::format("rank {}, share of each {} in which a kernel ran; mean {}", rank.rank,
                            time_text(rank.utilization.bin_ns), percent(rank.utilization.mean())),
                style) +
        "  " + sparkline(rank.utilization.busy, width, 0, 1) + "\n";
  }
  if (!rank.utilization.multiprocessors.empty()) {
    out += heading("Multiprocessors",
                   fmt::format("share of them that had a block to run, by the grids of kernels; "
                               "mean {}",
                               percent(rank.utilization.mean_multiprocessors())),
                   style) +
           "  " + sparkline(rank.utilization.multiprocessors, width, 0, 1) + "\n";
  }
  for (const MemoryTimeline& memory : rank.memory) {
    if (memory.device < 0) continue;
    std::vector<double> values;
    values.reserve(memory.points.size());
    for (const MemoryPoint& p : memory.points) {
      values.push_back(static_cast<double>(p.allocated_bytes));
    }
    out += heading("Memory",
                   fmt::format("rank {}, device {}: peak {} allocated, {} reserved", rank.rank,
                               memory.device, gibibytes(memory.peak.allocated_bytes),
                               gibibytes(memory.peak_reserved_bytes)),
                   style) +
           "  " + sparkline(values, width) + "\n";
  }
  return out;
}

std::string about(const RecordedRun& run, const RunAnalysis& analysis) {
  const RankAnalysis& first = analysis.ranks.front();
  const auto given = static_cast<std::int64_t>(analysis.ranks.size());
  std::string out = "  ";
  if (run.world_size == kNotRecorded) {
    out += counted(given, "rank") + ", of how many is not recorded";
  } else {
    out += grouped(given) + " of " + counted(run.world_size, "rank");
  }
  if (!first.device.empty()) out += ", " + printable(first.device);
  if (first.accelerator) out += " (" + first.accelerator->name + ")";
  const bool works = std::ranges::any_of(
      analysis.ranks, [](const RankAnalysis& rank) { return rank.has_device_work(); });
  if (!works) out += "; no work of an accelerator is recorded";
  if (run.source == RunSource::predicted_trace || run.source == RunSource::replayed_run) {
    out += "; simulated: the files say that their times are";
  } else if (is_simulated(run.source)) {
    out += "; simulated: the files hold no start times";
  }
  return out + "\n";
}

// What --more adds.
std::string longer_tables(const RecordedTrace& trace, const RunAnalysis& analysis,
                          const RankAnalysis& rank, std::size_t rows, const TextStyle& style) {
  std::string out;
  const auto add = [&](std::string_view title, const std::string& remark, const Table& table) {
    out += section(title, remark, table, style);
  };
  if (analysis.ranks.size() > 1) {
    add("Kernels over all ranks", "means of each rank", across_ranks_table(analysis, rows));
  }
  add("Work alone and together", "shares of the time in which the device was busy",
      overlap_table(analysis));
  add("Sections and modules", of_rank(rank) + ", by the device time of what was launched in them",
      section_table(rank, rows));
  if (!rank.has_device_work()) return out;
  add("Sequences of kernels", of_rank(rank) + ", launched by one call of an operator",
      sequence_table(trace, rank, rows));
  add("Gaps of streams", of_rank(rank) + ", device:stream", gap_table(trace, rank));
  add("Copies and fills", of_rank(rank) + ", how fast they moved memory",
      copy_table(trace, rank, rows));
  add("Launches that stand out", of_rank(rank) + ", since the first device work",
      outlier_table(trace, rank, rows, rows));
  return out;
}

}  // namespace

std::string analysis_text(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view, const TextStyle& style) {
  const RecordedTrace& trace = run.ranks[view.rank];
  const RankAnalysis& rank = analysis.ranks[view.rank];
  std::string out = about(run, analysis);
  for (const std::string& remark : recording_remarks(run.ranks)) out += paragraph(style, remark);
  if (const std::string line = headline_text(analysis); !line.empty()) {
    out += paragraph(style, line);
  }
  out += findings_section(run, analysis, style) + breakdown_section(analysis, view, style) +
         communication_section(analysis, view, style);
  if (rank.has_device_work()) {
    out += operator_section(trace, rank, view.rows, style) +
           heading("Kernels, copies and fills", of_rank(rank), style) +
           kernel_table(trace, rank, view.rows).text(style) +
           and_more(rank.kernels.size(), view.rows, "names") +
           heading("Streams and their queues", of_rank(rank) + ", device:stream", style) +
           stream_table(trace, rank).text(style) + launch_section(trace, rank, view.rows, style);
  }
  out += path_section(trace, rank, view, style);
  out += series_section(rank, style);
  if (view.more == MoreTables::all) out += longer_tables(trace, analysis, rank, view.rows, style);
  return out;
}

}  // namespace orrery
