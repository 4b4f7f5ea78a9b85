#include <fmt/format.h>

#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

constexpr int kLongestOperation = 44;

std::string in_percent(const std::optional<double>& share) { return share ? percent(*share) : "-"; }

std::string_view law_of(const FittedSpread& row) {
  if (!row.nearest) return "too few";
  return row.empirical() ? "empirical" : to_text(row.nearest->law.law);
}

Table kind_table(const FittedSpreads& spreads) {
  Table table(left("", 4), right("recorded", 4), left("law", 4), right("samples", 3),
              right("kept", 4), left("because", 2));
  for (const KindSpread& kind : spreads.kinds) {
    const bool kept = !kind.kept_because.empty();
    const auto number = [&](double value) {
      return kind.key.ends_with("correlation") ? fmt::format("{:.3g}", value) : percent(value);
    };
    table.row(kind.key, kept ? "" : number(kind.value),
              kind.law ? to_text(kind.law->law.law) : std::string_view(), kind.samples,
              kept ? number(kind.kept) : "", kind.kept_because);
  }
  return table;
}

Table operation_table(const FittedSpreads& spreads, std::size_t top) {
  Table table(left("", 9).at_least(18), left("of", 8).at_least(22), right("samples", 3),
              right("mean", 4), right("varies by", 7), right("spatial", 6), right("temporal", 6),
              right("in a step", 1), left("law", 5).at_least(10), right("distance", 2),
              right("at most", 1));
  for (const FittedSpread& row : first(spreads.rows, top)) {
    table.row(shortened(printable(row.signature.name), kLongestOperation),
              shortened(printable(row.signature.form), kLongestOperation), row.samples, row.mean,
              percent(row.variation), in_percent(row.parts.spatial), in_percent(row.parts.temporal),
              in_percent(row.parts.within), law_of(row),
              row.nearest ? fmt::format("{:.3f}", row.nearest->distance) : "",
              row.nearest ? fmt::format("{:.3f}", row.largest_distance()) : "");
  }
  return table;
}

}  // namespace

std::string spreads_text(const FittedSpreads& spreads, std::size_t top, const TextStyle& style) {
  std::int64_t waited = 0;
  for (const FittedSpread& row : spreads.rows) waited += row.waited;
  std::string out =
      paragraph(style, "{} durations of {} operations, from {} in {}", grouped(spreads.samples),
                grouped(static_cast<std::int64_t>(spreads.rows.size())),
                counted(spreads.ranks, "rank"), counted(spreads.steps, "step"));
  out += section("What a forecast draws from",
                 fmt::format("standard deviation over mean; kept: of {}", spreads.kept_name),
                 kind_table(spreads), style);
  out += section("Operations", "most time first", operation_table(spreads, top), style);
  for (const std::string& sentence : spreads.remarks) out += paragraph(style, sentence);
  if (waited > 0) {
    out += paragraph(style,
                     "{} communications are left out as transfers that waited: not all "
                     "of their ranks are recorded, and Otsu's threshold parts them",
                     grouped(waited));
  }
  for (const std::string& sentence : spreads.assumed) {
    out += paragraph(style, "Assumed: " + sentence);
  }
  return out;
}

template <>
inline constexpr auto kResults<FittedSpread> = table<FittedSpread>(
    "operation spread", "How much one operation varies.",
    field("work", "what a forecast draws it with", [](auto& r) { return r.signature.work; }),
    field("name", "of the kernel, collective or operation",
          [](auto& r) { return words(r.signature.name); }),
    field("form", "its shapes or grid, its group and bytes, its stage",
          [](auto& r) { return words(r.signature.form); }),
    field<&FittedSpread::samples>("that were fitted; of a collective one an instance"),
    field<&FittedSpread::waited>("samples left out because they waited, by Otsu's threshold"),
    field<&FittedSpread::places>("ranks, or groups of them"),
    field<&FittedSpread::steps>("in which it was recorded"),
    field<&FittedSpread::mean>("mean_s", "of the samples"),
    field<&FittedSpread::total>("total_s", "of the samples"),
    field<&FittedSpread::variation>("standard deviation over mean, of all samples"),
    field("spatial", "the same from place to place; null: of one place",
          [](auto& r) { return r.parts.spatial; }),
    field("temporal", "of a place from step to step; null: of one step",
          [](auto& r) { return r.parts.temporal; }),
    field("within_step", "from call to call of a step; null: of one call",
          [](auto& r) { return r.parts.within; }),
    field("law", "the nearest of normal, gamma and log_normal; empirical: none is near enough",
          [](auto& r) { return r.nearest ? std::optional(std::string(law_of(r))) : std::nullopt; }),
    field("distance", "Kolmogorov-Smirnov, of the nearest; null: fewer than 20 samples",
          [](auto& r) { return r.nearest ? std::optional(r.nearest->distance) : std::nullopt; }),
    field("largest_distance", "1.36 / sqrt(samples), above which the law is empirical",
          [](auto& r) { return r.largest_distance(); }));

template <>
inline constexpr auto kResults<KindSpread> = table<KindSpread>(
    "kind spread", "One number of a variability.",
    field<&KindSpread::key>("of the variability, as --spread names it"),
    field<&KindSpread::value>("of the fitted variability"),
    field<&KindSpread::kept>("of the variability that is kept where nothing is fitted"),
    field<&KindSpread::samples>("it was fitted to; where nothing is fitted, those there are"),
    field("law", "its form: normal, gamma, log_normal or sampled; null: kept, or too few samples",
          [](auto& k) {
            return k.law ? std::optional(std::string(to_text(k.law->law.law))) : std::nullopt;
          }),
    field("kept_because", "null: it is fitted", [](auto& k) {
      return k.kept_because.empty() ? std::nullopt : std::optional(k.kept_because);
    }));

template <>
inline constexpr auto kResults<FittedSpreads> = table<FittedSpreads>(
    "recorded_spreads", "How much the operations of a recording vary.", schema_version<1>(),
    constant("kind", "what the document is", "trace-spreads"),
    field<&FittedSpreads::ranks>("that are recorded"),
    field<&FittedSpreads::steps>("the most of any rank"),
    field<&FittedSpreads::samples>("durations"),
    field<&FittedSpreads::kinds>("what a forecast draws from"),
    field<&FittedSpreads::rows>("operations", "most time first"),
    field<&FittedSpreads::kept_name>("kept", "variability that gives what is not fitted"),
    field<&FittedSpreads::remarks>("what is left out, a sentence each"),
    field<&FittedSpreads::assumed>("a sentence each"));

Value spreads_json(const FittedSpreads& spreads) { return answer(spreads); }
const Description& spreads_document() { return description_of<FittedSpreads>(); }

}  // namespace orrery
