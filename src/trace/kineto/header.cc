#include "trace/kineto/header.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "trace/kineto/number_text.h"
#include "trace/kineto/rank_process.h"

namespace orrery {
namespace {

using simdjson::dom::element;

std::int64_t integer(const element& object, std::string_view key) {
  std::int64_t value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : kNotRecorded;
}

std::string text(const element& object, std::string_view key) {
  std::string_view value;
  return object[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

std::int32_t small(std::int64_t value) {
  return value < 0 || value > std::numeric_limits<std::int32_t>::max()
             ? 0
             : static_cast<std::int32_t>(value);
}

void read_devices(const element& value, RecordedTrace& trace) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return;
  trace.devices.clear();
  for (const element device : list) {
    RecordedDevice read;
    read.name = text(device, "name");
    read.memory_bytes = std::max<std::int64_t>(0, integer(device, "totalGlobalMem"));
    const std::int64_t since_2022 = integer(device, "numSms");
    read.multiprocessors =
        small(since_2022 >= 0 ? since_2022 : integer(device, "multiProcessorCount"));
    trace.devices.push_back(std::move(read));
  }
}

std::vector<ProcessGroup> groups_of(const simdjson::dom::array& list) {
  std::vector<ProcessGroup> groups;
  for (const element group : list) {
    ProcessGroup read;
    read.name = text(group, "pg_name");
    if (read.name.empty() && integer(group, "pg_name") != kNotRecorded) {
      read.name = std::to_string(integer(group, "pg_name"));
    }
    read.description = text(group, "pg_desc");
    const std::int64_t size = integer(group, "pg_size");
    read.size =
        std::max<std::int64_t>(0, size != kNotRecorded ? size : integer(group, "group_size"));
    simdjson::dom::array ranks;
    if (group["ranks"].get(ranks) == simdjson::SUCCESS) {
      for (const element rank : ranks) {
        std::int64_t number = 0;
        if (rank.get(number) == simdjson::SUCCESS) read.ranks.push_back(small(number));
      }
    }
    groups.push_back(std::move(read));
  }
  return groups;
}

void read_distributed(const element& value, RecordedTrace& trace) {
  const std::int64_t rank = integer(value, "rank");
  const std::int64_t world_size = integer(value, "world_size");
  if (rank >= 0) trace.rank = rank;
  if (world_size > 0) trace.world_size = world_size;
  trace.backend = text(value, "backend");
  if (trace.backend == "undefined") trace.backend.clear();
  simdjson::dom::array groups;
  if (value["pg_config"].get(groups) == simdjson::SUCCESS) trace.groups = groups_of(groups);
}

Failure not_json(std::string_view key, simdjson::error_code error) {
  return bad_input(std::string(key) + " is not JSON: " + simdjson::error_message(error));
}

}  // namespace

bool is_header_key(std::string_view key) {
  return key == "deviceProperties" || key == "computeProperties" || key == "distributedInfo" ||
         key == "baseTimeNanoseconds" || key == kTimesKey;
}

Result<void> read_header_value(std::string_view key, std::string_view json, RecordedTrace& trace) {
  if (key == "baseTimeNanoseconds") {
    const auto base = integer_of(json.substr(json.starts_with('"') ? 1 : 0));
    if (!base || *base < 0 || *base > kMaxTimeNs) {
      return bad_input("baseTimeNanoseconds is " + std::string(json.substr(0, 40)), "",
                       "nanoseconds since 1970, at most 4e18");
    }
    trace.base_ns = *base;
    return {};
  }
  simdjson::dom::parser parser;
  element value;
  const auto error = parser.parse(json.data(), json.size()).get(value);
  if (error != simdjson::SUCCESS) return not_json(key, error);
  if (key == "deviceProperties" || key == "computeProperties") {  // the second: in 2021
    read_devices(value, trace);
  } else if (key == kTimesKey) {
    std::string_view times;
    trace.simulated = value.get(times) == simdjson::SUCCESS && times == kSimulatedTimes;
  } else {
    read_distributed(value, trace);
  }
  return {};
}

Result<std::vector<RecordedTrace>> read_header_of_ranks(std::string_view json) {
  constexpr std::size_t kMostRanks = 100'000;
  simdjson::dom::parser parser;
  element value;
  const auto error = parser.parse(json.data(), json.size()).get(value);
  if (error != simdjson::SUCCESS) return not_json(kRanksKey, error);
  const auto wrong = [](const std::string& what) {
    return bad_input(std::string(kRanksKey) + ": " + what, "",
                     "a list of one object a rank, as orrery trace convert writes it");
  };
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS || list.size() == 0) return wrong("no list of ranks");
  std::vector<RecordedTrace> out;
  std::unordered_set<std::int64_t> seen;
  for (const element of_rank : list) {
    if (out.size() == kMostRanks) return wrong("more than 100000 ranks");
    const std::int64_t rank = integer(of_rank, "rank");
    if (rank < 0) return wrong("rank " + std::to_string(out.size()) + " of the list has no number");
    if (!seen.insert(rank).second) return wrong("rank " + std::to_string(rank) + " stands twice");
    RecordedTrace& trace = out.emplace_back();
    element part;
    if (of_rank["deviceProperties"].get(part) == simdjson::SUCCESS) read_devices(part, trace);
    if (of_rank["distributedInfo"].get(part) == simdjson::SUCCESS) read_distributed(part, trace);
    trace.simulated = text(of_rank, kTimesKey) == kSimulatedTimes;
    trace.rank = rank;
  }
  return out;
}

std::vector<ProcessGroup> process_groups(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  if (parser.parse(json.data(), json.size()).get(list) != simdjson::SUCCESS) return {};
  return groups_of(list);
}

}  // namespace orrery
