#include "forecast/routed_law.h"

#include <algorithm>
#include <cmath>

#include "catalog/entry.h"

namespace orrery {

Fields<RoutedLaw> fields_of(const RoutedLaw*) {
  return Fields<RoutedLaw>("routed law")
      .required<&RoutedLaw::name>("identifier")
      .required<&RoutedLaw::title>("how tokens find their expert")
      .required<&RoutedLaw::parameters>("of the logarithm of the parameters a token passes")
      .required<&RoutedLaw::experts>("of the logarithm of the experts, saturated")
      .required<&RoutedLaw::both>("of the product of the two")
      .required<&RoutedLaw::constant>("added to them")
      .required<&RoutedLaw::experts_start>("what a single expert counts as")
      .required<&RoutedLaw::experts_most>("what any number of experts counts as at most")
      .required<&RoutedLaw::provenance>("where the constants come from");
}

double RoutedLaw::saturated(double of_experts) const {
  const double start = 1 / (1 / experts_start - 1 / experts_most);
  return 1 / (1 / (of_experts - 1 + start) + 1 / experts_most);
}

double RoutedLaw::loss(double of_parameters, double of_experts) const {
  const double n = std::log10(of_parameters);
  const double e = std::log10(saturated(of_experts));
  return std::pow(10, parameters * n + experts * e + both * n * e + constant);
}

double RoutedLaw::dense_equivalent(double of_parameters, double of_experts) const {
  const double one = std::log10(saturated(1));
  const double rest = std::log10(loss(of_parameters, of_experts)) - constant - experts * one;
  return std::max(std::pow(10, rest / (parameters + both * one)), of_parameters);
}

Result<void> check(const RoutedLaw& law) {
  if (!(law.experts_start >= 1 && law.experts_most > law.experts_start)) {
    return bad_input("the experts do not saturate above their start");
  }
  return {};
}

Result<RoutedLaw> load_routed_law(const Catalog& catalog, std::string_view name) {
  return load_entry<RoutedLaw>(catalog, "routed-laws", name);
}

}  // namespace orrery
