// The pipeline schedules of a search where nobody states any (search/candidate.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/software.h"
#include "schedule/schedule.h"
#include "search/candidate.h"

namespace orrery {
namespace {

// The schedules that may be searched, of a fixed order or worked out for the times of every plan.
// Of software without a pipeline all: somebody stated one all the same.
std::vector<std::string> possible(const SoftwareProfile& software, bool made_for_times) {
  std::vector<std::string> out;
  for (const Schedule& s : schedules()) {
    if (is_searched(s) && s.made_for_times == made_for_times &&
        (!has_pipelines(software) || has_schedule(software, s.name))) {
      out.emplace_back(s.name);
    }
  }
  return out;
}

}  // namespace

bool is_searched(const Schedule& schedule) {
  return !schedule.asynchronous && schedule.virtual_stage != nullptr;
}

bool has_pipelines(const SoftwareProfile& software) {
  return std::ranges::any_of(schedules(), [&](const Schedule& s) {
    return is_searched(s) && has_schedule(software, s.name);
  });
}

std::vector<std::string> schedules_to_search(const SoftwareProfile& software) {
  std::vector<std::string> fixed = possible(software, false);
  return fixed.empty() ? possible(software, true) : fixed;
}

std::string schedules_sentence(const SearchSpace& space, const Scenario& scenario) {
  const SoftwareProfile& software = scenario.software;
  if (is_stated(space, "schedule") || space.schedules != schedules_to_search(software)) return "";
  if (!has_pipelines(software)) {
    if (is_stated(space, "pp")) return "";
    return software.name + " has no pipeline; one is tried if schedules are named";
  }
  if (std::ranges::all_of(space.pp, [](std::int64_t pp) { return pp == 1; })) return "";
  if (!software.schedules) {
    return fmt::format("all that have a fixed order, because it is not known which {} has",
                       software.name);
  }
  const std::vector<std::string> slow = possible(software, true);
  const bool left_out = !slow.empty() && slow != space.schedules;
  return fmt::format("{}, which {} has; others{} if they are named",
                     fmt::join(space.schedules, ", "), software.name,
                     left_out ? fmt::format(" (it has {} too, whose order takes long to work out)",
                                            fmt::join(slow, ", "))
                              : "");
}

}  // namespace orrery
