#include "report/plans/plan_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include "document/results.h"
#include "report/drawing/html_page.h"
#include "report/drawing/table.h"
#include "report/plans/plan_reports.h"
#include "report/plans/plan_text.h"

namespace orrery {
namespace {

double tokens_per_second_per_gpu(const Estimate& e) {
  return e.gpus > 0 ? e.tokens_per_second / e.gpus : 0;
}

// What is compared: a column of figures, of which the least or the most is the best.
struct Figure {
  std::string_view title;
  bool most_is_best;
  int importance;
  std::optional<double> (*value)(const ComparedCell&);
  std::string (*words)(const ComparedCell&);
};

template <auto kValue>
std::optional<double> of_estimate(const ComparedCell& cell) {
  return cell.estimate ? std::optional(kValue(*cell.estimate)) : std::nullopt;
}
template <auto kValue>
std::optional<double> of_run(const ComparedCell& cell) {
  return cell.run ? kValue(*cell.run) : std::nullopt;
}
constexpr auto kStep = [](const Estimate& e) { return e.step_time.value(); };
constexpr auto kMfu = [](const Estimate& e) { return e.mfu; };
constexpr auto kThroughput = [](const Estimate& e) { return e.tokens_per_second; };
constexpr auto kPerGpu = [](const Estimate& e) { return tokens_per_second_per_gpu(e); };
constexpr auto kMemory = [](const Estimate& e) { return static_cast<double>(e.peak_memory); };
constexpr auto kWall = [](const HealthyRun& r) { return std::optional(r.wall.value()); };
constexpr auto kGpuHours = [](const HealthyRun& r) { return std::optional(r.gpu_hours(r.wall)); };
constexpr auto kCost = [](const HealthyRun& r) {
  return r.price ? std::optional(r.cost(r.wall).value()) : std::nullopt;
};
constexpr auto kEnergy = [](const HealthyRun& r) {
  return r.power ? std::optional(r.energy(r.wall).value()) : std::nullopt;
};

constexpr std::array kFigures = {
    Figure{"step", false, 9, of_estimate<kStep>,
           [](const ComparedCell& c) { return to_text(c.estimate->step_time); }},
    Figure{"MFU", true, 6, of_estimate<kMfu>,
           [](const ComparedCell& c) { return percent(c.estimate->mfu); }},
    Figure{"tokens/s", true, 5, of_estimate<kThroughput>,
           [](const ComparedCell& c) { return compact(c.estimate->tokens_per_second); }},
    Figure{"per GPU", true, 4, of_estimate<kPerGpu>,
           [](const ComparedCell& c) { return compact(tokens_per_second_per_gpu(*c.estimate)); }},
    Figure{"memory", false, 5, of_estimate<kMemory>,
           [](const ComparedCell& c) { return gibibytes(c.estimate->peak_memory); }},
    Figure{"run", false, 7, of_run<kWall>,
           [](const ComparedCell& c) { return span_words(c.run->wall); }},
    Figure{"GPU-hours", false, 3, of_run<kGpuHours>,
           [](const ComparedCell& c) { return compact(c.run->gpu_hours(c.run->wall)); }},
    Figure{"cost", false, 7, of_run<kCost>,
           [](const ComparedCell& c) { return dollars(c.run->cost(c.run->wall)); }},
    Figure{"energy", false, 2, of_run<kEnergy>,
           [](const ComparedCell& c) { return watt_hours(c.run->energy(c.run->wall)); }}};

// The cell with the best of a figure, of equal ones the first; nothing where no cell fits.
std::optional<std::size_t> best_of(const PlanComparison& c, const Figure& figure) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < c.cells.size(); ++i) {
    const auto value = figure.value(c.cells[i]);
    if (!value || !fits(c.cells[i])) continue;
    const double worse = figure.most_is_best ? -*value : *value;
    if (best && !(worse < least)) continue;
    best = i;
    least = worse;
  }
  return best;
}

// Why a cell is not among those that are compared; empty: it is.
std::string reason_of(const ComparedCell& cell) {
  if (!cell.estimate) return cell.refused;
  if (fits(cell)) return "";
  return fmt::format("does not fit: it needs {} and has {}", gibibytes(cell.estimate->peak_memory),
                     gibibytes(cell.estimate->memory_capacity));
}

struct NumberedCell {
  const PlanComparison& of;
  std::size_t index;
  [[nodiscard]] const ComparedCell& cell() const { return of.cells[index]; }
};

struct ComparisonDocument {
  const PlanComparison& of;
};

struct BestCells {
  const PlanComparison& of;
  [[nodiscard]] std::optional<std::size_t> number(std::string_view title) const {
    const auto best = best_of(of, *std::ranges::find(kFigures, title, &Figure::title));
    return best ? std::optional(*best + 1) : std::nullopt;
  }
};

// The value of the cell on the axis of that name; nothing where nothing is stated.
std::optional<std::string> asked(const NumberedCell& c, std::string_view axis) {
  const auto at = std::ranges::find(c.of.axes, axis, &ComparisonAxis::name);
  if (at == c.of.axes.end()) return std::nullopt;
  const std::string& value = c.cell().values[static_cast<std::size_t>(at - c.of.axes.begin())];
  return value.empty() ? std::nullopt : std::optional(value);
}

constexpr auto kPicoseconds = [](Seconds time) { return round_to_picoseconds(time); };

// A member of the estimate of a cell, or what a function makes of it; absent where it is not
// finite.
template <auto... kMembers>
constexpr auto of_cell(std::string_view key, std::string_view sentence) {
  return optional_field(key, sentence, [](const NumberedCell& c) {
    std::optional<std::remove_cvref_t<decltype(member<kMembers...>(*c.cell().estimate))>> out;
    if (c.cell().estimate) out = member<kMembers...>(*c.cell().estimate);
    if constexpr (std::is_same_v<decltype(out), std::optional<double>>) {
      if (out && !std::isfinite(*out)) out.reset();
    }
    return out;
  });
}

}  // namespace

bool fits(const ComparedCell& cell) {
  return cell.estimate && cell.estimate->verdict != Verdict::does_not_fit;
}

template <>
inline constexpr auto kResults<NumberedCell> = table<NumberedCell>(
    "compared cell", "One combination of what is compared.",
    field("cell", "its number, from 1", [](auto& c) { return c.index + 1; }),
    optional_field("model", "as asked", [](auto& c) { return asked(c, "model"); }),
    optional_field("on", "the cluster, as asked", [](auto& c) { return asked(c, "on"); }),
    optional_field("workload", "as asked; absent: of the specification, or training",
                   [](auto& c) { return asked(c, "workload"); }),
    optional_field("software", "as asked", [](auto& c) { return asked(c, "software"); }),
    optional_field("set", "settings that are changed, as asked, with ; between them",
                   [](auto& c) {
                     std::string all;
                     for (std::size_t i = 0; i < c.of.axes.size(); ++i) {
                       if (c.of.axes[i].name != "set") continue;
                       all += (all.empty() ? "" : ";") + c.cell().values[i];
                     }
                     return all.empty() ? std::nullopt : std::optional(all);
                   }),
    optional_field("plan",
                   "what `orrery estimate --plan` takes for the plan; of a cell that is "
                   "refused, as asked",
                   [](auto& c) {
                     const auto& e = c.cell().estimate;
                     return e ? std::optional(plan_settings(e->plan)) : asked(c, "plan");
                   }),
    of_cell<&Estimate::training, &Training::sequence_length>("sequence_length",
                                                             "tokens of a sequence"),
    of_cell<&Estimate::training, &Training::global_batch>("global_batch", "sequences of a step"),
    of_cell<&Estimate::training, &Training::precision>("precision", "of the matrix products"),
    of_cell<&Estimate::gpus>("gpus", "GPUs used"),
    of_cell<&Estimate::breakdown, &Breakdown::total>("step_time_s", "time of one step"),
    of_cell<&Estimate::interval, &StepTimeInterval::low, kPicoseconds>(
        "step_time_low_s", "lower end of its interval, as of orrery estimate"),
    of_cell<&Estimate::interval, &StepTimeInterval::high, kPicoseconds>(
        "step_time_high_s", "upper end of its interval"),
    of_cell<&Estimate::interval, &StepTimeInterval::extrapolates>("extrapolates",
                                                                  "no step like this was measured"),
    of_cell<&Estimate::mfu>("mfu", "model FLOPs utilisation, share of peak"),
    of_cell<&Estimate::hfu>("hfu", "the same with recomputation"),
    of_cell<&Estimate::tokens_per_second>("tokens_per_s", "tokens a second of all GPUs together"),
    of_cell<kPerGpu>("tokens_per_s_per_gpu", "tokens a second of one GPU"),
    of_cell<&Estimate::peak_memory>("peak_memory_bytes", "expected peak of the fullest stage"),
    of_cell<&Estimate::memory_capacity>("memory_capacity_bytes", "memory of a GPU"),
    of_cell<&Estimate::verdict>("verdict", "whether it fits"),
    of_cell<&Estimate::bottleneck>("bottleneck", "what limits the step"),
    optional_field("run", "with --tokens: the run if nothing fails",
                   [](auto& c) { return c.cell().run; }),
    optional_field("reason", "why it is refused or does not fit", [](auto& c) {
      std::string reason = reason_of(c.cell());
      return reason.empty() ? std::nullopt : std::optional(std::move(reason));
    }));

template <>
inline constexpr auto kResults<BestCells> = table<BestCells>(
    "best cells", "Numbers of the best cells that fit; of equal ones the first.",
    optional_field("step_time_s", "shortest", [](auto& b) { return b.number("step"); }),
    optional_field("mfu", "highest", [](auto& b) { return b.number("MFU"); }),
    optional_field("tokens_per_s", "most", [](auto& b) { return b.number("tokens/s"); }),
    optional_field("tokens_per_s_per_gpu", "most", [](auto& b) { return b.number("per GPU"); }),
    optional_field("peak_memory_bytes", "least", [](auto& b) { return b.number("memory"); }),
    optional_field("wall_s", "shortest run", [](auto& b) { return b.number("run"); }),
    optional_field("gpu_hours", "fewest", [](auto& b) { return b.number("GPU-hours"); }),
    optional_field("cost_dollars", "least", [](auto& b) { return b.number("cost"); }),
    optional_field("energy_joules", "least", [](auto& b) { return b.number("energy"); }));

template <>
inline constexpr auto kResults<ComparisonAxis> =
    table<ComparisonAxis>("comparison axis", "What was stated of every cell.",
                          field<&ComparisonAxis::name>("the option, without --; model"),
                          field<&ComparisonAxis::values>("how many; more than 1: it is compared"));

template <>
inline constexpr auto kResults<ComparisonDocument> = table<ComparisonDocument>(
    "comparison document", "Predicted steps side by side.", schema_version<1>(),
    field("axes", "what is compared, the last one varying fastest",
          [](auto& d) { return d.of.axes; }),
    field("best", "the best cell of each figure", [](auto& d) { return BestCells{d.of}; }),
    field("cells", "every combination", [](auto& d) {
      std::vector<NumberedCell> out;
      for (std::size_t i = 0; i < d.of.cells.size(); ++i) out.push_back({d.of, i});
      return out;
    }));

namespace {

constexpr std::string_view kBest = "* ";

// "3 plans", of an axis by its option.
std::string in_words(const ComparisonAxis& axis) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords = {
      {{"model", "models"},
       {"on", "clusters"},
       {"plan", "plans"},
       {"seq", "sequence lengths"},
       {"global-batch", "global batches"},
       {"workload", "workloads"},
       {"precision", "precisions"},
       {"software", "software profiles"},
       {"set", "settings"}}};
  const auto words = std::ranges::find(kWords, axis.name, [](const auto& w) { return w.first; });
  return fmt::format("{} {}", axis.values, words != kWords.end() ? words->second : axis.name);
}

// How many cells there are, and what is the same in all of them.
std::string title_of(const PlanComparison& c) {
  std::string varied;
  std::string same;
  for (std::size_t i = 0; i < c.axes.size(); ++i) {
    const ComparisonAxis& axis = c.axes[i];
    if (axis.values > 1) {
      varied += (varied.empty() ? ": " : " x ") + in_words(axis);
    } else if (!c.cells.front().values[i].empty()) {
      const std::string& value = c.cells.front().values[i];
      same += " · " + (axis.name == "model" ? value : axis.name + " " + value);
    }
  }
  return counted(std::ssize(c.cells), "prediction") + varied + same;
}

constexpr std::string_view kGpu = "GPU";

// What an accelerator of any cell is called: "GPU" only if all are GPUs, as in one cluster.
std::string_view accelerator_of(const PlanComparison& c) {
  const auto other = std::ranges::find_if(
      c.cells, [](const ComparedCell& cell) { return cell.estimate && cell.accelerator != kGpu; });
  return other != c.cells.end() ? other->accelerator : kGpu;
}

// The title of a figure of GPUs with what they are called.
std::string with_accelerator(std::string_view title, std::string_view accelerator) {
  std::string out(title);
  if (const std::size_t at = out.find(kGpu); at != std::string::npos) {
    out.replace(at, kGpu.size(), accelerator);
  }
  return out;
}

Table comparison_table(const PlanComparison& c) {
  const std::string_view accelerator = accelerator_of(c);
  const bool chosen =
      std::ranges::none_of(c.axes, [](const ComparisonAxis& axis) { return axis.name == "plan"; });
  std::vector<Column> columns = {right("#", 8)};
  for (const ComparisonAxis& axis : c.axes) {
    columns.push_back(left(axis.name).telling_rows_apart().shown_if(axis.values > 1));
  }
  columns.push_back(left("plan", 1).shown_if(chosen));
  std::vector<std::optional<std::size_t>> best;
  for (const Figure& figure : kFigures) {
    best.push_back(best_of(c, figure));
    const bool known = std::ranges::any_of(
        c.cells, [&](const ComparedCell& cell) { return figure.value(cell).has_value(); });
    columns.push_back(
        right(with_accelerator(figure.title, accelerator), figure.importance).shown_if(known));
  }
  columns.push_back(left("verdict", 8));
  columns.push_back(page_bars().on_page_as(fmt::format("tokens/s per {}", accelerator)));
  Table table(std::move(columns));
  const auto& fastest = best[3];
  const double most = fastest ? tokens_per_second_per_gpu(*c.cells[*fastest].estimate) : 0;
  for (std::size_t i = 0; i < c.cells.size(); ++i) {
    const ComparedCell& of = c.cells[i];
    const Ink ink = {.dim = !fits(of)};
    std::vector<Cell> row = {dim(std::to_string(i + 1))};
    for (const std::string& value : of.values) row.push_back(cell(value, ink));
    row.push_back(cell(of.estimate ? plan_settings(of.estimate->plan) : "", ink));
    for (std::size_t f = 0; f < kFigures.size(); ++f) {
      const bool known = kFigures[f].value(of).has_value();
      const std::string words = known ? kFigures[f].words(of) : "-";
      row.push_back(best[f] == i ? bold(std::string(kBest) + words) : cell(words, ink));
    }
    row.push_back(
        of.estimate ? cell(style_of(of.estimate->verdict).words, style_of(of.estimate->verdict).ink)
                    : cell("✗ refused", style_of(Verdict::does_not_fit).ink));
    row.push_back(fits(of) && most > 0 ? bar_of({{tokens_per_second_per_gpu(*of.estimate) / most}})
                                       : Cell());
    table.add_row(std::move(row));
  }
  return table;
}

// "1, 3-5", of ascending indices from 0.
std::string ranges_of(const std::vector<std::size_t>& rows) {
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", rows[i] + 1);
    if (last > i) out += fmt::format("-{}", rows[last] + 1);
    i = last;
  }
  return out;
}

// The reasons of the cells that are not compared, each with the rows it is that of.
Table reasons_table(const PlanComparison& c) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> reasons;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < c.cells.size(); ++i) {
    std::string reason = reason_of(c.cells[i]);
    if (reason.empty()) continue;
    const auto [at, added] = known.emplace(reason, reasons.size());
    if (added) reasons.emplace_back(std::move(reason), std::vector<std::size_t>());
    reasons[at->second].second.push_back(i);
  }
  Table table(left("rows").telling_rows_apart(), left("why", 9));
  for (const auto& [reason, rows] : reasons) table.row(ranges_of(rows), printable(reason));
  return table;
}

std::vector<std::string> remarks_of(const PlanComparison& c) {
  std::vector<std::string> out;
  if (std::ranges::any_of(c.cells, fits)) {
    out.emplace_back("* the best of its column among the plans that fit");
  }
  if (std::ranges::any_of(c.cells, [](const ComparedCell& x) { return x.run.has_value(); })) {
    out.emplace_back("runs in which nothing fails; orrery forecast adds failures");
  }
  return out;
}

// A field of a record, quoted where it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// The keys of a description in order, those of maps within it in place of the map, with their
// values in a row; a value that is absent is null.
void add_record(const Description& description, const Value& row, const auto& add) {
  for (const FieldDescription& field : description.fields) {
    const Value* found = row.find(field.key);
    const Value value = found != nullptr ? *found : Value::null();
    if (field.shape.kind == ValueShape::Kind::map) {
      add_record(field.shape.map(), value, add);
    } else {
      add(field.key, value);
    }
  }
}

}  // namespace

Result<PlanComparison> compare_plans(std::vector<ComparisonAxis> axes, int threads,
                                     const PredictCell& predict, const Progressed& progressed) {
  std::size_t cells = 1;
  for (const ComparisonAxis& axis : axes) {
    cells *= axis.values;
    if (cells > kMostCells) {
      return unsupported(fmt::format("more than {} combinations", kMostCells), "",
                         "shorten a list, or compare in several runs");
    }
  }
  PlanComparison out{std::move(axes), std::vector<ComparedCell>(cells)};
  std::vector<std::optional<Error>> refusals(cells);
  parallel_for(
      cells, threads,
      [&](std::size_t i) {
        if (const auto done = predict(i, out.cells[i]); !done) {
          refusals[i] = done.error();
          out.cells[i].refused = done.error().text();
        }
      },
      progressed);
  if (std::ranges::all_of(refusals, &std::optional<Error>::has_value)) {
    Error first = *refusals.front();
    if (cells > 1) {
      first.message.insert(0, fmt::format("none of {} cells can be predicted; the first: ", cells));
    }
    return fail(std::move(first));
  }
  return out;
}

std::string plan_comparison_text(const PlanComparison& c, const TextStyle& style) {
  std::string out = paragraph(style, title_of(c)) + "\n" + comparison_table(c).text(style);
  for (const std::string& remark : remarks_of(c)) out += paragraph(style, remark);
  return out + section("Not compared", "", reasons_table(c), style);
}

std::string plan_comparison_html(const PlanComparison& c) {
  const std::string remarks = fmt::format("{}", fmt::join(remarks_of(c), " · "));
  return html_page(title_of(c), html_headline("comparison", title_of(c), "") +
                                    html_section("Side by side", remarks, comparison_table(c)) +
                                    html_section("Not compared", "refused, or too large for memory",
                                                 reasons_table(c)));
}

Value plan_comparison_json(const PlanComparison& c) { return answer(ComparisonDocument{c}); }

std::string plan_comparison_csv(const PlanComparison& c) {
  std::string out;
  const Description& description = description_of<NumberedCell>();
  add_record(description, Value::null(),
             [&](const std::string& key, const Value&) { out += key + ","; });
  out.back() = '\n';
  for (std::size_t i = 0; i < c.cells.size(); ++i) {
    add_record(
        description, answer(NumberedCell{c, i}), [&](const std::string&, const Value& value) {
          out += csv_field(value.kind() == Value::Kind::null ? "" : value.scalar_text()) + ",";
        });
    out.back() = '\n';
  }
  return out;
}

const Description& plan_comparison_document() { return description_of<ComparisonDocument>(); }

}  // namespace orrery
