// What is known of a recorded run's model and of how its ranks divide it: what edits of ranks and
// shapes must respect. Where nothing is known (fields are 0) nothing is refused, and edits say so.
// Read off the recording by infer/recorded_division.h. O(1), but for the dimensions: O(log).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "outcome/result.h"
#include "whatif/edit.h"

namespace orrery {

struct KnownDivision {
  std::int64_t tensor_ranks = 0;
  std::int64_t data_ranks = 0;
  std::int64_t hidden = 0;
  std::int64_t feed_forward = 0;
  bool gated = false;  // gate and up may be one product, twice as wide
  std::int64_t heads = 0;
  std::int64_t head_size = 0;
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;
  std::int64_t micro_batch = 0;

  [[nodiscard]] bool known() const { return tensor_ranks > 0 && hidden > 0; }
};

// Errors: layers that `tp N` cannot divide, a run whose layers are whole.
Result<void> check_tensor_ranks(const KnownDivision& known, const Edit& edit);

// Which dimensions of recorded tensors `resize A to B` changes:
//
//   hidden         A and its multiples (a feed-forward of 4 A), and a rank's share of A, 2 A, 3 A
//                  (q, k, v) and of the feed-forward
//   feed-forward   A, where it is gated 2 A (gate and up), and a rank's share of them
//   sequence       A, and A times the micro-batch
//   micro-batch    A, and A times the sequence, or a rank's heads
//   none of them   A
//
// but no dimension that is another of these. Where nothing is known: A and its multiples.
class ResizedDimensions {
 public:
  // Errors: A is two of them, B is not divisible by the ranks or heads that divide A.
  static Result<ResizedDimensions> of(const Edit& edit, const KnownDivision& known);

  [[nodiscard]] std::int64_t operator()(std::int64_t dimension) const;
  // What a communication of so many elements moves then.
  [[nodiscard]] double elements(double elements) const;
  [[nodiscard]] const std::string& role() const { return role_; }  // empty: not known

 private:
  std::int64_t from_ = 1;
  std::int64_t to_ = 1;
  std::int64_t communicated_ = 1;  // elements in multiples of this change
  bool multiples_ = true;
  std::string role_;
  std::map<std::int64_t, std::int64_t> changed_;
  std::map<std::int64_t, std::string> kept_;
};

}  // namespace orrery
