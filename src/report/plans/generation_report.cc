#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "document/results.h"
#include "report/drawing/category_style.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/plans/plan_reports.h"
#include "report/plans/plan_text.h"

namespace orrery {

std::string generation_text(const Generation& g, const TextStyle& style) {
  const double images = static_cast<double>(g.images);
  std::string out = paragraph(style, "{}: {} of {} in {} steps{} on {}", g.model,
                              g.images == 1 ? "one" : grouped(g.images), in_words(g.image), g.steps,
                              g.guidance ? " with guidance" : "", counted(g.gpus, g.accelerator));
  out += paragraph(style, plan_sentence(g.plan, g.accelerator) + " · " + g.software);
  out += paragraph(style, "{} in all, {} an image or video; memory {} of {}: {}", to_text(g.time),
                   to_text(g.time / images), gibibytes(g.memory), gibibytes(g.memory_capacity),
                   style_of(g.verdict).words);
  Table table(left("part", 8).telling_rows_apart(), left("model", 7), right("parameters", 3),
              right("batch", 4), right("FLOPs", 3), right("runs", 6), right("one run", 6),
              right("time", 8), right("share", 7));
  for (const GenerationPart& p : g.parts) {
    table.row(p.role, p.model, billions(p.parameters), p.batch, flops_text(p.flops.value()),
              fmt::format("{:g}", p.times), p.once, p.time, percent(p.time / g.time));
  }
  out += "\n" + table.text(style);
  if (g.assumed.empty()) return out;
  return out + paragraph(style, "assumed: {}", fmt::join(g.assumed, " · "));
}

std::string generation_errors_text(const GenerationErrors& errors, const TextStyle& style) {
  Table table(left("measured", 9), right("time", 8), right("predicted", 8), right("error", 8),
              left("plan", 2));
  std::map<std::string, int> left_out;  // by reason
  for (const GenerationRow& r : errors.rows) {
    if (r.predicted) {
      table.row(r.what, r.measured, *r.predicted, signed_percent(r.error()), r.plan);
    } else {
      ++left_out[r.left_out];
    }
  }
  std::string out =
      table.text(style) + paragraph(style,
                                    "{} of {} rows predicted: median of absolute errors {}, "
                                    "ninth decile {}",
                                    errors.predicted, errors.rows.size(), percent(errors.median),
                                    percent(errors.p90));
  for (const auto& [reason, count] : left_out) {
    out += paragraph(style, "left out: {}: {}", counted(count, "row"), reason);
  }
  return out;
}

Table operator_table(const std::vector<OperatorShare>& operators) {
  Table table(left("operator", 9).telling_rows_apart(), left("part of", 5), right("kernels", 4),
              right("time", 8), right("share", 7), right("of model FLOPs", 6), bars(0, 32));
  for (const OperatorShare& o : operators) {
    const std::string_view colour = to_text(o.category);
    table.row(Cell{.text = o.name, .swatch = colour}, label(o.category), o.count, o.time,
              percent(o.time_share), o.flops_share > 0 ? percent(o.flops_share) : std::string(),
              bar_of({{o.time_share, {.colour = swatch(o.category).terminal}, colour}}));
  }
  return table;
}

std::string operators_text(const OperatorShares& shares, const TextStyle& style) {
  std::string out = heading("By operator", "kernels of one microbatch, all layers", style) +
                    operator_table(shares.operators).text(style);
  if (shares.attention.empty()) return out;
  // Layers in a row that see the same are one row.
  Table profile(left("layers", 9).telling_rows_apart(), left("block", 5), left("attention", 7),
                right("queries", 8), right("keys", 8), bars(0, 32));
  double longest = 0;
  for (const LayerAttention& a : shares.attention) longest = std::max(longest, a.queries);
  const std::vector<LayerAttention>& all = shares.attention;
  const auto same = [](const LayerAttention& a, const LayerAttention& b) {
    return a.block == b.block && a.name == b.name && a.queries == b.queries && a.keys == b.keys;
  };
  std::vector<bool> shown(all.size(), false);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (shown[i]) continue;
    std::size_t last = all[i].layer;
    for (std::size_t j = i; j < all.size() && all[j].layer <= last + 1; ++j) {
      if (!same(all[i], all[j])) continue;
      shown[j] = true;
      last = all[j].layer;
    }
    profile.row(
        all[i].layer == last ? fmt::format("{}", last) : fmt::format("{}-{}", all[i].layer, last),
        all[i].block, all[i].name, fmt::format("{:g}", all[i].queries),
        fmt::format("{:g}", all[i].keys),
        bar_of(
            {{all[i].queries / longest, {.colour = swatch(Category::attention_core).terminal}}}));
  }
  return out + heading("What attention sees", "tokens of one sequence", style) +
         profile.text(style);
}

template <>
inline constexpr auto kResults<GenerationPart> = table<GenerationPart>(
    "generation part", "A network that runs while an image is made.",
    field<&GenerationPart::role>("text encoder, denoiser, control network or decoder"),
    field<&GenerationPart::model>("its name"), field<&GenerationPart::parameters>("of the network"),
    field<&GenerationPart::batch>("samples of one run; with guidance two an image"),
    field("flops", "of one run, all GPUs", [](auto& p) { return p.flops.value(); }),
    field<&GenerationPart::times>("how often it runs"),
    field<&GenerationPart::once>("once_s", "one run"),
    field<&GenerationPart::time>("time_s", "all runs"),
    field<&GenerationPart::memory>("memory_bytes", "of the fullest GPU while it runs alone"));

template <>
inline constexpr auto kResults<Generation> = table<Generation>(
    "generation", "An image or video that is made, network by network.", schema_version<1>(),
    constant("kind", "what the document is", "generation"),
    field<&Generation::model>("the denoiser"), field<&Generation::image>("pixels and frames"),
    field<&Generation::images>("made at once"),
    field<&Generation::steps>("evaluations of the denoiser, without those of guidance"),
    field<&Generation::guidance>("each step is evaluated with and without the prompt"),
    field<&Generation::gpus>("accelerators"), field<&Generation::plan>("of the denoiser"),
    field<&Generation::software>("the profile of the framework"),
    field<&Generation::time>("time_s", "of all parts, one after the other"),
    field<&Generation::memory>("memory_bytes", "all weights, and what the fullest part needs"),
    field<&Generation::memory_capacity>("memory_capacity_bytes", "of a GPU"),
    field<&Generation::verdict>("whether it fits"),
    field<&Generation::parts>("in the order in which they run"),
    field<&Generation::assumed>("what was filled in"));

template <>
inline constexpr auto kResults<GenerationRow> = table<GenerationRow>(
    "generation row", "A measured time beside its prediction.",
    field<&GenerationRow::where>("file and line"), field<&GenerationRow::what>("in words"),
    field<&GenerationRow::plan>("in its text form"),
    field<&GenerationRow::measured>("measured_s", "of the image, video or step"),
    optional_field("predicted_s", "absent: left out", [](auto& r) { return r.predicted; }),
    field<&GenerationRow::left_out>("why there is no prediction; empty: there is one"));

template <>
inline constexpr auto kResults<GenerationErrors> = table<GenerationErrors>(
    "generation errors", "Measured times of images and videos beside their predictions.",
    schema_version<1>(), constant("kind", "what the document is", "generation-errors"),
    field<&GenerationErrors::rows>("in the order of the files"),
    field<&GenerationErrors::predicted>("rows with a prediction"),
    field<&GenerationErrors::median>("median_error", "of absolute relative errors"),
    field<&GenerationErrors::p90>("p90_error", "their ninth decile"));

Value generation_errors_json(const GenerationErrors& errors) { return answer(errors); }
const Description& generation_errors_document() { return description_of<GenerationErrors>(); }

Value generation_json(const Generation& generation) { return answer(generation); }
const Description& generation_document() { return description_of<Generation>(); }

}  // namespace orrery
