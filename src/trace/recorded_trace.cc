#include "trace/recorded_trace.h"

#include "trace/has.h"

namespace orrery {

TextTable::TextTable() { intern(""); }

std::uint32_t TextTable::intern(std::string_view text) {
  if (const auto it = index_.find(text); it != index_.end()) return it->second;
  const auto index = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(index_.emplace(text, index).first->first);
  return index;
}

std::uint32_t RecordedTrace::append(EventKind of_kind, std::string_view named,
                                    std::uint32_t on_lane, std::int64_t starts_ns,
                                    std::int64_t takes_ns) {
  const auto event = static_cast<std::uint32_t>(size());
  start_ns.push_back(starts_ns);
  duration_ns.push_back(takes_ns);
  correlation.push_back(kNotRecorded);
  external_id.push_back(kNotRecorded);
  name.push_back(texts.intern(named));
  lane.push_back(on_lane);
  details.push_back(kNoDetails);
  communication.push_back(kNoDetails);
  place.push_back(event);
  kind.push_back(of_kind);
  return event;
}

bool is_communication_kernel(std::string_view name) {
  return contains_ignoring_case(name, "nccl") || contains_ignoring_case(name, "rccl") ||
         contains_ignoring_case(name, "dpsk::ep::");
}

std::optional<std::string_view> collective_of_kernel(std::string_view name) {
  constexpr std::string_view kMark = "Kernel_";
  const std::size_t mark = name.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  name.remove_prefix(mark + kMark.size());
  return name.substr(0, name.find_first_of("_(<"));
}

}  // namespace orrery
