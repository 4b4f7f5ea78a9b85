#include "trace/chakra/operator_work.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "trace/chakra/communication_node.h"
#include "trace/pytorch_et/python_text.h"

namespace orrery {
namespace {

using Shape = std::vector<double>;

double elements(const Shape& shape) {
  double out = 1;
  for (const double size : shape) out *= size;
  return out;
}

Shape shape_of(std::string_view json) {
  Shape out;
  for (const std::string_view item : json_items(json)) {
    const auto size = json_integer(item);
    if (!size || *size < 0) return {};
    out.push_back(static_cast<double>(*size));
  }
  return out;
}

std::int64_t whole(double value) {
  constexpr double kMost = 9.2e18;  // below 2^63
  return static_cast<std::int64_t>(std::min(value, kMost));
}

// Of the product of two shapes; `more` operations an element besides.
double product_flops(const Shape& a, const Shape& b, bool transposed, double more) {
  if (a.empty() || b.empty()) return 0;
  const double k = a.back();
  // aten::linear takes its weight as [n, k], all others as [.., k, n].
  const double n = b.size() == 1 ? 1 : (transposed ? b[b.size() - 2] : b.back());
  return k == 0 ? 0 : elements(a) / k * n * (2 * k + more);
}

double flops(std::string_view name, const std::vector<Shape>& inputs) {
  struct Product {
    std::string_view name;
    std::size_t first;  // of the two factors among the inputs
    bool transposed;
    double more;
  };
  static constexpr std::array<Product, 6> kProducts = {{{"aten::mm", 0, false, 0},
                                                        {"aten::matmul", 0, false, 0},
                                                        {"aten::linear", 0, true, 0},
                                                        {"aten::bmm", 0, false, 0},
                                                        {"aten::addmm", 1, false, 1},
                                                        {"aten::baddbmm", 1, false, 1}}};
  for (const Product& p : kProducts) {
    if (p.name == name && inputs.size() > p.first + 1) {
      return product_flops(inputs[p.first], inputs[p.first + 1], p.transposed, p.more);
    }
  }
  double most = 0;
  for (const Shape& shape : inputs) {
    if (!shape.empty()) most = std::max(most, elements(shape));
  }
  return most;
}

std::vector<Shape> shapes(std::string_view json) {
  std::vector<Shape> out;
  for (const std::string_view item : json_items(json)) out.push_back(shape_of(item));
  return out;
}

}  // namespace

RecordedOperatorWork operator_work(const CallTreeNode& node, const RecordedTrace& recorded,
                                   const HostTrace* host) {
  if (host != nullptr && node.host != kNoNode) {
    const HostNode& h = host->nodes[node.host];
    const double in = static_cast<double>(tensor_bytes(h.inputs));
    const double out = static_cast<double>(tensor_bytes(h.outputs));
    return {whole(flops(h.name, shapes(h.inputs.shapes))), whole(in + out)};
  }
  if (node.event == kNoEvent || recorded.details[node.event] == kNoDetails) return {};
  const OperatorDetails& details = recorded.operators[recorded.details[node.event]];
  const std::string_view dimensions = recorded.texts[details.input_shapes];
  const std::string_view types = recorded.texts[details.input_types];
  if (!is_shallow_json(dimensions) || !is_shallow_json(types)) return {};
  const std::vector<Shape> inputs = shapes(dimensions);
  const auto names = json_items(types);
  double bytes = 0;
  for (std::size_t i = 0; i < std::min(inputs.size(), names.size()); ++i) {
    const auto each = bytes_of_data_type(json_string(names[i]).value_or(""));
    if (each && !inputs[i].empty()) bytes += elements(inputs[i]) * static_cast<double>(*each);
  }
  return {whole(flops(recorded.name_of(node.event), inputs)), whole(bytes)};
}

}  // namespace orrery
