// One setting of a launch file: a flag of a command line, or a key of a YAML, TOML or JSON file.
#pragma once

#include <string>
#include <vector>

namespace orrery {

struct LaunchFlag {
  std::string key;    // "tensor_model_parallel_size", "training.seq_len"
  std::string value;  // the items of a list are joined by blanks; "true" for a switch
  std::string file;
  int line = 0;
  bool given = true;       // false: null or None, which is as if the flag was left out
  std::string unresolved;  // why the value is not known; empty: it is
};
using LaunchFlags = std::vector<LaunchFlag>;

}  // namespace orrery
