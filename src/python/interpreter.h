// Interpreters of Python, what they run and how they answer. Each loads a source and evaluates its
// functions, one at a time, in a thread or in a process of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "outcome/result.h"
#include "python/user_functions.h"

namespace orrery {

class Interpreter {
 public:
  Interpreter() = default;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  virtual ~Interpreter() = default;

  // The line of the answer (below). Errors: the interpreter does not answer.
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

// The Python that interpreters run, each in a file of that name (process_loop.py).
//
// What every interpreter runs first: Record, and the function that evaluates. `_key(name)` is given
// by the program: the JSON text of a key, or None.
extern const char* const kBootstrap;

// Watches over the time of evaluations in an interpreter that is a thread. Its waking up is also
// what lets the other thread notice that it is to be ended.
extern const char* const kWatch;

// The main loop of an interpreter that is a process of its own. Lines of JSON go both ways: a
// request is [source, file, bytes of memory] at first and then [function]; the answer a line; in
// between, "key NAME" asks for a key. They go through a descriptor that nobody else knows: what the
// functions and their children write to standard output goes to standard error, and there is
// nothing to read from standard input.
extern const char* const kProcessLoop;

// The line in which an interpreter answers: "value 1.5", "functions [...]", "error [what, where]".
Result<double> value_of_line(const std::string& line, const std::string& file);
Result<std::vector<std::string>> functions_of_line(const std::string& line,
                                                   const std::string& file);

}  // namespace orrery
