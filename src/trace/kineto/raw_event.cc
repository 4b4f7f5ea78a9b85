#include "trace/kineto/raw_event.h"

#include <cstring>
#include <utility>

#include "document/json_word.h"
#include "trace/kineto/text_window.h"

namespace orrery {

namespace {

enum class Values { of_event, of_arguments };

bool collect(simdjson::ondemand::object object, RawEvent& raw, Values values) {
  for (auto member : object) {
    simdjson::ondemand::field field;
    if (std::move(member).get(field) != simdjson::SUCCESS) return false;
    const char* begin = field.key().raw();
    // Keys with escapes match nothing that is wanted, wherever they are cut.
    const auto* quote = static_cast<const char*>(std::memchr(begin, '"', 256));
    if (quote == nullptr) continue;
    const std::string_view text(begin, static_cast<std::size_t>(quote - begin));
    const EventKey key = values == Values::of_event ? event_key(text) : argument_key(text);
    if (key == EventKey::unknown) continue;
    simdjson::ondemand::value value = field.value();
    std::string_view token = value.raw_json_token();
    const char first = token.empty() ? '\0' : token.front();
    if (key == EventKey::arguments) {
      simdjson::ondemand::object arguments;
      if (first != '{') continue;
      if (value.get_object().get(arguments) != simdjson::SUCCESS) return false;
      if (!collect(arguments, raw, Values::of_arguments)) return false;
      continue;
    }
    if (first == '{') continue;
    if (first == '[') {
      simdjson::ondemand::array list;
      if (value.get_array().get(list) != simdjson::SUCCESS) return false;
      if (list.raw_json().get(token) != simdjson::SUCCESS) return false;
    }
    while (!token.empty() && is_json_space(token.back())) token.remove_suffix(1);
    // What kind of event it is does not hang on words that are no JSON.
    if (key <= EventKey::name && first != '"' && first != '[' && !is_json_word(token)) return false;
    raw.value[static_cast<std::size_t>(key)] = token;
    raw.operator_details |= key >= EventKey::sequence_number && key <= EventKey::concrete_inputs;
    raw.communication |= key == EventKey::collective;
    raw.memory |= key == EventKey::memory_bytes;
  }
  return true;
}

}  // namespace

bool collect(simdjson::ondemand::object event, RawEvent& raw) {
  return collect(event, raw, Values::of_event);
}

}  // namespace orrery
