// The first half of the steps of a recording, without its warm-up, against its second half: the
// nearest law, its p90 and its Kolmogorov-Smirnov distance. Writes what validation/steps/held-out.csv
// should hold.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "document/comma_separated.h"
#include "document/value.h"
#include "forecast/law_fit.h"
#include "forecast/run_spread.h"

namespace orrery {
namespace {

const std::string kStepsRoot = std::string(ORRERY_SOURCE_DIR) + "/validation/steps/";

std::vector<Seconds> step_times_of(std::string_view recording) {
  const auto text = read_file(kStepsRoot + "step-times.csv");
  if (!text) ADD_FAILURE() << text.error().text();
  if (!text) return {};
  std::vector<Seconds> out;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = text->find('\n', at);
    const std::string line = text->substr(at, end - at);
    if (line.starts_with(std::string(recording) + ",")) {
      out.emplace_back(std::stod(line.substr(line.rfind(',') + 1)));
    }
    at = end + 1;
  }
  return out;
}

TEST(HeldOutSteps, ArePredictedAsPublished) {
  std::string rows =
      "recording,steps,warm_up,law,predicted_p90,measured_p90,p90_error,distance,largest_distance,"
      "largest_between_samples,passes\n";
  int within = 0;
  for (const char* recording : {"straggler-ST", "straggler-AR", "pai-1", "pai-2"}) {
    const std::vector<Seconds> times = step_times_of(recording);
    const auto half = static_cast<std::ptrdiff_t>(times.size() / 2);
    const std::size_t warm = warm_up(std::span(times).first(static_cast<std::size_t>(half)));
    const std::vector<Seconds> first(times.begin() + static_cast<std::ptrdiff_t>(warm),
                                     times.begin() + half);
    std::vector<Seconds> second(times.begin() + half, times.end());
    // The nearest form; where half a recording has fewer steps than a fit needs, its own times.
    const auto fits = fit_laws(first);
    const TimeLaw law =
        fits ? fits->front().law : TimeLaw{.law = TimeForm::sampled, .samples = first};
    const double distance = kolmogorov_smirnov(law, second);
    const double most = 1.36 / std::sqrt(static_cast<double>(second.size()));
    // What two samples of one law stay below, which have been fitted to nothing.
    const double between = 1.36 * std::sqrt(1 / static_cast<double>(first.size()) +
                                            1 / static_cast<double>(second.size()));
    std::ranges::sort(second);
    std::vector<Seconds> sorted = first;
    std::ranges::sort(sorted);
    const Seconds predicted = fits ? time_at(law, 0.9) : quantile_of_sorted(sorted, 0.9).value;
    const Seconds measured = quantile_of_sorted(second, 0.9).value;
    const double error = predicted / measured - 1;
    const bool passes = std::abs(error) <= 0.05 && distance < most;
    if (std::abs(error) <= 0.05) ++within;
    rows += fmt::format("{},{},{},{},{:.4g},{:.4g},{:+.1f} %,{:.3f},{:.3f},{:.3f},{}\n", recording,
                        times.size(), warm, to_text(law.law), predicted.value(), measured.value(),
                        100 * error, distance, most, between, passes ? "yes" : "no");
  }
  const auto published = read_file(kStepsRoot + "held-out.csv");
  EXPECT_TRUE(published && *published == rows) << "validation/steps/held-out.csv should hold\n"
                                               << rows;
  EXPECT_EQ(within, 4);  // p90 within 5 %
}

}  // namespace
}  // namespace orrery
