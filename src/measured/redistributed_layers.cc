#include "measured/redistributed_layers.h"

#include <algorithm>
#include <string>

namespace orrery {
namespace {

// Beyond any pipeline; keeps the search short whatever a file says.
constexpr std::int64_t kMostLayers = 100'000;

}  // namespace

Expressible<std::vector<std::int64_t>> redistributed_layers(const MeasuredRow& row) {
  if (!row.num_layers || !row.hidden || !row.ffn_hidden || !row.vocab || !row.seq_len || !row.pp) {
    return skip(
        "the source does not state what redistributing layers needs: num_layers, hidden, "
        "ffn_hidden, vocab, seq_len and pp");
  }
  const std::int64_t stages = *row.pp;
  const std::int64_t layers = *row.num_layers;
  if (stages < 2 || layers < stages || layers > kMostLayers) {
    return skip(std::to_string(layers) + " layers cannot be redistributed over " +
                std::to_string(stages) + " stages");
  }
  const double h = static_cast<double>(*row.hidden);
  const double layer = 8 * h * h + 4 * static_cast<double>(*row.seq_len) * h +
                       4 * h * static_cast<double>(*row.ffn_hidden);
  const double logits = 2 * h * static_cast<double>(*row.vocab);
  const auto slowest = [&](std::int64_t last) {
    const std::int64_t others = (layers - last + stages - 2) / (stages - 1);
    return std::max(static_cast<double>(others) * layer,
                    static_cast<double>(last) * layer + logits);
  };
  std::int64_t kept = layers / stages;
  for (std::int64_t last = kept; last-- > 0;) {
    if (slowest(last) < slowest(kept)) kept = last;
  }
  const std::int64_t others = stages - 1;
  std::vector<std::int64_t> out(static_cast<std::size_t>(others), (layers - kept) / others);
  for (std::int64_t i = 0; i < (layers - kept) % others; ++i) {
    ++out[static_cast<std::size_t>(others - 1 - i)];
  }
  out.push_back(kept);
  return out;
}

}  // namespace orrery
