// How much the times of operations vary: a fact of catalog/variability.
//
// Every factor on a predicted time has the mean 1, so that what changes the mean of a step is that
// it waits for the slowest, and nothing else:
//
//   of an accelerator   exp(s z - s^2 / 2),  s^2 = ln(1 + spatial^2): the same for all of a step
//   of a pass           1 + temporal z, not below 0: another one for every pass of a step
//   of a communication  exp(s z - s^2 / 2),  z = sqrt(r) z_step + sqrt(1 - r) z_own
//
// z are standard normal. A law that is stated, such as that of a recording, takes the place of the
// form above: f = 1 + spread (q(Phi(z)) - mean) / deviation, not below 0, with the quantile q, mean
// and standard deviation of the law, so that its form counts and the spread is the stated one.
//  Spreads are coefficients of variation (standard deviation / mean). Kernels
// share their accelerator's z, scaled by the spread of their class; all communication of a step
// shares z_step, the state of the network, with the correlation r. Left out: drift over hours and means that differ from the predicted ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "document/provenance.h"
#include "forecast/time_law.h"

namespace orrery {

// What varies in its own way.
enum class VaryingWork : std::uint8_t { products, attention, memory_bound, tp, cp, ep, pp, dp };
inline constexpr std::size_t kVaryingWork = 8;
inline constexpr std::size_t kComputingKinds = 3;  // the first ones

struct KernelSpread {
  double spatial = 0;   // from one accelerator to another
  double temporal = 0;  // of one accelerator, from pass to pass
  std::optional<TimeLaw> spatial_law = {}, temporal_law = {};
  bool operator==(const KernelSpread&) const = default;
};
Fields<KernelSpread> fields_of(const KernelSpread*);

// Groups that stay within a node, and groups that do not.
struct CommunicationSpread {
  double within_node = 0;
  double between_nodes = 0;
  double correlation = 0;  // share of the variance that is the state of the network in a step
  std::optional<TimeLaw> within_node_law = {}, between_nodes_law = {};
  bool operator==(const CommunicationSpread&) const = default;
};
Fields<CommunicationSpread> fields_of(const CommunicationSpread*);

struct Variability {
  std::string name;
  std::string title;
  KernelSpread products, attention, memory_bound;
  CommunicationSpread communication;
  Provenance provenance;
  bool operator==(const Variability&) const = default;

  // Of a kind that computes.
  [[nodiscard]] const KernelSpread& of(VaryingWork kind) const;
};
Fields<Variability> fields_of(const Variability*);

// Errors: laws that do not vary; spreads below 0 or above what the forms describe, a correlation outside [0, 1], NaN.
Result<void> check(const Variability& variability);
// From the catalog, or a file such as orrery trace spreads writes. Errors: unknown name; an entry
// that breaks check().
Result<Variability> load_variability(const Catalog& catalog, std::string_view name);
// With settings such as "products.spatial=0.03,communication.correlation=0" over it. Errors: a key
// that it does not have, with those it has; what check() refuses.
Result<Variability> with_settings(Variability variability, std::string_view settings);
// The law of the spread that with_settings() calls `key`; nullptr: there is none.
std::optional<TimeLaw>* law_named(Variability& variability, std::string_view key);

}  // namespace orrery
