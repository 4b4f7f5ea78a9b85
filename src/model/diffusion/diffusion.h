// Image and video models: denoisers of diffusion models and autoencoders, from the numbers of a
// paper or the config.json that `diffusers` saves.
//
// A model is built for one size of image: its tokens are the model's own sequence length, the
// tokens of the prompt the source length. Another size makes another model (with_image).
//
// Division: an image transformer divides heads and feed-forward over tp, and its tokens over cp
// (ring, all-gather, or Ulysses' exchange of heads). U-Nets and autoencoders are run whole on a
// rank: replicas, and shards of the weights. Displaced steps: estimate/generation.h.
#pragma once

#include "model/diffusion/image_model.h"
#include "model/family.h"
#include "outcome/result.h"

namespace orrery {

// Selected by the field `image`.
const ModelFamily& image_models();
// The same, as `diffusers` describes them: selected by `_class_name`.
const ModelFamily& diffusers_models();

// Errors: every reason why the model makes no sense or does not take its image, at once.
Result<Model> build_image_model(const ImageModel& image);
// The same model for another size. Errors: those of build_image_model; a model of another family.
Result<Model> with_image(const Model& model, const ImageSize& size);

// The numbers an image model was built from; nullptr for a model of another family.
const ImageModel* image_model_of(const Model& model);

}  // namespace orrery
