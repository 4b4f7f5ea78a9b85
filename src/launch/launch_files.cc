#include "launch/launch_files.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "document/toml.h"
#include "launch/shell_script.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::string_view kBlank = " \t\r";

// "True" and "None" are Python's.
LaunchFlag plain(LaunchFlag flag) {
  if (flag.value == "True") flag.value = "true";
  if (flag.value == "False") flag.value = "false";
  if (flag.value == "None" || flag.value == "null") flag.given = false;
  return flag;
}

// ---- arguments of a log ----

// "  name ..... value", whatever stands before it ("[rank 0] ").
bool is_argument(std::string_view line, LaunchFlag* out) {
  const std::size_t dots = line.find(" ..");
  if (dots == std::string_view::npos || dots == 0) return false;
  std::size_t end = dots + 1;
  while (end < line.size() && line[end] == '.') ++end;
  if (end >= line.size() || line[end] != ' ') return false;
  std::size_t begin = dots;
  while (begin > 0 && kBlank.find(line[begin - 1]) == std::string_view::npos) --begin;
  const std::string_view key = line.substr(begin, dots - begin);
  if (key.empty() || key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789_") != std::string_view::npos) {
    return false;
  }
  std::string value(line.substr(end + 1));
  while (!value.empty() && kBlank.find(value.back()) != std::string_view::npos) value.pop_back();
  if (value.starts_with('[') && value.ends_with(']')) {  // a list of Python
    std::erase_if(value, [](char c) { return c == '[' || c == ']' || c == ',' || c == '\''; });
  }
  if (out != nullptr) {
    out->key = key;
    out->value = std::move(value);
  }
  return true;
}

template <class F>
void for_each_line(std::string_view text, F&& f) {
  int number = 1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end), number++);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

LaunchFlags arguments_of(std::string_view text, const std::string& file) {
  LaunchFlags out;
  for_each_line(text, [&](std::string_view line, int number) {
    LaunchFlag flag;
    flag.file = file;
    flag.line = number;
    if (is_argument(line, &flag)) out.push_back(plain(std::move(flag)));
  });
  return out;
}

// ---- trees ----

void flatten(const Value& value, const std::string& key, const std::string& file,
             LaunchFlags& out) {
  LaunchFlag flag{key, "", file, value.line(), true, ""};
  const std::string before = key.empty() ? "" : key + ".";
  switch (value.kind()) {
    case Value::Kind::map:
      for (const auto& [name, member] : value.members()) flatten(member, before + name, file, out);
      if (!value.members().empty() || key.empty()) return;
      flag.value = "{}";
      break;
    case Value::Kind::list: {
      const bool flat = std::ranges::all_of(value.items(), &Value::is_scalar);
      for (std::size_t i = 0; i < value.items().size(); ++i) {
        const Value& item = value.items()[i];
        if (!flat) flatten(item, before + std::to_string(i), file, out);
        if (flat) flag.value += (i > 0 ? " " : "") + item.scalar_text();
      }
      if (!flat) return;
      break;
    }
    case Value::Kind::null:
      flag.given = false;
      break;
    default:
      flag.value = value.scalar_text();
  }
  out.push_back(plain(std::move(flag)));
}

// "multiply:4, 4096" and the other functions that NeMo's launcher adds to OmegaConf (main.py).
std::optional<std::string> computed(std::string_view call) {
  const std::size_t colon = call.find(':');
  const std::size_t comma = call.find(',');
  if (colon == std::string_view::npos || comma == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    text.remove_suffix(text.size() - (text.find_last_not_of(kBlank) + 1));
    return parsed_number<double>(text);
  };
  const auto a = number(call.substr(colon + 1, comma - colon - 1));
  const auto b = number(call.substr(comma + 1));
  if (!a || !b) return std::nullopt;
  const std::string_view name = call.substr(0, colon);
  const double value = name == "multiply"       ? *a * *b
                       : name == "sum"          ? *a + *b
                       : name == "divide_ceil"  ? std::ceil(*a / *b)
                       : name == "divide_floor" ? std::floor(*a / *b)
                                                : std::nan("");
  if (!std::isfinite(value)) return std::nullopt;
  return Value::number(value).scalar_text();
}

// ${a.b}, ${.b} and ${multiply:4, ${.b}} (OmegaConf), as far as the file says it. Four rounds suffice
// for references to references; what is left is unresolved.
void resolve_references(LaunchFlags& flags) {
  constexpr int kRounds = 4;
  constexpr int kMostInOne = 16;
  constexpr std::size_t kLongest = 4096;  // a file cannot make its values grow without bounds
  std::map<std::string, const LaunchFlag*, std::less<>> by_key;
  for (const LaunchFlag& flag : flags) by_key.emplace(flag.key, &flag);
  // Replaces the first reference that has none within; false if it cannot.
  const auto resolve_one = [&](LaunchFlag& flag) {
    const std::size_t end = flag.value.find('}');
    const std::size_t begin = end == std::string::npos ? end : flag.value.rfind("${", end);
    if (begin == std::string::npos) return false;
    std::string key = flag.value.substr(begin + 2, end - begin - 2);
    std::optional<std::string> value = computed(key);
    if (!value) {
      if (key.starts_with('.')) {
        const std::size_t dot = flag.key.rfind('.');
        key = dot == std::string::npos ? key.substr(1) : flag.key.substr(0, dot) + key;
      }
      const auto found = by_key.find(key);
      if (found == by_key.end() || found->second == &flag) return false;
      const LaunchFlag& other = *found->second;
      const bool whole = begin == 0 && end + 1 == flag.value.size();
      if (other.value.find("${") != std::string::npos || (!other.given && !whole)) return false;
      flag.given = other.given;
      value = other.value;
    }
    if (flag.value.size() + value->size() > kLongest) return false;
    flag.value.replace(begin, end - begin + 1, *value);
    return true;
  };
  for (int round = 0; round < kRounds; ++round) {
    for (LaunchFlag& flag : flags) {
      for (int i = 0; i < kMostInOne && resolve_one(flag); ++i) {
      }
    }
  }
  for (LaunchFlag& flag : flags) {
    if (flag.value.find("${") != std::string::npos) {
      flag.unresolved = flag.value + " is not set in the file";
    }
  }
}

LaunchSyntax syntax_of(std::string_view text, std::string_view name) {
  if (name.ends_with(".toml")) return LaunchSyntax::toml;
  if (name.ends_with(".json")) return LaunchSyntax::json;
  if (name.ends_with(".yaml") || name.ends_with(".yml")) return LaunchSyntax::yaml;
  int arguments = 0;
  for_each_line(text, [&](std::string_view line, int) { arguments += is_argument(line, nullptr); });
  constexpr int kFewest = 3;
  if (arguments >= kFewest) return LaunchSyntax::arguments;
  if (name.ends_with(".sh") || text.starts_with("#!") || name.ends_with(".log")) {
    return LaunchSyntax::shell;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return LaunchSyntax::json;
  bool section = false;
  bool keyed = false;
  bool flag = false;
  for_each_line(text, [&](std::string_view line, int) {
    section = section || (line.starts_with('[') && line.find(']') != std::string_view::npos);
    keyed = keyed || (line.find(": ") != std::string_view::npos || line.ends_with(':'));
    flag = flag || line.find("--") != std::string_view::npos;
  });
  if (section) return LaunchSyntax::toml;
  return keyed && !flag ? LaunchSyntax::yaml : LaunchSyntax::shell;
}

}  // namespace

LaunchFlags leaves(const Value& tree, const std::string& file) {
  LaunchFlags out;
  flatten(tree, "", file, out);
  return out;
}

Result<LaunchFile> parse_launch_file(std::string_view text, const std::string& name) {
  LaunchFile out;
  out.syntax = syntax_of(text, name);
  if (out.syntax == LaunchSyntax::shell) {
    ORRERY_TRY(out.flags, read_shell_script(text, name));
    for (LaunchFlag& flag : out.flags) flag = plain(std::move(flag));
    return out;
  }
  if (out.syntax == LaunchSyntax::arguments) {
    out.flags = arguments_of(text, name);
    return out;
  }
  ORRERY_TRY(const Document document, out.syntax == LaunchSyntax::json   ? parse_json(text, name)
                                      : out.syntax == LaunchSyntax::toml ? parse_toml(text, name)
                                                                         : parse_yaml(text, name));
  out.flags = leaves(document.root, name);
  // The order of a file, which TOML's tables lose.
  std::ranges::stable_sort(out.flags, {}, &LaunchFlag::line);
  if (out.syntax == LaunchSyntax::yaml) resolve_references(out.flags);
  return out;
}

Result<LaunchFile> read_launch_file(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{16} << 20U;
  ORRERY_TRY(const std::string text, read_file(path, kMost));
  return parse_launch_file(text, path == "-" ? "standard input" : path);
}

}  // namespace orrery
