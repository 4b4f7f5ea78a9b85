#include "golden/comparison.h"

#include <algorithm>
#include <regex>

namespace orrery::golden {
namespace {

std::string without_backslash(const std::string& line) {
  return line.starts_with("\\") ? line.substr(1) : line;
}

bool same_line(const std::string& expected, const std::string& printed) {
  return without_clock(without_backslash(expected)) == without_clock(printed);
}

}  // namespace

std::string without_clock(const std::string& line) {
  static const std::regex kClock(
      R"re((elapsed:?\s+|took\s+|"elapsed_s":\s*)[0-9][0-9,.eE+-]*(\s*(us|ms|s|min|h)\b)?)re"
      R"re(|()[0-9][0-9,.]*\s*[kMG]?\s*((candidate )?plans|candidates)(/s| per second| a second)( and core| per core)?)re");
  return std::regex_replace(line, kClock, "$1<clock>");
}

std::optional<Difference> first_difference(const std::vector<std::string>& expected,
                                           const std::vector<std::string>& printed) {
  // Greedy with one point to return to, as for '*' in file patterns.
  std::size_t e = 0;
  std::size_t p = 0;
  std::optional<std::size_t> gap;
  std::size_t gap_end = 0;
  Difference worst;
  while (p < printed.size() || e < expected.size()) {
    if (e < expected.size() && expected[e] == "...") {
      gap = e++;
      gap_end = p;
      continue;
    }
    if (e < expected.size() && p < printed.size() && same_line(expected[e], printed[p])) {
      ++e;
      ++p;
      continue;
    }
    if (std::pair(e, p) > std::pair(worst.expected_line, worst.printed_line)) worst = {e, p};
    if (!gap || gap_end >= printed.size()) return worst;
    p = ++gap_end;
    e = *gap + 1;
  }
  return std::nullopt;
}

std::string show_difference(const std::vector<std::string>& expected,
                            const std::vector<std::string>& printed, const Difference& at) {
  constexpr std::size_t kBefore = 3;
  constexpr std::size_t kAfter = 12;
  const auto show = [](const std::vector<std::string>& lines, std::size_t here) {
    std::string out;
    const std::size_t begin = here > kBefore ? here - kBefore : 0;
    for (std::size_t i = begin; i < std::min(lines.size(), here + kAfter); ++i) {
      out += (i == here ? "  > " : "    ") + lines[i] + "\n";
    }
    if (here >= lines.size()) out += "  > (end)\n";
    return out;
  };
  return "  expected:\n" + show(expected, at.expected_line) + "  printed:\n" +
         show(printed, at.printed_line);
}

}  // namespace orrery::golden
