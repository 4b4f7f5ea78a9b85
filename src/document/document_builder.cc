#include "document/document_builder.h"

namespace orrery {

bool DocumentBuilder::refuse(std::string message, int line) {
  if (!failed()) {
    error_ = Error{ErrorCode::bad_input, std::move(message), "line " + std::to_string(line), ""};
  }
  return false;
}

bool DocumentBuilder::scalar(Value value) { return !failed() && place(std::move(value)); }

bool DocumentBuilder::key(std::string name, int line) {
  if (failed()) return false;
  Open& top = open_.back();
  if (is_given(top, name)) return refuse("field '" + name + "' is given twice", line);
  top.key = std::move(name);
  top.has_key = true;
  return true;
}

bool DocumentBuilder::is_given(Open& map, const std::string& key) {
  constexpr std::size_t kWide = 32;
  const auto& members = map.value.members();
  if (members.size() < kWide) return map.value.find(key) != nullptr;
  if (map.keys.empty()) {
    for (const auto& member : members) map.keys.insert(member.first);
  }
  return !map.keys.insert(key).second;
}

bool DocumentBuilder::begin(Value container) {
  if (failed()) return false;
  if (open_.size() >= kMaxDepth) {
    return refuse("nested deeper than " + std::to_string(kMaxDepth) + " levels", container.line());
  }
  open_.push_back(Open{std::move(container), "", false, {}});
  return true;
}

bool DocumentBuilder::end() {
  if (failed()) return false;
  Value done = std::move(open_.back().value);
  open_.pop_back();
  return place(std::move(done));
}

bool DocumentBuilder::place(Value value) {
  if (++count_ > kMaxValues) {
    return refuse("more than " + std::to_string(kMaxValues) + " values", value.line());
  }
  if (open_.empty()) {
    root_ = std::move(value);
    has_root_ = true;
    return true;
  }
  Open& top = open_.back();
  if (top.value.kind() == Value::Kind::list) {
    top.value.append(std::move(value));
  } else {
    top.value.append_member(std::move(top.key), std::move(value));
    top.has_key = false;
  }
  return true;
}

}  // namespace orrery
