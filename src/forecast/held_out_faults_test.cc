// The first half of a recorded log of faults against its second half: what a fit of days 0 to 87
// says of days 88 to 175. docs/forecast.md shows the tables that are made here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "document/value.h"
#include "forecast/fault_fit.h"
#include "parallel/random_draws.h"

namespace orrery {
namespace {

const std::string kLogRoot = ORRERY_SOURCE_DIR;
constexpr int kFifths = 5;

FaultFit half(double first, double last) {
  const auto log =
      read_fault_log(kLogRoot + "/validation/faults/infinitehbd-faults-days-0-175.json");
  EXPECT_TRUE(log) << log.error().text();
  const auto fitted = fit(*log, {.first_day = first, .last_day = last, .nodes = 400});
  EXPECT_TRUE(fitted) << fitted.error().text();
  return *fitted;
}

// The probability integral transform of observations under a sample: where in the sample they lie,
// ties shared out by a random number; calibrated predictions fill the fifths evenly.
template <class T>
std::string fifths(std::vector<T> predicted, const std::vector<T>& observed) {
  std::ranges::sort(predicted);
  std::array<int, kFifths> count{};
  const RandomDraws draws(1, 0);
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const auto [low, high] = std::ranges::equal_range(predicted, observed[i]);
    const double below = static_cast<double>(low - predicted.begin());
    const double equal = static_cast<double>(high - low);
    // One more than the sample: a new value is as likely in each of its n + 1 gaps.
    const double at =
        (below + draws.uniform(0, i) * (equal + 1)) / (static_cast<double>(predicted.size()) + 1);
    ++count[static_cast<std::size_t>(at * kFifths)];
  }
  std::string out;
  for (const int c : count)
    out += fmt::format(" {:.2f} |", c / static_cast<double>(observed.size()));
  return out;
}

TEST(HeldOutFaults, ArePredictedAsTheDocumentationSays) {
  const FaultFit first = half(0, 88);
  const FaultFit second = half(88, 176);
  std::string table =
      "| figure | days 0 to 87 | days 88 to 175 | error |\n| --- | ---: | ---: | ---: |\n";
  const auto row = [&](std::string_view name, double predicted, double measured) {
    table += fmt::format("| {} | {:.2f} | {:.2f} | {:+.0f} % |\n", name, predicted, measured,
                         100 * (predicted / measured - 1));
  };
  row("faults a day", first.faults_a_day, second.faults_a_day);
  row("dispersion over days", first.dispersion_by_day, second.dispersion_by_day);
  row("nodes down, on average", first.nodes_down, second.nodes_down);
  for (const double p : {0.1, 0.25, 0.5, 0.75, 0.9}) {
    row(fmt::format("repair, p{:.0f} (h)", 100 * p), quantile_of(first.repairs, p).value() / 3600,
        quantile_of(second.repairs, p).value() / 3600);
  }
  std::string calibration =
      "| prediction | 1st fifth | 2nd | 3rd | 4th | 5th |\n| --- | ---: | ---: | ---: | ---: | "
      "---: "
      "|\n";
  calibration += "| faults of a day |" + fifths(first.by_day, second.by_day) + "\n";
  calibration += "| repair |" + fifths(first.repairs, second.repairs) + "\n";
  const auto page = read_file(kLogRoot + "/docs/forecast.md");
  ASSERT_TRUE(page);
  EXPECT_NE(page->find(table), std::string::npos) << "docs/forecast.md should show\n" << table;
  EXPECT_NE(page->find(calibration), std::string::npos) << "docs/forecast.md should show\n"
                                                        << calibration;
  // What the forecast of a run rests on.
  EXPECT_NEAR(first.faults_a_day / second.faults_a_day, 1, 0.15);
}

}  // namespace
}  // namespace orrery
