#include "trace/chakra/process_groups.h"

#include <iterator>
#include <optional>
#include <utility>

#include "document/json_quoted.h"
#include "document/value.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::int64_t kLargestRank = 1'000'000'000;
constexpr std::string_view kGroupsAttribute = "process_groups";

std::optional<std::int64_t> rank_of(const Value& value) {
  const auto rank = parsed_number<std::int64_t>(value.scalar_text());
  return rank && *rank >= 0 && *rank < kLargestRank ? rank : std::nullopt;
}

// Adds a group whose ranks are all numbers of ranks.
void add_group(std::string name, const Value& ranks, DefinedGroups& out) {
  NamedGroup named{std::move(name), {}};
  for (const Value& item : ranks.items()) {
    const auto rank = rank_of(item);
    if (!rank) {
      out.problems.push_back(
          {0, "a rank of its group '" + named.name + "' is not a whole number from 0"});
      return;
    }
    named.ranks.push_back(*rank);
  }
  out.groups.push_back(std::move(named));
}

DefinedGroups groups_of_metadata(std::string_view text) {
  DefinedGroups out;
  const auto map = parse_json(text, "groups");
  if (!map || map->root.kind() != Value::Kind::map) {
    out.problems.push_back({0, "the metadata's process_groups are not a JSON object"});
    return out;
  }
  for (const auto& [name, ranks] : map->root.members()) add_group(name, ranks, out);
  return out;
}

}  // namespace

DefinedGroups defined_groups(std::string_view values) {
  DefinedGroups out;
  if (values.size() < 4) {
    out.problems.push_back({0, "has no list of process groups among its inputs"});
    return out;
  }
  const auto list = parse_json(values.substr(2, values.size() - 4), "groups");
  if (!list || list->root.kind() != Value::Kind::list) {
    out.problems.push_back(
        {0, "its process groups are not a JSON list between two characters at each end"});
    return out;
  }
  for (const Value& group : list->root.items()) {
    const Value* name = group.find("pg_name");
    const Value* ranks = group.find("ranks");
    if (name == nullptr || ranks == nullptr || ranks->kind() != Value::Kind::list) {
      out.problems.push_back({0, "a process group lacks pg_name or ranks"});
      continue;
    }
    add_group(name->scalar_text(), *ranks, out);
  }
  return out;
}

DefinedGroups defined_groups(const ChakraTrace& trace) {
  for (const ChakraAttribute& attribute : trace.attributes) {
    if (attribute.name == kGroupsAttribute && attribute.is_text()) {
      return groups_of_metadata(attribute.bytes);
    }
  }
  DefinedGroups out;
  for (const ChakraNode& node : trace.nodes) {
    if (node.type != ChakraNodeType::metadata) continue;
    if (node.name.find("process_group:init") == std::string::npos) continue;
    DefinedGroups here = defined_groups(node.inputs ? std::string_view(node.inputs->values) : "");
    std::ranges::move(here.groups, std::back_inserter(out.groups));
    for (const GroupsProblem& problem : here.problems) {
      out.problems.push_back({node.id, problem.message});
    }
  }
  return out;
}

void define_groups(ChakraTrace& trace, std::span<const NamedGroup> groups) {
  std::erase_if(trace.attributes, [](const ChakraAttribute& attribute) {
    return attribute.name == kGroupsAttribute;
  });
  if (groups.empty()) return;
  std::string text = "{";
  for (const NamedGroup& group : groups) {
    if (text.size() > 1) text += ", ";
    append_quoted(group.name, text);
    text += ": ";
    append_ranks(group.ranks, text);
  }
  trace.attributes.push_back(chakra_text(kGroupsAttribute, text + "}"));
}

std::string group_of(const ChakraNode& node) {
  if (node.attributes.value("pg_name")) return std::string(node.text("pg_name"));
  // Converters of 2024 wrote a number.
  const auto number = node.integer("pg_id");
  return number ? std::to_string(*number) : "";
}

void append_ranks(std::span<const std::int64_t> ranks, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  out += ']';
}

}  // namespace orrery
