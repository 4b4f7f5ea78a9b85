// Architectures from the config.json of a model on the Hugging Face Hub.
//
// Keys and defaults are those of the configuration classes of the `transformers` library, as
// entries of catalog/hugging-face/ state them (config_rules.h); a model type that has no entry is
// read with the keys of Llama, which most newer decoders share, if all of them are there and no
// others.
#pragma once

#include "model/transformer/architecture.h"

namespace orrery {

// True for a map with "model_type" or "architectures".
bool is_hugging_face_config(const Value& root);

// Errors: a key of the family that is missing or of the wrong type, a variant that is not modelled;
// for an unknown family, the keys that are missing.
Result<Architecture> read_hugging_face_config(const Document& document);

}  // namespace orrery
