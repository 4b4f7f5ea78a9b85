#include "failure.h"

#include <string>

#include "outcome/enum_names.h"

namespace py = pybind11;

namespace orrery::python {
namespace {

PyObject* error_class = nullptr;

}  // namespace

void throw_error(const Error& error) {
  const py::object instance = py::handle(error_class)(error.text());
  instance.attr("what") = error.message;
  instance.attr("where") = error.where;
  instance.attr("hint") = error.hint;
  PyErr_SetObject(error_class, instance.ptr());
  throw py::error_already_set();
}

void define_error(py::module_& module) {
  error_class = PyErr_NewExceptionWithDoc("orrery.Error",
                                          "Why there is no answer.\n\nwhat: what is wrong, with "
                                          "the value that is.\nwhere: the argument, "
                                          "file, line or key; empty: nowhere in particular.\nhint: "
                                          "what to write instead; may be empty.",
                                          PyExc_Exception, nullptr);
  module.attr("Error") = py::handle(error_class);
}

}  // namespace orrery::python
