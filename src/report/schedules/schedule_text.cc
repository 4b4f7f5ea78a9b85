#include "report/schedules/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/drawing/bar.h"
#include "report/drawing/figures.h"
#include "report/drawing/pipeline_text.h"
#include "report/drawing/table.h"
#include "report/schedules/schedule_spans.h"

namespace orrery {
namespace {

constexpr std::size_t kMostDevices = 16;
constexpr std::array<std::uint8_t, kIdleCauses.size()> kCauseColours = {250, 245, 240, 168, 136};

std::string counted(std::int64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(n), n == 1 ? one : many);
}

std::string six_digits(double value) { return fmt::format("{:.6g}", value); }

// The first, the last and evenly spread ones between.
std::vector<std::size_t> shown(std::size_t devices) {
  std::vector<std::size_t> out;
  const std::size_t rows = std::min(devices, kMostDevices);
  for (std::size_t r = 0; r < rows; ++r) {
    out.push_back(rows < 2 ? 0 : r * (devices - 1) / (rows - 1));
  }
  return out;
}

// The highest value in each of `cells` equal parts of [0, makespan].
std::vector<double> sampled(const std::vector<MemoryChange>& curve, Picoseconds makespan,
                            std::size_t cells) {
  std::vector<double> out(cells, 0);
  const double per_cell = makespan.count() / static_cast<double>(cells);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double until = i + 1 < curve.size() ? curve[i + 1].at.count() : makespan.count();
    const auto first = static_cast<std::size_t>(curve[i].at.count() / per_cell);
    const auto last = static_cast<std::size_t>(std::max(0.0, until / per_cell - 1e-9));
    for (std::size_t c = std::min(first, cells - 1); c <= std::min(last, cells - 1); ++c) {
      out[c] = std::max(out[c], curve[i].held);
    }
  }
  return out;
}

std::string idle_table(const MeasuredSchedule& s, const TextStyle& style) {
  const TimeAxis axis = time_axis(s.unit);
  const IdleTime sum = s.idle_sum();
  const PipelineMeasures& m = s.execution.measures;
  std::vector<Column> columns = {right("device", 9), right("busy", 4), right("idle", 8)};
  for (const IdleCause cause : kIdleCauses) {
    columns.push_back(right(std::string(to_text(cause)), 6).shown_if(sum[cause] > Picoseconds(0)));
  }
  columns.push_back(right("", 5));
  columns.push_back(bars(1, 30));
  Table table(std::move(columns));
  Picoseconds most(1);
  for (const IdleTime& device : s.idle) most = std::max(most, device.total());
  const auto row = [&](const std::string& label, Picoseconds busy, const IdleTime& idle,
                       Picoseconds whole, Picoseconds longest, Ink ink) {
    const auto time = [&](Picoseconds t) { return cell(tick_text(t.seconds(), axis), ink); };
    std::vector<Cell> cells = {cell(label, ink), time(busy), time(idle.total())};
    std::vector<BarSegment> segments;
    for (const IdleCause cause : kIdleCauses) {
      cells.push_back(time(idle[cause]));
      const double share = idle[cause].count() / longest.count();
      if (share > 0) {
        segments.push_back({share, {.colour = kCauseColours[static_cast<std::size_t>(cause)]}});
      }
    }
    cells.push_back(cell(percent(idle.total().count() / std::max(whole.count(), 1.0)), ink));
    cells.push_back(bar_of(std::move(segments)));
    table.add_row(std::move(cells));
  };
  Picoseconds busy;
  for (const Picoseconds b : m.busy) busy += b;
  const std::vector<std::size_t> devices = shown(s.idle.size());
  for (const std::size_t d : devices) {
    row(std::to_string(d), m.busy[d], s.idle[d], m.makespan, most, {});
  }
  if (s.idle.size() > 1) {
    table.add_rule();
    row("all", busy, sum, m.makespan * static_cast<int>(s.idle.size()), std::max(sum.total(), most),
        {.bold = true});
  }
  return table.text(style);
}

std::string memory_table(const MeasuredSchedule& s, const TextStyle& style) {
  const TimeAxis axis = time_axis(s.unit);
  const auto cells = static_cast<std::size_t>(std::clamp(usable_width(style) - 44, 8, 80));
  Table table(right("device", 9), right("peak", 8), left("held over time", 5),
              right("lives on average", 3), right("at most", 2));
  double highest = 0;
  for (const auto& curve : s.memory) {
    for (const MemoryChange& c : curve) highest = std::max(highest, c.held);
  }
  for (const std::size_t d : shown(s.memory.size())) {
    // All devices on one scale.
    const std::string line = sparkline(sampled(s.memory[d], s.execution.measures.makespan, cells),
                                       static_cast<int>(cells), 0, highest);
    const ActivationLifetimes& life = s.lifetimes[d];
    const double mean = life.count > 0 ? life.sum.count() / static_cast<double>(life.count) : 0;
    table.row(std::to_string(d), six_digits(s.execution.measures.peak_memory[d]),
              cell(line, {.colour = 67}), tick_text(Seconds(mean * 1e-12), axis),
              tick_text(life.longest.seconds(), axis));
  }
  return table.text(style);
}

}  // namespace

TimeAxis time_axis(const TimeUnit& unit) {
  return {unit.seconds ? Seconds(0) : unit.one.seconds()};
}

std::string shape_sentence(const PipelineShape& shape) {
  std::string out = counted(shape.devices, "device", "devices") + " · " +
                    counted(shape.microbatches, "microbatch", "microbatches");
  if (shape.chunks > 1) out += " · " + counted(shape.chunks, "chunk", "chunks") + " a device";
  return out;
}

std::string memory_unit(const MeasuredSchedule& schedule, bool stated_memory) {
  if (stated_memory) return "stated units";
  return schedule.pipeline.shape.chunks > 1 ? "microbatches of a chunk" : "microbatches";
}

std::string schedule_text(const MeasuredSchedule& s, const ScheduleRemarks& remarks,
                          const TextStyle& style) {
  const PipelineMeasures& m = s.execution.measures;
  const TimeAxis axis = time_axis(s.unit);
  std::string out = heading(remarks.title, shape_sentence(s.pipeline.shape), style).substr(1);
  std::string facts = fmt::format("makespan {} · bubble {} ({} if steps follow without a flush)",
                                  time_text(m.makespan.seconds(), axis), percent(m.bubble_ratio),
                                  percent(m.bubble_ratio_span));
  facts += fmt::format(" · weights {}× · sends {} a microbatch", six_digits(s.weights_held()),
                       six_digits(s.sends_per_microbatch()));
  out += wrapped(facts, 2, style) + "\n";
  out += pipeline_text(pipeline_spans(s), style, axis);
  out += heading("Idle", "time that a device waits, by cause", style) + idle_table(s, style);
  std::string remark = "activations, in " + memory_unit(s, remarks.stated_memory);
  if (remarks.memory_limit > 0)
    remark += fmt::format("; limit {}", six_digits(remarks.memory_limit));
  return out + heading("Held", remark, style) + memory_table(s, style);
}

}  // namespace orrery
