#include "plan/stage_layers.h"

namespace orrery {

std::vector<std::int64_t> even_layers(std::int64_t layers, std::int64_t stages) {
  const std::int64_t most = (layers + stages - 1) / stages;
  std::vector<std::int64_t> out(static_cast<std::size_t>(stages), most);
  std::size_t front = 0;
  std::size_t back = out.size() - 1;
  bool from_back = true;
  for (std::int64_t missing = most * stages - layers; missing > 0; --missing) {
    --out[from_back ? back-- : front++];
    from_back = !from_back;
  }
  return out;
}

}  // namespace orrery
