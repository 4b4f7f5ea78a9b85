// Reads the keys of one config.json, collecting what is missing and what is wrong.
//
// A key is a name, two names with a dot for a key one level down ("attn_config.kv_n_heads"), or a
// name and an index from 0 for an item of a list ("patch_size.1"). A key that is absent has the
// default of the configuration class; one that is null has no value.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "document/fields.h"

namespace orrery {

class ConfigKeys {
 public:
  explicit ConfigKeys(const Value& map) : map_(map) {}

  // Of absent keys: a map from key to value.
  void set_defaults(Value defaults) { defaults_ = std::move(defaults); }

  // The value, null included; nullptr if the key is absent and has no default.
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;  // present and not null
  // Of the kind that is asked for; nothing if absent, null or, which is noted, something else.
  std::optional<std::int64_t> integer(std::string_view key);  // 0 to 1e9
  std::optional<bool> flag(std::string_view key);
  std::optional<std::string> text(std::string_view key);

  // A sum of products of keys, whole numbers and sums in parentheses, "2 * (hidden_size + 1)".
  // Products are computed from left to right, and division rounds down. Nothing if one of its keys has no value.
  std::optional<std::int64_t> evaluate(std::string_view expression);
  // Notes the keys of an expression that are absent.
  void require(std::string_view expression);
  // Refuses a key that is stated and neither null, false, zero, empty nor "default": a part that is
  // not modelled.
  void refuse_part(std::string_view key);
  // Whether all of its keys are present, null or not.
  [[nodiscard]] bool mentions(std::string_view expression) const;

  // Keys that nobody asked for, that are not `known`, and that may change the shape of the model:
  // not null, false, zero or empty.
  [[nodiscard]] std::vector<std::string> not_understood(
      const std::set<std::string, std::less<>>& known) const;

  [[nodiscard]] std::string place(std::string_view key) const;  // "line 2, n_layer"
  void refuse(Error error) { errors_.push_back(std::move(error)); }
  // The first error, or that of the missing keys.
  [[nodiscard]] Result<void> outcome(std::string_view family) const;

 private:
  // Up to the end or a closing parenthesis; what was read is cut off the front.
  std::optional<double> sum(std::string_view& expression);

  const Value& map_;
  Value defaults_ = Value::map();
  mutable std::set<std::string, std::less<>> looked_up_;
  std::vector<std::string> missing_;
  std::vector<Error> errors_;
};

}  // namespace orrery
