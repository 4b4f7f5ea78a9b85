#include "infer/model_sizes.h"

#include <algorithm>
#include <initializer_list>

#include "trace/recorded_arguments.h"

namespace orrery {
namespace {

bool among(const std::vector<std::int64_t>& known, std::int64_t n) {
  return std::ranges::find(known, n) != known.end();
}

}  // namespace

ModelSizes model_sizes(const InferredSpec& spec) {
  const Architecture& a = spec.architecture;
  const std::int64_t sequence =
      spec.training.sequence_length / std::max<std::int64_t>(1, spec.plan.cp);
  const auto with_divided = [&](std::initializer_list<std::int64_t> sizes) {
    std::vector<std::int64_t> out;
    for (const std::int64_t n : sizes) {
      if (n <= 1) continue;
      out.push_back(n);
      if (spec.plan.tp > 1 && n % spec.plan.tp == 0) out.push_back(n / spec.plan.tp);
    }
    return out;
  };
  const std::int64_t head =
      a.head_dim > 0 || a.num_heads == 0 ? a.head_dim : a.hidden / a.num_heads;
  const std::int64_t queries = a.num_heads * head;
  const std::int64_t keys = a.num_kv_heads * head;
  ModelSizes out;
  out.rows = with_divided({sequence, sequence * spec.plan.micro_batch});
  out.widths = with_divided(
      {a.hidden, a.ffn_hidden, 2 * a.ffn_hidden, queries, keys, queries + 2 * keys, a.vocab});
  if (head > 1) out.widths.push_back(head);
  return out;
}

bool is_of_model(const ModelSizes& sizes, std::string_view shapes) {
  int rows = 0;
  int widths = 0;
  int both = 0;
  bool shaped = false;
  for (const Shape& tensor : tensor_shapes(shapes)) {
    std::int64_t rows_here = 0;
    for (const std::int64_t n : tensor) {
      const bool row = among(sizes.rows, n);
      const bool width = among(sizes.widths, n);
      rows += row ? 1 : 0;
      widths += width ? 1 : 0;
      both += row && width ? 1 : 0;
      rows_here += row ? 1 : 0;
    }
    shaped = shaped || !tensor.empty();
    if (rows_here >= 2 && tensor.size() >= 3) return true;  // scores
  }
  // One dimension that is both is not two.
  return !shaped || (rows > 0 && widths > 0 && rows + widths - both > 1);
}

bool has_tokens(const ModelSizes& sizes, std::string_view shapes) {
  bool shaped = false;
  for (const Shape& tensor : tensor_shapes(shapes)) {
    shaped = shaped || !tensor.empty();
    const auto is_tokens = [&](std::int64_t n) { return among(sizes.rows, n); };
    if (std::ranges::any_of(tensor, is_tokens)) return true;
  }
  return !shaped;
}

}  // namespace orrery
