// What is wrong, where, and what to write instead: the form of every error in the input.
#pragma once

#include <string>

namespace orrery {

enum class ErrorCode {
  bad_input,    // malformed or contradictory input: exit code 2
  not_found,    // a name or file that does not exist: exit code 2
  unsupported,  // understood, but not modelled: exit code 2
  io,           // a file or stream cannot be read or written: exit code 2
};

struct Error {
  ErrorCode code = ErrorCode::bad_input;
  std::string message;  // what is wrong, with the offending value
  std::string where;    // "file.yaml:12: plan.tp", empty when there is no place
  std::string hint;     // what to write instead; may be empty

  // "where: message (hint)" on one line.
  [[nodiscard]] std::string text() const;
};

// Puts `place` in front of the error's own place, so that callers can add context.
Error at(std::string place, Error error);

}  // namespace orrery
