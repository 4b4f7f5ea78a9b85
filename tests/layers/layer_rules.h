// tools/layers.txt: which folder of src/ may include which, and the drawing of it.
//
// A line "plan: model cluster" allows src/plan to include src/model and src/cluster. A folder names
// only folders of earlier lines, so the file itself cannot contain a cycle.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::layers {

struct LayerRules {
  std::vector<std::string> order;  // as written
  std::map<std::string, std::set<std::string>> allowed;
  std::vector<std::string> problems;  // what is wrong with the text itself, with its line
};

LayerRules parse_layer_rules(std::string_view text);

// The edges that do not follow from others (transitive reduction), as (folder, folder it uses).
std::vector<std::pair<std::string, std::string>> direct_edges(const LayerRules& rules);

// A mermaid flowchart of the direct edges, fenced, as it stands in ARCHITECTURE.md.
std::string mermaid(const LayerRules& rules);

inline constexpr std::string_view kDrawingBegin =
    "<!-- layers: drawn from tools/layers.txt by build/release/bin/draw_layers -->\n";
inline constexpr std::string_view kDrawingEnd = "<!-- /layers -->\n";

}  // namespace orrery::layers
