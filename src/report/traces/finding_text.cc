#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "outcome/enum_names.h"
#include "report/drawing/figures.h"
#include "report/drawing/text_style.h"
#include "report/traces/analysis_tables.h"
#include "report/traces/recorded_style.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

std::string times(std::int64_t n) { return n == 1 ? "once" : grouped(n) + " times"; }

// Texts from outside are as long as their writer liked.
std::string brief(std::string_view text, int width = 48) {
  return shortened(printable(text), width);
}

std::string_view advice(HostActivity activity) {
  static constexpr std::string_view kFewerCalls =
      "Launch the same work with fewer operators and calls: CUDA graphs, torch.compile, "
      "larger batches; orrery trace whatif --graphs says what graphs would gain.";
  static constexpr std::array<std::string_view, kHostActivities> kAdvice = {
      "Give the DataLoader more workers or let it prefetch; check its storage.",
      "Remove what makes the host wait for the device (item(), cpu(), nonzero(), printing "
      "tensors).",
      "Keep memory allocated: these calls block the host (allocator settings, pinned "
      "buffers made once).",
      kFewerCalls,
      kFewerCalls,
      "Python and other code between operators holds the device up: move it out of the "
      "step, or capture the step in a graph (orrery trace whatif --graphs)."};
  return kAdvice[static_cast<std::size_t>(activity)];
}

HostTime host_of_all(const RunAnalysis& analysis) {
  HostTime all;
  for (const RankAnalysis& rank : analysis.ranks) {
    for (std::size_t a = 0; a < kHostActivities; ++a) all.ns[a] += rank.host.ns[a];
  }
  return all;
}

// Of all ranks together.
TemporalBreakdown time_of_all(const RunAnalysis& analysis) {
  TemporalBreakdown sum;
  for (const RankAnalysis& rank : analysis.ranks) sum += analyzed_time(rank, analysis.preset);
  return sum;
}

std::string worst_rank(const RunAnalysis& analysis, const Finding& finding) {
  if (analysis.ranks.size() < 2 || finding.worst_share < 1.25 * finding.share) return "";
  return fmt::format(" On rank {} it is {}.", analysis.ranks[finding.worst].rank,
                     percent(finding.worst_share));
}

FindingText host_waits(const RecordedRun&, const RunAnalysis& analysis, const Finding& finding) {
  const HostTime host = host_of_all(analysis);
  FindingText out = {.title = "The device waits for its host"};
  const std::int64_t all = host.total_ns();
  std::string meanwhile;
  for (const std::size_t a :
       descending(kHostActivities, [&](std::size_t i) { return host.ns[i]; })) {
    if (share(host.ns[a], all) < 0.05) break;
    meanwhile +=
        fmt::format("{}{} {}", meanwhile.empty() ? "" : ", ", percent(share(host.ns[a], all)),
                    in_words(static_cast<HostActivity>(a)));
  }
  if (!meanwhile.empty()) out.detail = "Meanwhile the host is " + meanwhile + ".";
  const LaunchRow& launches = analysis.ranks[finding.worst].launch.all;
  if (launches.work.count > 0) {
    out.detail +=
        fmt::format(" Half of the work takes less than {}, a launch call {}.",
                    time_text(launches.work.median_ns), time_text(launches.call.median_ns));
  }
  out.detail += worst_rank(analysis, finding);
  out.advice = advice(host.main());
  return out;
}

FindingText other_process(const RecordedRun&, const RunAnalysis& analysis, const Finding& finding) {
  return {.title = "Another process has the device",
          .detail =
              "Processes share it by turns: work that is launched after the device ran dry "
              "starts when the turn of the other one is over." +
              worst_rank(analysis, finding),
          .advice =
              "Give each process a device of its own, or let them run side by side (NVIDIA MPS); "
              "launching ahead keeps the turn."};
}

std::size_t main_cause(const CommunicationTable& communication) {
  const auto it = std::ranges::max_element(communication.ranks, std::ranges::less(),
                                           &RankCommunication::caused_waiting_ns);
  return static_cast<std::size_t>(it - communication.ranks.begin());
}

// What tells a late rank from the others: its computing, the waits for its host or for another
// process, whichever takes most more time than on the rank in the middle of the others.
std::string why_late(const RunAnalysis& analysis, std::size_t late) {
  std::vector<double> waits;  // ns a step, here and below
  std::vector<double> turns;
  std::vector<double> computing;
  std::vector<double> times;
  for (const RankAnalysis& rank : analysis.ranks) {
    const TemporalBreakdown time = analyzed_time(rank, analysis.preset);
    const double steps = std::max<double>(1, static_cast<double>(rank.steps.size()));
    waits.push_back(static_cast<double>(time.idle.own_host_wait_ns()) / steps);
    turns.push_back(static_cast<double>(time.idle.other_process_ns) / steps);
    computing.push_back(static_cast<double>(time.compute_ns) / steps);
    times.push_back(static_cast<double>(time.total_ns()) / steps);
  }
  const auto more_than_others = [&](std::vector<double> values) {
    const double own = values[late];
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(late));
    std::ranges::sort(values);
    return own - values[values.size() / 2];
  };
  const double more_waits = more_than_others(waits);
  const double more_turns = more_than_others(turns);
  const double more_computing = more_than_others(computing);
  constexpr double kNotable = 0.01;  // of the step
  const double most = std::max({more_waits, more_turns, more_computing});
  if (most < kNotable * times[late]) return "";
  const std::string longer = to_text(Seconds(most * 1e-9));
  if (more_computing == most) {
    return fmt::format(" It computes {} longer in each step than the others.", longer);
  }
  return fmt::format(" Its device waits {} longer for {} in each step than those of the others.",
                     longer, more_turns == most ? "the turns of another process" : "its host");
}

FindingText waiting(const RecordedRun& run, const RunAnalysis& analysis, const Finding& finding) {
  const CommunicationTable& communication = analysis.communication;
  FindingText out = {.title = "Ranks wait for each other"};
  const std::size_t late = main_cause(communication);
  const RankCommunication& cause = communication.ranks[late];
  std::int64_t all = 0;
  for (const RankCommunication& rank : communication.ranks) all += rank.caused_waiting_ns;
  out.detail = fmt::format("Rank {} arrives last {} of {} and causes {} of the waiting.",
                           cause.rank, times(cause.arrived_last), grouped(communication.matched),
                           percent(share(cause.caused_waiting_ns, all)));
  out.detail += why_late(analysis, late) + worst_rank(analysis, finding);
  out.advice = fmt::format("Find what holds rank {} up (--rank {}){}", cause.rank, cause.rank,
                           has_calls(run.source)
                               ? "; orrery trace whatif --no-stragglers says what even ranks would "
                                 "gain."
                               : ".");
  return out;
}

// What says what another network would bring; other commands refuse such files.
std::string_view other_network(RunSource source) {
  switch (source) {
    case RunSource::profiler:
    case RunSource::replayed_run:
      return ": orrery trace whatif --bandwidth 2 says what that would gain.";
    case RunSource::execution_trace:
    case RunSource::predicted_trace:
    case RunSource::simulated_trace:
      return ": orrery trace replay --on CLUSTER says what that would gain.";
    case RunSource::simulated_graph:
      break;
  }
  return ".";
}

// What one collective of one size costs in all groups of as many ranks together.
struct CommunicationKind {
  const CommunicationRow* longest = nullptr;  // of its rows
  std::int64_t transfer_ns = 0;
  std::int64_t instances = 0;
  std::int64_t complete = 0;
};

// The kind that transfers longest.
CommunicationKind main_kind(const CommunicationTable& table) {
  std::map<std::tuple<Collective, std::int64_t, std::int64_t>, CommunicationKind> kinds;
  const CommunicationKind* most = nullptr;
  for (const CommunicationRow& row : table.rows) {
    CommunicationKind& kind = kinds[{row.collective, row.ranks, row.bytes}];
    kind.transfer_ns += row.transfer.total_ns;
    kind.instances += row.instances;
    kind.complete += row.complete;
    if (kind.longest == nullptr || row.transfer.total_ns > kind.longest->transfer.total_ns) {
      kind.longest = &row;
    }
    if (most == nullptr || kind.transfer_ns > most->transfer_ns) most = &kind;
  }
  return most == nullptr ? CommunicationKind() : *most;
}

FindingText communication(const RecordedRun& run, const RunAnalysis& analysis,
                          const Finding& finding) {
  FindingText out = {.title = "Exposed communication"};
  const CommunicationKind kind = main_kind(analysis.communication);
  if (const CommunicationRow* row = kind.longest; row != nullptr) {
    out.detail = fmt::format(
        "Most is {}{}{}", to_text(row->collective),
        row->bytes == kNotRecorded ? std::string()
                                   : " of " + to_text(Bytes(static_cast<double>(row->bytes))),
        row->ranks == kNotRecorded ? std::string() : fmt::format(" over {} ranks", row->ranks));
    const BytesPerSecond bus = row->median_bus_bandwidth();
    out.detail += fmt::format(", {}", times(kind.instances));
    if (bus.value() > 0) {
      out.detail += fmt::format(" at {}{} bus bandwidth",
                                kind.complete < kind.instances ? "at least " : "", to_text(bus));
    }
    out.detail += ".";
  }
  out.detail += fmt::format(" {} of the communication runs beside computing.",
                            percent(time_of_all(analysis).overlap()));
  if (analysis.ranks.size() < 2) {
    out.detail += " How much of it is waiting only the recordings of the other ranks can tell.";
  }
  out.detail += worst_rank(analysis, finding);
  out.advice = "Start it earlier or beside computing, move fewer bytes, or use a faster network";
  if (!analysis.faster_network) {
    out.advice += other_network(run.source);
    return out;
  }
  const auto& [before, after] = *analysis.faster_network;
  const double gain = 1 - after / before;
  constexpr double kNothing = 0.0005;
  if (gain < kNothing) {
    out.advice +=
        "; twice the bandwidth makes no step shorter, as orrery trace whatif --bandwidth 2 says: "
        "something else limits it.";
    return out;
  }
  out.advice += fmt::format(
      ": twice the bandwidth makes a step {} shorter, {}, as orrery trace whatif --bandwidth 2 "
      "says{}.",
      to_text(before - after), percent(gain),
      gain < finding.share / 4
          ? "; the rest is latency and waiting, which bandwidth does not reduce"
          : "");
  return out;
}

FindingText slow_operators(const RecordedRun& run, const RunAnalysis& analysis,
                           const Finding& finding) {
  FindingText out = {.title = "Operators below the roofline"};
  const RankAnalysis& rank = analysis.ranks[finding.worst];
  const RecordedTrace& trace = run.ranks[finding.worst];
  const auto lost = [](const OperatorRow& row) {
    return row.roofline < 0 || row.roofline >= 1
               ? 0.0
               : static_cast<double>(row.own_ns) * (1 - row.roofline);
  };
  const auto row = std::ranges::max_element(
      rank.operators.rows,
      [&](const OperatorRow& a, const OperatorRow& b) { return lost(a) < lost(b); });
  if (row != rank.operators.rows.end() && lost(*row) > 0) {
    const std::string shapes = brief(trace.texts[row->shapes]);
    out.detail = fmt::format(
        "Most in {}{}: {} {} at {} of the roofline of {}.", brief(trace.texts[row->name]),
        shapes.empty() ? "" : " " + shapes, time_text(row->own_ns),
        row->host.count == 1 ? "once" : "in " + grouped(row->host.count) + " calls",
        percent(row->roofline), rank.accelerator ? rank.accelerator->name : "the accelerator");
    out.advice = "A fused or better suited kernel may do it faster.";
    if (row->operator_class == RecordedWorkClass::softmax) {
      out.advice =
          "Fused attention (scaled_dot_product_attention) does not write the scores at all.";
    } else if (row->operator_class == RecordedWorkClass::elementwise ||
               row->operator_class == RecordedWorkClass::normalization ||
               row->operator_class == RecordedWorkClass::reduction) {
      out.advice = "torch.compile or fused kernels read and write such tensors once.";
    } else if (row->operator_class == RecordedWorkClass::product) {
      out.advice =
          "Larger or batched products, other layouts or a tuned library come nearer to it.";
    }
  }
  return out;
}

FindingText copies(const RecordedRun& run, const RunAnalysis& analysis, const Finding& finding) {
  FindingText out = {.title = "Exposed copies and fills"};
  const RankAnalysis& rank = analysis.ranks[finding.worst];
  const RecordedTrace& trace = run.ranks[finding.worst];
  const auto row = std::ranges::find_if(rank.kernels, [](const KernelRow& k) {
    return k.kind == WorkKind::copy || k.kind == WorkKind::fill;
  });
  out.advice = "Copy on a stream of its own beside computing, or keep the data on the device.";
  if (row == rank.kernels.end()) return out;
  const std::string_view name = trace.texts[row->name];
  out.detail = fmt::format("Most is {}: {}, {}", brief(name), times(row->duration.count),
                           time_text(row->duration.total_ns));
  if (row->bytes > 0 && row->duration.total_ns > 0) {
    out.detail += " at " + to_text(Bytes(static_cast<double>(row->bytes)) /
                                   Seconds(seconds(row->duration.total_ns)));
  }
  out.detail += ".";
  if (name.find("Pageable") != std::string_view::npos) {
    out.advice = "Pin the host's memory (pin_memory, non_blocking) and copy beside computing.";
  }
  return out;
}

FindingText stream_waits(const RecordedRun& run, const RunAnalysis& analysis,
                         const Finding& finding) {
  if (!has_calls(run.source)) {
    return {.title = "The device is idle",
            .detail =
                "It waits for what the files name as dependencies: other ranks, other "
                "streams or the host." +
                worst_rank(analysis, finding),
            .advice = "The critical path says for which."};
  }
  const LaunchStatistics& launch = analysis.ranks[finding.worst].launch;
  if (launch.without_call > launch.all.call.count) {
    return {.title = "The device is idle, and nothing says why",
            .detail =
                "Most work has no recorded launch: waiting for the host cannot be told from "
                "waiting for other streams." +
                worst_rank(analysis, finding),
            .advice =
                "A profiler's trace of host and device (ProfilerActivity.CPU and CUDA) "
                "would tell."};
  }
  return {.title = "The device is idle although work was launched",
          .detail = "Streams wait for other streams, for events or for the launch itself." +
                    worst_rank(analysis, finding),
          .advice =
              "Look for waits between streams on the critical path; CUDA graphs shorten the "
              "gaps between kernels."};
}

// Windows are the host's; what the device does in them was launched in steps before.
FindingText earlier_work(const RecordedRun&, const RunAnalysis& analysis, const Finding& finding) {
  const RankAnalysis& rank = analysis.ranks[finding.worst];
  const auto step =
      std::ranges::max_element(rank.steps, [](const StepAnalysis& a, const StepAnalysis& b) {
        return a.lag.behind_ns < b.lag.behind_ns;
      });
  FindingText out = {.title = "Devices are behind their hosts"};
  out.detail = fmt::format(
      "{} of what they did while a step lasted on the host was launched in steps before.",
      percent(finding.share));
  if (step != rank.steps.end() && step->lag.behind_ns > 0) {
    out.detail += fmt::format(
        " The work of step {}{} ends {} after the step, which lasts {}.", step->step.number,
        analysis.ranks.size() > 1 ? fmt::format(" of rank {}", rank.rank) : std::string(),
        time_text(step->lag.behind_ns), time_text(step->parts.total_ns()));
  }
  out.detail += fmt::format(" The parts of a step are therefore {} those of the steps before it.",
                            finding.share > 0.5 ? "mostly" : "partly");
  const TemporalBreakdown all = time_of_all(analysis);
  out.advice = fmt::format(
      "Read averages over many steps, not single ones{}. Only a synchronization at the end of "
      "steps records them whole.",
      share(all.idle.own_host_wait_ns(), all.total_ns()) < kLeastFinding
          ? "; a faster host gains nothing here"
          : "");
  return out;
}

}  // namespace

FindingText finding_text(const RecordedRun& run, const RunAnalysis& analysis,
                         const Finding& finding) {
  static constexpr std::array kTexts = {host_waits,     other_process, waiting,      communication,
                                        slow_operators, copies,        stream_waits, earlier_work};
  static_assert(kTexts.size() == enumerators<FindingKind>());
  return kTexts[static_cast<std::size_t>(finding.kind)](run, analysis, finding);
}

std::string finding_title(const Finding& finding, const FindingText& text) {
  return finding.cost_ns == 0 ? text.title : text.title + ", " + time_text(finding.cost_ns);
}

std::string finding_label(const Finding& finding) {
  return finding.cost_ns == 0 ? "note" : percent(finding.share);
}

std::string headline_text(const RunAnalysis& analysis) {
  const TemporalBreakdown sum = time_of_all(analysis);
  std::int64_t steps = 0;
  std::int64_t working = 0;
  for (const RankAnalysis& rank : analysis.ranks) {
    if (analysis.preset == BreakdownPreset::orrery) steps += std::ssize(rank.steps);
    working += rank.has_device_work() ? 1 : 0;
  }
  const std::int64_t all = sum.total_ns();
  if (all == 0 || working == 0) return "";
  const std::int64_t parts = steps > 0 ? steps : working;
  return fmt::format(
      "{} {}: {} computing, {} exposed communication, {} copies, {} idle.",
      steps > 0 ? "A step takes" : "The device works for", time_text(all / parts),
      percent(share(sum.compute_ns, all)), percent(share(sum.exposed_communication_ns, all)),
      percent(share(sum.exposed_copy_ns, all)), percent(share(sum.idle.total_ns(), all)));
}

}  // namespace orrery
