#include "analyze/recorded_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
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

bool is_type_of_elements(std::string_view type) { return element_bytes(type) > 0; }

std::vector<Shape> shapes_of(const Nested& list, std::string_view type) {
  const bool of_lists = !list.items.empty() && !list.items.front().is_number;
  if (of_lists || type == "TensorList") {
    std::vector<Shape> shapes;
    for (const Nested& item : list.items) {
      if (!item.is_number) shapes.push_back(shape_of(item));
    }
    return shapes;
  }
  if (!list.items.empty() || is_type_of_elements(type)) return {shape_of(list)};
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

std::int64_t element_bytes(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 24> kBytes = {{
      {"float", 4},
      {"c10::BFloat16", 2},
      {"c10::Half", 2},
      {"double", 8},
      {"long int", 8},
      {"long", 8},
      {"int", 4},
      {"short", 2},
      {"short int", 2},
      {"signed char", 1},
      {"unsigned char", 1},
      {"char", 1},
      {"bool", 1},
      {"c10::Float8_e4m3fn", 1},
      {"c10::Float8_e5m2", 1},
      {"c10::Float8_e4m3fnuz", 1},
      {"c10::Float8_e5m2fnuz", 1},
      {"c10::Float8_e8m0fnu", 1},
      {"c10::complex<float>", 8},
      {"c10::complex<double>", 16},
      {"unsigned short", 2},
      {"unsigned int", 4},
      {"unsigned long", 8},
      {"long long", 8},
  }};
  const auto* it = std::find_if(kBytes.begin(), kBytes.end(),
                                [&](const auto& entry) { return entry.first == type; });
  return it == kBytes.end() ? 0 : it->second;
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
