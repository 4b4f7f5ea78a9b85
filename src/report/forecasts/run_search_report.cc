#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "document/results.h"
#include "outcome/enum_names.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/forecasts/forecast_reports.h"
#include "report/plans/plan_text.h"

namespace orrery {
namespace {

struct RunSearchDocument {
  const RunSearchResult& result;
  const Subject& subject;
  Seconds elapsed;
};

// Of the objective from the best run to another one.
double change(const RankedRun& run, const RunSearchResult& r) {
  return figure(r.objective, run) / figure(r.objective, r.runs.front()) - 1;
}

bool same_run(const RankedRun& a, const RankedRun& b) {
  return a.plan.gpus == b.plan.gpus && a.plan.plan == b.plan.plan;
}

std::string_view words_of(RunObjective objective) {
  static constexpr std::array kWords = {"goodput", "time to train", "cost"};
  static_assert(kWords.size() == enumerators<RunObjective>());
  return kWords[static_cast<std::size_t>(objective)];
}

}  // namespace

template <>
inline constexpr auto kResults<RankedRun> = table<RankedRun>(
    "ranked run", "A plan at a size of the run, with what the run gives.",
    field("gpus", "accelerators of the run", [](auto& r) { return r.plan.gpus; }),
    optional_field("spares", "nodes that stand ready, where their number is stated",
                   [](auto& r) { return r.spares; }),
    field("plan", "the plan", [](auto& r) { return r.plan.plan; }),
    field("settings", "what `orrery estimate --plan` takes for it",
          [](auto& r) { return plan_settings(r.plan.plan); }),
    field("step_time_s", "as orrery estimate predicts it; the median of the distribution",
          [](auto& r) { return r.plan.step_time; }),
    field("step_p95_s", "of the distribution of the step, which every step of the run takes",
          [](auto& r) { return r.step.p95.value; }),
    field("step_p95_low_s", "lower end of its 95 % interval",
          [](auto& r) { return r.step.p95.low; }),
    field("step_p95_high_s", "upper end of its 95 % interval",
          [](auto& r) { return r.step.p95.high; }),
    field("peak_memory_bytes", "of the worst stage", [](auto& r) { return r.plan.peak_memory; }),
    field("ettr", "mean", [](auto& r) { return r.run.ettr.mean; }),
    field("tokens_per_second", "goodput: tokens of a step / step_p95_s x ettr",
          [](auto& r) { return r.goodput(); }),
    field("steps", "of the run", [](auto& r) { return r.run.steps; }),
    field("wall_p50_s", "wall-clock time of the median run",
          [](auto& r) { return r.run.wall.p50.value; }),
    field("wall_p95_s", "95 % of the runs take less", [](auto& r) { return r.run.wall.p95.value; }),
    optional_field("cost_dollars", "mean, where there is a price",
                   [](auto& r) {
                     const RunForecast& f = r.run;
                     return f.price ? std::optional(f.cost(f.wall.mean).value()) : std::nullopt;
                   }),
    field("change", "of the objective over that of the best run, minus 1",
          [](auto& r, const RunSearchResult& result) { return change(r, result); }));

template <>
inline constexpr auto kResults<SearchedSize> =
    table<SearchedSize>("searched size", "A number of accelerators of the run.",
                        field<&SearchedSize::accelerators>("gpus", "accelerators of the run"),
                        field<&SearchedSize::considered>("shape-valid plans"),
                        field<&SearchedSize::simulated>("of these: predicted"),
                        field<&SearchedSize::sampled>("of these: their distribution was drawn"),
                        field<&SearchedSize::proven>("no plan that was not sampled can be better"),
                        field<&SearchedSize::no_run>("why there is none; empty: there is"));

template <>
inline constexpr auto kResults<RunSearchDocument> = table<RunSearchDocument>(
    "run search document", "The best plans and sizes of a whole run.", schema_version<1>(),
    field("model", "name of the model", [](auto& d) { return d.subject.model; }),
    field("cluster", "name of the cluster", [](auto& d) { return d.subject.cluster; }),
    field("objective", "what is best: goodput, time-to-train or cost",
          [](auto& d) { return d.result.objective; }),
    field("length_given", "false: of a run of 30 days, which is the matter of goodput alone",
          [](auto& d) { return d.result.length_given; }),
    field("runs", "best first, the best ones of every size", [](auto& d) { return d.result.runs; }),
    optional_field("shortest_step", "the run of the plan and size with the shortest step_time_s",
                   [](auto& d) { return d.result.fastest; }),
    field("as_good", "sampled plans of the winner's size within the interval of its step_p95_s",
          [](auto& d) { return d.result.as_good; }),
    field("sizes", "largest first", [](auto& d) { return d.result.sizes; }),
    field("interrupted", "the best so far", [](auto& d) { return d.result.interrupted; }),
    field("assumed", "sentences about the best run",
          [](auto& d) {
            return d.result.runs.empty() ? std::vector<std::string>()
                                         : d.result.runs.front().run.assumed;
          }),
    field("elapsed_s", "that the search took", [](auto& d) { return d.elapsed; }));

namespace {

Table runs_table(const RunSearchResult& r) {
  const auto some = [&](std::int64_t Plan::* degree) {
    return std::ranges::any_of(r.runs,
                               [&](const RankedRun& run) { return run.plan.plan.*degree > 1; });
  };
  const RankedRun& best = r.runs.front();
  const bool priced = r.length_given && best.run.price.has_value();
  Table table(left("", 7).telling_rows_apart(),
              right("GPUs").telling_rows_apart().shown_if(r.sizes.size() > 1),
              right("spares").shown_if(best.spares.has_value()), right("tp").telling_rows_apart(),
              right("cp").telling_rows_apart().shown_if(some(&Plan::cp)),
              right("pp").telling_rows_apart(),
              right("ep").telling_rows_apart().shown_if(some(&Plan::ep)), right("step p50", 3),
              right("p95", 8), right("ETTR", 5), right("tokens/s", 6),
              right("time, p95", 6).shown_if(r.length_given), right("cost", 6).shown_if(priced),
              right("beside best", 9));
  const auto add = [&](std::string_view place, const RankedRun& run, Ink ink) {
    const Plan& p = run.plan.plan;
    table.row_in(ink, place, run.plan.gpus, run.spares.value_or(0), p.tp, p.cp, p.pp, p.ep,
                 run.plan.step_time, run.step.p95.value, percent(run.run.ettr.mean),
                 compact(run.goodput()), span_words(run.run.wall.p95.value),
                 dollars(run.run.cost(run.run.wall.mean)),
                 &run == &best ? "" : signed_percent(change(run, r)));
  };
  for (std::size_t i = 0; i < r.runs.size(); ++i) {
    add(std::to_string(i + 1), r.runs[i], {.bold = i == 0});
  }
  if (r.fastest && std::ranges::none_of(
                       r.runs, [&](const RankedRun& run) { return same_run(run, *r.fastest); })) {
    table.add_rule();
    add("shortest step", *r.fastest, {});
  }
  return table;
}

// What the plan of the shortest step would have given instead.
std::string instead(const RunSearchResult& r) {
  if (!r.fastest) return "→ the size with the shortest step has no run";
  const RankedRun& best = r.runs.front();
  const RankedRun& other = *r.fastest;
  if (same_run(best, other)) return "→ the plan of the shortest step is also the best one";
  const auto over = [](double now, double then) { return signed_percent(now / then - 1); };
  std::string out =
      fmt::format("→ the plan of the shortest step, {} on {} GPUs, would give {} tokens/s ({})",
                  to_text(other.plan.step_time), grouped(other.plan.gpus), compact(other.goodput()),
                  over(other.goodput(), best.goodput()));
  if (!r.length_given) return out;
  const Seconds time = other.run.wall.p95.value;
  out += fmt::format(" and end within {} ({})", span_words(time),
                     over(time.value(), best.run.wall.p95.value.value()));
  if (!other.run.price) return out;
  const Dollars cost = other.run.cost(other.run.wall.mean);
  return out + fmt::format(" for {} ({})", dollars(cost),
                           over(cost.value(), best.run.cost(best.run.wall.mean).value()));
}

Table sizes_table(const RunSearchResult& r) {
  Table table(right("GPUs", 4), right("plans", 2), right("simulated", 2), right("sampled", 3),
              left("", 3));
  for (const SearchedSize& s : r.sizes) {
    table.row(s.accelerators, s.considered, s.simulated, s.sampled,
              !s.no_run.empty() ? "no run"
              : s.proven        ? "no other plan can be better"
                                : "a plan that was not sampled may be better");
  }
  return table;
}

// With the reasons of those that have no run.
std::string sizes_text(const RunSearchResult& r, const TextStyle& style) {
  std::string out =
      section("Sizes of the run", "sampled: plans whose steps were drawn", sizes_table(r), style);
  for (const SearchedSize& s : r.sizes) {
    if (!s.no_run.empty()) {
      out += paragraph(style, "{} GPUs: {}", grouped(s.accelerators), s.no_run);
    }
  }
  return out;
}

}  // namespace

Value run_search_json(const RunSearchResult& result, const Subject& subject, Seconds elapsed) {
  return answer(RunSearchDocument{result, subject, elapsed}, result);
}
const Description& run_search_document() { return description_of<RunSearchDocument>(); }

std::string run_search_text(const RunSearchResult& r, const Subject& subject, Seconds elapsed,
                            const TextStyle& style) {
  const std::string what = fmt::format("{} on {}", model_in_words(subject), subject.cluster);
  const auto title = [&](const std::string& words) {
    return title_line(words, style) + paragraph(style, in_words(subject.size));
  };
  if (r.runs.empty()) {
    return title((r.interrupted ? "Stopped before a run was found for " : "No plan fits: ") +
                 what) +
           sizes_text(r, style);
  }
  const RankedRun& best = r.runs.front();
  std::string out = title(fmt::format("Best by {} for {}", words_of(r.objective), what));
  const double tokens = static_cast<double>(best.plan.training.global_batch) *
                        static_cast<double>(best.plan.training.sequence_length);
  out +=
      paragraph(style, "{} in steps of {} tokens; every step takes the p95 of its distribution",
                r.length_given ? compact(static_cast<double>(best.run.steps) * tokens) + " tokens"
                               : "30 days",
                grouped(std::llround(tokens)));
  if (r.interrupted) out += paragraph(style, "interrupted: the best so far");
  if (elapsed.value() > 0) out += paragraph(style, "took " + to_text(elapsed));
  out += "\n" + runs_table(r).text(style) + "\n";
  out += fmt::format("  best: --plan {}\n", plan_settings(best.plan.plan));
  if (r.fastest && !same_run(best, *r.fastest)) {
    out += fmt::format("  shortest step: --plan {}\n", plan_settings(r.fastest->plan.plan));
  }
  out += "\n";
  out += paragraph(style, instead(r));
  out += paragraph(
      style, "{} samples of a step, {} runs: p95 of the best step lies between {} and {}{}",
      grouped(kSearchedSamples), grouped(best.run.runs), to_text(best.step.p95.low),
      to_text(best.step.p95.high),
      r.as_good > 1
          ? fmt::format("; {} other {} of this size {} not above that", grouped(r.as_good - 1),
                        r.as_good == 2 ? "plan" : "plans", r.as_good == 2 ? "is" : "are")
          : "");
  return out + sizes_text(r, style) + assumed_text(best.run.assumed, style);
}

template <>
inline constexpr auto kResults<SizeChoice> = table<SizeChoice>(
    "size", "A size of a model, and what it is trained on.",
    field<&SizeChoice::choice>("least compute, smallest model, largest model or least loss"),
    field<&SizeChoice::size, &Allocation::parameters>("parameters", "that the law counts"),
    field<&SizeChoice::size, &Allocation::tokens>("tokens", "of the run"),
    field<&SizeChoice::size, &Allocation::loss>("loss", "nats a token"),
    field("compute_flops", "6 x parameters x tokens", [](auto& c) { return c.size.compute(); }),
    field<&SizeChoice::critical_batch>("critical_batch_tokens",
                                       "beyond which a batch costs tokens"));

template <>
inline constexpr auto kResults<SizeAnswer> = table<SizeAnswer>(
    "sizes document", "Which sizes of a model a scaling law says.", schema_version<1>(),
    field<&SizeAnswer::law>("name in the catalog"), field<&SizeAnswer::choices>("one or more"),
    field<&SizeAnswer::assumed>("sentences"));

Value sizes_json(const SizeAnswer& a) { return answer(a); }
const Description& sizes_document() { return description_of<SizeAnswer>(); }

std::string sizes_text(const SizeAnswer& answer, const TextStyle& style) {
  Table table(left(answer.law, 4), right("parameters", 3), right("tokens", 3),
              right("a parameter", 2), right("FLOPs", 3), right("loss", 3),
              right("critical batch", 2));
  for (const SizeChoice& c : answer.choices) {
    table.row(c.choice, billions(c.size.parameters), compact(c.size.tokens),
              fmt::format("{:.3g}", c.size.tokens / c.size.parameters),
              fmt::format("{:.3g}", c.size.compute()), fmt::format("{:.4f}", c.size.loss),
              compact(c.critical_batch) + " tokens");
  }
  return table.text(style) + assumed_text(answer.assumed, style);
}

}  // namespace orrery
