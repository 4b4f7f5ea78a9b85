// One interpreter, wherever it is: it loads a source and evaluates its functions, one at a time.
#pragma once

#include <memory>
#include <string>

#include "python/user_functions.h"

namespace orrery {

class Interpreter {
 public:
  Interpreter() = default;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  virtual ~Interpreter() = default;

  // The line of the answer (answer_line.h). Errors: the interpreter does not answer.
  virtual Result<std::string> load(const std::string& source, const std::string& file,
                                   const PythonLimits& limits) = 0;
  virtual Result<std::string> call(const std::string& function, const std::string& file,
                                   const KeyText& record, const PythonLimits& limits) = 0;
  // It crashed, or does not come back: it answers no more.
  [[nodiscard]] virtual bool lost() const = 0;
};

// A copy of libpython in a namespace of its own. Those that are given back serve the next one that
// asks, because glibc has few namespaces and cannot empty one that Python ran in.
Result<std::unique_ptr<Interpreter>> interpreter_in_namespace();

// A process of python3.
Result<std::unique_ptr<Interpreter>> interpreter_in_process();

}  // namespace orrery
