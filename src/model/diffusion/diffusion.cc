#include "model/diffusion/diffusion.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "model/diffusion/blocks.h"
#include "model/diffusion/diffusers_config.h"
#include "model/model_name.h"
#include "model/model_problems.h"

namespace orrery {
namespace {

Result<Model> read_image_model(const Document& document) {
  ORRERY_TRY(ImageModel image, read<ImageModel>(document));
  if (image.name == "unnamed") image.name = model_name_of_file(document.name);
  return at(document.name, build_image_model(image));
}

Result<Model> read_diffusers_model(const Document& document) {
  ORRERY_TRY(const ImageModel image, read_diffusers_config(document));
  return at(document.name, build_image_model(image));
}

Value write_image_model(const Model& model) {
  return Codec<ImageModel>::write(*image_model_of(model));
}

std::vector<std::string> division_problems(const Model& model, const Division& d) {
  const ImageModel& image = *image_model_of(model);
  std::vector<std::string> out;
  if (static_cast<double>(d.sequence_length) != tokens_of(image)) {
    out.push_back(fmt::format(
        "a sequence of {} tokens is not that of an image of {}, {:.0f}; state the image's size "
        "instead",
        d.sequence_length, in_words(image.image), tokens_of(image)));
  }
  if (d.ep > 1) out.push_back(fmt::format("ep {} needs experts; {} has none", d.ep, image.name));
  if (!image.transformer) {
    const char* kind = image.unet ? "a U-Net" : "an autoencoder";
    for (const auto& [axis, degree] : {std::pair{"tp", d.tp}, {"cp", d.cp}, {"pp", d.pp}}) {
      if (degree == 1) continue;
      out.push_back(fmt::format(
          "{} {}: {} is not modelled in pieces; use replicas (dp), with zero 3 to shard its "
          "weights",
          axis, degree, kind));
    }
    return out;
  }
  const ImageTransformer& t = *image.transformer;
  if (t.heads % d.tp != 0) {
    out.push_back(fmt::format("tp {} does not divide {} attention heads", d.tp, t.heads));
  }
  if (t.feed_forward % d.tp != 0) {
    out.push_back(
        fmt::format("tp {} does not divide the feed-forward width {}", d.tp, t.feed_forward));
  }
  if (auto problem = exchanged_heads_problem(d, t.heads, t.heads)) {
    out.push_back(std::move(*problem));
  }
  if (const std::int64_t frames = latent_of(image).frames / t.patch_frames;
      d.switches_dimension && (frames % d.cp != 0 || d.sequence_length / frames % d.cp != 0)) {
    out.push_back(fmt::format(
        "cp {}: context_parallel=dimension-switch divides {} frames between layers within frames "
        "and {} positions between layers along time; cp {} divides both",
        d.cp, frames, d.sequence_length / frames, std::gcd(frames, d.sequence_length / frames)));
  }
  const std::int64_t pieces = d.cp * (d.sequence_parallel ? d.tp : 1);
  if (d.sequence_length % pieces != 0) {
    out.push_back(
        fmt::format("cp {} and sequence parallelism over tp {} do not divide the image's {} tokens",
                    d.cp, d.tp, d.sequence_length));
  }
  return out;
}

std::optional<Model> no_copies(const Model&, const Division&) { return std::nullopt; }
std::string nothing_copied(const Model&, std::int64_t) { return ""; }

constexpr ModelFamily family_selected_by(std::string_view key,
                                         Result<Model> (*reader)(const Document&)) {
  return {key, reader, write_image_model, division_problems, no_copies, nothing_copied};
}

}  // namespace

Result<Model> build_image_model(const ImageModel& stated) {
  const ImageModel image = completed(stated);
  ORRERY_RETURN_IF_ERROR(without_problems(image.name, image_model_problems(image)));
  Model model;
  model.family = &image_models();
  model.name = image.name;
  model.assumed = image.assumed;
  model.published.sequence_length = std::llround(tokens_of(image));
  model.published.source_length = image.text.tokens;
  if (image.unet) {
    write_unet(image, model);
  } else if (image.transformer) {
    write_image_transformer(image, model);
  } else {
    write_autoencoder(image, model);
  }
  model.fields = image;
  return model;
}

Result<Model> with_image(const Model& model, const ImageSize& size) {
  const ImageModel* image = image_model_of(model);
  if (image == nullptr) {
    return bad_input("model '" + model.name + "' makes no images: it has a sequence, not a size",
                     "", "state the tokens of a sequence instead: --seq 4096");
  }
  if (size.frames > 1 && image->image.frames == 1 && image->frame_scale == 1) {
    return bad_input("model '" + model.name + "' makes single images, not " +
                         std::to_string(size.frames) + " frames",
                     "", "leave out frames, or choose a model of videos");
  }
  ImageModel other = *image;
  other.image = size;
  return build_image_model(other);
}

const ImageModel* image_model_of(const Model& model) {
  return std::any_cast<ImageModel>(&model.fields);
}

const ModelFamily& image_models() {
  static constexpr ModelFamily kFamily = family_selected_by("image", read_image_model);
  return kFamily;
}

const ModelFamily& diffusers_models() {
  static constexpr ModelFamily kFamily = family_selected_by("_class_name", read_diffusers_model);
  return kFamily;
}

}  // namespace orrery
