// seeds: catalog/recommendation
// Any text as a recommendation model in YAML: an error or a model; its tables are placed on a few
// ranks or refused, no placement is more even than the bound, and it reads back as itself.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/recommendation/recommendation.h"
#include "model/recommendation/table_placement.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto document =
      parse_yaml(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  if (!document) return 0;
  const auto recommender = read<Recommender>(*document);
  if (!recommender) return 0;
  const auto model = build_model(*recommender);
  if (!model) return 0;
  ORRERY_INVARIANT(parameters(*model) > 0 && std::isfinite(parameters(*model)));
  const Recommender& r = *recommender_of(*model);
  const auto again = parse_yaml(to_yaml(Codec<Recommender>::write(r)), "again");
  ORRERY_INVARIANT(again.has_value());
  const auto same = read<Recommender>(*again);
  ORRERY_INVARIANT(same && *same == r);
  const Division d{.ep = 16,
                   .sequence_length = 1,
                   .ranks = 16,
                   .micro_batch = 256,
                   .memory = Bytes(80e9),
                   .memory_bandwidth = BytesPerSecond(2e12),
                   .towers = r.tower_modules ? r.tower_modules->towers : 1,
                   .tower_ranks = r.tower_modules ? 16 / r.tower_modules->towers : 8,
                   .between_all = {BytesPerSecond(25e9), BytesPerSecond(200e9)},
                   .in_tower = {BytesPerSecond(300e9), BytesPerSecond(300e9)},
                   .between_towers = BytesPerSecond(25e9),
                   .dense_gradients = BytesPerSecond(100e9),
                   .host_memory = Bytes(256e9),
                   .storage = Bytes(3e12),
                   .host_bandwidth = BytesPerSecond(50e9),
                   .storage_bandwidth = BytesPerSecond(1e8)};
  if (16 % d.towers != 0) return 0;
  if (!table_division_problems(r, d).empty()) return 0;
  const TablePlacement placement = place_tables(r, d);
  ORRERY_INVARIANT(placement.imbalance > 1 - 1e-9 && std::isfinite(placement.imbalance));
  ORRERY_INVARIANT(placement.bags.optimizer_state >= Bytes(0));
  ORRERY_INVARIANT(placement.bound <= placement.time * (1 + 1e-9));
  return 0;
}
