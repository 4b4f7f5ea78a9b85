// How many dense parameters the experts of a routed model are worth: facts of catalog/routed-laws.
//
//   log L(N, E) = a log N + b log Eh + c log N log Eh + d,          base 10
//   1 / Eh = 1 / (E - 1 + 1 / (1 / E_start - 1 / E_max)) + 1 / E_max
//
// with N the parameters that a token passes and E the experts of which it passes one (arXiv
// 2202.01169, section 4). A model of E experts is worth the dense one of the same loss,
//
//   log L(M, 1) = log L(N, E),   M >= N.
//
// Where a token passes k of the experts, E is taken to be experts / k. Left out: the tokens of the
// run, which are 130 B in all runs of the fit; shared experts.
#pragma once

#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "document/provenance.h"

namespace orrery {

struct RoutedLaw {
  std::string name;
  std::string title;
  double parameters = 0;  // a
  double experts = 0;     // b
  double both = 0;        // c
  double constant = 0;    // d
  double experts_start = 1;
  double experts_most = 1;
  Provenance provenance;
  bool operator==(const RoutedLaw&) const = default;

  // Eh
  [[nodiscard]] double saturated(double of_experts) const;
  // Of 130 B tokens, nats a token.
  [[nodiscard]] double loss(double of_parameters, double of_experts) const;
  // Not below those that a token passes.
  [[nodiscard]] double dense_equivalent(double of_parameters, double of_experts) const;
};
Fields<RoutedLaw> fields_of(const RoutedLaw*);

// Errors: experts that do not saturate above their start.
Result<void> check(const RoutedLaw& law);
// From the catalog. Errors: unknown name; an entry that breaks check().
Result<RoutedLaw> load_routed_law(const Catalog& catalog, std::string_view name);

}  // namespace orrery
