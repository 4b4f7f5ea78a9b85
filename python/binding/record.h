// Answers of the library as Python objects.
//
// An answer is described once, by the tables of keys that also write the JSON documents
// (src/document/results.h). A Record is any map of such an answer: its attributes are the keys,
// which are written and converted when somebody reads them, so that an answer costs nothing until
// then. Lists become Records (a list that makes a data frame), quantities numbers with their unit
// in the key, null None. What has no description (entries of the catalog, drawn schedules) shows
// the keys it has.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "document/description.h"
#include "document/value.h"

namespace orrery::python {

using SharedValue = std::shared_ptr<const Value>;

struct Record {
  std::string name;                          // of its class, where no description gives one
  const Description* description = nullptr;  // may be none
  std::function<SharedValue(std::string_view key)> key;  // null: there is no such key
  std::function<SharedValue()> all;
  std::function<std::string()> html = {};  // the page of the answer; may be empty
};

// A whole document that exists already.
Record record(Value document, const Description* description, std::string name);

// An object of the class that belongs to the description.
pybind11::object to_python(Record record);
pybind11::object to_python(const SharedValue& value, const ValueShape* shape);

// What Python hands over, as the document that a specification would be. Errors, as exceptions: a
// number that is not finite, an object of another type, nesting beyond that of documents.
Value to_value(pybind11::handle object, const std::string& where);

// Adds the classes Record and Records, and answer_classes(), to the module.
void define_records(pybind11::module_& module);

}  // namespace orrery::python
