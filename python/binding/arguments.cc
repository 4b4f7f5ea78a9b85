#include "arguments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "estimate/spec.h"
#include "failure.h"
#include "outcome/nearest_name.h"
#include "record.h"

namespace py = pybind11;

namespace orrery::python {
namespace {

constexpr auto kSections = std::to_array<std::string_view>(
    {"cluster", "software", "workload", "training", "adapters", "forecast"});

template <Described T>
bool has_field(std::string_view key) {
  const auto& fields = field_table<T>().description().fields;
  return std::ranges::find(fields, key, &FieldDescription::key) != fields.end();
}

// Sets a field of a section, which becomes a map where there is none.
void set_within(Value& root, const std::string& section, const std::string& key, Value value) {
  const Value* before = root.find(section);
  Value fields = before != nullptr && before->kind() == Value::Kind::map ? *before : Value::map();
  fields.set(key, std::move(value));
  root.set(section, std::move(fields));
}

// A section that is stated as a map changes those of its fields that it states.
void set_section(Value& root, const std::string& section, Value value) {
  const Value* before = root.find(section);
  const bool both = before != nullptr && before->kind() == Value::Kind::map &&
                    value.kind() == Value::Kind::map && section != "cluster";
  if (!both) {
    root.set(section, std::move(value));
    return;
  }
  for (const auto& [key, field] : value.members()) set_within(root, section, key, field);
}

std::vector<std::string> known_arguments(ForecastFields forecast) {
  std::vector<std::string> out = {"on", "seq", "plan", "settings", "kernels"};
  for (const std::string_view section : kSections) out.emplace_back(section);
  const auto add = [&](const Description& of) {
    for (const FieldDescription& field : of.fields) out.push_back(field.key);
  };
  add(field_table<Training>().description());
  if (forecast == ForecastFields::accepted) add(field_table<RunQuestion>().description());
  return out;
}

}  // namespace

Asked asked(const std::string& function, py::handle model, py::dict arguments,
            ForecastFields forecast) {
  Asked out;
  out.document.name = function;
  out.document.root = Value::map();
  Value stated = to_value(model, "model");
  const bool file =
      stated.kind() == Value::Kind::text &&
      (stated.scalar_text().ends_with(".yaml") || stated.scalar_text().ends_with(".yml"));
  if (file) {
    Document read = value_or_throw(read_document(stated.scalar_text()));
    if (is_spec(read)) {
      out.document = std::move(read);
    } else {
      out.document.root.set("model", stated);
    }
  } else {
    out.document.root.set("model", std::move(stated));
  }
  Value& root = out.document.root;
  for (const auto& [name, object] : arguments) {
    const auto key = name.cast<std::string>();
    if (object.is_none()) continue;
    if (key == "settings") {
      if (py::isinstance<py::str>(object)) {
        out.settings.push_back(object.cast<std::string>());
      } else {
        for (const py::handle one : object)
          out.settings.push_back(py::str(one).cast<std::string>());
      }
      continue;
    }
    if (key == "kernels") {
      out.kernels = py::reinterpret_borrow<py::object>(object);
      continue;
    }
    Value value = to_value(object, key);
    if (key == "plan") {
      out.plan = std::move(value);
    } else if (key == "on") {
      root.set("cluster", std::move(value));
    } else if (std::ranges::find(kSections, key) != kSections.end()) {
      set_section(root, key, std::move(value));
    } else if (key == "seq" || has_field<Training>(key)) {
      set_within(root, "training", key == "seq" ? "sequence_length" : key, std::move(value));
    } else if (forecast == ForecastFields::accepted && has_field<RunQuestion>(key)) {
      set_within(root, "forecast", key, std::move(value));
    } else {
      throw_error({ErrorCode::bad_input, "unknown argument '" + key + "'", function,
                   name_hint(key, known_arguments(forecast))});
    }
  }
  if (root.find("cluster") == nullptr) {
    throw_error({ErrorCode::bad_input, "no cluster is given", function,
                 "write on=\"h100-sxm:1024\"; orrery.catalog(\"clusters\") lists published ones"});
  }
  return out;
}

std::optional<RunQuestion> taken_run(py::dict& arguments) {
  Value fields = Value::map();
  for (const char* name : {"tokens", "price"}) {
    const auto value = take(arguments, name, py::object(py::none()));
    if (!value.is_none()) fields.set(name, to_value(value, name));
  }
  if (fields.members().empty()) return std::nullopt;
  if (fields.find("tokens") == nullptr) {
    throw_error({ErrorCode::bad_input, "needs the length of the run", "price",
                 "write tokens=\"15T\" as well"});
  }
  return value_or_throw(Codec<RunQuestion>::read(fields));
}

}  // namespace orrery::python
