// What the keys of a config.json mean, for one model type or class.
//
// The facts are entries of catalog/hugging-face/ (docs/hugging-face.md) and catalog/diffusers/:
// defaults of the configuration class for absent keys, which key gives which field of the model,
// what the type's layers are, and what is not modelled. An entry may be like another and state what
// differs.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "model/config_keys.h"

namespace orrery {

class ConfigRules {
 public:
  // Those of an entry and of the entries it is like. `nested`: the configuration is part of another
  // one, where all keys that are as in the class are left out. Errors: an entry that is like
  // itself or one that is absent.
  static Result<ConfigRules> of(const Catalog& catalog, std::string_view kind,
                                std::string_view entry, bool nested);

  // The fields of a model as a map, for read<T>(). What is wrong, missing or not modelled is noted
  // in `keys`.
  Value fields(ConfigKeys& keys);
  // Those of an Architecture, with its activation and what its layers are.
  Value architecture(ConfigKeys& keys);
  // Keys that change no shape.
  [[nodiscard]] const std::set<std::string, std::less<>>& without_shape() const {
    return without_shape_;
  }

 private:
  Result<void> add(const Catalog& catalog, std::string_view kind, std::string_view entry,
                   bool nested, int depth);
  void add_sections(const Value& entry);
  void read_sections(ConfigKeys& keys);
  void read_numbers(ConfigKeys& keys);
  void read_flags(ConfigKeys& keys);
  void read_activation(ConfigKeys& keys);
  void read_layers(ConfigKeys& keys);
  void refuse_variants(ConfigKeys& keys) const;
  [[nodiscard]] std::int64_t number(std::string_view group, std::string_view field) const;
  void set(std::string_view field, Value value);
  [[nodiscard]] Value grouped() const;

  Value defaults_ = Value::map();
  Value traits_ = Value::map();
  Value numbers_ = Value::map();
  Value flags_ = Value::map();
  Value words_ = Value::map();
  Value activation_ = Value::map();
  Value layers_ = Value::list();
  std::vector<Value> when_;
  std::vector<Value> only_;
  std::set<std::string, std::less<>> without_shape_;
  std::set<std::string, std::less<>> required_;  // whatever the defaults are
  std::set<std::string, std::less<>> without_;
  // Fields read so far, by group: "" those of the model itself, "moe", ...
  std::vector<std::pair<std::string, Value>> groups_;
};

}  // namespace orrery
