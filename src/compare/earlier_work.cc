#include "compare/earlier_work.h"

#include <algorithm>

#include "trace/launch_links.h"

namespace orrery {

bool has_no_launch(const ProfileLine& line) {
  return line.kernels.size() == 1 && line.kernels.begin()->first == line.name;
}

bool unlaunched_is_earlier(std::span<const RecordedTrace> run) {
  return std::all_of(run.begin(), run.end(), [](const RecordedTrace& trace) {
    return unlaunched_is_earlier(trace, launch_links(trace));
  });
}

}  // namespace orrery
