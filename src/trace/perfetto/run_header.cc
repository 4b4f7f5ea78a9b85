#include "trace/perfetto/run_header.h"

#include <fmt/format.h>

#include <iterator>
#include <unordered_set>

#include "trace/kineto/header.h"
#include "trace/kineto/json_members.h"
#include "trace/perfetto/event_arguments.h"
#include "trace/perfetto/json_values.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

void append_groups(const std::vector<ProcessGroup>& groups, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const ProcessGroup& g = groups[i];
    out += i == 0 ? "{\"pg_name\": " : ", {\"pg_name\": ";
    append_quoted(g.name, out);
    out += ", \"pg_desc\": ";
    append_quoted(g.description, out);
    fmt::format_to(std::back_inserter(out), ", \"pg_size\": {}, \"ranks\": [{}]}}", g.size,
                   fmt::join(g.ranks, ", "));
  }
  out += ']';
}

}  // namespace

std::vector<PlaceInFile> places_in_file(std::span<const RecordedTrace> ranks) {
  std::vector<PlaceInFile> out;
  const auto count = static_cast<std::int64_t>(ranks.size());
  for (const RecordedTrace& trace : ranks) {
    const auto place = static_cast<std::int64_t>(out.size());
    out.push_back({trace.rank == kNotRecorded ? place : trace.rank, place, count});
  }
  return out;
}

void append_rank_header(const RecordedTrace& trace, std::string& out) {
  if (!trace.devices.empty()) {
    out += "\"deviceProperties\": [";
    for (std::size_t i = 0; i < trace.devices.size(); ++i) {
      const RecordedDevice& d = trace.devices[i];
      fmt::format_to(std::back_inserter(out), "{}{{\"id\": {}, \"name\": ", i == 0 ? "" : ", ", i);
      append_quoted(d.name, out);
      fmt::format_to(std::back_inserter(out), ", \"totalGlobalMem\": {}, \"numSms\": {}}}",
                     d.memory_bytes, d.multiprocessors);
    }
    out += "],\n";
  }
  if (trace.simulated) {
    fmt::format_to(std::back_inserter(out), "\"{}\": \"{}\",\n", kTimesKey, kSimulatedTimes);
  }
  if (trace.rank == kNotRecorded && trace.world_size == kNotRecorded) return;
  out += "\"distributedInfo\": {";
  MembersText members(out);
  std::string backend;
  append_quoted(trace.backend, backend);
  members.raw("backend", backend);
  members.number("rank", trace.rank);
  members.number("world_size", trace.world_size);
  if (!trace.groups.empty()) {
    members.number("pg_count", static_cast<std::int64_t>(trace.groups.size()));
    std::string groups;
    append_groups(trace.groups, groups);
    members.raw("pg_config", groups);
  }
  out += "},\n";
}

// The headers of all ranks, before the events, as their readers need it.
void append_ranks(std::span<const RecordedTrace> ranks, std::string& out) {
  const std::vector<PlaceInFile> places = places_in_file(ranks);
  fmt::format_to(std::back_inserter(out), "\"{}\": [", kRanksKey);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    out += i == 0 ? "{" : ",\n{";
    append_rank_header(ranks[i], out);
    fmt::format_to(std::back_inserter(out), "\"rank\": {}}}", places[i].rank);
  }
  out += "],\n";
}

std::string completed_distributed_info(std::string_view recorded, const RecordedTrace& trace) {
  std::unordered_set<std::string_view> there;
  if (!recorded.empty()) {
    JsonMembers members(recorded);
    while (const auto member = members.next()) there.insert(member->key);
    if (!members.whole()) return std::string(recorded);
  }
  std::string added;
  MembersText members(added);
  // A file alone is rank 0 where nothing says so: nothing to be written.
  const bool named = rank_of_name(trace.file) == trace.rank;
  if (!there.contains("rank") && named) members.number("rank", trace.rank);
  if (!there.contains("world_size")) members.number("world_size", trace.world_size);
  if (!there.contains("pg_config") && !trace.groups.empty()) {
    if (!there.contains("pg_count")) {
      members.number("pg_count", static_cast<std::int64_t>(trace.groups.size()));
    }
    std::string groups;
    append_groups(trace.groups, groups);
    members.raw("pg_config", groups);
  }
  if (recorded.empty()) return added.empty() ? "" : "{" + added + "}";
  std::string out;
  append_as_json(recorded, out);
  if (added.empty()) return out;
  out.insert(out.rfind('}'), (there.empty() ? "" : ", ") + added);
  return out;
}

}  // namespace orrery
