#include "launch/launch_table.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "outcome/parsed_number.h"
#include "outcome/printable.h"

namespace orrery {

Result<LaunchPatterns> Codec<LaunchPatterns>::read(const Value& v) {
  if (v.kind() != Value::Kind::map) return bad_input("expected a map of names to patterns");
  LaunchPatterns out;
  for (const auto& [key, member] : v.members()) {
    if (!member.is_scalar()) return bad_input("'" + key + "' is not a text");
    out.all.emplace_back(key, member.kind() == Value::Kind::null ? "null" : member.scalar_text());
  }
  return out;
}

Value Codec<LaunchPatterns>::write(const LaunchPatterns& p) {
  Value out = Value::map();
  for (const auto& [key, pattern] : p.all) out.set(key, Value::text(pattern));
  return out;
}

Fields<LaunchForm> fields_of(const LaunchForm*) {
  return Fields<LaunchForm>("form")
      .optional<&LaunchForm::when>("fields that the specification must have")
      .optional<&LaunchForm::flags>("flags and their patterns")
      .optional<&LaunchForm::means>("fields and their patterns")
      .optional<&LaunchForm::import>("read, but not written")
      .optional<&LaunchForm::unsaid>("what the form cannot say: a sentence for the reader")
      .optional<&LaunchForm::refused>("why nothing is written: a sentence with fields in braces")
      .optional<&LaunchForm::instead>("fields of which other values are written")
      .optional<&LaunchForm::add>("what the user has to add to the file");
}

Fields<LaunchRule> fields_of(const LaunchRule*) {
  return Fields<LaunchRule>("rule")
      .optional<&LaunchRule::flag>("one flag")
      .optional<&LaunchRule::field>("for one field")
      .optional<&LaunchRule::words>("values of the flag and those of the field")
      .optional<&LaunchRule::absent>("value of the field without the flag")
      .optional<&LaunchRule::forms>("in place of the above");
}

Fields<IrrelevantFlags> fields_of(const IrrelevantFlags*) {
  return Fields<IrrelevantFlags>("irrelevant flags")
      .required<&IrrelevantFlags::flags>("names; '*' at an end stands for any text")
      .required<&IrrelevantFlags::why>("why they do not matter");
}

Fields<LaunchTable> fields_of(const LaunchTable*) {
  using T = LaunchTable;
  return Fields<T>("launch table")
      .required<&T::name>("of the framework")
      .optional<&T::aliases>("other names")
      .required<&T::title>("what it is called")
      .required<&T::releases>("that its flags were read in")
      .required<&T::syntaxes>("of its files; the first is written")
      .optional<&T::last_key>("only the last part of a key counts")
      .required<&T::software>("profile of its runs")
      .optional<&T::script>("that a written shell script starts")
      .optional<&T::launcher>("flags of the launcher")
      .optional<&T::node>(
          "flags of the launcher on several nodes, and the variables that hold them")
      .optional<&T::environment>("flags that are variables of the environment")
      .optional<&T::lists>("flags whose value is a list")
      .optional<&T::placeholder>("a value that stands for one that another file states")
      .optional<&T::renamed>("names of other releases")
      .optional<&T::assumed>("fields that neither the file nor the catalog says")
      .optional<&T::defaults>("of flags that no rule has")
      .required<&T::rules>("what its flags mean")
      .required<&T::irrelevant>("flags that change neither time nor memory")
      .required<&T::provenance>("where the facts come from");
}

namespace {

// The forms that a rule in short stands for.
std::vector<LaunchForm> forms_of(const LaunchRule& rule) {
  std::vector<LaunchForm> out;
  const auto form = [&](const std::string& flag, const std::string& field) {
    return LaunchForm{{}, {{{rule.flag, flag}}}, {{{rule.field, field}}}, false, "", "", {}, ""};
  };
  for (const auto& [word, value] : rule.words.all) out.push_back(form(word, value));
  if (rule.words.all.empty()) out.push_back(form("$x", "$x"));
  if (rule.absent) out.push_back(form("null", *rule.absent));
  return out;
}

bool is_operator(std::string_view word) {
  return word == "+" || word == "-" || word == "*" || word == "/" || word == "//";
}

// The words of a formula: operands and, between them, operators. Empty if it is none.
std::vector<std::string_view> formula(std::string_view pattern) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t end = std::min(pattern.find(' '), pattern.size());
    out.push_back(pattern.substr(0, end));
    if (end == pattern.size()) break;
    pattern.remove_prefix(end + 1);
  }
  bool alternates = out.size() >= 3 && out.size() % 2 == 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    alternates = alternates && !out[i].empty() && is_operator(out[i]) == (i % 2 == 1);
  }
  return alternates ? out : std::vector<std::string_view>();
}

// left op right, where it is a whole number that fits.
std::optional<std::int64_t> computed(std::int64_t left, std::string_view op, std::int64_t right) {
  std::int64_t out = 0;
  if (op == "//") return right < 1 || left < 0 ? std::nullopt : std::optional(left / right);
  if (op == "/") return right < 1 || left % right != 0 ? std::nullopt : std::optional(left / right);
  const bool overflows = op == "+"   ? __builtin_add_overflow(left, right, &out)
                         : op == "-" ? __builtin_sub_overflow(left, right, &out)
                                     : __builtin_mul_overflow(left, right, &out);
  return overflows ? std::nullopt : std::optional(out);
}

std::string_view inverse(std::string_view op) {
  return op == "+" ? "-" : op == "-" ? "+" : op == "*" ? "/" : "*";
}

// The x of x op right = result, or of left op x = result; of "//" several solve it.
std::optional<std::int64_t> left_of(std::string_view op, std::int64_t right, std::int64_t result) {
  return op == "//" ? std::nullopt : computed(result, inverse(op), right);
}
std::optional<std::int64_t> right_of(std::int64_t left, std::string_view op, std::int64_t result) {
  if (op == "//") return std::nullopt;
  return op == "+" || op == "*" ? computed(result, inverse(op), left) : computed(left, op, result);
}

std::optional<std::int64_t> operand(std::string_view word, const LaunchSettings& variables,
                                    const LaunchSettings& settings) {
  if (const auto number = parsed_number<std::int64_t>(word)) return number;
  const LaunchSettings& from = word.starts_with('$') ? variables : settings;
  const auto found = from.find(word);
  return found == from.end() ? std::nullopt : parsed_number<std::int64_t>(found->second);
}

// Solves words[0] op words[1] ... = result for its one unknown variable; with none, compares.
bool solve(const std::vector<std::string_view>& words, std::int64_t result,
           LaunchSettings& variables, const LaunchSettings& settings) {
  std::optional<std::size_t> unknown;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (operand(words[i], variables, settings)) continue;
    if (unknown || !words[i].starts_with('$')) return false;
    unknown = i;
  }
  std::optional<std::int64_t> left;  // of what stands before the unknown
  const std::size_t end = unknown.value_or(words.size());
  for (std::size_t i = 0; i < end; i += 2) {
    const std::int64_t value = *operand(words[i], variables, settings);
    left = i == 0 ? std::optional(value) : computed(*left, words[i - 1], value);
    if (!left) return false;
  }
  if (!unknown) return left == result;
  std::optional<std::int64_t> value = result;
  for (std::size_t i = words.size() - 1; i > *unknown; i -= 2) {
    value = left_of(words[i - 1], *operand(words[i], variables, settings), *value);
    if (!value) return false;
  }
  if (*unknown > 0) value = right_of(*left, words[*unknown - 1], *value);
  if (!value) return false;
  variables.emplace(words[*unknown], std::to_string(*value));
  // Division is exact only one way round: 4 / $x = 1 is not solved by any other number.
  return solve(words, result, variables, settings);
}

std::size_t end_of_variable(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && std::islower(static_cast<unsigned char>(text[end])) != 0) ++end;
  return end;
}

// A text with variables: "[0]*$d+[1]*$n".
bool matches_template(std::string_view pattern, std::string_view text, LaunchSettings& variables) {
  while (true) {
    const std::size_t dollar = pattern.find('$');
    const std::string_view before = pattern.substr(0, dollar);
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    if (dollar == std::string_view::npos) return text.empty();
    pattern.remove_prefix(dollar);
    const std::size_t end = end_of_variable(pattern);
    const std::string name(pattern.substr(0, end));
    pattern.remove_prefix(end);
    const std::string_view next = pattern.substr(0, pattern.find('$'));
    const std::size_t length = next.empty() ? text.size() : text.find(next);
    if (length == std::string_view::npos || length == 0) return false;
    const std::string value(text.substr(0, length));
    if (!variables.emplace(name, value).second && variables[name] != value) return false;
    text.remove_prefix(length);
  }
}

}  // namespace

bool matches(std::string_view pattern, const std::string* text, LaunchSettings& variables,
             const LaunchSettings& settings) {
  if (const auto words = formula(pattern); !words.empty()) {
    const auto number = text != nullptr ? parsed_number<std::int64_t>(*text) : std::nullopt;
    return number && solve(words, *number, variables, settings);
  }
  if (pattern.find('$') != std::string_view::npos) {
    return text != nullptr && matches_template(pattern, *text, variables);
  }
  while (true) {
    const std::size_t bar = std::min(pattern.find('|'), pattern.size());
    const std::string_view word = pattern.substr(0, bar);
    if (text == nullptr ? word == "null" : word == *text) return true;
    if (bar == pattern.size()) return false;
    pattern.remove_prefix(bar + 1);
  }
}

std::optional<std::string> filled(std::string_view pattern, const LaunchSettings& variables,
                                  const LaunchSettings& settings, std::string* missing) {
  const auto unknown = [&](std::string_view name) -> std::optional<std::string> {
    if (missing != nullptr) *missing = name;
    return std::nullopt;
  };
  if (const auto words = formula(pattern); !words.empty()) {
    std::optional<std::int64_t> value;
    for (std::size_t i = 0; i < words.size(); i += 2) {
      const auto next = operand(words[i], variables, settings);
      if (!next) return unknown(words[i]);
      value = i == 0 ? next : computed(*value, words[i - 1], *next);
      if (!value) return unknown(pattern);
    }
    return std::to_string(*value);
  }
  if (pattern.find('$') == std::string_view::npos) {
    const std::string_view first = pattern.substr(0, pattern.find('|'));
    if (first == "null") return std::nullopt;
    return std::string(first);
  }
  std::string out;
  while (true) {
    const std::size_t dollar = std::min(pattern.find('$'), pattern.size());
    out += pattern.substr(0, dollar);
    pattern.remove_prefix(dollar);
    if (pattern.empty()) return out;
    const std::size_t end = end_of_variable(pattern);
    const auto found = variables.find(pattern.substr(0, end));
    if (found == variables.end()) return unknown(pattern.substr(0, end));
    out += found->second;
    pattern.remove_prefix(end);
  }
}

Result<LaunchTable> read_launch_table(const Document& document) {
  ORRERY_TRY(LaunchTable out, read<LaunchTable>(document));
  if (out.syntaxes.empty()) return bad_input("syntaxes is empty", document.name);
  for (LaunchRule& rule : out.rules) {
    if (rule.forms.empty() == rule.flag.empty()) {
      return bad_input("a rule has either a flag or forms", document.name + ": " + rule.flag);
    }
    if (rule.forms.empty()) rule.forms = forms_of(rule);
  }
  return out;
}

Result<LaunchTable> load_launch_table(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("launch", name));
  return read_launch_table(document);
}

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

bool is_among(const std::vector<std::string>& names, const std::string& key) {
  return std::ranges::find(names, key) != names.end();
}

std::string shell_text(const LaunchTable& table, const LaunchFlags& flags) {
  std::string exports;
  std::string launcher;
  std::string own;
  bool several_nodes = false;
  for (const LaunchFlag& flag : flags) {
    if (is_among(table.environment, flag.key)) {
      exports += "export " + flag.key + "=" + quoted(flag.value) + "\n\n";
    } else if (is_among(table.launcher, flag.key)) {
      launcher += " " + option(flag, '_');
    } else {
      own += "    " + option(flag, '-') + "\n";
    }
    several_nodes = several_nodes || (flag.key == "nnodes" && flag.value != "1");
  }
  if (several_nodes) {
    launcher += " \\\n   ";
    for (const auto& [key, variable] : table.node.all) {
      launcher += " --" + key + " \"${" + variable + "}\"";
    }
    launcher += " \\\n   ";
  }
  return exports + "ARGS=(\n" + own + ")\n\ntorchrun" + launcher + " " + table.script +
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
