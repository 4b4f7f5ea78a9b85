// How many layers each virtual stage holds.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

// Layers of virtual stages 0..stages-1, as even as can be: stages hold ceil(layers/stages), and the
// layers that are too many are taken away one each from the last stage, the first, the last but
// one, the second and so on. So the first and last stage, which also hold the embedding and the
// logits, hold fewer, as Megatron-LM and the Llama 3 paper do (arXiv 2407.21783 s.3.3.2: 126 layers
// on 128 virtual stages, one layer less on the first and the last). O(stages).
std::vector<std::int64_t> even_layers(std::int64_t layers, std::int64_t stages);

}  // namespace orrery
