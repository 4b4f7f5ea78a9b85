// Functions that users write in Python, evaluated by several interpreters at once.
//
// An interpreter of CPython 3.11 runs one thread at a time, because of its lock. Here every
// interpreter is a copy of libpython of its own, loaded into a separate namespace of the dynamic
// linker (dlmopen), with its own lock, memory and modules, in one process: the construction of
// "Using Python for Model Inference in Deep Learning" (DeVito et al., arXiv 2104.00254, s.4). Each
// copy belongs to one thread, which loads it and evaluates all that it is given.
//
//   in_threads     copies of libpython. Extension modules that expect the symbols of Python to be
//                  global, such as numpy, cannot be loaded in them; those that Debian builds into
//                  libpython (math, struct, datetime, zlib, ...) and all modules written in Python
//                  can.
//   in_processes   the command python3, asked through a socket: everything can be imported, and what
//                  crashes is an error of that evaluation.
//
// A function takes one argument, whose attributes are the keys of a document (a Record in Python);
// a key is written when the function reads it. What the functions print goes to standard error.
//
// Libpython is looked for when it is needed: a program without it starts and works. Builds with a
// sanitizer, which must stand first in every namespace, evaluate in processes alone.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

enum class Interpreters { in_threads, in_processes };

// Namespaces that glibc has beside the first one.
inline constexpr int kMostInterpreters = 15;

struct PythonLimits {
  Seconds time{10};                    // of one evaluation
  std::size_t memory = 1024UL << 20U;  // bytes that an evaluation may add
};

// The value of a key as JSON text; none if there is no such key.
using KeyText = std::function<std::optional<std::string>(std::string_view key)>;

class UserFunctions {
 public:
  UserFunctions() = default;
  UserFunctions(const UserFunctions&) = delete;
  UserFunctions& operator=(const UserFunctions&) = delete;
  virtual ~UserFunctions() = default;

  // Runs `source`, which errors call `file`, in `count` interpreters, at most kMostInterpreters.
  // Errors: no libpython, or no python3; what the source raises, with its traceback.
  static Result<std::unique_ptr<UserFunctions>> load(const std::string& source,
                                                     const std::string& file, int count,
                                                     Interpreters where,
                                                     const PythonLimits& limits);

  // The same of the source in a file of at most 1 MiB. Errors: the file cannot be read.
  static Result<std::unique_ptr<UserFunctions>> load_file(const std::string& file, int count,
                                                          Interpreters where,
                                                          const PythonLimits& limits);

  // Whether the source defines a function of that name.
  [[nodiscard]] virtual bool has(const std::string& function) const = 0;

  // function(record), a number; true and false are 1 and 0. Waits for an interpreter that is free;
  // thread-safe. Errors: what the function raises, with its traceback; a limit that it exceeds; a
  // value that is no finite number; an interpreter that crashed.
  virtual Result<double> call(const std::string& function, const KeyText& record) = 0;
};

}  // namespace orrery
