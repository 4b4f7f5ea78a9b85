// The extension module orrery._orrery; python/orrery/__init__.py is its front.
#include <pybind11/pybind11.h>

#include "failure.h"
#include "record.h"
#include "session.h"

PYBIND11_MODULE(_orrery, module) {
  module.doc() = "Predictions of distributed training.";
  orrery::python::define_error(module);
  orrery::python::define_records(module);
  orrery::python::define_session(module);
  orrery::python::define_recording(module);
}
