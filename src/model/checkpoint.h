// A checkpoint's folder as `transformers` saves it: config.json, which describes the model, and
// model.safetensors.index.json, which says how many bytes the weights take.
//
//   parameters of the weights = total_size / bytes of an element (`dtype`, `torch_dtype`)
//
// Source: safetensors, transformers/modeling_utils.py (save_pretrained). The weights themselves are
// not opened. Left out: quantized weights, whose elements do not all have one size.
#pragma once

#include <string>

#include "model/model.h"
#include "outcome/result.h"

namespace orrery {

// The model of folder/config.json. If the folder has an index whose weights hold over 1 % more or
// fewer parameters than the model, or whose size tells nothing, the model says so in `assumed`.
// Errors: no config.json; those of read_model; an index that is not JSON.
Result<Model> read_checkpoint(const std::string& folder);

}  // namespace orrery
