// Errors of the library as exceptions: orrery.Error with what is wrong, where, and what to write
// instead.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "outcome/result.h"

namespace orrery::python {

[[noreturn]] void throw_error(const Error& error);

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw_error(result.error());
  return *std::move(result);
}
inline void value_or_throw(const Result<void>& result) {
  if (!result) throw_error(result.error());
}

// Adds the class Error to the module.
void define_error(pybind11::module_& module);

}  // namespace orrery::python
