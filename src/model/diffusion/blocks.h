// The blocks of image models: a U-Net, a transformer over patches, half of an autoencoder.
//
// Each writes the whole chain of a model: what comes before the layers (`embedding`), the distinct
// layers, their order, and what comes behind (`head`). Tokens of an operator are shares of the
// model's own (tokens_of): a resolution half as high and wide has a quarter of them.
//
// Products on the vector that conditions a layer (time step, pooled text) have one row for each
// image; in image transformers they hold up to a quarter of the parameters and few FLOPs.
// Not modelled: the loss (a mean of squares) and the sampler's update, which read the latent a few
// times; sines of positions; bytes of activations that wait on the way over skips in a forward.
#pragma once

#include "model/diffusion/image_model.h"
#include "model/model.h"

namespace orrery {

// `image` must be completed and without problems.
void write_unet(const ImageModel& image, Model& model);
void write_image_transformer(const ImageModel& image, Model& model);
void write_autoencoder(const ImageModel& image, Model& model);

}  // namespace orrery
