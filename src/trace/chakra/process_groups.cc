#include "trace/chakra/process_groups.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "document/value.h"

namespace orrery {
namespace {

constexpr std::int64_t kLargestRank = 1'000'000'000;

std::optional<std::int64_t> rank_of(const Value& value) {
  const std::string& text = value.scalar_text();
  std::int64_t rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (rank < 0 || rank >= kLargestRank) return std::nullopt;
  return rank;
}

}  // namespace

DefinedGroups defined_groups(const ChakraNode& node) {
  DefinedGroups out;
  if (node.type != ChakraNodeType::metadata) return out;
  if (node.name.find("process_group:init") == std::string::npos) return out;
  const std::string_view text = node.inputs ? std::string_view(node.inputs->values) : "";
  if (text.size() < 4) {
    out.problems.emplace_back("has no list of process groups among its inputs");
    return out;
  }
  const auto list = parse_json(text.substr(2, text.size() - 4), "groups");
  if (!list || list->root.kind() != Value::Kind::list) {
    out.problems.emplace_back(
        "its process groups are not a JSON list between two characters at each end");
    return out;
  }
  for (const Value& group : list->root.items()) {
    const Value* name = group.find("pg_name");
    const Value* ranks = group.find("ranks");
    if (name == nullptr || ranks == nullptr || ranks->kind() != Value::Kind::list) {
      out.problems.emplace_back("a process group lacks pg_name or ranks");
      continue;
    }
    NamedGroup named{name->scalar_text(), {}};
    bool numbers = true;
    for (const Value& item : ranks->items()) {
      const auto rank = rank_of(item);
      numbers = numbers && rank.has_value();
      if (rank) named.ranks.push_back(*rank);
    }
    if (!numbers) {
      out.problems.push_back("a rank of its group '" + named.name +
                             "' is not a whole number from 0");
      continue;
    }
    out.groups.push_back(std::move(named));
  }
  return out;
}

}  // namespace orrery
