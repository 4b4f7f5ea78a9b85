#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "report/drawing/figures.h"
#include "report/drawing/html_page.h"
#include "report/drawing/plot_svg.h"
#include "report/drawing/table.h"
#include "report/numerics/numerics_report.h"

namespace orrery {
namespace {

constexpr auto kColours = std::to_array<std::string_view>({"accent", "bad", "good", "ink", "soft"});

using Legend = std::vector<std::pair<std::string, std::string>>;

struct NamedCurve {
  std::string name;
  std::size_t colour = 0;
  PlotLine points;  // y above 0
};

// Curves over positions with labels, the second axis logarithmic from 1 and up to 10 times a power of
// ten around them.
std::string plot_of(std::string name, PlotAxis x, std::string y_title,
                    const std::vector<NamedCurve>& curves) {
  double low = INFINITY;
  double high = 0;
  for (const NamedCurve& curve : curves) {
    for (const auto& [at, value] : curve.points) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (high == 0) return {};
  const auto power = [](double exponent) { return std::pow(10.0, exponent); };
  Plot plot{.name = std::move(name),
            .x = std::move(x),
            .y = log_axis(std::move(y_title), power(std::floor(std::log10(low))),
                          power(std::floor(std::log10(high)) + 1))};
  Legend legend;
  for (const NamedCurve& curve : curves) {
    const std::string_view colour = kColours[curve.colour % kColours.size()];
    plot.curves.push_back({.points = curve.points,
                           .css_class = fmt::format("over thick o-{}", colour),
                           .tip = curve.name});
    const std::pair<std::string, std::string> entry(curve.name, std::string(colour));
    if (std::ranges::find(legend, entry) == legend.end()) legend.push_back(entry);
  }
  return plot_svg(plot) + html_legend(legend);
}

PlotAxis labelled_axis(const std::string& title, const std::vector<std::string>& labels) {
  PlotAxis out{.title = title, .low = 0, .high = static_cast<double>(labels.size()) - 1};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    out.ticks.push_back({static_cast<double>(i), labels[i]});
  }
  return out;
}

std::string deviation_plot(const DeviationStudy& study, double Deviation::* figure,
                           const std::string& title) {
  std::vector<std::string> values;
  std::vector<NamedCurve> curves;
  for (const MeasuredDeviation& row : study.rows) {
    if (std::ranges::find(values, row.at) == values.end()) values.push_back(row.at);
    auto curve = std::ranges::find(curves, row.variant, &NamedCurve::name);
    if (curve == curves.end()) {
      curves.push_back({row.variant, curves.size(), {}});
      curve = std::prev(curves.end());
    }
    const double value = row.deviation.*figure;
    if (value > 0) curve->points.emplace_back(static_cast<double>(values.size()) - 1, value);
  }
  if (values.size() < 2) return {};
  return plot_of(title + " over " + study.swept, labelled_axis(study.swept, values), title, curves);
}

}  // namespace

std::string deviation_html(const DeviationStudy& study) {
  const std::string settings = settings_of(study);
  std::string remarks = joined(study.remarks, "; ");
  std::string body = html_headline("numerics", study.experiment, "");
  if (const std::string rms =
          deviation_plot(study, &Deviation::relative_rms, "relative root mean square");
      !rms.empty()) {
    body += html_section(
        "Deviation from golden values", settings,
        html_halves(rms, deviation_plot(study, &Deviation::largest, "largest difference")));
  } else {
    remarks = settings + (remarks.empty() ? "" : ". ") + remarks;
  }
  body += html_section("Deviations", remarks, deviation_table(study).html());
  return html_page("orrery numerics: " + study.experiment, body);
}

std::string training_html(const TrainingStudy& study) {
  const TrainingQuestion& q = study.question;
  const std::string format = to_text(q.format);
  const auto names = std::to_array<std::pair<std::string, WeightDistance TrainedPair::*>>(
      {{"tiling: flash against baseline attention", &TrainedPair::flash},
       {"format: " + format + " against fp32", &TrainedPair::fp32},
       {"seed: other initial weights", &TrainedPair::other_seed}});
  const auto plot = [&](double WeightDistance::* figure, const std::string& title) {
    std::vector<NamedCurve> curves;
    for (std::size_t n = 0; n < names.size(); ++n) {
      for (std::size_t i = 0; i < study.pairs.size(); ++i) {
        const TrainedPair& p = study.pairs[i];
        if (i == 0 || study.pairs[i - 1].seed != p.seed) curves.push_back({names[n].first, n, {}});
        const double value = p.*names[n].second.*figure;
        if (value > 0) curves.back().points.emplace_back(p.step, value);
      }
    }
    const double first = study.pairs.front().step;
    return plot_of(title + " over the training",
                   log_axis("step", first, std::max<double>(q.steps, first + 1)), title, curves);
  };
  std::string body = html_headline("numerics", "a small transformer", format);
  body += html_section(
      "How far the weights move apart",
      fmt::format("Two trainings that differ in one thing; a line for each of {} seeds. {} layers, "
                  "width {}, learning rate {:g}.",
                  q.seeds, q.model.layers, q.model.width, q.model.learning_rate),
      html_halves(plot(&WeightDistance::mean, "mean difference"),
                  plot(&WeightDistance::wasserstein, "Wasserstein distance")));
  body += html_section("Distances",
                       "The references are how many times as far apart as tiling puts the weights.",
                       training_table(study).html());
  return html_page("orrery numerics: train", body);
}

}  // namespace orrery
