#include "trace/perfetto/rewritten_event.h"

#include "trace/kineto/json_members.h"
#include "trace/perfetto/json_values.h"

namespace orrery {
namespace {

// Copies a text from its beginning, but for the values that are replaced.
class EventCopy {
 public:
  EventCopy(std::string_view text, std::string& out) : text_(text), out_(out) {}

  void replace(std::string_view value, std::string_view with) {
    before(place_of(value));
    out_ += with;
    copied_ += value.size();
  }
  // Behind the opening brace of an object.
  void insert(std::string_view object, std::string_view members) {
    before(place_of(object) + 1);
    out_ += members;
    JsonMembers inside(object);
    if (inside.next()) out_ += ", ";
  }
  void rest() { out_ += text_.substr(copied_); }

 private:
  [[nodiscard]] std::size_t place_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - text_.data());
  }
  void before(std::size_t at) {
    out_ += text_.substr(copied_, at - copied_);
    copied_ = at;
  }

  std::string_view text_;
  std::string& out_;
  std::size_t copied_ = 0;
};

// As the reader has it (kineto/raw_event.cc): arguments are an object, and nothing else is.
bool is_read(EventKey key, std::string_view value) {
  return value.starts_with('{') == (key == EventKey::arguments);
}

// "python" as "rank 3 python"; without a name, a viewer's row says the rank all the same.
void rename_process(std::string_view arguments, std::int64_t rank, EventCopy& copy) {
  JsonMembers members(arguments);
  while (const auto member = members.next()) {
    if (member->key != "name" || !member->value.starts_with('"')) continue;
    copy.replace(member->value,
                 "\"rank " + std::to_string(rank) + " " + std::string(member->value.substr(1)));
  }
}

}  // namespace

EventText event_text(std::string_view event) {
  EventText out;
  out.text = event;
  JsonMembers members(event);
  while (const auto member = members.next()) {
    const EventKey key = event_key(member->key);
    if (key == EventKey::unknown || !is_read(key, member->value)) continue;
    out.value[static_cast<std::size_t>(key)] = member->value;
  }
  return out;
}

void append_rewritten(const EventText& event, const EventChanges& changes, std::string& out) {
  const std::string_view arguments = event[EventKey::arguments];
  const bool has_arguments = !arguments.empty();
  EventCopy copy(event.text, out);
  std::string in_front;
  if (changes.rank && event[EventKey::process].empty()) {
    in_front = "\"pid\": " + shared_process_token("", *changes.rank);
  }
  if (!changes.added_arguments.empty() && !has_arguments) {
    in_front += in_front.empty() ? "" : ", ";
    in_front += "\"args\": {" + changes.added_arguments + "}";
  }
  if (!in_front.empty()) copy.insert(event.text, in_front);
  const bool names_process =
      event[EventKey::phase] == "\"M\"" && event[EventKey::name] == "\"process_name\"";
  JsonMembers members(event.text);
  while (const auto member = members.next()) {
    const EventKey key = event_key(member->key);
    if (!is_read(key, member->value)) continue;
    switch (key) {
      case EventKey::start:
        if (changes.shift_ns != 0) {
          copy.replace(member->value, later_microseconds(member->value, changes.shift_ns));
        }
        break;
      case EventKey::process:
        if (changes.shared) {
          copy.replace(member->value, shared_process_token(member->value, changes.shared->rank));
        }
        break;
      case EventKey::flow_id:
        if (changes.shared) {
          copy.replace(member->value, shared_flow(member->value, *changes.shared));
        }
        break;
      case EventKey::arguments:
        if (!changes.added_arguments.empty() && member->value.data() == arguments.data()) {
          copy.insert(member->value, changes.added_arguments);
        }
        if (changes.shared && names_process) {
          rename_process(member->value, changes.shared->rank, copy);
        }
        break;
      default:
        if (changes.shared && member->key == "bind_id") {
          copy.replace(member->value, shared_flow(member->value, *changes.shared));
        }
        break;
    }
  }
  copy.rest();
}

}  // namespace orrery
