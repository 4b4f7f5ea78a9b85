// Training conditions as a point in a space, for a fit over measured steps.
//
// The coordinates are logarithms of shares (a share of all hardware of a kind, how far an
// architecture departs from it, and one accelerator from its architecture; likewise of a network
// and an attention kernel), the kernel gap in microseconds and the spread of ranks. Each has a
// prior: a normal distribution around what is expected without data, which keeps hardware with few
// rows near the others and makes every coordinate determined. A row depends on the few coordinates
// of its own accelerator and networks, and on their sums alone, so that its derivatives cost a
// handful of estimates and not one for every coordinate.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster.h"
#include "cost/step/training_conditions.h"

namespace orrery {

struct StepCoordinate {
  std::string name;  // "matrix share, h100-sxm"
  std::string unit;
  double expected = 0;  // mean of the prior, and the start
  double spread = 0;    // standard deviation of the prior
  double least = 0;
  double most = 0;
  double step = 0;  // of a derivative
};

// A coordinate that can change a step, and a number that all coordinates share which are added up:
// they change the step alike.
struct ConcernedCoordinate {
  std::size_t coordinate = 0;
  std::size_t sum = 0;
};

class StepProblem {
 public:
  // The hardware that occurs in these clusters, and the attention kernel used on each.
  StepProblem(std::span<const Cluster> clusters, std::span<const AttentionKernel> attention);

  [[nodiscard]] const std::vector<StepCoordinate>& coordinates() const { return coordinates_; }
  // The coordinates that can change a step on this cluster with this attention kernel, ascending.
  [[nodiscard]] std::vector<ConcernedCoordinate> concerned(const Cluster& cluster,
                                                           AttentionKernel attention) const;
  // Without source, record of the fit and counts of rows.
  [[nodiscard]] TrainingConditions conditions(std::span<const double> x) const;

 private:
  std::vector<StepCoordinate> coordinates_;
  std::vector<std::string> architectures_;                         // ascending
  std::vector<std::pair<std::string, std::string>> accelerators_;  // name, architecture
  std::vector<std::string> networks_;
  std::vector<std::pair<AttentionKernel, std::string>> attention_;  // fused kernel, architecture

  // The first coordinate of an architecture, which is one of architectures_.
  [[nodiscard]] std::size_t first_of(const std::string& architecture) const;
  [[nodiscard]] std::size_t first_accelerator() const;
  [[nodiscard]] std::size_t first_network() const;
  [[nodiscard]] std::size_t first_attention() const;
};

}  // namespace orrery
