#include "golden/script.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <regex>

namespace orrery::golden {
namespace {

constexpr std::string_view kAnyLines = "...";

std::optional<int> exit_code_of(std::string_view line) {
  constexpr std::string_view kBegin = "[exit ";
  if (!line.starts_with(kBegin) || !line.ends_with(']')) return std::nullopt;
  int code = 0;
  const char* end = line.data() + line.size() - 1;
  const auto [rest, error] = std::from_chars(line.data() + kBegin.size(), end, code);
  if (error != std::errc() || rest != end) return std::nullopt;
  return code;
}

bool calls_orrery(const std::string& command) {
  static const std::regex kCall(
      R"((^|[|;&(]\s*)((time|\w+=\S*)\s+)*(build/release/bin/)?orrery(\s|$))");
  return std::regex_search(command, kCall);
}

bool needs_backslash(std::string_view line) {
  return line.starts_with("$ ") || line.starts_with("# ") || line.starts_with("> ") ||
         line.starts_with("\\") || line.starts_with("```") || line == kAnyLines ||
         exit_code_of(line).has_value();
}

// Reads steps from lines [at, end); a comment ends a step only in a test file.
void read_steps(Script& script, std::size_t at, std::size_t end, Kind kind) {
  const auto& lines = script.lines;
  while (at < end) {
    if (!lines[at].starts_with("$ ")) {
      ++at;
      continue;
    }
    Step step;
    step.line = static_cast<int>(at) + 1;
    step.command = lines[at].substr(2);
    ++at;
    // A backslash at the end of a line continues the command, as in a shell.
    while (at < end &&
           (lines[at].starts_with("> ") || lines[at] == ">" || step.command.ends_with("\\"))) {
      const bool prompted = lines[at].starts_with(">");
      step.command +=
          "\n" +
          (prompted ? lines[at].substr(std::min<std::size_t>(2, lines[at].size())) : lines[at]);
      ++at;
    }
    step.first_line = at;
    while (at < end && !lines[at].starts_with("$ ") &&
           !(kind == Kind::test && lines[at].starts_with("# "))) {
      step.expected.push_back(lines[at]);
      ++at;
    }
    while (!step.expected.empty() && step.expected.back().empty()) step.expected.pop_back();
    step.after_line = step.first_line + step.expected.size();
    if (!step.expected.empty()) {
      if (const auto code = exit_code_of(step.expected.back())) {
        step.exit_code = *code;
        step.expected.pop_back();
      }
    }
    step.any_output = kind == Kind::page && step.expected.empty();
    if (kind == Kind::test || calls_orrery(step.command)) script.steps.push_back(std::move(step));
  }
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

Script parse_script(std::string_view text, Kind kind) {
  Script script;
  script.lines = split_lines(text);
  if (kind == Kind::test) {
    read_steps(script, 0, script.lines.size(), kind);
    return script;
  }
  for (std::size_t i = 0; i < script.lines.size(); ++i) {
    if (script.lines[i] != "```console") continue;
    const auto begin = script.lines.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto close = std::find(begin, script.lines.end(), "```");
    const auto end = static_cast<std::size_t>(close - script.lines.begin());
    read_steps(script, i + 1, end, kind);
    i = end;
  }
  return script;
}

std::vector<std::string> blessed(const Step& step, const std::vector<std::string>& printed,
                                 int exit_code) {
  std::vector<std::string> out;
  const auto& old = step.expected;
  const auto any = std::find(old.begin(), old.end(), kAnyLines);
  const bool one_gap = any != old.end() && std::find(any + 1, old.end(), kAnyLines) == old.end();
  const auto head = static_cast<std::size_t>(any - old.begin());
  const std::size_t tail = one_gap ? old.size() - head - 1 : 0;
  const bool keep_gap = one_gap && head + tail < printed.size();
  for (std::size_t i = 0; i < printed.size(); ++i) {
    if (keep_gap && i == head) {
      out.emplace_back(kAnyLines);
      i = printed.size() - tail;
      if (i >= printed.size()) break;
    }
    out.push_back(needs_backslash(printed[i]) ? "\\" + printed[i] : printed[i]);
  }
  if (exit_code != 0) out.push_back("[exit " + std::to_string(exit_code) + "]");
  return out;
}

}  // namespace orrery::golden
