// What the numbers of a report are about, in words.
#pragma once

#include <string>

namespace orrery {

struct Subject {
  std::string model;    // "llama-3.1-405b"
  std::string cluster;  // "h100-sxm:16384"
};

}  // namespace orrery
