// FLOPs and bytes of a recorded operator, from its name and the shapes of its arguments.
//
// One multiply-add is two FLOPs; every tensor is read or written once. With b the bytes of an
// element and |x| the elements of x:
//
//   product (mm, bmm, addmm, linear, ...)   2 B M N K (+ B M N with an addend); all operands
//   convolution                             2 |out| |w| / C_out, backward twice; all operands
//   attention                               2 B H S_q S_kv (d_qk + d_v), causal half; q k v out
//     backward                              2.5 times; q k v out d_out and 3 gradients, as flash
//                                           attention works (recomputes the scores)
//   normalization                           5 |x|, backward 9 |x|; x and out, backward dx too
//   softmax                                 5 |x|
//   elementwise                             |out|; copies 0
//   reduction                               |x|
//   movement (cat, embedding, fill)         0
//
// Source: counting conventions of TraceLens 171dd747 (perf_model), whose published figures the
// tests compare; Dao et al., FlashAttention-2 (2307.08691), section 4.1 for the factor of the
// backward. Departures: an output's size is worked out also where TraceLens counts one element
// (reductions), an operator in place writes its own type, a convolution reads its bias, and copies
// compute nothing. Not modelled: caches, padding of tiles. Operators without shapes, and those that
// are not in this table, have no FLOPs and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "outcome/enum_names.h"
#include "trace/recorded_arguments.h"
#include "units/quantity.h"

namespace orrery {

enum class RecordedWorkClass : std::uint8_t {
  product,
  convolution,
  attention,
  normalization,
  softmax,
  elementwise,
  reduction,
  movement
};
inline constexpr std::size_t kRecordedWorkClasses = 8;

// Whether the matrix units do the work.
constexpr bool is_matrix_work(RecordedWorkClass c) {
  return c == RecordedWorkClass::product || c == RecordedWorkClass::convolution ||
         c == RecordedWorkClass::attention;
}

struct RecordedWork {
  RecordedWorkClass operator_class = RecordedWorkClass::movement;
  Flops flops;
  Bytes bytes;
  std::string_view type;  // of the first tensor: "c10::BFloat16"; into the arguments
};

// `name` with its library: "aten::mm".
std::optional<RecordedWork> recorded_work(std::string_view name,
                                          std::span<const RecordedArgument> arguments);

}  // namespace orrery
