#include "estimate/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "catalog/catalog.h"
#include "model/family.h"
#include "outcome/nearest_name.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::string_view kOption = "--set";

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t dot = text.find('.');
    out.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return out;
    text.remove_prefix(dot + 1);
  }
}

// "2x" is a factor; "900 GB/s" is not.
std::optional<double> factor_of(std::string_view value) {
  if (!value.ends_with('x')) return std::nullopt;
  return parsed_number<double>(value.substr(0, value.size() - 1));
}

// The number that begins a text, and the unit behind it: "3.35", " TB/s".
std::optional<std::pair<double, std::string>> number_and_unit(const std::string& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789.+-e"), text.size());
  const auto number = parsed_number<double>(std::string_view(text).substr(0, end));
  if (!number) return std::nullopt;
  return std::pair(*number, text.substr(end));
}

// One change of one section, and where it is, for messages.
struct Change {
  std::string where;
  std::string value;
  std::optional<double> factor;
  std::vector<std::string> before;  // values that were replaced
  std::vector<std::string> after;
};

Result<Value> changed_scalar(const Value& old, Change& change) {
  std::string text = change.value;
  if (change.factor) {
    const auto number = number_and_unit(old.scalar_text());
    if (!number) {
      return bad_input("has no number that could be multiplied", change.where,
                       "write the value itself, without x");
    }
    text = fmt::format("{}{}", number->first * *change.factor, number->second);
  }
  change.before.push_back(old.scalar_text());
  change.after.push_back(text);
  const bool number = parsed_number<double>(text).has_value();
  if (text == "true" || text == "false") return Value::boolean(text == "true");
  return Value::scalar(number ? Value::Kind::number : Value::Kind::text, text, 0);
}

Result<Value> changed(const Value& old, std::span<const std::string_view> keys, Change& change);

// A field that the section leaves out, and the maps around it. The reader of the section knows whether
// there is such a field, and names the nearest.
Result<Value> left_out(std::span<const std::string_view> keys, Change& change) {
  ORRERY_TRY(Value value, changed_scalar(Value::null(), change));
  for (std::size_t i = keys.size(); i-- > 0;) {
    Value nested = Value::map();
    nested.set(std::string(keys[i]), std::move(value));
    value = std::move(nested);
  }
  return value;
}

Result<Value> changed_member(const Value& old, std::span<const std::string_view> keys,
                             Change& change) {
  Value out = Value::map();
  bool found = keys.front() == "*";
  for (const auto& [key, member] : old.members()) {
    if (keys.front() != "*" && key != keys.front()) {
      out.set(key, member);
      continue;
    }
    found = true;
    if (keys.front() == "*" && member.kind() == Value::Kind::null) continue;
    ORRERY_TRY(Value value, changed(member, keys.subspan(1), change));
    out.set(key, std::move(value));
  }
  if (!found) {
    ORRERY_TRY(Value value, left_out(keys.subspan(1), change));
    out.set(std::string(keys.front()), std::move(value));
  }
  return out;
}

bool is_item(const Value& item, std::size_t number, std::string_view key) {
  const Value* name = item.find("name");
  if (key == "*" || (name != nullptr && name->scalar_text() == key)) return true;
  const bool from = key.ends_with('+');
  const auto at = parsed_number<std::size_t>(from ? key.substr(0, key.size() - 1) : key);
  return at && (from ? number >= *at : number == *at);
}

Result<Value> changed_item(const Value& old, std::span<const std::string_view> keys,
                           Change& change) {
  Value out = Value::list();
  std::vector<std::string> names;
  bool found = false;
  for (std::size_t i = 0; i < old.items().size(); ++i) {
    const Value& item = old.items()[i];
    const Value* name = item.find("name");
    names.push_back(name != nullptr ? name->scalar_text() : std::to_string(i));
    if (is_item(item, i, keys.front())) {
      found = true;
      ORRERY_TRY(Value value, changed(item, keys.subspan(1), change));
      out.append(std::move(value));
    } else {
      out.append(item);
    }
  }
  if (found) return out;
  return bad_input("there is no '" + std::string(keys.front()) + "'", change.where,
                   name_hint(keys.front(), names));
}

Result<Value> changed(const Value& old, std::span<const std::string_view> keys, Change& change) {
  if (keys.empty() && old.is_scalar()) return changed_scalar(old, change);
  if (old.kind() == Value::Kind::null) return left_out(keys, change);
  if (keys.empty())
    return bad_input("is more than one value", change.where, "name one of its fields");
  if (old.kind() == Value::Kind::list) return changed_item(old, keys, change);
  if (old.kind() == Value::Kind::map) return changed_member(old, keys, change);
  return bad_input("has no field '" + std::string(keys.front()) + "'", change.where);
}

// A cluster or a site with all fields, also of its levels: a default within a list can be multiplied.
template <class Part>
Value whole(const Part& part) {
  Value out = all_fields(part);
  Value levels = Value::list();
  for (const FabricLevel& level : part.levels) levels.append(all_fields(level));
  return out.set("levels", std::move(levels));
}

// What is said of the accelerators or levels of a cluster whose sites differ holds in all of them.
Result<Value> changed_cluster(const Cluster& cluster, std::span<const std::string_view> keys,
                              Change& change) {
  ORRERY_TRY(Value out, changed(whole(cluster), keys, change));
  if (cluster.further_sites.empty() ||
      (keys.front() != "accelerator" && keys.front() != "levels")) {
    return out;
  }
  Value sites = Value::list();
  for (const Site& site : cluster.further_sites) {
    ORRERY_TRY(Value one, changed(whole(site), keys, change));
    sites.append(std::move(one));
  }
  return out.set("further_sites", std::move(sites));
}

// Reads a section again, with the change made.
template <class T>
Result<void> read_again(T& section, std::span<const std::string_view> keys, Change& change) {
  ORRERY_TRY(const Value value, changed(all_fields(section), keys, change));
  ORRERY_TRY(section, read<T>(Document{std::string(kOption), value}));
  return {};
}

Result<void> change_field(Scenario& scenario, std::string_view field, Change& change) {
  const std::vector<std::string_view> keys = split(field);
  const std::span<const std::string_view> inner = std::span(keys).subspan(1);
  std::vector<std::string> known = {"cluster", "plan", "training", "software", "model"};
  if (inner.empty() || keys.front().empty()) {
    for (const Resource& resource : resources()) known.emplace_back(resource.name);
    return bad_input("unknown setting '" + std::string(field) + "'", std::string(kOption),
                     name_hint(field, known));
  }
  if (keys.front() == "cluster") {
    ORRERY_TRY(const Value value, changed_cluster(scenario.cluster, inner, change));
    ORRERY_TRY(scenario.cluster,
               read_cluster(Document{std::string(kOption), value}, Catalog::built_in()));
    return {};
  }
  if (keys.front() == "plan") return read_again(scenario.plan, inner, change);
  if (keys.front() == "training") return read_again(scenario.training, inner, change);
  if (keys.front() == "software") return read_again(scenario.software, inner, change);
  if (keys.front() == "model") {
    ORRERY_TRY(const Value value,
               changed(scenario.model.family->write(scenario.model), inner, change));
    ORRERY_TRY(scenario.model, read_model(Document{std::string(kOption), value}));
    return {};
  }
  return bad_input("unknown section '" + std::string(keys.front()) + "'", std::string(kOption),
                   name_hint(keys.front(), known));
}

}  // namespace

std::span<const Resource> resources() {
  static const std::array kResources = {
      Resource{"compute",
               "rates of the matrix and vector units",
               {"cluster.accelerator.peak.*", "cluster.accelerator.achieved.*"}},
      Resource{"hbm", "bandwidth of the memory", {"cluster.accelerator.memory.bandwidth"}},
      Resource{"memory", "its capacity", {"cluster.accelerator.memory.capacity"}},
      Resource{"scale-up", "bandwidth inside a node or rack", {"cluster.levels.0.bandwidth"}},
      Resource{"network", "bandwidth of the levels further out", {"cluster.levels.1+.bandwidth"}},
      Resource{"latency", "of all levels", {"cluster.levels.*.latency"}, true}};
  return kResources;
}

Result<void> change(Scenario& scenario, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return bad_input("'" + std::string(text) + "' has no value", std::string(kOption),
                     "write network=2x or cluster.accelerator.memory.bandwidth=4 TB/s");
  }
  const std::string_view name = text.substr(0, equals);
  Change what{std::string(kOption) + " " + std::string(name),
              std::string(text.substr(equals + 1)),
              factor_of(text.substr(equals + 1)),
              {},
              {}};
  const auto resource = std::ranges::find(resources(), name, &Resource::name);
  if (resource == resources().end()) {
    ORRERY_RETURN_IF_ERROR(change_field(scenario, name, what));
  } else {
    if (resource->name == "network" && scenario.cluster.levels.size() == 1) {
      return bad_input(scenario.cluster.name + " has no network beyond its one level, " +
                           scenario.cluster.levels.front().name,
                       what.where, "write --set scale-up=2x");
    }
    for (const std::string_view field : resource->fields) {
      ORRERY_RETURN_IF_ERROR(change_field(scenario, field, what));
    }
  }
  std::string sentence = std::string(name) + " ";
  for (std::size_t i = 0; i < what.after.size(); ++i) {
    if (i > 0) sentence += ", ";
    sentence += what.after[i];
    if (!what.before[i].empty()) sentence += " instead of " + what.before[i];
  }
  scenario.cluster.assumed.push_back(sentence + " (" + std::string(kOption) + ")");
  return {};
}

}  // namespace orrery
