#include "model/config_rules.h"

#include <algorithm>
#include <optional>

namespace orrery {

namespace {

constexpr int kDeepest = 8;                         // entries like one another
constexpr std::int64_t kMostListedLayers = 10'000;  // build_model refuses more

// A list, or a single value as a list of one.
std::vector<Value> alternatives(const Value& rule) {
  return rule.kind() == Value::Kind::list ? rule.items() : std::vector<Value>{rule};
}

void merge(Value& into, const Value* section) {
  if (section == nullptr) return;
  for (const auto& [key, value] : section->members()) into.set(key, value);
}

// Whether each key has one of the values that are named for it; null: absent or null. What stands
// where a condition names a truth value must be one.
bool holds(const Value& condition, ConfigKeys& keys) {
  return std::ranges::all_of(condition.members(), [&](const auto& wanted) {
    const Value* v = keys.find(wanted.first);
    const bool empty = v == nullptr || v->kind() == Value::Kind::null;
    return std::ranges::any_of(alternatives(wanted.second), [&](const Value& one) {
      if (one.kind() == Value::Kind::null) return empty;
      if (one.kind() == Value::Kind::boolean) {
        return keys.flag(wanted.first) == (one.scalar_text() == "true");
      }
      return !empty && v->is_scalar() && v->scalar_text() == one.scalar_text();
    });
  });
}

// One letter or word of a configuration for each layer.
std::vector<std::string> words_of(const Value& list) {
  std::vector<std::string> out;
  for (const Value& item : list.items()) out.push_back(item.scalar_text());
  for (const char letter : list.scalar_text()) out.emplace_back(1, letter);
  return out;
}

std::string text_of(const Value& map, std::string_view key) {
  const Value* v = map.find(key);
  return v != nullptr ? v->scalar_text() : "";
}

// The halves of the layers, as words of Mixer and FeedForwardPart; empty: as the other fields say.
struct LayerPattern {
  explicit LayerPattern(std::size_t count) : layers(count) {}
  std::size_t layers;
  std::vector<std::string> mixers, feed_forwards;

  // "state-space/none": both halves; "attention": the first; "/experts": the second.
  void set(std::size_t layer, std::string_view halves) {
    const std::size_t slash = std::min(halves.find('/'), halves.size());
    const auto put = [&](std::vector<std::string>& half, std::string_view word, const char* other) {
      if (word.empty()) return;
      if (half.empty()) half.assign(layers, other);
      half[layer] = word;
    };
    put(mixers, halves.substr(0, slash), "attention");
    if (slash < halves.size()) put(feed_forwards, halves.substr(slash + 1), "dense");
  }
};

// Of the keys of a rule, the first that has a value. `whole`: one of them has to, with a word or
// letter for each layer; else a short word of letters repeats. A number n means n - 1 local layers,
// then a global one.
void name_layers(ConfigKeys& keys, const Value& rule, const Value& words, LayerPattern& pattern) {
  const std::vector<Value> all = alternatives(*rule.find("each"));
  const bool whole = text_of(rule, "whole") == "true";
  const auto first =
      std::ranges::find_if(all, [&](const Value& one) { return keys.has(one.scalar_text()); });
  if (first == all.end()) {
    const std::string& key = all.front().scalar_text();
    if (whole && keys.find(key) == nullptr) keys.require(key);
    if (whole && keys.find(key) != nullptr) {
      keys.refuse({ErrorCode::bad_input, "null says nothing of the layers", keys.place(key),
                   "a word or letter for each layer"});
    }
    return;
  }
  const std::string& key = first->scalar_text();
  const Value& list = *keys.find(key);
  if (list.kind() == Value::Kind::map) {
    keys.refuse({ErrorCode::bad_input, "a map does not say what the layers are", keys.place(key),
                 "a list with a word for each layer"});
    return;
  }
  if (list.kind() == Value::Kind::number) {
    const std::int64_t every = keys.integer(key).value_or(0);
    for (std::size_t i = 0; every > 0 && i < pattern.layers; ++i) {
      const bool last = (static_cast<std::int64_t>(i) + 1) % every == 0;
      pattern.set(i, last ? "attention" : "local-attention");
    }
    return;
  }
  const bool letters = list.is_scalar();
  const std::size_t stated = letters ? list.scalar_text().size() : list.items().size();
  if (stated == 0 && !whole) return;
  if (letters && !whole ? stated > pattern.layers : stated != pattern.layers) {
    keys.refuse(
        {ErrorCode::bad_input,
         std::to_string(stated) + " layers, but the model has " + std::to_string(pattern.layers),
         keys.place(key), "one for each layer"});
    return;
  }
  const std::vector<std::string> names = words_of(list);
  for (std::size_t i = 0; i < pattern.layers; ++i) {
    const std::string& name = names[i % names.size()];
    const std::string halves = text_of(words, name);
    if (halves.empty()) {
      keys.refuse({ErrorCode::unsupported, "layer type '" + name + "' is not modelled",
                   keys.place(key), "describe the model in YAML"});
      return;
    }
    pattern.set(i, halves);
  }
}

// The layers that a list of indices names; nothing if there is none.
std::set<std::int64_t> indices(ConfigKeys& keys, const std::string& key, std::int64_t count) {
  std::set<std::int64_t> out;
  if (!keys.has(key)) return out;
  if (keys.find(key)->kind() != Value::Kind::list) {
    keys.refuse({ErrorCode::bad_input, "is not a list of layers", keys.place(key),
                 "write [0, 4] for the first and the fifth"});
    return out;
  }
  for (const Value& index : keys.find(key)->items()) {
    const auto layer = read_integer(index);
    if (!layer || *layer < 0 || *layer >= count) {
      keys.refuse({ErrorCode::bad_input, "'" + index.scalar_text() + "' is not a layer",
                   keys.place(key), "0 to " + std::to_string(count - 1)});
      return {};
    }
    out.insert(*layer);
  }
  return out;
}

void choose_layers(ConfigKeys& keys, const Value& rule, LayerPattern& pattern) {
  const auto count = static_cast<std::int64_t>(pattern.layers);
  const auto value = [&](const char* name) {
    return rule.find(name) == nullptr ? std::nullopt : keys.evaluate(text_of(rule, name));
  };
  const std::set<std::int64_t> at = indices(keys, text_of(rule, "at"), count);
  const std::optional<std::int64_t> first = value("first");
  const std::optional<std::int64_t> every = value("every");
  const std::int64_t offset = value("offset").value_or(0);
  if (every && (*every == 0 || offset >= *every)) {
    const bool none = *every == 0;
    const std::string key = text_of(rule, none ? "every" : "offset");
    keys.refuse({ErrorCode::bad_input,
                 "number " + std::to_string(none ? 0 : offset) + " is out of range: no layer is so",
                 keys.place(key.substr(0, key.find(' '))),
                 none ? "at least 1" : "0 to " + std::to_string(*every - 1)});
    return;
  }
  if (at.empty() && !first && !every) return;
  const std::string is = text_of(rule, "is");
  const std::string otherwise = text_of(rule, "else");
  for (std::int64_t i = 0; i < count; ++i) {
    const bool chosen = first ? i < *first : every ? i % *every == offset : at.contains(i);
    if (!chosen && otherwise.empty()) continue;
    pattern.set(static_cast<std::size_t>(i), chosen ? is : otherwise);
  }
}

// Its shortest part that gives the whole when it is repeated.
std::vector<std::string> repeated_part(const std::vector<std::string>& whole) {
  for (std::size_t n = 1; n < whole.size(); ++n) {
    bool repeats = true;
    for (std::size_t i = n; i < whole.size() && repeats; ++i) repeats = whole[i] == whole[i - n];
    if (repeats) return {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)};
  }
  return whole;
}

Value list_of(const std::vector<std::string>& words) {
  Value out = Value::list();
  for (const std::string& word : words) out.append(Value::text(word));
  return out;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Whether a list has as many items as a rule asks for, none of them null.
bool has_items(const Value& list, const Value& count) {
  return list.kind() == Value::Kind::list &&
         std::to_string(list.items().size()) == count.scalar_text() &&
         std::ranges::none_of(list.items(),
                              [](const Value& item) { return item.kind() == Value::Kind::null; });
}

// A value that is not modelled, "qk_norm 'l2'".
std::string key_and_value(const std::string& key, const Value& value) {
  return key + (value.is_scalar()                   ? " '" + value.scalar_text() + "'"
                : value.kind() == Value::Kind::list ? " that is a list"
                                                    : " that is a map");
}

}  // namespace

Result<ConfigRules> ConfigRules::of(const Catalog& catalog, std::string_view kind,
                                    std::string_view entry, bool nested) {
  ConfigRules out;
  ORRERY_RETURN_IF_ERROR(out.add(catalog, kind, entry, nested, 0));
  return out;
}

Result<void> ConfigRules::add(const Catalog& catalog, std::string_view kind, std::string_view entry,
                              bool nested, int depth) {
  ORRERY_TRY(const Document document, catalog.find(kind, entry));
  if (const Value* like = document.root.find("like")) {
    if (depth == kDeepest) {
      return bad_input("is like too many entries, one after the other", document.name);
    }
    ORRERY_RETURN_IF_ERROR(add(catalog, kind, like->scalar_text(), nested, depth + 1));
  }
  add_sections(document.root);
  // Sizes are those of one class, not of all that are read like it.
  if (nested && depth == 0) merge(defaults_, document.root.find("nested_defaults"));
  if (const Value* when = document.root.find("when")) {
    when_.insert(when_.end(), when->items().begin(), when->items().end());
  }
  return {};
}

void ConfigRules::add_sections(const Value& entry) {
  const auto add = [&](std::set<std::string, std::less<>>& into, const char* section) {
    const Value* list = entry.find(section);
    if (list == nullptr) return;
    for (const Value& key : list->items()) into.insert(key.scalar_text());
  };
  add(without_shape_, "without_shape");
  add(required_, "required");
  add(without_, "without");
  merge(defaults_, entry.find("defaults"));
  merge(traits_, entry.find("traits"));
  merge(numbers_, entry.find("numbers"));
  merge(flags_, entry.find("flags"));
  merge(words_, entry.find("words"));
  merge(activation_, entry.find("activation"));
  if (const Value* layers = entry.find("layers")) layers_ = *layers;
  if (const Value* only = entry.find("only")) {
    only_.insert(only_.end(), only->items().begin(), only->items().end());
  }
}

void ConfigRules::set(std::string_view field, Value value) {
  const std::size_t dot = field.find('.');
  const std::string group(dot == std::string_view::npos ? "" : field.substr(0, dot));
  const std::string name(field.substr(dot == std::string_view::npos ? 0 : dot + 1));
  auto found = std::ranges::find(groups_, group, &std::pair<std::string, Value>::first);
  if (found == groups_.end()) found = groups_.insert(groups_.end(), {group, Value::map()});
  found->second.set(name, std::move(value));
}

std::int64_t ConfigRules::number(std::string_view group, std::string_view field) const {
  const auto found = std::ranges::find(groups_, group, &std::pair<std::string, Value>::first);
  const Value* v = found == groups_.end() ? nullptr : found->second.find(field);
  return v == nullptr ? 0 : read_integer(*v).value_or(0);
}

// The first alternative whose keys all have values. A field stays unset if the keys of one are
// there and null; else those of the first one are missing.
void ConfigRules::read_numbers(ConfigKeys& keys) {
  for (const auto& [field, rule] : numbers_.members()) {
    if (rule.kind() == Value::Kind::null) continue;
    const std::vector<Value> all = alternatives(rule);
    std::optional<std::int64_t> value;
    bool mentioned = false;
    for (const Value& one : all) {
      value = keys.evaluate(one.scalar_text());
      mentioned = mentioned || keys.mentions(one.scalar_text());
      if (value) break;
    }
    if (value) set(field, Value::number(*value));
    // Without experts, nothing asks how many of them a token reaches.
    const bool unused = field.starts_with("moe.") && number("moe", "num_experts") == 0;
    if (!value && !mentioned && !unused) keys.require(all.front().scalar_text());
  }
}

void ConfigRules::read_flags(ConfigKeys& keys) {
  constexpr std::string_view kNot = "not ";
  for (const auto& [field, rule] : flags_.members()) {
    if (rule.kind() == Value::Kind::null) continue;
    for (const Value& one : alternatives(rule)) {
      std::string_view key = one.scalar_text();
      const bool negated = key.starts_with(kNot);
      if (negated) key.remove_prefix(kNot.size());
      const std::optional<bool> value = keys.flag(key);
      if (!value) continue;
      set(field, Value::boolean(*value != negated));
      break;
    }
  }
}

void ConfigRules::read_activation(ConfigKeys& keys) {
  const Value* names = activation_.find("keys");
  if (names == nullptr) return;
  const bool gated = text_of(activation_, "gated") == "true";
  for (const Value& name : names->items()) {
    const std::optional<std::string> word = keys.text(name.scalar_text());
    if (!word) continue;
    const bool gelu = word->starts_with("gelu") || *word == "quick_gelu";
    const bool silu = *word == "silu" || *word == "swish";
    const char* kind = gated && silu                ? "swiglu"
                       : gated && gelu              ? "geglu"
                       : !gated && gelu             ? "gelu"
                       : !gated && *word == "relu"  ? "relu"
                       : !gated && *word == "relu2" ? "squared-relu"
                                                    : nullptr;
    if (kind != nullptr) {
      set("ffn", Value::text(kind));
    } else {
      keys.refuse({ErrorCode::unsupported,
                   "activation '" + *word + "' is not modelled in this feed-forward",
                   keys.place(name.scalar_text()), gated ? "silu or gelu" : "gelu, relu or relu2"});
    }
    return;
  }
  keys.require(names->items().front().scalar_text());
}

// Each rule sets halves of layers, later ones after earlier ones.
//   each: a key with a word (or letter) a layer, that `words` translates; of several the first that
//     is there. whole: one of them is needed, and does not repeat
//   every, offset: the layers with that remainder are `is`, the others `else`
//   at: a key with the indices of the layers that are `is`
//   first: so many leading layers are `is`
void ConfigRules::read_layers(ConfigKeys& keys) {
  const std::int64_t count = number("", "num_layers");
  const std::int64_t window = number("", "sliding_window");
  LayerPattern pattern(static_cast<std::size_t>(count));
  for (const Value& rule : layers_.items()) {
    if (count > kMostListedLayers) break;
    if (rule.find("each") != nullptr) {
      name_layers(keys, rule, words_, pattern);
    } else {
      choose_layers(keys, rule, pattern);
    }
  }

  if (window == 0) std::ranges::replace(pattern.mixers, "local-attention", "attention");
  std::vector<std::string> mixers = repeated_part(pattern.mixers);
  const std::vector<std::string> feed_forwards = repeated_part(pattern.feed_forwards);
  // What a window and `global_attention_every` say is said by them.
  const bool attends = std::ranges::all_of(mixers, [](const std::string& word) {
    return word == "attention" || word == "local-attention";
  });
  const auto every = static_cast<std::int64_t>(mixers.size());
  if (!mixers.empty() && attends && std::ranges::count(mixers, "attention") <= 1 &&
      (every == 1 || mixers.back() == "attention")) {
    const bool local = mixers.front() == "local-attention";
    if (every == 1 && !local) set("sliding_window", Value::number(std::int64_t{0}));
    set("global_attention_every", Value::number(every > 1 ? every : std::int64_t{0}));
    mixers.clear();
  }
  if (!mixers.empty()) set("global_attention_every", Value::number(std::int64_t{0}));
  if (!mixers.empty()) set("mixers", list_of(mixers));
  if (!feed_forwards.empty()) set("feed_forwards", list_of(feed_forwards));
}

// Keys that have a value must have one of those that are named, that of an expression, or so many
// items. Where none is named, false and an empty list pass, which turn a part off.
void ConfigRules::refuse_variants(ConfigKeys& keys) const {
  for (const std::string& key : without_) keys.refuse_part(key);
  for (const Value& rule : only_) {
    const std::string key = text_of(rule, "key");
    if (!keys.has(key)) continue;
    const Value& v = *keys.find(key);
    const Value* items = rule.find("items");
    const std::vector<Value> named =
        items != nullptr ? std::vector<Value>{} : alternatives(*rule.find("is"));
    bool right = items != nullptr
                     ? has_items(v, *items)
                     : named.empty() && (v.scalar_text() == "false" ||
                                         (v.kind() == Value::Kind::list && v.items().empty()));
    std::string expected;
    for (const Value& one : named) {
      const std::string& is = one.scalar_text();
      expected += (expected.empty() ? "" : " or ") + is;
      right = right || (v.kind() == one.kind() && v.scalar_text() == is);
      if (!right && v.kind() == Value::Kind::number && keys.mentions(is)) {
        right = keys.evaluate(is) == keys.integer(key);
      }
    }
    if (right) continue;
    std::string what = text_of(rule, "else");
    if (what.empty()) what = key_and_value(key, v);
    std::string write = text_of(rule, "write");
    if (write.empty()) {
      write = expected.empty() ? "describe the model in YAML" : "write " + expected;
    }
    keys.refuse(
        {ErrorCode::unsupported, what + " is not modelled", keys.place(key), std::move(write)});
  }
}

void ConfigRules::read_sections(ConfigKeys& keys) {
  for (const std::string& key : required_) keys.require(key);
  keys.set_defaults(defaults_);
  for (const Value& clause : std::vector<Value>(when_)) {
    const Value* condition = clause.find("if");
    const Value* exception = clause.find("unless");
    if (condition != nullptr && !holds(*condition, keys)) continue;
    if (exception != nullptr && holds(*exception, keys)) continue;
    if (clause.find("refuse") != nullptr) {
      keys.refuse({ErrorCode::unsupported, text_of(clause, "refuse"),
                   keys.place(condition->members().front().first), text_of(clause, "write")});
    }
    add_sections(clause);
    keys.set_defaults(defaults_);
  }
  for (const auto& [field, value] : traits_.members()) {
    if (value.kind() != Value::Kind::null) set(field, value);
  }
  read_numbers(keys);
  read_flags(keys);
}

Value ConfigRules::grouped() const {
  const auto own = std::ranges::find(groups_, "", &std::pair<std::string, Value>::first);
  Value out = own == groups_.end() ? Value::map() : own->second;
  for (const auto& [group, fields] : groups_) {
    if (!group.empty()) out.set(group, fields);
  }
  return out;
}

Value ConfigRules::fields(ConfigKeys& keys) {
  read_sections(keys);
  refuse_variants(keys);
  return grouped();
}

Value ConfigRules::architecture(ConfigKeys& keys) {
  read_sections(keys);
  read_activation(keys);
  // A window as wide as the context masks nothing.
  const std::int64_t window = number("", "sliding_window");
  const std::int64_t context = number("", "max_position");
  if (window == 0 ||
      (context > 0 && window >= context && traits_.find("chunked_attention") == nullptr)) {
    set("sliding_window", Value::number(std::int64_t{0}));
    set("global_attention_every", Value::number(std::int64_t{0}));
    set("chunked_attention", Value::boolean(false));
  }
  read_layers(keys);
  refuse_variants(keys);

  // Experts, states and such are left out where no layer has them.
  const Value all = grouped();
  const Value* mixers = all.find("mixers");
  const std::vector<std::string> used =
      mixers == nullptr ? std::vector<std::string>{} : words_of(*mixers);
  const bool experts = number("moe", "num_experts") > 0;
  std::erase_if(groups_, [&](const auto& group) {
    const std::string& name = group.first;
    return (name == "moe" && !experts) || (name == "state_space" && !has(used, "state-space")) ||
           (name == "gated_delta" && !has(used, "gated-delta"));
  });
  return grouped();
}

}  // namespace orrery
