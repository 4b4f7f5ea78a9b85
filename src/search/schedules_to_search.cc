// The pipeline schedules of a search where nobody states any (search/candidate.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/software.h"
#include "schedule/schedule.h"
#include "search/candidate.h"

namespace orrery {
namespace {

// Schedules of the software that can be searched: of a fixed order, or worked out for the times of
// every plan.
std::vector<std::string> possible(const SoftwareProfile& software, bool made_for_times) {
  std::vector<std::string> out;
  for (const Schedule& s : schedules()) {
    if (can_be_searched(s) && s.made_for_times == made_for_times &&
        has_schedule(software, s.name)) {
      out.emplace_back(s.name);
    }
  }
  return out;
}

}  // namespace

bool has_searched_schedule(const SoftwareProfile& software) {
  return std::ranges::any_of(schedules(), [&](const Schedule& s) {
    return can_be_searched(s) && has_schedule(software, s.name);
  });
}

std::vector<std::string> schedules_to_search(const SoftwareProfile& software) {
  if (!has_searched_schedule(software)) return {"1f1b", "interleaved_1f1b"};
  std::vector<std::string> fixed = possible(software, false);
  return fixed.empty() ? possible(software, true) : fixed;
}

std::string schedules_line(const SearchSpace& space, const Scenario& scenario) {
  const SoftwareProfile& software = scenario.software;
  if (is_stated(space, "schedule") || space.schedules != schedules_to_search(software)) return "";
  const bool one = std::ranges::all_of(space.pp, [](std::int64_t pp) { return pp == 1; });
  if (!has_searched_schedule(software)) {
    return fmt::format("schedules: {} has {}{}; --schedules tries others", software.name,
                       software.schedules->empty() ? "no pipeline" : "none that can be searched",
                       one ? "" : ", so those of 1F1B");
  }
  if (one) return "";
  if (!software.schedules) {
    return fmt::format("schedules: all of a fixed order, because it is not known which {} has",
                       software.name);
  }
  const std::vector<std::string> slow = possible(software, true);
  const bool left_out = !slow.empty() && slow != space.schedules;
  return fmt::format(
      "schedules: {} (those of {}{}; --schedules tries others)", fmt::join(space.schedules, ", "),
      software.name,
      left_out ? fmt::format(" but for {}, which takes long", fmt::join(slow, ", ")) : "");
}

}  // namespace orrery
