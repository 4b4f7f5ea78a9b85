#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "network/collective_comparison.h"
#include "report/drawing/category_style.h"
#include "report/drawing/figures.h"
#include "report/drawing/html_page.h"
#include "report/plans/plan_reports.h"

namespace orrery {

const VerdictStyle& style_of(Verdict verdict) {
  static constexpr std::array<VerdictStyle, 3> kStyles = {{
      {"✓ fits", {.colour = 71, .bold = true}, "good"},
      {"! tight", {.colour = 214, .bold = true}, "warn"},
      {"✗ does not fit", {.colour = 203, .bold = true}, "bad"},
  }};
  return kStyles[static_cast<std::size_t>(verdict)];
}

std::string mfu_words(const Estimate& e) {
  return percent(e.mfu) + (differs_by_causality(e) ? " · causal " + percent(e.causal_mfu) : "");
}

std::string interval_name(const StepTimeInterval& interval) {
  return interval.calibrated ? fmt::format("{:.0f} % in", 100 * interval.level) : "range";
}

std::string interval_sentence(const StepTimeInterval& interval) {
  return fmt::format("{} from {}; {}", interval.calibrated ? "interval" : "range", interval.basis,
                     interval.distance);
}

std::string numeric_changes_sentence(const Estimate& e) {
  const std::vector<std::string> changes = numeric_changes(e.training, e.plan);
  if (changes.empty()) return "";
  return fmt::format("against training in bf16: {} (--numerics shows how far it deviates)",
                     fmt::join(changes, ", "));
}

std::string headline_text(const Estimate& e, const Subject& subject, const TextStyle& style) {
  const int room = usable_width(style) - 2;
  std::string out =
      title_line(fmt::format("{} on {}", model_in_words(subject), subject.cluster), style);
  const auto dim_lines = [&](const std::string& sentence) {
    const std::string lines = paragraph(style, sentence);
    out += style.colour ? painted(lines.substr(0, lines.size() - 1), kDim, style) + "\n" : lines;
  };
  dim_lines(in_words(subject.size));
  dim_lines(fmt::format("{} · {} a step · {}", counted(e.gpus, subject.accelerator),
                        counted(e.microbatches, "microbatch", "microbatches"),
                        training_sentence(e.training)));
  dim_lines(plan_sentence(e.plan, subject.accelerator));
  out += "\n";

  struct Figure {
    std::string name;
    std::string value;
    Ink ink;
  };
  const std::vector<Figure> figures = {
      {"step time", to_text(e.step_time), kBold},
      {"MFU", mfu_words(e), kBold},
      {"achieved", to_text(e.achieved_per_gpu) + " per " + subject.accelerator, kBold},
      {"throughput", compact(e.tokens_per_second) + fmt::format(" {}s/s", subject.size.unit),
       kBold},
      {"HFU", percent(e.hfu), {}},
      {"memory",
       fmt::format("{} of {}", gibibytes(e.peak_memory), gibibytes(e.memory_capacity)),
       {}},
      {"verdict", std::string(style_of(e.verdict).words), style_of(e.verdict).ink},
      {interval_name(e.interval), to_text(e.interval.low) + " to " + to_text(e.interval.high), {}},
  };
  constexpr int kName = 11;
  constexpr int kValue = 24;
  const int columns = std::clamp(room / (kName + kValue), 1, 2);
  const auto rows =
      (figures.size() + static_cast<std::size_t>(columns) - 1) / static_cast<std::size_t>(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line = "  ";
    for (std::size_t i = row; i < figures.size(); i += rows) {
      const Figure& f = figures[i];
      const bool last = i + rows >= figures.size();
      const int width = std::min(kValue, room - kName);
      const std::string value = shortened(f.value, width);
      line +=
          painted(fitted(f.name, kName, Align::left), kDim, style) + painted(value, f.ink, style);
      if (!last) line += std::string(static_cast<std::size_t>(width - display_width(value)), ' ');
    }
    out += line + "\n";
  }
  dim_lines(interval_sentence(e.interval));
  if (const auto changes = numeric_changes_sentence(e); !changes.empty()) dim_lines(changes);
  return out;
}

Table breakdown_table(const Breakdown& breakdown) {
  Table table(left("", 3), right("time", 2), right("share", 3), bars(0, 48));
  const auto whole = breakdown.total().count();
  const auto add = [&](const std::string& name, Picoseconds time, int tenths, Category c,
                       RowLook look) {
    const Ink ink = look == RowLook::group ? kBold : Ink{};
    table.row(Cell{.text = name, .ink = ink, .swatch = to_text(c)}, cell(time.seconds(), ink),
              cell(percent_of_tenths(tenths), ink),
              bar_of({{time.count() / whole, {.colour = swatch(c).terminal}, to_text(c)}}));
    table.mark(look);
  };
  for (const BreakdownSection& group : sections(breakdown)) {
    const bool alone = group.lines.size() == 1 && group.group != BreakdownGroup::communication &&
                       group.group != BreakdownGroup::computing;
    add(std::string(label(group.group)), group.time, group.tenths, group.lines.front().category,
        RowLook::group);
    if (alone) continue;
    for (const BreakdownLine& line : group.lines) {
      add("  " + std::string(label(line.category)), line.time, line.tenths, line.category,
          RowLook::part);
    }
  }
  table.add_rule();
  table.row(bold("step"), bold(breakdown.total().seconds()), bold(whole > 0 ? "100.0 %" : "0.0 %"),
            "");
  table.mark(RowLook::total);
  return table;
}

std::string breakdown_text(const Estimate& e, const TextStyle& style) {
  std::string remark = "where two things overlap the time is computing";
  if (e.stages.size() > 1) {
    remark = fmt::format("stage {} of {}, the last to end", e.critical_stage, e.stages.size());
  }
  std::string out = heading("Where the time goes", remark, style);
  if (style.colour) {
    std::vector<BarSegment> segments;
    for (const BreakdownSection& group : sections(e.breakdown)) {
      for (const BreakdownLine& line : group.lines) {
        segments.push_back({line.time.count() / e.breakdown.total().count(),
                            {.colour = swatch(line.category).terminal}});
      }
    }
    if (segments.size() > 1) out += "  " + bar(segments, usable_width(style) - 2, style) + "\n\n";
  }
  return out + breakdown_table(e.breakdown).text(style);
}

std::optional<std::size_t> fullest_stage(const Estimate& e) {
  if (e.stages.empty()) return std::nullopt;
  return std::min(static_cast<std::size_t>(std::max(e.peak_memory_stage, 0)), e.stages.size() - 1);
}

Table memory_table(const Estimate& e, const MemoryReport& memory) {
  Table table(left("", 3), right("size", 3), right("of capacity", 2), bars(0, 48));
  const auto add = [&](std::string_view name, ByteCount bytes, Ink ink, Ink of_bar,
                       std::string_view css_class) {
    const double of_capacity = share(bytes, e.memory_capacity);
    table.row(Cell{.text = std::string(name), .ink = ink, .swatch = css_class},
              cell(gibibytes(bytes), ink), cell(percent(of_capacity), ink),
              of_bar.colour == 0 ? Cell() : bar_of({{of_capacity, of_bar, css_class}}));
  };
  for (const MemoryPart& part : parts_of(memory)) {
    if (part.bytes == 0) continue;
    add(part.label, part.bytes, {}, {.colour = part.swatch.terminal}, part.css_class);
  }
  table.add_rule();
  const VerdictStyle& verdict = style_of(e.verdict);
  add("peak", memory.peak, kBold, {.colour = verdict.ink.colour}, verdict.tone);
  table.mark(RowLook::total);
  if (memory.pessimistic > memory.peak) add("at worst", memory.pessimistic, kDim, {}, "soft");
  return table;
}

std::string memory_text(const Estimate& e, const Subject& subject, const TextStyle& style) {
  const auto stage = fullest_stage(e);
  if (!stage) return "";
  const MemoryReport& memory = e.stages[*stage].memory;
  std::string remark = e.stages.size() > 1 ? fmt::format("stage {}, the fullest", *stage) : "";
  if (!memory.moment.empty()) remark += (remark.empty() ? "" : ": ") + printable(memory.moment);
  std::string out = heading("Memory of a " + subject.accelerator, remark, style) +
                    memory_table(e, memory).text(style);
  if (!memory.rank_class.empty()) out += "  on " + printable(memory.rank_class) + "\n";
  return out;
}

std::vector<StageRange> equal_stages(const Estimate& e) {
  const auto same = [](const StageReport& a, const StageReport& b) {
    return a.site == b.site && a.layers == b.layers && a.forward == b.forward &&
           a.backward == b.backward && a.busy == b.busy && a.memory.peak == b.memory.peak;
  };
  std::vector<StageRange> out;
  for (std::size_t i = 0; i < e.stages.size(); ++i) {
    if (!out.empty() && same(e.stages[out.back().first], e.stages[i])) {
      out.back().last = i;
    } else {
      out.push_back({i, i});
    }
  }
  return out;
}

std::string range_words(const StageRange& range) {
  return range.first == range.last ? std::to_string(range.first)
                                   : fmt::format("{}-{}", range.first, range.last);
}

std::string layers_words(const StageReport& stage) {
  const auto& layers = stage.layers;
  if (layers.empty()) return "0";
  if (layers.size() == 1) return std::to_string(layers[0]);
  const bool equal = std::ranges::all_of(layers, [&](int n) { return n == layers.front(); });
  if (equal) return fmt::format("{} x {}", layers.size(), layers.front());
  std::string by_chunk = joined(layers, "+");
  if (by_chunk.size() <= 12) return by_chunk;
  return fmt::format("{} in {}", std::accumulate(layers.begin(), layers.end(), 0), layers.size());
}

Table stage_table(const Estimate& e, bool colour, std::size_t most_rows) {
  Table table(right("stage", 9), right("layers", 2), right("forward", 2), right("backward", 2),
              right("busy").only(Form::page), right("busy", 3).on_page_as("of the step"),
              right("memory", 4),
              Column{.title = "of capacity", .importance = 0, .longest_bar = 44}.only(Form::text));
  const std::vector<StageRange> ranges = equal_stages(e);
  const auto critical = static_cast<std::size_t>(std::max(e.critical_stage, 0));
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    if (ranges.size() > most_rows && r == most_rows / 2) {
      table.row(dim("…"), "", "", "", "", "", "", "");
      r += ranges.size() - most_rows - 1;
      continue;
    }
    const StageReport& stage = e.stages[ranges[r].first];
    std::vector<BarSegment> composition;
    for (const MemoryPart& part : parts_of(stage.memory)) {
      composition.push_back(
          {share(part.bytes, stage.memory_capacity), {.colour = part.swatch.terminal}});
    }
    // Shades without a legend would say nothing: without colour the bar is the whole.
    if (!colour) composition = {{share(stage.memory.peak, stage.memory_capacity)}};
    const bool is_critical = critical >= ranges[r].first && critical <= ranges[r].last;
    const std::string site = stage.site.empty() ? "" : "  " + stage.site;
    table.row(cell(range_words(ranges[r]) + site, {.bold = is_critical}), layers_words(stage),
              stage.forward.seconds(), stage.backward.seconds(), stage.busy.seconds(),
              percent(e.step_time.value() > 0 ? stage.busy.seconds() / e.step_time : 0),
              gibibytes(stage.memory.peak), bar_of(std::move(composition)));
    if (is_critical) table.mark(RowLook::strong);
  }
  return table;
}

std::string assumed_text(const Estimate& e, const TextStyle& style) {
  if (e.assumed.empty()) return "";
  std::string out = heading("Assumed", "defaults that were filled in", style);
  return out + paragraph(style, joined(e.assumed, " · "));
}

namespace {

std::string stages_text(const Estimate& e, const TextStyle& style) {
  if (e.stages.size() < 2) return "";
  std::string out = section("Stages", "forward and backward of one microbatch",
                            stage_table(e, style.colour, 24), style);
  if (!style.colour) return out;
  std::string legend;
  int used = 0;
  for (const MemoryPart& part : parts_of(e.stages.front().memory)) {
    const int width = 4 + static_cast<int>(part.label.size());
    if (used + width > usable_width(style)) {
      legend += "\n";
      used = 0;
    }
    legend += "  " + painted("█", {.colour = part.swatch.terminal}, style) + " " +
              painted(part.label, kDim, style);
    used += width;
  }
  return out + legend + "\n";
}

}  // namespace

std::string estimate_text(const Estimate& e, const Subject& subject, const TextStyle& style) {
  std::string out = headline_text(e, subject, style);
  if (!e.bottleneck.empty()) out += "\n" + paragraph(style, "→ " + e.bottleneck);
  return out + breakdown_text(e, style) + memory_text(e, subject, style) + stages_text(e, style) +
         assumed_text(e, style);
}

std::string derivations_text(std::span<const Derivation> derivations, const TextStyle& style) {
  std::string out = heading("Derivations", "", style);
  for (const Derivation& d : derivations) {
    const int room = longest_line(style) - 2;
    const std::string figure = shortened(printable(d.figure), room);
    out += "\n  " + painted(figure, kBold, style);
    const int left = room - display_width(figure) - 3;
    if (left >= 6) out += painted(" = ", kDim, style) + shortened(printable(d.value), left);
    out += "\n" + wrapped(d.formula, 4, style);
    if (!d.inputs.empty()) out += wrapped("= " + d.inputs, 4, style);
    if (!d.source.empty()) out += wrapped("source: " + d.source, 4, style);
  }
  return out;
}

std::string sensitivity_text(std::span<const Sensitivity> rows, const TextStyle& style) {
  Table table(Column{.title = "10 % more of"}, right("step time"), right("saved"),
              Column{.title = "", .longest_bar = 40});
  const double most = rows.empty() ? 0 : std::max(rows.front().saved, 1e-9);
  for (const Sensitivity& row : rows) {
    table.row(row.resource, row.step_time, percent(row.saved), bar_of({{row.saved / most}}));
  }
  return section("What more would gain", "10 % more bandwidth or rate, 10 % less latency", table,
                 style);
}

std::string numerics_text(const PlanNumerics& numerics, const TextStyle& style) {
  Table table(left("products in", 6), right("step time", 5), right("saved", 4),
              right("relative rms", 4), right("times bf16", 4), left("deviation", 5), left("", 3));
  for (const FormatChoice& f : numerics.formats) {
    table.row_in({.bold = f.chosen}, f.format, f.step_time, signed_percent(f.saved),
                 fmt::format("{:.2e}", f.deviation), fmt::format("{:.2g}", f.times_bf16),
                 spaced(to_text(f.deviation_class)),
                 fmt::format("{}{}", f.on_front ? "on the front" : "",
                             f.chosen ? (f.on_front ? ", this plan" : "this plan") : ""));
  }
  std::string out = section("Time against deviation",
                            "the same plan in every format of the accelerator; rms of a product "
                            "with K = 4,096",
                            table, style) +
                    "\n";
  if (numerics.changes.empty()) {
    return out + paragraph(style, "The plan changes nothing against training in bf16.");
  }
  for (const NumericChange& c : numerics.changes) {
    out += paragraph(style,
                     "Changes against bf16: {}: relative rms {:.2e}, {:.2g} times bf16 "
                     "({})",
                     c.what, c.deviation, c.times_bf16, spaced(to_text(c.deviation_class)));
  }
  return out;
}

std::string traffic_text(const StepTraffic& traffic, std::string_view accelerator,
                         const TextStyle& style) {
  std::vector<Column> columns = {left("axis", 3)};
  for (const LevelTraffic& level : traffic.levels) columns.push_back(right(level.level, 2));
  Table table(std::move(columns));
  for (const AxisTraffic& axis : traffic.axes) {
    std::vector<Cell> row = {cell(axis.axis)};
    for (const Bytes bytes : axis.by_level)
      row.push_back(bytes > Bytes(0) ? cell(bytes) : dim("-"));
    table.add_row(std::move(row));
  }
  table.add_rule();
  std::vector<Cell> all = {bold("all")};
  std::vector<Cell> busy = {cell("of the step")};
  for (const LevelTraffic& level : traffic.levels) {
    all.push_back(bold(level.bytes));
    busy.push_back(cell(percent(level.use)));
  }
  table.add_row(std::move(all));
  table.add_row(std::move(busy));
  return section(
      "What crosses the network",
      fmt::format("bytes that leave a unit below each level, of one {} in one step", accelerator),
      table, style);
}

std::string flows_text(const StepFlows& flows, const TextStyle& style) {
  Table table(left("axis", 9), left("collective", 8), right("times", 2), right("closed form", 6),
              right("flows alone", 5), right("in the step", 7), left("busiest level", 4));
  std::string apart;
  for (const AxisFlows& a : flows.axes) {
    table.row(a.axis, a.collective, a.times, a.closed, a.alone, bold(a.shared), a.busiest);
    const double ratio = a.shared / a.closed;
    if (std::abs(ratio - 1) <= kAgree) continue;
    apart += paragraph(style, "{}, {}: flows take {:.2f} times the closed form", a.axis,
                       a.collective, ratio);
  }
  std::string out =
      section("Communication as flows", "summed over pipeline devices, in one step", table, style);
  out += paragraph(style, "The step takes {} with flows and {} with closed forms ({}).",
                   to_text(flows.time), to_text(flows.closed),
                   signed_percent(flows.time / flows.closed - 1));
  return out + apart;
}

std::string healthy_run_sentence(const HealthyRun& run) {
  std::string out = run.tokens ? compact(*run.tokens) + " tokens, if nothing fails: " : "";
  if (!run.tokens) out = "if nothing fails: ";
  out += fmt::format("{} in {} · {} {}-hours", counted(run.steps, "step"), span_words(run.wall),
                     compact(run.gpu_hours(run.wall)), run.accelerator);
  if (run.price) out += fmt::format(" · {} at {}", dollars(run.cost(run.wall)), run.price_name);
  if (run.power) out += " · " + watt_hours(run.energy(run.wall));
  if (run.carbon) {
    out += fmt::format(" · {} t of CO2", grouped(std::llround(run.carbon_kg(run.wall) / 1000)));
  }
  return out + "; orrery forecast adds failures";
}

std::string healthy_run_tiles(const HealthyRun& run) {
  std::string out =
      "<div class=\"tiles\">\n" +
      html_tile("Run, if nothing fails", span_words(run.wall),
                run.tokens ? compact(*run.tokens) + " tokens" : grouped(run.steps) + " steps") +
      html_tile(run.accelerator + "-hours", compact(run.gpu_hours(run.wall)),
                "on " + counted(run.accelerators, run.accelerator));
  if (run.price) out += html_tile("Cost", dollars(run.cost(run.wall)), "at " + run.price_name);
  if (run.power) {
    out += html_tile("Energy", watt_hours(run.energy(run.wall)), "at the design power");
  }
  return out + "</div>\n";
}

}  // namespace orrery
