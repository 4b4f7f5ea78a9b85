// A process timed from outside: wall time, processor time and peak memory.
//
// The peak is the largest resident set that the kernel saw (getrusage(2), ru_maxrss).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace orrery {

struct ProcessRun {
  double wall_seconds = 0;
  double processor_seconds = 0;  // user and system
  double peak_bytes = 0;
  bool ok = false;  // it ended with 0
};

// A command, its first word a path; nothing is read from it or shown.
ProcessRun run_command(std::vector<std::string> words);
// What a copy of this process does; its result is the exit status.
ProcessRun run_apart(const std::function<int()>& work);

}  // namespace orrery
