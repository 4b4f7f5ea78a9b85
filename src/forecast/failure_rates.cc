#include "forecast/failure_rates.h"

#include <fmt/format.h>

#include <cmath>

#include "catalog/entry.h"
#include "forecast/share.h"

namespace orrery {
namespace {

constexpr Seconds kDay{86400};
constexpr std::int64_t kMostCounted = 1'000'000'000;  // any number of causes fits into 64 bits

std::int64_t counted(const FailureRates& rates) {
  std::int64_t sum = 0;
  for (const FailureCause& cause : rates.causes) sum += cause.count;
  return sum;
}

}  // namespace

Fields<FailureCause> fields_of(const FailureCause*) {
  return Fields<FailureCause>("cause of failures")
      .required<&FailureCause::cause>("what failed")
      .required<&FailureCause::count>("interruptions")
      .optional<&FailureCause::takes_node>("whether the node leaves the job for repair");
}

Fields<LemonNodes> fields_of(const LemonNodes*) {
  return Fields<LemonNodes>("description of unequal nodes")
      .required<&LemonNodes::share>("of nodes that fail more often than the others")
      .required<&LemonNodes::factor>("their rate over that of the others");
}

Fields<FailingRacks> fields_of(const FailingRacks*) {
  return Fields<FailingRacks>("description of racks")
      .required<&FailingRacks::nodes>("that leave the job and are repaired together")
      .required<&FailingRacks::share>("of all failures that take out a whole rack");
}

Fields<FailureRates> fields_of(const FailureRates*) {
  return Fields<FailureRates>("failure rate")
      .required<&FailureRates::name>("identifier")
      .required<&FailureRates::title>("which cluster or run")
      .required<&FailureRates::per_1000_node_days>("failures that stop a job")
      .optional<&FailureRates::accelerators_per_node>("of the nodes that were counted")
      .optional<&FailureRates::nodes>("observed")
      .optional<&FailureRates::days>("observed")
      .optional<&FailureRates::planned>("planned interruptions, beside the rate")
      .optional<&FailureRates::causes>("of the failures that were counted")
      .optional<&FailureRates::gaps>(
          "distribution of the times between failures; its mean follows from the rate")
      .optional<&FailureRates::lemons>("nodes that fail more often than others")
      .optional<&FailureRates::racks>("failures of racks or switches as a whole")
      .optional<&FailureRates::repair>("until a failed node is back")
      .required<&FailureRates::provenance>("where the figures come from");
}

Result<void> check(const LemonNodes& lemons) {
  ORRERY_RETURN_IF_ERROR(check_share(lemons.share, "lemons.share"));
  if (!(lemons.factor >= 1)) {
    return bad_input(fmt::format("a factor of {}", lemons.factor), "lemons.factor",
                     "write 1 or more: lemons fail more often");
  }
  return {};
}

Result<void> check(const FailingRacks& racks) {
  ORRERY_RETURN_IF_ERROR(check_share(racks.share, "racks.share"));
  if (racks.nodes < 1) return bad_input("racks without nodes", "racks.nodes", "write 1 or more");
  return {};
}

Result<void> check(const FailureRates& rates) {
  if (!(rates.per_1000_node_days >= 0)) {
    return bad_input(fmt::format("a negative rate, {}", rates.per_1000_node_days),
                     "per_1000_node_days");
  }
  if (rates.accelerators_per_node < 1) {
    return bad_input("nodes without accelerators", "accelerators_per_node");
  }
  ORRERY_RETURN_IF_ERROR(check(rates.lemons));
  ORRERY_RETURN_IF_ERROR(check(rates.racks));
  for (const FailureCause& cause : rates.causes) {
    if (cause.count < 0 || cause.count > kMostCounted) {
      return bad_input(fmt::format("a count of {} of '{}'", cause.count, cause.cause), "causes",
                       fmt::format("write one between 0 and {}", kMostCounted));
    }
  }
  ORRERY_RETURN_IF_ERROR(at("gaps", check_form(rates.gaps)));
  if (rates.repair) ORRERY_RETURN_IF_ERROR(at("repair", check(*rates.repair)));
  if (rates.nodes && rates.days && !rates.causes.empty()) {
    const double of_counts = static_cast<double>(counted(rates)) * 1000 /
                             (static_cast<double>(*rates.nodes) * *rates.days);
    if (!(std::abs(of_counts - rates.per_1000_node_days) <= 0.01 * rates.per_1000_node_days)) {
      return bad_input(fmt::format("the counts give {:.3g} failures per 1,000 node-days, not {}",
                                   of_counts, rates.per_1000_node_days),
                       "per_1000_node_days");
    }
  }
  return {};
}

Result<FailureRates> load_failure_rates(const Catalog& catalog, std::string_view name) {
  return load_entry<FailureRates>(catalog, "failures", name);
}

Hertz rate_of_node(const FailureRates& rates, std::int64_t accelerators) {
  const double size =
      static_cast<double>(accelerators) / static_cast<double>(rates.accelerators_per_node);
  return rates.per_1000_node_days / 1000 * size / kDay;
}

double node_share(const FailureRates& rates) {
  const std::int64_t all = counted(rates);
  if (all == 0) return 1;
  std::int64_t taken = 0;
  for (const FailureCause& cause : rates.causes) taken += cause.takes_node ? cause.count : 0;
  return static_cast<double>(taken) / static_cast<double>(all);
}

}  // namespace orrery
