// Image and video models from the config.json that `diffusers` saves beside their weights.
//
// Keys and defaults are those of the classes that `_class_name` names (huggingface/diffusers,
// src/diffusers/models: unets, transformers, autoencoders); those of transformers are entries of
// catalog/diffusers/ (transformer/config_rules.h). A configuration has no prompt and often
// no size of image: 77 tokens for U-Nets and the sizes of the models' pages are taken, and named
// among what is assumed. A key that stands for parts that are not modelled is refused; other keys
// that are not understood are named.
#pragma once

#include "model/diffusion/image_model.h"

namespace orrery {

// Errors: an unknown class, with those that are known; every key that is missing, at once; a key of
// the wrong type; parts that are not modelled.
Result<ImageModel> read_diffusers_config(const Document& document);

}  // namespace orrery
