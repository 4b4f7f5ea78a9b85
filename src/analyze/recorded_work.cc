#include "analyze/recorded_work.h"

#include <algorithm>
#include <vector>

#include "analyze/recorded_attention.h"
#include "trace/has.h"

namespace orrery {
namespace {

using Arguments = std::span<const RecordedArgument>;
using KnownWork = std::optional<RecordedWork>;

// The tensor at a place; nullptr if there is none.
const RecordedArgument* tensor(Arguments arguments, std::size_t i) {
  return i < arguments.size() && arguments[i].is_tensor() ? &arguments[i] : nullptr;
}
double bytes_of(const RecordedArgument& argument) {
  return elements_of(argument) * static_cast<double>(element_bytes(argument.type));
}
double width(const RecordedArgument& argument) {
  return static_cast<double>(element_bytes(argument.type));
}
double extent(const Shape& shape, std::size_t i) {
  return i < shape.size() ? static_cast<double>(std::max<std::int64_t>(0, shape[i])) : 1;
}
double last_extent(const Shape& shape, std::size_t from_end) {
  return from_end <= shape.size() ? extent(shape, shape.size() - from_end) : 1;
}

RecordedWork work(RecordedWorkClass c, double flops, double bytes, const RecordedArgument& typed) {
  return {.operator_class = c, .flops = Flops(flops), .bytes = Bytes(bytes), .type = typed.type};
}

// out[B, M, N] = a[B, M, K] x b[B, K, N] (+ addend). `transposed`: b is [N, K], as weights are
// kept.
KnownWork product(const RecordedArgument* a, const RecordedArgument* b,
                  const RecordedArgument* addend, bool transposed) {
  if (a == nullptr || b == nullptr) return std::nullopt;
  const Shape& left = a->shapes[0];
  const Shape& right = b->shapes[0];
  if (left.empty() || right.empty()) return std::nullopt;
  const double k = last_extent(left, 1);
  const double rows = k > 0 ? elements_of(left) / k : 0;
  // A vector on the right has one column; a matrix is shared by all batches of the left.
  const double columns =
      right.size() == 1 ? 1 : (transposed ? last_extent(right, 2) : last_extent(right, 1));
  const double out = rows * columns;
  double flops = 2 * out * k;
  double bytes = bytes_of(*a) + bytes_of(*b) + out * width(*a);
  if (addend != nullptr) {
    flops += out;
    bytes += bytes_of(*addend);
  }
  return work(RecordedWorkClass::product, flops, bytes, *a);
}

KnownWork product_named(std::string_view name, Arguments x) {
  if (is_one_of(name, "mm bmm matmul mv dot _int_mm")) {
    return product(tensor(x, 0), tensor(x, 1), nullptr, false);
  }
  // Grouped: every row of the left meets one of the matrices.
  if (is_one_of(name, "_scaled_mm _grouped_mm _scaled_grouped_mm")) {
    return product(tensor(x, 0), tensor(x, 1), nullptr, false);
  }
  if (is_one_of(name, "addmm addmm_ baddbmm baddbmm_ addmv _addmm_activation")) {
    return product(tensor(x, 1), tensor(x, 2), tensor(x, 0), false);
  }
  if (name == "linear") return product(tensor(x, 0), tensor(x, 1), tensor(x, 2), true);
  return std::nullopt;
}

// Shape of the output, from stride, padding and dilation.
std::optional<Shape> convolved(const Shape& input, const Shape& weight,
                               std::span<const std::int64_t> stride,
                               std::span<const std::int64_t> padding,
                               std::span<const std::int64_t> dilation) {
  const auto at = [](std::span<const std::int64_t> list, std::size_t i) {
    return list.size() == 1 ? list[0] : (i < list.size() ? list[i] : 0);
  };
  if (input.size() < 3 || weight.size() != input.size()) return std::nullopt;
  Shape out = {input[0], weight[0]};
  for (std::size_t i = 2; i < input.size(); ++i) {
    const std::int64_t step = at(stride, i - 2);
    if (step < 1) return std::nullopt;
    const double span =
        static_cast<double>(input[i]) + 2.0 * static_cast<double>(at(padding, i - 2)) -
        static_cast<double>(at(dilation, i - 2)) * (static_cast<double>(weight[i]) - 1) - 1;
    // More than any memory holds is damage.
    const double extent_out = span / static_cast<double>(step);
    if (extent_out < 0 || extent_out > 1e12) return std::nullopt;
    out.push_back(static_cast<std::int64_t>(extent_out) + 1);
  }
  return out;
}

KnownWork convolution(const RecordedArgument& input, const RecordedArgument& weight,
                      const Shape& out, const RecordedArgument* bias, double passes) {
  const double channels = extent(weight.shapes[0], 0);
  if (channels == 0) return std::nullopt;
  const double flops = 2 * elements_of(out) * elements_of(weight) / channels;
  double bytes = bytes_of(input) + bytes_of(weight) + elements_of(out) * width(input);
  if (bias != nullptr) bytes += bytes_of(*bias);
  return work(RecordedWorkClass::convolution, passes * flops, passes * bytes, input);
}

KnownWork convolution_named(std::string_view name, Arguments x) {
  if (name == "convolution_backward") {
    const RecordedArgument* gradient = tensor(x, 0);
    const RecordedArgument* input = tensor(x, 1);
    const RecordedArgument* weight = tensor(x, 2);
    if (gradient == nullptr || input == nullptr || weight == nullptr) return std::nullopt;
    return convolution(*input, *weight, gradient->shapes[0], nullptr, 2);
  }
  if (!is_one_of(name, "convolution _convolution conv1d conv2d conv3d")) return std::nullopt;
  const RecordedArgument* input = tensor(x, 0);
  const RecordedArgument* weight = tensor(x, 1);
  if (input == nullptr || weight == nullptr || x.size() < 6) return std::nullopt;
  const auto out = convolved(input->shapes[0], weight->shapes[0], whole_numbers(x[3].value),
                             whole_numbers(x[4].value), whole_numbers(x[5].value));
  const bool transposed = name.ends_with("convolution") && x.size() > 6 && x[6].value == "True";
  if (!out || transposed) return std::nullopt;
  return convolution(*input, *weight, *out, tensor(x, 2), 1);
}

// `name` with its library.
KnownWork attention_named(std::string_view name, Arguments x) {
  const auto found = recorded_attention(name, x);
  if (!found) return std::nullopt;
  const AttentionShape& s = found->shape;
  const double rows = s.batch * s.heads * s.queries;
  const double flops = 2 * rows * s.keys * (s.query_key_dim + s.value_dim) / (s.causal ? 2 : 1);
  const auto element = static_cast<double>(element_bytes(found->type));
  const double read =
      rows * s.query_key_dim + s.batch * s.kv_heads * s.keys * (s.query_key_dim + s.value_dim);
  const double bytes = element * (read + rows * s.value_dim);
  const bool backward = found->direction == Direction::backward;
  return RecordedWork{.operator_class = RecordedWorkClass::attention,
                      .flops = Flops(backward ? 2.5 * flops : flops),
                      .bytes = Bytes(backward ? 2 * bytes : bytes),
                      .type = found->type};
}

double bytes_of_all(Arguments x) {
  double bytes = 0;
  for (const RecordedArgument& argument : x) bytes += bytes_of(argument);
  return bytes;
}

KnownWork normalization_named(std::string_view name, Arguments x) {
  const bool backward = name.ends_with("_backward");
  if (!is_one_of(name,
                 "layer_norm native_layer_norm batch_norm native_batch_norm _batch_norm_impl_index "
                 "cudnn_batch_norm miopen_batch_norm group_norm native_group_norm _fused_rms_norm "
                 "rms_norm native_layer_norm_backward native_batch_norm_backward "
                 "cudnn_batch_norm_backward miopen_batch_norm_backward native_group_norm_backward "
                 "_fused_rms_norm_backward")) {
    return std::nullopt;
  }
  const RecordedArgument* input = tensor(x, 0);
  if (input == nullptr) return std::nullopt;
  const double n = elements_of(*input);
  // Arguments are read (backward: the gradient is one of them), one result of this size is written.
  return work(RecordedWorkClass::normalization, (backward ? 9 : 5) * n,
              bytes_of_all(x) + bytes_of(*input), *input);
}

KnownWork softmax_named(std::string_view name, Arguments x) {
  if (!is_one_of(name,
                 "_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data softmax "
                 "log_softmax")) {
    return std::nullopt;
  }
  const RecordedArgument* input = tensor(x, 0);
  if (input == nullptr) return std::nullopt;
  return work(RecordedWorkClass::softmax, 5 * elements_of(*input),
              bytes_of_all(x) + bytes_of(*input), *input);
}

// The shape that arguments of these shapes are broadcast to.
Shape broadcast(Arguments x) {
  Shape out;
  for (const RecordedArgument& argument : x) {
    if (!argument.is_tensor()) continue;
    const Shape& shape = argument.shapes[0];
    if (shape.size() > out.size()) out.insert(out.begin(), shape.size() - out.size(), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& extent_out = out[out.size() - shape.size() + i];
      extent_out = std::max(extent_out, shape[i]);
    }
  }
  return out;
}

KnownWork elementwise_named(std::string_view name, Arguments x) {
  if (x.empty()) return std::nullopt;
  const bool in_place = name.ends_with('_') && !name.ends_with("__");
  if (in_place) name.remove_suffix(1);
  if (!is_one_of(
          name,
          "copy add sub mul div neg abs exp log sqrt rsqrt reciprocal pow relu gelu silu "
          "sigmoid tanh sin cos erf clamp clamp_min clamp_max maximum minimum eq ne lt le gt ge "
          "where masked_fill threshold_backward gelu_backward silu_backward sigmoid_backward "
          "tanh_backward hardtanh leaky_relu logical_and logical_not bitwise_and bitwise_not "
          "bitwise_or addcmul addcdiv lerp native_dropout rsub floor_divide remainder isnan")) {
    return std::nullopt;
  }
  const auto first = std::ranges::find_if(x, &RecordedArgument::is_tensor);
  if (first == x.end()) return std::nullopt;
  const double out = elements_of(broadcast(x));
  if (name == "copy") {  // the first argument is written, the second read
    return work(RecordedWorkClass::elementwise, 0, bytes_of_all(x), *first);
  }
  double widest = width(*first);
  for (const RecordedArgument& argument : x) {
    if (!in_place && argument.is_tensor() && !argument.shapes[0].empty()) {
      widest = std::max(widest, width(argument));
    }
  }
  return work(RecordedWorkClass::elementwise, out, bytes_of_all(x) + out * widest, *first);
}

KnownWork reduction_named(std::string_view name, Arguments x) {
  if (!is_one_of(
          name,
          "sum mean max min prod norm linalg_norm linalg_vector_norm var std var_mean amax amin "
          "argmax argmin all any cumsum logsumexp")) {
    return std::nullopt;
  }
  const RecordedArgument* input = tensor(x, 0);
  if (input == nullptr) return std::nullopt;
  const double n = elements_of(*input);
  double out = 1;
  // Without dimensions everything is reduced; two tensors are compared element by element.
  if (tensor(x, 1) != nullptr || name == "cumsum") {
    out = n;
  } else {
    for (std::size_t i = 1; i < x.size() && i < 3; ++i) {
      const std::vector<std::int64_t> dimensions = whole_numbers(x[i].value);
      if (dimensions.empty() || (x[i].type != "ScalarList" && name.starts_with("linalg"))) continue;
      double reduced = 1;
      const auto rank = static_cast<std::int64_t>(input->shapes[0].size());
      for (const std::int64_t d : dimensions) {
        const std::int64_t place = d < 0 ? d + rank : d;
        if (place >= 0 && place < rank) {
          reduced *= extent(input->shapes[0], static_cast<std::size_t>(place));
        }
      }
      if (reduced > 0) out = n / reduced;
      break;
    }
  }
  double bytes = bytes_of(*input) + out * width(*input);
  if (const RecordedArgument* second = tensor(x, 1)) bytes += bytes_of(*second);
  return work(RecordedWorkClass::reduction, n, bytes, *input);
}

// Enlarges the last two extents of an image: the new ones are an argument.
KnownWork upsampling_named(std::string_view name, Arguments x) {
  if (!is_one_of(name, "upsample_nearest2d upsample_bilinear2d upsample_bicubic2d")) {
    return std::nullopt;
  }
  const RecordedArgument* input = tensor(x, 0);
  if (input == nullptr || x.size() < 2 || input->shapes[0].size() != 4) return std::nullopt;
  const std::vector<std::int64_t> extents = whole_numbers(x[1].value);
  if (extents.size() != 2) return std::nullopt;
  const Shape& in = input->shapes[0];
  const double out = elements_of(Shape{in[0], in[1], extents[0], extents[1]});
  return work(RecordedWorkClass::elementwise, out, bytes_of(*input) + out * width(*input), *input);
}

KnownWork movement_named(std::string_view name, Arguments x) {
  if (x.empty()) return std::nullopt;
  if (name == "cat" || name == "_cat") {
    // The type of a list is not recorded; without it there are no bytes to tell.
    return std::nullopt;
  }
  const RecordedArgument* first = tensor(x, 0);
  if (first == nullptr) return std::nullopt;
  if (name == "fill_" || name == "zero_") {
    return work(RecordedWorkClass::movement, 0, bytes_of(*first), *first);
  }
  const RecordedArgument* second = tensor(x, 1);
  if (name == "embedding" && second != nullptr) {
    const double row = last_extent(first->shapes[0], 1) * width(*first);
    return work(RecordedWorkClass::movement, 0, bytes_of(*second) + 2 * elements_of(*second) * row,
                *first);
  }
  return std::nullopt;
}

}  // namespace

std::optional<RecordedWork> recorded_work(std::string_view name,
                                          std::span<const RecordedArgument> arguments) {
  static constexpr std::string_view kLibrary = "aten::";
  if (!name.starts_with(kLibrary) || arguments.empty()) return std::nullopt;
  if (auto attention = attention_named(name, arguments)) return attention;
  name.remove_prefix(kLibrary.size());
  for (const auto of : {product_named, convolution_named, normalization_named, softmax_named,
                        elementwise_named, upsampling_named, reduction_named, movement_named}) {
    if (auto found = of(name, arguments)) return found;
  }
  return std::nullopt;
}

}  // namespace orrery
