#include "trace/recorded_arguments.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <utility>

namespace orrery {
namespace {

constexpr int kDeepest = 4;  // list of arguments, list of tensors, shape

// A list of lists of whole numbers, as deep as it is written.
struct Nested {
  bool is_number = false;
  std::int64_t number = 0;
  std::vector<Nested> items;
};

class NestedReader {
 public:
  explicit NestedReader(std::string_view text) : text_(text) {}

  std::optional<Nested> list(int depth) {
    skip();
    if (depth > kDeepest || at_ >= text_.size() || text_[at_] != '[') return std::nullopt;
    ++at_;
    Nested result;
    for (skip(); at_ < text_.size() && text_[at_] != ']'; skip()) {
      if (text_[at_] == '[') {
        auto inner = list(depth + 1);
        if (!inner) return std::nullopt;
        result.items.push_back(std::move(*inner));
      } else {
        Nested number = {.is_number = true, .number = 0, .items = {}};
        const auto read =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), number.number);
        if (read.ec != std::errc()) return std::nullopt;
        at_ = static_cast<std::size_t>(read.ptr - text_.data());
        result.items.push_back(std::move(number));
      }
      skip();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    if (at_ >= text_.size()) return std::nullopt;
    ++at_;
    return result;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

// The strings of ["a", "b"]; either kind of quote, backslash before a quote.
std::vector<std::string> strings_of(std::string_view text) {
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '"' && text[i] != '\'') continue;
    const char quote = text[i];
    std::string one;
    for (++i; i < text.size() && text[i] != quote; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      one += text[i];
    }
    strings.push_back(std::move(one));
  }
  return strings;
}

Shape shape_of(const Nested& list) {
  Shape shape;
  for (const Nested& item : list.items) {
    if (item.is_number) shape.push_back(item.number);
  }
  return shape;
}

// Adds all tensors; false where one has a negative extent.
bool add_shapes(const Nested& list, std::vector<Shape>& out) {
  const bool leaf = list.items.empty() || list.items.front().is_number;
  if (leaf) out.push_back(shape_of(list));
  return std::ranges::all_of(list.items, [&](const Nested& item) {
    return item.is_number ? item.number >= 0 : leaf || add_shapes(item, out);
  });
}

double extent(std::int64_t n) { return static_cast<double>(n); }

// x[..., k] times w[k, n], or w[k].
std::optional<GemmShape> plain(const Shape& x, const Shape& w) {
  if (x.empty() || w.empty() || w.size() > 2 || x.back() != w[0]) return std::nullopt;
  double rows = 1;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) rows *= extent(x[i]);
  return GemmShape{rows, w.size() == 1 ? 1 : extent(w[1]), extent(w[0])};
}

std::optional<GemmShape> batched(const Shape& a, const Shape& b) {
  if (a.size() != 3 || b.size() != 3 || a[0] != b[0] || a[2] != b[1]) return std::nullopt;
  return GemmShape{extent(a[1]), extent(b[2]), extent(a[2]), extent(a[0])};
}

// a[..., m, k], or a[k], times b[..., k, n]. Leading dimensions are aligned at their ends, and one
// that is 1 or absent in one factor is that of the other.
std::optional<GemmShape> broadcast(const Shape& a, const Shape& b) {
  if (b.size() < 3) return plain(a, b);
  if (a.empty() || a.back() != b[b.size() - 2]) return std::nullopt;
  double groups = 1;
  for (std::size_t i = 3; i <= std::max(a.size(), b.size()); ++i) {
    const std::int64_t of_a = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t of_b = i <= b.size() ? b[b.size() - i] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) return std::nullopt;
    groups *= extent(of_a == 1 ? of_b : of_a);
  }
  const double rows = a.size() == 1 ? 1 : extent(a[a.size() - 2]);
  return GemmShape{rows, extent(b.back()), extent(a.back()), groups};
}

// x[..., k] times the transpose of w[n, k], or w[k].
std::optional<GemmShape> linear(const Shape& x, const Shape& w) {
  return w.size() == 2 ? plain(x, {w[1], w[0]}) : plain(x, w);
}

struct ProductForm {
  std::string_view op;
  std::size_t first;  // of the two factors among the inputs
  std::optional<GemmShape> (*shape)(const Shape& a, const Shape& b);
};
constexpr ProductForm kProductForms[] = {
    {"aten::mm", 0, plain},    {"aten::matmul", 0, broadcast}, {"aten::bmm", 0, batched},
    {"aten::addmm", 1, plain}, {"aten::linear", 0, linear},    {"aten::baddbmm", 1, batched}};

std::vector<Shape> shapes_of(const Nested& list, std::string_view type) {
  const bool of_lists = !list.items.empty() && !list.items.front().is_number;
  if (of_lists || type == "TensorList") {
    std::vector<Shape> shapes;
    for (const Nested& item : list.items) {
      if (!item.is_number) shapes.push_back(shape_of(item));
    }
    return shapes;
  }
  if (!list.items.empty() || element_bytes(type) > 0) return {shape_of(list)};
  return {};
}

}  // namespace

std::vector<RecordedArgument> recorded_arguments(const RecordedTrace& trace,
                                                 const OperatorDetails& details) {
  const std::vector<std::string> types = strings_of(trace.texts[details.input_types]);
  const std::vector<std::string> values = strings_of(trace.texts[details.concrete_inputs]);
  const auto dims = NestedReader(trace.texts[details.input_shapes]).list(1);
  if (!dims) return {};
  std::vector<RecordedArgument> arguments(dims->items.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i < types.size()) arguments[i].type = types[i];
    if (i < values.size()) arguments[i].value = values[i];
    arguments[i].shapes = shapes_of(dims->items[i], arguments[i].type);
  }
  return arguments;
}

double elements_of(const Shape& shape) {
  double product = 1;
  for (const std::int64_t extent : shape) {
    product *= static_cast<double>(std::max<std::int64_t>(0, extent));
  }
  return std::min(product, 4.6e18);
}

double elements_of(const RecordedArgument& argument) {
  double sum = 0;
  for (const Shape& shape : argument.shapes) sum += elements_of(shape);
  return sum;
}

std::vector<Shape> tensor_shapes(std::string_view text) {
  std::vector<Shape> out;
  const auto list = NestedReader(text).list(1);
  return list && add_shapes(*list, out) ? out : std::vector<Shape>();
}

double elements_of(const std::vector<Shape>& shapes) {
  double sum = 0;
  for (const Shape& shape : shapes) sum += shape.empty() ? 0 : elements_of(shape);
  return sum;
}

std::int64_t element_bytes(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 28> kBytes = {
      {{"float", 4},         {"bfloat16", 2},    {"half", 2},         {"double", 8},
       {"longint", 8},       {"long", 8},        {"int", 4},          {"short", 2},
       {"shortint", 2},      {"signedchar", 1},  {"unsignedchar", 1}, {"char", 1},
       {"byte", 1},          {"bool", 1},        {"complexfloat", 8}, {"complexdouble", 16},
       {"unsignedshort", 2}, {"unsignedint", 4}, {"unsignedlong", 8}, {"longlong", 8},
       {"int8", 1},          {"uint8", 1},       {"int16", 2},        {"int32", 4},
       {"int64", 8},         {"float16", 2},     {"float32", 4},      {"float64", 8}}};
  std::string name;  // "c10::complex<float>" as "complexfloat"
  if (type.starts_with("c10::")) type.remove_prefix(5);
  for (const char c : type) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  if (name.starts_with("float8")) return 1;
  const auto* it = std::ranges::find(kBytes, name, [](const auto& entry) { return entry.first; });
  return it == kBytes.end() ? 0 : it->second;
}

double input_bytes(const RecordedTrace& trace, const OperatorDetails& details) {
  double bytes = 0;
  for (const RecordedArgument& argument : recorded_arguments(trace, details)) {
    if (!argument.is_tensor() || argument.shapes[0].empty()) continue;
    bytes += elements_of(argument) * static_cast<double>(element_bytes(argument.type));
  }
  return bytes;
}

std::optional<GemmShape> product_shape(std::string_view op, const std::vector<Shape>& shapes) {
  const auto* form = std::ranges::find(kProductForms, op, &ProductForm::op);
  if (form == std::end(kProductForms) || shapes.size() < form->first + 2) return std::nullopt;
  return form->shape(shapes[form->first], shapes[form->first + 1]);
}

std::vector<std::int64_t> whole_numbers(std::string_view value) {
  if (value.empty()) return {};
  const std::string list =
      value.front() == '[' ? std::string(value) : "[" + std::string(value) + "]";
  const auto read = NestedReader(list).list(1);
  if (!read) return {};
  return shape_of(*read);
}

}  // namespace orrery
