// seeds: src/model/testdata/hugging_face
// Any text as a config.json: an error or an architecture, which is then built or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/model.h"
#include "model/transformer/hugging_face.h"
#include "model/transformer/transformer.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto document =
      parse_json(std::string_view(reinterpret_cast<const char*>(data), size), "config.json");
  if (!document) return 0;
  const auto architecture = read_hugging_face_config(*document);
  if (!architecture) return 0;
  const auto model = build_model(*architecture);
  if (!model) return 0;
  ORRERY_INVARIANT(parameters(*model) > 0);
  ORRERY_INVARIANT(active_parameters(*model) <= parameters(*model));
  return 0;
}
