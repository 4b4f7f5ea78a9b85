#include "lower/unaligned_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/kernel/kernel_model.h"
#include "lower/product_format.h"
#include "plan/plan.h"

namespace orrery {
namespace {

std::string_view words_of(LogicalAxis axis) {
  switch (axis) {
    case LogicalAxis::ffn:
      return "feed-forward width";
    case LogicalAxis::vocabulary:
      return "vocabulary";
    case LogicalAxis::expert_ffn:
      return "width of an expert";
    case LogicalAxis::heads:
    case LogicalAxis::kv_heads:
    case LogicalAxis::experts:
    case LogicalAxis::none:
    case LogicalAxis::sequence:
      break;
  }
  return "";
}

std::string name_of_dimension(const Dimension& d, const Operator& op, const Model& model) {
  if (d.axis == LogicalAxis::ffn && op.name.starts_with("shared_expert")) {
    return "width of the shared expert";
  }
  if (const std::string_view words = words_of(d.axis); !words.empty()) return std::string(words);
  if (d.axis == LogicalAxis::none && d.factor == model.width) return "hidden width";
  return fmt::format("width of {}", op.name);
}

bool on_tensor_cores(NumberFormat f) { return f != NumberFormat::fp64 && f != NumberFormat::fp32; }

}  // namespace

std::string unaligned_products(const Model& model, const Binding& binding, NumberFormat precision,
                               const KernelParameters& kernels) {
  if (!(kernels.unaligned_fraction < 1)) return "";
  std::vector<std::string> found;
  const auto look_at = [&](const Dimension& d, const Operator& op) {
    const NumberFormat format = product_format(op, precision);
    if (d.symbol != Symbol::one || !on_tensor_cores(format)) return;
    const double granule = KernelModel::granule(format);
    const double own = size(d, binding);
    if (std::fmod(own, granule) == 0) return;
    const double ranks = std::round(d.factor / own);
    const double right = granule * ranks;
    std::string text = fmt::format("{} {}", name_of_dimension(d, op, model), d.factor);
    if (ranks > 1) text += fmt::format(" on {} ranks", ranks);
    text += fmt::format(" to {}, a multiple of {}", std::ceil(d.factor / right) * right, right);
    if (ranks > 1 || format != precision) {
      text += fmt::format(" ({} elements of {} a load)", granule, to_text(format));
    }
    if (std::find(found.begin(), found.end(), text) == found.end()) {
      found.push_back(std::move(text));
    }
  };
  const auto walk = [&](const Block& block) {
    for (const Operator& op : block.operators) {
      // The router's product is small, and no padding would be added to a number of experts.
      if (!is_product(op) || op.op_class == OperatorClass::router) continue;
      Dimension columns = op.n;
      columns.factor /= op.joined;  // gate and up are two of the feed-forward width
      look_at(columns, op);
      look_at(op.k, op);
    }
  };
  walk(model.embedding);
  for (const Block& block : model.blocks) walk(block);
  walk(model.head);
  if (found.empty()) return "";
  std::string out = "rows that tensor cores do not load whole are priced as if padded: ";
  for (const std::string& text : found) out += (&text == &found.front() ? "" : "; ") + text;
  return out +
         "; where nothing pads them they are slower, by how much depends on the library "
         "(docs/models/kernels.md)";
}

}  // namespace orrery
