#include "cluster/level_topology.h"

#include <algorithm>

namespace orrery {

Fields<LevelTopology> fields_of(const LevelTopology*) {
  return Fields<LevelTopology>("topology of a level")
      .optional<&LevelTopology::wiring>("how the units below are joined")
      .optional<&LevelTopology::switches>("in one unit of the level: parallel paths")
      .optional<&LevelTopology::rails>("accelerator i of a node is on switch i")
      .optional<&LevelTopology::dimensions>("of a torus: accelerators along each");
}

Result<void> check(const LevelTopology& t) {
  if (t.switches < 1 || t.switches > 4096) {
    return bad_input(std::to_string(t.switches) + " switches", "switches", "from 1 to 4096");
  }
  if (t.wiring != LevelWiring::switched && (t.switches != 1 || t.rails)) {
    return bad_input("a " + std::string(to_text(t.wiring)) + " has no switches of its own",
                     "wiring", "leave out `switches` and `rails`, or write `wiring: switched`");
  }
  if ((t.wiring == LevelWiring::torus) == t.dimensions.empty()) {
    return bad_input(t.dimensions.empty() ? "a torus without dimensions"
                                          : "dimensions, and the wiring is not a torus",
                     "dimensions", "`wiring: torus` and `dimensions: [4, 4, 4]` go together");
  }
  if (t.dimensions.size() > 6 ||
      !std::ranges::all_of(t.dimensions, [](std::int64_t d) { return d >= 1 && d <= 65536; })) {
    return bad_input("impossible dimensions of a torus", "dimensions",
                     "at most 6 numbers from 1 to 65536");
  }
  return {};
}

}  // namespace orrery
