#include "model/config_keys.h"

#include <algorithm>
#include <cmath>

#include "outcome/parsed_number.h"

namespace orrery {

namespace {

// Above every real figure, and small enough that a product of two stays exact.
constexpr std::int64_t kMostInteger = 1'000'000'000;

// The member at "a" or "a.b", the item at "a.0", or nullptr.
const Value* member(const Value& map, std::string_view key) {
  const std::size_t dot = key.find('.');
  const Value* v = map.find(key.substr(0, dot));
  if (v == nullptr || dot == std::string_view::npos) return v;
  const std::string_view below = key.substr(dot + 1);
  if (v->kind() == Value::Kind::map) return v->find(below);
  const auto place = parsed_number<std::size_t>(below);
  return v->kind() == Value::Kind::list && place && *place < v->items().size() ? &v->items()[*place]
                                                                               : nullptr;
}

bool is_off(const Value& v) {
  switch (v.kind()) {
    case Value::Kind::null:
      return true;
    case Value::Kind::boolean:
      return v.scalar_text() == "false";
    case Value::Kind::number:
      return v.scalar_text() == "0" || v.scalar_text() == "0.0";
    case Value::Kind::text:
      return v.scalar_text().empty();
    case Value::Kind::list:
      return v.items().empty();
    case Value::Kind::map:
      return v.members().empty();
  }
  return false;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_operator(std::string_view token) {
  return token.size() == 1 && std::string_view("+-*/").find(token) != std::string_view::npos;
}

// The next word or operator of an expression, which is cut off its front.
std::string_view next_token(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::size_t end = std::min(rest.find_first_of(" +-*/()"), rest.size());
  const std::string_view token = rest.substr(0, std::max<std::size_t>(end, rest.empty() ? 0 : 1));
  rest.remove_prefix(token.size());
  return token;
}

template <class F>
void for_each_key(std::string_view expression, F&& of) {
  while (true) {
    const std::string_view token = next_token(expression);
    if (token.empty()) return;
    if (is_operator(token) || token == "(" || token == ")") continue;
    if (!is_digit(token.front())) of(token);
  }
}

}  // namespace

const Value* ConfigKeys::find(std::string_view key) const {
  looked_up_.emplace(key);
  const Value* v = member(map_, key);
  return v != nullptr ? v : defaults_.find(key);
}

bool ConfigKeys::has(std::string_view key) const {
  const Value* v = find(key);
  return v != nullptr && v->kind() != Value::Kind::null;
}

std::string ConfigKeys::place(std::string_view key) const {
  const Value* v = member(map_, key);
  return (v != nullptr && v->line() > 0 ? "line " + std::to_string(v->line()) + ", " : "") +
         std::string(key);
}

std::optional<std::int64_t> ConfigKeys::integer(std::string_view key) {
  if (!has(key)) return std::nullopt;
  const Value& v = *find(key);
  const auto value = read_integer(v);
  if (!value) {
    refuse(at(place(key), value.error()));
    return std::nullopt;
  }
  if (*value < 0 || *value > kMostInteger) {
    refuse({ErrorCode::bad_input, "number " + v.scalar_text() + " is out of range", place(key),
            "0 to " + std::to_string(kMostInteger)});
    return std::nullopt;
  }
  return *value;
}

std::optional<bool> ConfigKeys::flag(std::string_view key) {
  if (!has(key)) return std::nullopt;
  const auto value = read_boolean(*find(key));
  if (value) return *value;
  refuse(at(place(key), value.error()));
  return std::nullopt;
}

std::optional<std::string> ConfigKeys::text(std::string_view key) {
  if (!has(key)) return std::nullopt;
  const auto value = read_text(*find(key));
  if (value) return *value;
  refuse(at(place(key), value.error()));
  return std::nullopt;
}

std::optional<double> ConfigKeys::sum(std::string_view& expression) {
  double sum = 0;
  double product = 1;
  double sign = 1;
  char operation = '*';
  while (true) {
    const std::string_view token = next_token(expression);
    if (token.empty() || token == ")") return sum + sign * product;
    if (is_operator(token)) {
      operation = token.front();
      if (operation == '+' || operation == '-') {
        sum += sign * product;
        sign = operation == '+' ? 1 : -1;
        product = 1;
        operation = '*';
      }
      continue;
    }
    double value = 0;
    if (token == "(") {
      const std::optional<double> inner = this->sum(expression);
      if (!inner) return std::nullopt;
      value = *inner;
    } else if (is_digit(token.front())) {
      value = static_cast<double>(std::stoll(std::string(token.substr(0, 9))));
    } else if (const auto stated = integer(token)) {
      value = static_cast<double>(*stated);
    } else {
      return std::nullopt;
    }
    if (operation == '/' && value == 0) {
      refuse({ErrorCode::bad_input, "number 0 is out of range", place(token), "at least 1"});
      return std::nullopt;
    }
    product = operation == '/' ? std::floor(product / value) : product * value;
  }
}

std::optional<std::int64_t> ConfigKeys::evaluate(std::string_view expression) {
  std::string_view rest = expression;
  const std::optional<double> value = sum(rest);
  if (!value) return std::nullopt;
  if (*value >= 0 && *value <= static_cast<double>(kMostInteger)) {
    return static_cast<std::int64_t>(*value);
  }
  std::string first;
  for_each_key(expression, [&](std::string_view key) {
    if (first.empty()) first = key;
  });
  refuse({ErrorCode::bad_input, "'" + std::string(expression) + "' is out of range", place(first),
          "0 to " + std::to_string(kMostInteger)});
  return std::nullopt;
}

void ConfigKeys::refuse_part(std::string_view key) {
  const Value* v = find(key);
  if (v == nullptr || is_off(*v) || (v->is_scalar() && v->scalar_text() == "default")) return;
  refuse({ErrorCode::unsupported, std::string(key) + " is not modelled", place(key),
          "remove the key to predict the model without it"});
}

void ConfigKeys::require(std::string_view expression) {
  for_each_key(expression, [&](std::string_view key) {
    if (find(key) == nullptr && std::ranges::find(missing_, key) == missing_.end()) {
      missing_.emplace_back(key);
    }
  });
}

bool ConfigKeys::mentions(std::string_view expression) const {
  bool all = true;
  for_each_key(expression, [&](std::string_view key) { all = all && find(key) != nullptr; });
  return all;
}

std::vector<std::string> ConfigKeys::not_understood(
    const std::set<std::string, std::less<>>& known) const {
  std::vector<std::string> out;
  const auto understood = [&](const std::string& key, const Value& value) {
    return is_off(value) || looked_up_.contains(key) || known.contains(key);
  };
  for (const auto& [key, value] : map_.members()) {
    const bool inside =
        value.kind() == Value::Kind::map &&
        std::ranges::any_of(looked_up_, [&, prefix = key + "."](const std::string& path) {
          return path.starts_with(prefix);
        });
    if (!inside) {
      if (!understood(key, value)) out.push_back(key);
      continue;
    }
    for (const auto& [name, below] : value.members()) {
      if (!understood(key + "." + name, below) && !known.contains(name)) {
        out.push_back(key + "." + name);
      }
    }
  }
  return out;
}

Result<void> ConfigKeys::outcome(std::string_view family) const {
  if (!errors_.empty()) return fail(errors_.front());
  if (missing_.empty()) return {};
  std::string names;
  for (const std::string& key : missing_) names += (names.empty() ? "" : ", ") + key;
  return bad_input("config of model type '" + std::string(family) + "' lacks " + names,
                   map_.line() > 0 ? "line " + std::to_string(map_.line()) : "");
}

}  // namespace orrery
