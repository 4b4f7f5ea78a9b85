#include "trace/chakra/communicators.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "document/value.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::string_view kWorldSize = "world_size";  // of the metadata
// About 80 MB of text.
constexpr std::int64_t kMostListed = 10'000'000;
constexpr std::int64_t kMostRanksOfJob = 1'000'000'000;

void set_attribute(ChakraNode& node, const ChakraAttribute& value) {
  ChakraAttributes out;
  for (const ChakraAttribute& attribute : node.attributes.decoded()) {
    if (attribute.name != value.name) out.push_back(attribute);
  }
  out.push_back(value);
  node.attributes = std::move(out);
}

// The groups of a rank, by the names its nodes use.
using GroupsByName = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

GroupsByName groups_by_name(std::vector<NamedGroup> groups) {
  GroupsByName out;
  for (NamedGroup& group : groups) {
    std::ranges::sort(group.ranks);
    const auto repeated = std::ranges::unique(group.ranks);
    group.ranks.erase(repeated.begin(), repeated.end());
    out.emplace(std::move(group.name), std::move(group.ranks));
  }
  // Two names for all ranks, if nothing else is said.
  out.try_emplace("");
  out.try_emplace("0", out.find("")->second);
  return out;
}

// A group of the job, the same however it was written: all ranks are no list, and have one name.
NamedGroup group_of_job(std::string name, const std::vector<std::int64_t>& members,
                        std::int64_t ranks) {
  if (static_cast<std::int64_t>(members.size()) < ranks && !members.empty()) {
    return {std::move(name), members};
  }
  return {name == "0" ? "" : std::move(name), {}};
}

// A collective of a device, or a transfer of which a group was recorded.
bool names_a_group(const ChakraNode& node) {
  if (node.is_host()) return false;
  const bool transfer = node.type == ChakraNodeType::send || node.type == ChakraNodeType::receive;
  return node.type == ChakraNodeType::collective || (transfer && !group_of(node).empty());
}

// Whether every group has a number, which no group of other ranks has.
bool are_numbered(const ChakraRun& run, std::span<const GroupsByName> known, std::int64_t ranks) {
  std::map<std::int64_t, std::vector<std::int64_t>> seen;
  for (std::size_t r = 0; r < run.size(); ++r) {
    for (const ChakraNode& node : run[r].trace.nodes) {
      if (!names_a_group(node)) continue;
      const auto group = known[r].find(group_of(node));
      if (group == known[r].end()) return false;
      const auto number = communicator_number(group->first);
      if (!number) return false;
      std::vector<std::int64_t> members = group_of_job("", group->second, ranks).ranks;
      const auto [at, fresh] = seen.try_emplace(*number, members);
      if (!fresh && at->second != members) return false;
    }
  }
  return true;
}

std::int64_t largest_world_size(const ChakraRun& run, std::int64_t ranks) {
  for (const ChakraRank& rank : run) ranks = std::max(ranks, world_size(rank.trace));
  return ranks;
}

}  // namespace

std::optional<std::int64_t> communicator_number(std::string_view name) {
  const auto number = parsed_number<std::int32_t>(name);
  return number && *number >= 1 ? std::optional<std::int64_t>(*number) : std::nullopt;
}

std::int64_t world_size(const ChakraTrace& trace) {
  for (const ChakraAttribute& attribute : trace.attributes) {
    if (attribute.name != kWorldSize || attribute.kind != ChakraKind::int64) continue;
    const auto ranks = static_cast<std::int64_t>(attribute.bits);
    return !attribute.is_list && ranks > 0 && ranks <= kMostRanksOfJob ? ranks : 0;
  }
  return 0;
}

void set_world_size(ChakraTrace& trace, std::int64_t ranks) {
  std::erase_if(trace.attributes,
                [](const ChakraAttribute& attribute) { return attribute.name == kWorldSize; });
  trace.attributes.push_back(chakra_int64(kWorldSize, ranks));
}

NumberedGroups number_groups(ChakraRun& run, std::int64_t ranks) {
  NumberedGroups out;
  const std::int64_t recorded = largest_world_size(run, ranks);
  out.ranks = std::max(recorded, run.empty() ? 0 : run.back().rank + 1);
  std::vector<GroupsByName> known;
  for (const ChakraRank& rank : run) {
    DefinedGroups defined = defined_groups(rank.trace);
    for (const NamedGroup& group : defined.groups) {
      for (const std::int64_t member : group.ranks) out.ranks = std::max(out.ranks, member + 1);
    }
    known.push_back(groups_by_name(std::move(defined.groups)));
    out.problems.push_back(std::move(defined.problems));
  }
  out.ranks_are_known = recorded == out.ranks;
  const bool numbered_before = are_numbered(run, known, out.ranks);
  std::map<NamedGroup, std::int64_t> numbers;
  std::set<std::string> undefined;
  for (std::size_t r = 0; r < run.size(); ++r) {
    ChakraTrace& trace = run[r].trace;
    std::map<std::string, std::int64_t, std::less<>> number_of;  // of the names in this trace
    Communicators own;
    for (ChakraNode& node : trace.nodes) {
      if (node.type == ChakraNodeType::metadata) {
        node.type = ChakraNodeType::compute;
        set_attribute(node, chakra_boolean("is_cpu_op", true));
        continue;
      }
      if (!names_a_group(node)) continue;
      const std::string name = group_of(node);
      const auto [at, fresh] = number_of.try_emplace(name);
      if (fresh) {
        const auto [group, is_undefined] = known[r].try_emplace(name);
        if (is_undefined) undefined.insert(name);
        const auto next = numbered_before ? *communicator_number(name)
                                          : static_cast<std::int64_t>(numbers.size()) + 1;
        NamedGroup key = group_of_job(name, group->second, out.ranks);
        at->second = numbers.try_emplace(std::move(key), next).first->second;
        own.emplace(at->second, std::move(group->second));
      }
      set_attribute(node, chakra_text("pg_name", std::to_string(at->second)));
    }
    std::vector<NamedGroup> numbered;
    for (auto& [number, members] : own) numbered.push_back({std::to_string(number), members});
    define_groups(trace, numbered);
    if (out.ranks_are_known) set_world_size(trace, out.ranks);
    out.communicators.merge(own);
  }
  out.undefined.assign(undefined.begin(), undefined.end());
  return out;
}

void add_communicators(const ChakraTrace& trace, Communicators& communicators) {
  for (NamedGroup& group : defined_groups(trace).groups) {
    const auto number = communicator_number(group.name);
    if (number) communicators.emplace(*number, std::move(group.ranks));
  }
}

std::string communicator_file(const std::string& folder, std::string_view prefix) {
  return (std::filesystem::path(folder) / (std::string(prefix) + ".groups.json")).string();
}

Result<std::string> communicator_text(const Communicators& communicators, std::int64_t ranks) {
  std::int64_t listed = 0;
  for (const auto& [number, members] : communicators) {
    listed += members.empty() ? ranks : static_cast<std::int64_t>(members.size());
  }
  if (listed > kMostListed) {
    return unsupported("the communicator file of a job of " + std::to_string(ranks) +
                           " ranks would list " + std::to_string(listed) + " ranks",
                       "", "at most 10,000,000: is a rank in a file's name or in a group damaged?");
  }
  std::vector<std::int64_t> all(communicators.empty() ? 0 : static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  std::string out;
  for (const auto& [number, members] : communicators) {
    out += out.empty() ? "{\n  \"" : ",\n  \"";
    out += std::to_string(number) + "\": ";
    append_ranks(members.empty() ? all : members, out);
  }
  if (!out.empty()) out += "\n}\n";
  return out;
}

Result<void> write_communicators(const std::string& file, std::string_view text) {
  if (!text.empty()) return write_file(file, text);
  std::error_code error;
  std::filesystem::remove(file, error);
  if (error) return fail(ErrorCode::io, "cannot be removed: " + error.message(), file);
  return {};
}

}  // namespace orrery
