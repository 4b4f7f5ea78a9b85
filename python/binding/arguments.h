// Keyword arguments as the document of a specification (estimate/spec.h), which the library reads:
// there is no second reader. A keyword is a section of a specification, a field of its training, or
// one of the short names of the command line: on (cluster), seq (sequence_length).
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

#include "document/value.h"
#include "forecast/run_question.h"

namespace orrery::python {

enum class ForecastFields { refused, accepted };

// Takes the keyword out of the arguments; `otherwise` if it is absent or None.
template <class T>
T take(pybind11::dict& arguments, const char* name, T otherwise) {
  if (!arguments.contains(name)) return otherwise;
  const pybind11::object value = arguments[name];
  PyDict_DelItemString(arguments.ptr(), name);
  return value.is_none() ? otherwise : pybind11::cast<T>(value);
}

struct Asked {
  Document document;                  // the specification
  Value plan;                         // stated in Python, over that of the document; null: none
  std::vector<std::string> settings;  // estimate/setting.h
  pybind11::object kernels;           // a function, or the path of a file; null if not given
};

// `model` is a name of the catalog, a path (of a model or of a whole specification) or a
// dictionary. `function` is what the document is called in messages. Errors, as exceptions: an
// argument that is neither of a specification nor, where they are accepted, of a forecast.
Asked asked(const std::string& function, pybind11::handle model, pybind11::dict arguments,
            ForecastFields forecast = ForecastFields::refused);

// Takes tokens= and price= out of the arguments: the run in which nothing fails. Errors, as
// exceptions: a price without tokens.
std::optional<RunQuestion> taken_run(pybind11::dict& arguments);

}  // namespace orrery::python
