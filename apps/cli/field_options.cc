#include "field_options.h"

#include <algorithm>

#include "outcome/invariant.h"

namespace orrery::cli {

Value scalar(const std::string& text) {
  const bool number = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  return Value::scalar(number ? Value::Kind::number : Value::Kind::text, text, 0);
}

void FieldOptions::add(CLI::App* app, std::span<const FieldOption> options) {
  for (const auto& [name, sentence, field] : options) {
    Text& text = texts_[name];
    text.field = field;
    app->add_option(std::string("--") + name, text.text, sentence);
  }
}

const std::string& FieldOptions::operator[](std::string_view name) const {
  const auto at = texts_.find(name);
  ORRERY_INVARIANT(at != texts_.end());
  return at->second.text;
}

const std::string* FieldOptions::find(std::string_view name) const {
  const auto at = texts_.find(name);
  return at == texts_.end() || at->second.text.empty() ? nullptr : &at->second.text;
}

std::vector<std::string> FieldOptions::given(Field where) const {
  std::vector<std::string> out;
  for (const auto& [name, text] : texts_) {
    if (text.field == where && !text.text.empty()) out.push_back(name);
  }
  return out;
}

void FieldOptions::write(Field where, Value& fields) const {
  for (std::string name : given(where)) {
    Value value = scalar((*this)[name]);
    std::ranges::replace(name, '-', '_');
    fields.set(name, std::move(value));
  }
}

}  // namespace orrery::cli
