// Transformers: a model built from the numbers of its paper or its published configuration.
//
// Layers that are alike share one block. The blocks are those of blocks.h; with adapters, those of
// adapted_block.h.
#pragma once

#include "model/family.h"
#include "model/transformer/architecture.h"
#include "outcome/result.h"

namespace orrery {

const ModelFamily& transformers();

// Builds the chain. Errors: a contradictory or absurd architecture (each number in range; heads,
// experts and windows consistent), naming the field.
Result<Model> build_model(const Architecture& architecture);
// Of our own YAML or a Hugging Face config.json; one that states no name is named after its file,
// or the folder of a config.json. Errors: those of read_architecture and build_model.
Result<Model> read_transformer(const Document& document);
// All of its fields.
Value write_transformer(const Model& model);
// The same transformer, frozen, with adapters. Errors: those of build_model.
Result<Model> with_adapters(const Model& model, const Adapters& adapters);

// The numbers a transformer was built from; nullptr for a model of another family.
const Architecture* architecture_of(const Model& model);

}  // namespace orrery
