#include "record.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "failure.h"
#include "outcome/nearest_name.h"
#include "report/documents.h"

namespace py = pybind11;

namespace orrery::python {
namespace {

// Objects that live as long as the interpreter; never destroyed, since it may be gone by then.
struct Classes {
  py::object record;   // the class Record
  py::object records;  // the class Records
  std::map<const Description*, py::object> of;
  std::map<std::string, py::object> undescribed;
};
Classes& classes() {
  static auto* const kClasses = new Classes;
  return *kClasses;
}

const FieldDescription* field_of(const Record& r, std::string_view key) {
  if (r.description == nullptr) return nullptr;
  for (const FieldDescription& field : r.description->fields) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

std::vector<std::string> keys_of(const Record& r) {
  std::vector<std::string> out;
  if (r.description != nullptr) {
    for (const FieldDescription& field : r.description->fields) out.push_back(field.key);
  } else {
    const SharedValue all = r.all();
    for (const auto& [key, value] : all->members()) out.push_back(key);
  }
  return out;
}

py::object new_class(const std::string& name, const Description* description) {
  std::string documentation;
  if (description != nullptr) {
    documentation = description->sentence + "\n";
    for (const FieldDescription& field : description->fields) {
      documentation +=
          fmt::format("\n{} ({}): {}", field.key, to_text(field.shape), field.sentence);
    }
  }
  py::dict members;
  members["__doc__"] = documentation;
  members["__slots__"] = py::tuple();
  members["__module__"] = "orrery.answers";
  const py::handle type(reinterpret_cast<PyObject*>(&PyType_Type));
  return py::reinterpret_borrow<py::object>(type)(name, py::make_tuple(classes().record), members);
}

constexpr const char* kCapsule = "orrery record";

py::object class_of(const Record& r) {
  if (r.description == nullptr) {
    py::object& known = classes().undescribed[r.name];
    if (!known) known = new_class(r.name, nullptr);
    return known;
  }
  py::object& known = classes().of[r.description];
  if (!known) {
    const AnswerClass* answer = answer_class(*r.description);
    if (answer != nullptr && answer->description != r.description) {
      Record same = r;
      same.description = answer->description;
      known = class_of(same);
    } else {
      known = new_class(answer != nullptr ? answer->name : r.name, r.description);
    }
  }
  return known;
}

double number(const std::string& text) {
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

py::object scalar(const Value& value, const ValueShape* shape) {
  const std::string& text = value.scalar_text();
  switch (value.kind()) {
    case Value::Kind::boolean:
      return py::bool_(text == "true");
    case Value::Kind::number: {
      const bool whole = shape != nullptr ? shape->kind == ValueShape::Kind::integer
                                          : text.find_first_of(".eE") == std::string::npos;
      if (!whole) return py::float_(number(text));
      return py::reinterpret_steal<py::object>(PyLong_FromString(text.c_str(), nullptr, 10));
    }
    case Value::Kind::text:
      return py::str(text);
    case Value::Kind::null:
    case Value::Kind::list:
    case Value::Kind::map:
      break;
  }
  return py::none();
}

// A part of a value, which it keeps alive.
SharedValue part(const SharedValue& whole, const Value& of) { return {whole, &of}; }

py::object as_dictionary(const Value& value, const ValueShape* shape) {
  if (value.kind() == Value::Kind::list) {
    const ValueShape* item =
        shape != nullptr && !shape->item.empty() ? &shape->item.front() : nullptr;
    py::list out;
    for (const Value& v : value.items()) out.append(as_dictionary(v, item));
    return out;
  }
  if (value.kind() != Value::Kind::map) return scalar(value, shape);
  const Description* description =
      shape != nullptr && shape->kind == ValueShape::Kind::map ? &shape->map() : nullptr;
  py::dict out;
  for (const auto& [key, member] : value.members()) {
    const ValueShape* inner = nullptr;
    if (description != nullptr) {
      for (const FieldDescription& f : description->fields) {
        if (f.key == key) inner = &f.shape;
      }
    }
    out[py::str(key)] = as_dictionary(member, inner);
  }
  return out;
}

py::object dictionary(const Record& r) {
  const SharedValue all = r.all();
  if (r.description == nullptr) return as_dictionary(*all, nullptr);
  py::dict out;
  for (const auto& [key, member] : all->members()) {
    const FieldDescription* field = field_of(r, key);
    out[py::str(key)] = as_dictionary(member, field != nullptr ? &field->shape : nullptr);
  }
  return out;
}

// The value of a key, None if the answer leaves it out; nothing if it has no such key.
py::object member(const Record& r, const std::string& key) {
  const FieldDescription* field = field_of(r, key);
  if (r.description != nullptr && field == nullptr) return {};
  const SharedValue value = r.key(key);
  if (value == nullptr) return field != nullptr ? py::object(py::none()) : py::object();
  return to_python(value, field != nullptr ? &field->shape : nullptr);
}

py::object attribute(const Record& r, const std::string& key) {
  if (!key.starts_with("_")) {
    if (py::object out = member(r, key)) return out;
  }
  std::string message = "no key '" + key + "'";
  if (!key.starts_with("_")) {
    if (const std::string hint = name_hint(key, keys_of(r)); !hint.empty()) {
      message += " (" + hint + ")";
    }
  }
  throw py::attribute_error(message);
}

std::string represented(const py::object& self, const Record& r) {
  std::string out = py::str(self.attr("__class__").attr("__name__")).cast<std::string>() + "(";
  bool first = true;
  for (const std::string& key : keys_of(r)) {
    const py::object value = member(r, key);
    if (!value || value.is_none()) continue;
    out += (first ? "" : ", ") + key + "=";
    first = false;
    if (py::isinstance<py::list>(value)) {
      out += fmt::format("[{} items]", py::len(value));
    } else if (py::isinstance<Record>(value)) {
      out += py::str(value.attr("__class__").attr("__name__")).cast<std::string>() + "(...)";
    } else {
      out += py::repr(value).cast<std::string>();
    }
  }
  return out + ")";
}

// The page as it stands in a notebook: a frame of its own, so that neither styles the other.
py::object framed(const Record& r) {
  if (!r.html) return py::none();
  std::string page = r.html();
  std::string escaped;
  escaped.reserve(page.size() + page.size() / 8);
  for (const char c : page) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else {
      escaped += c;
    }
  }
  return py::str("<iframe style=\"width:100%;height:44em;border:0\" srcdoc=\"" + escaped +
                 "\"></iframe>");
}

constexpr int kDeepest = static_cast<int>(kMaxDepth);

Value value_of(py::handle object, const std::string& where, int depth) {
  const auto refuse = [&](const std::string& message, const std::string& hint = "") {
    throw_error({ErrorCode::bad_input, message, where, hint});
  };
  if (depth > kDeepest) refuse("nested too deeply");
  if (object.is_none()) return Value::null();
  if (py::isinstance<py::bool_>(object)) return Value::boolean(object.cast<bool>());
  if (py::isinstance<py::str>(object)) return Value::text(object.cast<std::string>());
  if (py::isinstance<Record>(object)) return *object.cast<const Record&>().all();
  if (PyFloat_Check(object.ptr()) != 0) {
    const double d = object.cast<double>();
    if (!std::isfinite(d)) refuse("is not a finite number");
    return Value::number(d);
  }
  if (PyIndex_Check(object.ptr()) != 0) {
    const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
    if (!whole) throw py::error_already_set();
    return Value::scalar(Value::Kind::number, py::str(whole).cast<std::string>(), 0);
  }
  if (py::isinstance<py::dict>(object)) {
    Value out = Value::map();
    for (const auto& [key, member] : py::reinterpret_borrow<py::dict>(object)) {
      if (!py::isinstance<py::str>(key)) refuse("a key is not text");
      const auto name = key.cast<std::string>();
      out.set(name, value_of(member, where + "." + name, depth + 1));
    }
    return out;
  }
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) {
    Value out = Value::list();
    for (const py::handle item : object) out.append(value_of(item, where, depth + 1));
    return out;
  }
  refuse(fmt::format("cannot be read from a {}",
                     py::str(py::type::handle_of(object).attr("__name__")).cast<std::string>()),
         "give text, numbers, lists and dictionaries, as in a specification");
  return {};
}

// The classes of all documents, by name.
py::dict all_classes() {
  py::dict out;
  for (const AnswerClass& one : answer_classes()) {
    Record r;
    r.description = one.description;
    out[py::str(one.name)] = class_of(r);
  }
  return out;
}

}  // namespace

Record record(Value document, const Description* description, std::string name) {
  const auto value = std::make_shared<const Value>(std::move(document));
  Record out;
  out.name = std::move(name);
  out.description = description;
  out.key = [value](std::string_view key) -> SharedValue {
    const Value* found = value->find(key);
    return found != nullptr ? part(value, *found) : nullptr;
  };
  out.all = [value] { return value; };
  return out;
}

py::object to_python(Record r) {
  const py::object type = class_of(r);
  return type(py::capsule(&r, kCapsule));
}

py::object to_python(const SharedValue& value, const ValueShape* shape) {
  if (value->kind() == Value::Kind::list) {
    const ValueShape* item =
        shape != nullptr && !shape->item.empty() ? &shape->item.front() : nullptr;
    py::list out(value->items().size());
    std::size_t i = 0;
    for (const Value& v : value->items()) out[i++] = to_python(part(value, v), item);
    return classes().records(out);
  }
  if (value->kind() != Value::Kind::map) return scalar(*value, shape);
  Record r;
  r.name = "Entry";
  r.description =
      shape != nullptr && shape->kind == ValueShape::Kind::map ? &shape->map() : nullptr;
  r.key = [value](std::string_view key) -> SharedValue {
    const Value* found = value->find(key);
    return found != nullptr ? part(value, *found) : nullptr;
  };
  r.all = [value] { return value; };
  return to_python(std::move(r));
}

Value to_value(py::handle object, const std::string& where) { return value_of(object, where, 0); }

void define_records(py::module_& module) {
  py::class_<Record> type(module, "Record",
                          "A map of an answer. Its keys are attributes, and items too.");
  type.def(py::init([](const py::capsule& made) {
        if (made.name() == nullptr || std::string_view(made.name()) != kCapsule) {
          throw py::type_error("only the functions of orrery make answers");
        }
        return std::make_unique<Record>(std::move(*made.get_pointer<Record>()));
      }))
      .def("__getattr__", &attribute)
      .def("__getitem__",
           [](const Record& r, const std::string& key) {
             if (py::object out = member(r, key)) return out;
             throw py::key_error(key);
           })
      .def("__contains__", [](const Record& r,
                              const std::string& key) { return static_cast<bool>(member(r, key)); })
      .def("__iter__", [](const Record& r) { return py::iter(py::cast(keys_of(r))); })
      .def("keys", &keys_of)
      .def("__dir__",
           [](const py::object& self) {
             const auto object = py::module_::import("builtins").attr("object");
             py::list out = object.attr("__dir__")(self);
             for (const std::string& key : keys_of(self.cast<const Record&>())) out.append(key);
             return out;
           })
      .def("__eq__",
           [](const Record& a, const Record& b) { return to_json(*a.all()) == to_json(*b.all()); })
      .def("__hash__", [](const Record& r) { return py::hash(py::str(to_json(*r.all()))); })
      .def("__repr__",
           [](const py::object& self) { return represented(self, self.cast<const Record&>()); })
      .def("_repr_html_", &framed)
      .def(
          "to_html",
          [](const Record& r) -> py::object {
            if (!r.html) return py::none();
            return py::str(r.html());
          },
          "The page of `--html`, or None if the command has none.")
      .def("to_dict", &dictionary, "Dictionaries, lists and plain values.")
      .def(
          "to_json", [](const Record& r) { return to_json(*r.all()); },
          "The document of `--json`.");
  classes().record = module.attr("Record");
  module.def("_set_records",
             [](const py::object& type_of_lists) { classes().records = type_of_lists; });
  module.def("_answer_classes", &all_classes);
}

}  // namespace orrery::python
