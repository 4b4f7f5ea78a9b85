#include "layers/layer_rules.h"

#include <algorithm>
#include <functional>
#include <sstream>

namespace orrery::layers {

LayerRules parse_layer_rules(std::string_view text) {
  LayerRules rules;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const std::string place = "line " + std::to_string(number) + ": ";
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      rules.problems.push_back(place + "expected 'folder: folders'");
      continue;
    }
    const std::string folder = line.substr(0, colon);
    if (rules.allowed.contains(folder)) {
      rules.problems.push_back(place + "'" + folder + "' stands twice");
    }
    std::set<std::string> uses;
    std::istringstream words(line.substr(colon + 1));
    for (std::string word; words >> word;) {
      if (!rules.allowed.contains(word)) {
        rules.problems.push_back(place + "'" + folder + "' may use only folders above it, not '" +
                                 word + "'");
      }
      uses.insert(word);
    }
    rules.order.push_back(folder);
    rules.allowed[folder] = std::move(uses);
  }
  return rules;
}

std::vector<std::pair<std::string, std::string>> direct_edges(const LayerRules& rules) {
  const auto reaches = [&rules](const std::string& from, const std::string& to) {
    std::set<std::string> seen;
    std::function<bool(const std::string&)> visit = [&](const std::string& folder) {
      if (folder == to) return true;
      if (!seen.insert(folder).second) return false;
      const auto& uses = rules.allowed.at(folder);
      return std::any_of(uses.begin(), uses.end(), visit);
    };
    return visit(from);
  };
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& folder : rules.order) {
    const auto& uses = rules.allowed.at(folder);
    for (const std::string& used : rules.order) {
      if (!uses.contains(used)) continue;
      const bool follows = std::any_of(uses.begin(), uses.end(), [&](const std::string& other) {
        return other != used && reaches(other, used);
      });
      if (!follows) out.emplace_back(folder, used);
    }
  }
  return out;
}

std::string mermaid(const LayerRules& rules) {
  std::string out = "```mermaid\nflowchart TD\n";
  for (const auto& [folder, used] : direct_edges(rules)) {
    out += "  " + folder + " --> " + used + "\n";
  }
  return out + "```\n";
}

}  // namespace orrery::layers
