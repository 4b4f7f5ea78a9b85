// seeds: catalog/generation
// parser: src/model/diffusion/image_model.cc
// Any text as an image model in YAML, or as a configuration of `diffusers`: an error or a model;
// what is built has sane counts and reads back as itself.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/diffusion/diffusers_config.h"
#include "model/diffusion/diffusion.h"
#include "model/diffusion/image_model.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto document =
      parse_yaml(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  if (!document) return 0;
  auto image = read<ImageModel>(*document);
  if (!image) image = read_diffusers_config(*document);
  if (!image) return 0;
  const auto model = build_image_model(*image);
  if (!model) return 0;
  ORRERY_INVARIANT(std::isfinite(parameters(*model)));
  ORRERY_INVARIANT(model->published.sequence_length > 0);
  const auto again =
      parse_yaml(to_yaml(Codec<ImageModel>::write(*image_model_of(*model))), "again");
  ORRERY_INVARIANT(again.has_value());
  const auto same = read<ImageModel>(*again);
  ORRERY_INVARIANT(same && same->image == image_model_of(*model)->image);
  return 0;
}
