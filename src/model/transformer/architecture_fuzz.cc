// seeds: catalog/models
// Any text as a model in YAML: an error or an architecture; an architecture is built or refused,
// and what is built has sane counts and reads back as itself.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/model.h"
#include "model/transformer/transformer.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto document =
      parse_yaml(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  if (!document) return 0;
  const auto architecture = read_architecture(*document);
  if (!architecture) return 0;
  const auto model = build_model(*architecture);
  if (!model) return 0;
  ORRERY_INVARIANT(parameters(*model) > 0 && std::isfinite(parameters(*model)));
  ORRERY_INVARIANT(active_parameters(*model) <= parameters(*model));
  ORRERY_INVARIANT(model_flops_per_sequence(*model, 128, AttentionCount::causal) <=
                   model_flops_per_sequence(*model, 128, AttentionCount::full));
  const auto again =
      parse_yaml(to_yaml(Codec<Architecture>::write(*architecture_of(*model))), "again");
  ORRERY_INVARIANT(again.has_value());
  const auto same = read<Architecture>(*again);
  ORRERY_INVARIANT(same && *same == *architecture_of(*model));
  return 0;
}
