// Operators of a layer, appended one after the other: products, convolutions, norms,
// element-wise kernels and attention, with what each keeps for the backward pass.
//
// A convolution is a product of m output positions with k = taps x input channels
// (arXiv 1410.0759 s.3), so it has 2 x positions x taps x in x out FLOPs. Group norm reads its
// input for the moments of each group and again to normalise it (arXiv 1803.08494).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "model/operator.h"

namespace orrery {

// A dimension of so many elements, whatever the batch, divided along an axis.
constexpr Dimension fixed(double elements, LogicalAxis axis = LogicalAxis::none) {
  return {.factor = elements, .symbol = Symbol::one, .axis = axis};
}

struct Product {
  std::string_view name;
  OperatorClass op_class = OperatorClass::feed_forward;
  Boundary boundary = Boundary::none;
  Dimension rows;
  Dimension n;
  Dimension k;
  double bias = 1;            // 0: none
  bool shares_input = false;  // an earlier operator keeps it
};

struct Convolution {
  std::string_view name;
  Dimension rows;  // output positions
  double in = 0;   // channels
  double out = 0;
  double taps = 9;
  double stride = 1;  // input positions along one axis of an image for one output position
};

struct Attention {
  std::string_view name;
  Dimension queries;
  Dimension keys;
  double heads = 1;
  double head_dim = 0;
  double window = 0;  // tokens of the pieces that do not see each other; 0: all see all
};

class LayerWriter {
 public:
  Operator& product(const Product& p);
  // One product n x k for each group; the rows are divided among the groups. `parameters` are those
  // of one group.
  Operator& grouped_product(std::string_view name, Dimension rows, Dimension n, Dimension k,
                            Dimension groups, double parameters);
  // `groups` products of two activations each.
  Operator& batched_product(std::string_view name, OperatorClass op_class, Dimension groups,
                            double m, double n, double k);
  void convolution(const Convolution& c);  // and its bias
  // Layer norm, or group norm with `passes` 3; without parameters where these are modulated.
  Operator& norm(std::string_view name, Dimension rows, double width, ElementwiseKind kind,
                 double parameters, double passes = 2);
  // Reads and writes `passes` arrays of rows x width in either direction.
  Operator& elementwise(std::string_view name, Dimension rows, Dimension width,
                        ElementwiseKind kind, double passes);
  // With passes of its own in each direction. It counts no FLOPs.
  Operator& elementwise(std::string_view name, OperatorClass op_class, Dimension rows,
                        Dimension width, double forward_passes, double backward_passes);
  // As elementwise() with one number of passes, keeping its input for the backward.
  Operator& activation(std::string_view name, Dimension rows, Dimension width);
  Operator& attention(const Attention& a);
  Operator& append(Operator op);

  std::vector<Operator> take() { return std::exchange(operators_, {}); }
  [[nodiscard]] Operator& last() { return operators_.back(); }
  [[nodiscard]] std::size_t size() const { return operators_.size(); }
  Operator& operator[](std::size_t i) { return operators_[i]; }

 private:
  std::vector<Operator> operators_;
};

}  // namespace orrery
