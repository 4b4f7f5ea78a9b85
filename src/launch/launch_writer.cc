#include "launch/launch_writer.h"

#include <algorithm>

#include "outcome/parsed_number.h"
#include "outcome/printable.h"

namespace orrery {
namespace {

Value item_value(const std::string& text) {
  if (text == "true" || text == "false") return Value::boolean(text == "true");
  if (parsed_number<double>(text)) return Value::scalar(Value::Kind::number, text, 0);
  return Value::text(text);
}

Value value_of(const LaunchTable& table, const LaunchFlag& flag) {
  if (std::ranges::find(table.lists, flag.key) == table.lists.end()) return item_value(flag.value);
  Value list = Value::list();
  for (std::size_t at = 0; at < flag.value.size();) {
    const std::size_t end = std::min(flag.value.find(' ', at), flag.value.size());
    list.append(item_value(flag.value.substr(at, end - at)));
    at = end + 1;
  }
  return list;
}

// Sets the value at a path of keys.
void place(Value& map, std::string_view path, Value value) {
  const std::size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  if (dot == std::string_view::npos) {
    map.set(key, std::move(value));
    return;
  }
  const Value* known = map.find(key);
  Value inner = known != nullptr ? *known : Value::map();
  place(inner, path.substr(dot + 1), std::move(value));
  map.set(key, std::move(inner));
}

Value tree(const LaunchTable& table, const LaunchFlags& flags) {
  Value out = Value::map();
  for (const LaunchFlag& flag : flags) place(out, flag.key, value_of(table, flag));
  return out;
}

// Values of JSON are values of TOML, but for null, which no flag has.
std::string compact(const Value& value) {
  if (value.kind() == Value::Kind::list) {
    std::string out = "[";
    for (const Value& item : value.items()) out += (out.size() > 1 ? ", " : "") + compact(item);
    return out + "]";
  }
  std::string out = to_json(value);
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

std::string toml_text(const Value& map, const std::string& name) {
  std::string own;
  std::string inner;
  for (const auto& [key, value] : map.members()) {
    if (value.kind() == Value::Kind::map) {
      inner += "\n" + toml_text(value, name.empty() ? key : name + "." + key);
    } else {
      own += key + " = " + compact(value) + "\n";
    }
  }
  return (name.empty() || own.empty() ? "" : "[" + name + "]\n") + own + inner;
}

std::string quoted(const std::string& word) {
  const bool plain =
      !word.empty() &&
      word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@ ") ==
          std::string::npos;
  if (plain) return word;  // blanks separate the items of a list
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string option(const LaunchFlag& flag, char separator) {
  std::string key = flag.key;
  if (separator == '-') std::ranges::replace(key, '_', '-');
  return "--" + key + (flag.value == "true" ? "" : " " + quoted(flag.value));
}

std::string shell_text(const LaunchTable& table, const LaunchFlags& flags) {
  std::string launcher;
  std::string own;
  for (const LaunchFlag& flag : flags) {
    const bool before = std::ranges::find(table.launcher, flag.key) != table.launcher.end();
    if (before) launcher += " " + option(flag, '_');
    if (!before) own += "    " + option(flag, '-') + "\n";
  }
  return "ARGS=(\n" + own + ")\n\ntorchrun" + launcher + " " + table.script +
         " \"${ARGS[@]}\" \"$@\"\n";
}

}  // namespace

std::string launch_text(const LaunchTable& table, const LaunchFlags& flags,
                        const std::vector<std::string>& comment) {
  const LaunchSyntax syntax = table.syntaxes.front();
  if (syntax == LaunchSyntax::json) {
    Value out = Value::map();
    Value lines = Value::list();
    for (const std::string& line : comment) lines.append(Value::text(printable(line)));
    out.set("_comment", std::move(lines));
    const Value own = tree(table, flags);
    for (const auto& [key, value] : own.members()) out.set(key, value);
    return to_json(out);
  }
  std::string out = syntax == LaunchSyntax::shell ? "#!/bin/bash\n" : "";
  for (const std::string& line : comment) out += "# " + printable(line) + "\n";
  out += "\n";
  if (syntax == LaunchSyntax::shell) return out + shell_text(table, flags);
  const Value values = tree(table, flags);
  if (syntax != LaunchSyntax::toml) return out + to_yaml(values);
  const std::string sections = toml_text(values, "");
  return out + (sections.starts_with('\n') ? sections.substr(1) : sections);
}

}  // namespace orrery
