// Conditions that only a bug in Orrery can violate; no input may reach them. A fuzzer treats a
// violation as a crash, the command line exits with code 70.
#pragma once

#include <stdexcept>
#include <string>

namespace orrery {

class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void invariant_failed(const char* condition, const char* file, int line) {
  throw InvariantError(std::string(file) + ":" + std::to_string(line) + ": " + condition);
}

}  // namespace orrery

#define ORRERY_INVARIANT(condition) \
  ((condition) ? void() : ::orrery::invariant_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define ORRERY_DEBUG_INVARIANT(condition) void()
#else
#define ORRERY_DEBUG_INVARIANT(condition) ORRERY_INVARIANT(condition)
#endif
