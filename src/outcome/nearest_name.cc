#include "outcome/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace orrery {
namespace {

std::string folded(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Optimal string alignment distance.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view wrong,
                                        std::span<const std::string> names) {
  if (wrong.empty() || wrong.size() > 100) return std::nullopt;
  const std::string w = folded(wrong);
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& name : names) {
    const std::string n = folded(name);
    std::size_t distance = edit_distance(w, n);
    const bool contained = w.size() >= 3 && n.find(w) != std::string::npos;
    if (contained) distance = std::min<std::size_t>(distance, 1);
    // Names that begin alike are near each other: "h100x" and "h100-sxm".
    const bool begins = w.size() >= 3 && n.size() > w.size() &&
                        edit_distance(w, n.substr(0, w.size())) <= w.size() / 4;
    if (begins) distance = std::min<std::size_t>(distance, 2);
    if (!contained && !begins && distance > std::max(w.size(), n.size()) / 3) continue;
    if (!best || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string name_hint(std::string_view wrong, std::span<const std::string> names) {
  if (auto near = nearest_name(wrong, names)) return "did you mean '" + *near + "'?";
  std::string out = "known: ";
  const std::size_t shown = std::min<std::size_t>(names.size(), 12);
  for (std::size_t i = 0; i < shown; ++i) out += (i ? ", " : "") + names[i];
  if (shown < names.size()) out += ", ...";
  return out;
}

}  // namespace orrery
