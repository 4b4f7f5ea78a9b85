#include "whatif/tensor_shapes.h"

#include <charconv>

namespace orrery {
namespace {

double size(std::int64_t n) { return static_cast<double>(n); }

std::optional<ProductShape> plain(const TensorShape& a, const TensorShape& b) {
  if (a.size() != 2 || b.size() != 2 || a[1] != b[0]) return std::nullopt;
  return ProductShape{1, size(a[0]), size(b[1]), size(a[1])};
}

std::optional<ProductShape> batched(const TensorShape& a, const TensorShape& b) {
  if (a.size() != 3 || b.size() != 3 || a[0] != b[0] || a[2] != b[1]) return std::nullopt;
  return ProductShape{size(a[0]), size(a[1]), size(b[2]), size(a[2])};
}

// x[..., k] times the transpose of w[n, k].
std::optional<ProductShape> linear(const TensorShape& x, const TensorShape& w) {
  if (x.empty() || w.size() != 2 || x.back() != w[1]) return std::nullopt;
  double rows = 1;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) rows *= size(x[i]);
  return ProductShape{1, rows, size(w[0]), size(w[1])};
}

}  // namespace

std::vector<TensorShape> tensor_shapes(std::string_view text) {
  std::vector<TensorShape> out;
  TensorShape current;
  bool open = false;  // the innermost list so far
  std::size_t dimensions = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '[') {
      current.clear();
      open = true;
      ++i;
    } else if (c == ']') {
      if (open) out.push_back(std::move(current));
      current.clear();
      open = false;
      ++i;
    } else if (c >= '0' && c <= '9') {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
      if (error != std::errc() || ++dimensions > kMostDimensions) return {};
      current.push_back(value);
      i = static_cast<std::size_t>(end - text.data());
    } else if (c == ',' || c == ' ') {
      ++i;
    } else {
      return {};
    }
  }
  return out;
}

double elements_of(const std::vector<TensorShape>& shapes) {
  double sum = 0;
  for (const TensorShape& shape : shapes) {
    if (shape.empty()) continue;
    double product = 1;
    for (const std::int64_t n : shape) product *= size(n);
    sum += product;
  }
  return sum;
}

std::optional<ProductShape> product_shape(std::string_view op,
                                          const std::vector<TensorShape>& shapes) {
  if (op == "aten::mm" && shapes.size() >= 2) return plain(shapes[0], shapes[1]);
  if (op == "aten::bmm" && shapes.size() >= 2) return batched(shapes[0], shapes[1]);
  if (op == "aten::matmul" && shapes.size() >= 2) {
    return shapes[0].size() == 3 && shapes[1].size() == 3 ? batched(shapes[0], shapes[1])
                                                          : plain(shapes[0], shapes[1]);
  }
  if (op == "aten::addmm" && shapes.size() >= 3) return plain(shapes[1], shapes[2]);
  if (op == "aten::baddbmm" && shapes.size() >= 3) return batched(shapes[1], shapes[2]);
  if (op == "aten::linear" && shapes.size() >= 2) return linear(shapes[0], shapes[1]);
  return std::nullopt;
}

}  // namespace orrery
