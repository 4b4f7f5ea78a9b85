// Whether measured collectives are what a cluster should give, and if not, what explains them.
//
// The expected time of a size is that of cost/collective. A size is slow where measured / expected
// is above the interval of CollectiveErrors, in which 9 of 10 sizes of the healthy systems
// lie that the model was not fitted to.
//
// Causes are hypotheses, priced by the same model: the system with one thing wrong, or with one
// share fitted (golden-section search over its logarithm). One is named if it leaves at most
// kExplains of the median |ln(measured / expected)| of all sizes; the one that leaves least comes
// first. Left out: two things that are wrong at once, and noise from one run to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/collective_results.h"
#include "cluster/cluster.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {

enum class SizeVerdict { as_expected, slow, fast, wrong_values };

// Of collectives up to a payload, in one scale-up domain or over several: the 5 % and 95 %
// quantiles of measured / expected on systems that were left out of the fit.
struct CollectiveErrorClass {
  bool several_nodes = false;
  std::optional<Bytes> up_to;  // none: any larger payload
  double low = 1;
  double high = 1;
  std::int64_t rows = 0;
  bool operator==(const CollectiveErrorClass&) const = default;
};
Fields<CollectiveErrorClass> fields_of(const CollectiveErrorClass*);

// catalog/step/collective-errors.yaml
struct CollectiveErrors {
  std::string source;
  std::vector<CollectiveErrorClass> classes;  // of one kind of group by payload, ascending
  bool operator==(const CollectiveErrors&) const = default;
};
Fields<CollectiveErrors> fields_of(const CollectiveErrors*);

struct CheckedSize {
  MeasuredSize measured;
  Seconds expected;
  Seconds low, high;  // of a healthy system
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  SizeVerdict verdict = SizeVerdict::as_expected;

  [[nodiscard]] double ratio() const { return measured.time / expected; }
};

struct LikelyCause {
  std::string what;  // "the network gives 46 % of its bandwidth"
  std::string look;  // where to look
  double error = 0;  // median |ln(measured / expected)| with it
};

inline constexpr double kExplains = 0.7;

struct CollectiveCheck {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  double bus_factor = 1;  // bus bandwidth = factor x payload / time, as nccl-tests define it
  std::vector<CheckedSize> sizes = {};
  double error = 0;                      // median |ln(measured / expected)|
  std::vector<LikelyCause> causes = {};  // the most likely first; none where nothing is slow
  [[nodiscard]] bool sick() const;       // a size is slow, or has wrong values
};

// Errors: more ranks than the cluster has accelerators; ranks that do not lie on the hosts evenly.
Result<CollectiveCheck> check(const CollectiveResults& results, const Cluster& cluster,
                              const Catalog& catalog);

}  // namespace orrery
