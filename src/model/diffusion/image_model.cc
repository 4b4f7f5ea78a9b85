#include "model/diffusion/image_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/model_problems.h"

namespace orrery {

Fields<ImageSize> fields_of(const ImageSize*) {
  using T = ImageSize;
  return Fields<T>("image size")
      .required<&T::height>("pixels")
      .required<&T::width>("pixels")
      .optional<&T::frames>("of a video");
}

Fields<TextCondition> fields_of(const TextCondition*) {
  using T = TextCondition;
  return Fields<T>("text condition")
      .required<&T::tokens>("of the encoded prompt")
      .required<&T::width>("of an encoded token")
      .optional<&T::pooled>("width of a vector of the prompt");
}

Fields<UNet> fields_of(const UNet*) {
  using T = UNet;
  return Fields<T>("U-Net")
      .required<&T::channels>("of each resolution, from the highest")
      .required<&T::depth>("transformer blocks behind a residual block, by resolution; 0: none")
      .optional<&T::middle_depth>("transformer blocks of the middle")
      .optional<&T::residual_blocks>("of a resolution on the way down")
      .optional<&T::heads>("of attention, at every resolution")
      .optional<&T::head_dim>("width of a head, in place of heads")
      .optional<&T::linear_projection>("around transformer blocks, in place of convolutions")
      .optional<&T::added_condition>("width of a vector of sizes and pooled text")
      .optional<&T::temporal>("a block along time behind each block")
      .optional<&T::control>("way down and middle alone, whose outputs steer a denoiser");
}

Fields<ImageTransformer> fields_of(const ImageTransformer*) {
  using T = ImageTransformer;
  return Fields<T>("image transformer")
      .required<&T::hidden>("width of a token")
      .required<&T::heads>("of attention")
      .optional<&T::feed_forward>("inner width; 0: 4 x hidden")
      .optional<&T::layers>("on the image alone")
      .optional<&T::temporal>("each of these within frames, with one along time behind it")
      .optional<&T::joint_layers>("text and image as one sequence, the same weights")
      .optional<&T::double_layers>("joint attention, own weights for text and image")
      .optional<&T::single_layers>("one sequence, attention beside feed-forward")
      .optional<&T::patch>("latent positions along a side of a token")
      .optional<&T::patch_frames>("latent frames of a token")
      .optional<&T::condition>("width of the vector that modulates; 0: hidden")
      .optional<&T::refiner_layers>("layers on the text before the first")
      .optional<&T::classes>("rows of a table of labels")
      .optional<&T::stored_positions>("position vectors kept as parameters")
      .optional<&T::head_norm>(
          "of queries and keys, of each head; rms_across: RMS norm over all heads of a token "
          "together")
      .optional<&T::modulated>("by the time step")
      .optional<&T::shared_modulation>(
          "one product computes the modulation of all layers (adaLN-single)")
      .optional<&T::cross_attention>(
          "layers on the image alone attend to the text, behind a norm with scale and shift")
      .optional<&T::second_text_product>("the text embedding has two linear layers")
      .optional<&T::vocabulary>("rows of a table of image tokens; 0: a latent is denoised")
      .optional<&T::rotary>("positions turn queries and keys")
      .optional<&T::affine_norms>("norms with scale and shift of their own")
      .optional<&T::last_text_ends>("the last double layer computes no text any more")
      .optional<&T::guidance_embedding>("is told the guidance: one evaluation a step");
}

Fields<Autoencoder> fields_of(const Autoencoder*) {
  using T = Autoencoder;
  return Fields<T>("autoencoder")
      .optional<&T::half>("which half this is")
      .required<&T::channels>("of each resolution, from the image's")
      .optional<&T::residual_blocks>("of a resolution of the encoder")
      .optional<&T::latent_convolution>("a 1x1 convolution beside the latent")
      .optional<&T::frame_taps>("frames that a convolution reaches over")
      .optional<&T::frame_scales>("frames of a frame at each resolution; absent: 1");
}

Fields<Sampling> fields_of(const Sampling*) {
  using T = Sampling;
  return Fields<T>("sampling")
      .optional<&T::steps>("evaluations of the denoiser")
      .optional<&T::guidance>("evaluate with and without the prompt")
      .optional<&T::text_encoders>("models that encode the prompt")
      .optional<&T::prompt_tokens>("that an encoder sees at most; 0: those of the text")
      .optional<&T::control>("model evaluated beside the denoiser in each step")
      .optional<&T::decoder>("model that makes the image of the latent");
}

Fields<ImageModel> fields_of(const ImageModel*) {
  using T = ImageModel;
  return Fields<T>("image model")
      .optional<&T::name>("identifier")
      .optional<&T::aliases>("other names of the same entry")
      .optional<&T::family>("models that share a design")
      .required<&T::image>("size that is made where none is asked")
      .optional<&T::latent_scale>("pixels along a latent position")
      .optional<&T::frame_scale>("frames of a latent frame, the first apart")
      .optional<&T::in_channels>("of a latent position")
      .optional<&T::out_channels>("0: as many")
      .optional<&T::text>("the prompt")
      .optional<&T::unet>("a denoiser of convolutions and attention")
      .optional<&T::transformer>("a denoiser on patches")
      .optional<&T::autoencoder>("between images and latents")
      .optional<&T::sampling>("how an image is made")
      .optional<&T::published_parameters>("what the authors state")
      .optional<&T::provenance>("where the facts come from");
}

std::string in_words(const ImageSize& image) {
  std::string out = fmt::format("{}x{}", image.width, image.height);
  return image.frames == 1 ? out : out + fmt::format(" x {} frames", image.frames);
}

LatentSize latent_of(const ImageModel& m) {
  return {m.image.height / m.latent_scale, m.image.width / m.latent_scale,
          (m.image.frames - 1) / m.frame_scale + 1};
}

double tokens_of(const ImageModel& m) {
  const LatentSize latent = latent_of(m);
  if (!m.transformer) return latent.positions();
  const ImageTransformer& t = *m.transformer;
  const LatentSize patches = {latent.height / t.patch, latent.width / t.patch,
                              latent.frames / t.patch_frames};
  return patches.positions();
}

namespace {

// Far above anything built; products of the limits stay below 2^53.
constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostOfAResolution = 100;  // residual blocks
constexpr std::int64_t kMostRefinerLayers = 100;
constexpr std::int64_t kMostChannels = 1'000'000;
constexpr std::int64_t kMostPixels = 1'000'000;  // along a side
constexpr std::int64_t kMostFrames = 100'000;
constexpr std::int64_t kMostText = 1'000'000;
constexpr double kMostTokens = 1e9;
constexpr std::size_t kMostResolutions = 16;
constexpr std::size_t kMostEncoders = 16;

}  // namespace

ImageModel completed(ImageModel m) {
  if (m.out_channels == 0) m.out_channels = m.in_channels;
  if (m.transformer) {
    ImageTransformer& t = *m.transformer;
    if (t.feed_forward == 0 && std::abs(t.hidden) <= kMostChannels) t.feed_forward = 4 * t.hidden;
    if (t.condition == 0) t.condition = t.hidden;
  }
  return m;
}

namespace {

bool check_channels(const std::vector<std::int64_t>& channels, const char* field,
                    ModelProblems& p) {
  bool right = p.require(!channels.empty() && channels.size() <= kMostResolutions,
                         fmt::format("{} lists {} resolutions, must be 1 to {}", field,
                                     channels.size(), kMostResolutions));
  for (const std::int64_t c : channels) right = p.range(field, c, 1, kMostChannels) && right;
  return right;
}

void check_unet(const UNet& u, const ImageModel& m, ModelProblems& p) {
  const bool right = check_channels(u.channels, "unet.channels", p);
  p.require(u.depth.size() == u.channels.size(),
            fmt::format("unet.depth lists {} resolutions, unet.channels {}", u.depth.size(),
                        u.channels.size()));
  std::int64_t deepest = u.middle_depth;
  for (const std::int64_t d : u.depth) {
    p.range("unet.depth", d, 0, kMostLayers);
    deepest = std::max(deepest, d);
  }
  p.range("unet.middle_depth", u.middle_depth, 0, kMostLayers);
  const bool few = p.range("unet.residual_blocks", u.residual_blocks, 1, kMostOfAResolution);
  p.range("unet.added_condition", u.added_condition, 0, kMostChannels);
  const bool natural =
      u.middle_depth >= 0 && std::ranges::all_of(u.depth, [](std::int64_t d) { return d >= 0; });
  if (few && natural && deepest <= kMostLayers && u.depth.size() <= kMostResolutions) {
    std::int64_t all = u.middle_depth;
    for (const std::int64_t d : u.depth) all += d * (2 * u.residual_blocks + 1);
    p.require(
        all <= kMostLayers,
        fmt::format("unet.depth makes {} transformer blocks, more than {}", all, kMostLayers));
  }
  if (deepest > 0) {
    p.require(m.text.tokens > 0 && m.text.width > 0,
              "unet.depth has transformer blocks, which attend to text: state text");
    if (p.require((u.heads > 0) != (u.head_dim > 0),
                  "state unet.heads or unet.head_dim, one of both, above 0") &&
        right) {
      const std::int64_t divisor = std::max(u.heads, u.head_dim);
      for (std::size_t i = 0; i < u.channels.size() && i < u.depth.size(); ++i) {
        const bool attends = u.depth[i] > 0 || (i + 1 == u.channels.size() && u.middle_depth > 0);
        p.require(
            !attends || u.channels[i] % divisor == 0,
            fmt::format("{} {} does not divide {} channels",
                        u.heads > 0 ? "unet.heads" : "unet.head_dim", divisor, u.channels[i]));
      }
    }
  }
  p.require(!u.control || (m.latent_scale == 8 && !u.temporal),
            "unet.control needs latent_scale 8 and no blocks along time");
  p.require(
      u.temporal || m.image.frames == 1,
      fmt::format("image.frames is {}, and the U-Net has no blocks along time (unet.temporal)",
                  m.image.frames));
}

void check_autoencoder(const Autoencoder& a, const ImageModel& m, ModelProblems& p) {
  if (check_channels(a.channels, "autoencoder.channels", p)) {
    const std::int64_t scale = std::int64_t{1} << (a.channels.size() - 1);
    p.require(m.latent_scale == scale,
              fmt::format("autoencoder.channels lists {} resolutions, which make latent_scale {}; "
                          "it is {}",
                          a.channels.size(), scale, m.latent_scale));
  }
  p.range("autoencoder.residual_blocks", a.residual_blocks, 1, kMostOfAResolution);
  p.range("autoencoder.frame_taps", a.frame_taps, 1, 16);
  for (const std::int64_t f : a.frame_scales) p.range("autoencoder.frame_scales", f, 1, 1024);
  if (!a.frame_scales.empty() && p.require(a.frame_scales.size() == a.channels.size(),
                                           "autoencoder.frame_scales must list one number for each "
                                           "of autoencoder.channels")) {
    p.require(a.frame_scales.back() == m.frame_scale,
              fmt::format("autoencoder.frame_scales ends with {}, frame_scale is {}",
                          a.frame_scales.back(), m.frame_scale));
  }
}

void check_transformer(const ImageTransformer& t, const ImageModel& m, ModelProblems& p) {
  p.range("transformer.hidden", t.hidden, 1, kMostChannels);
  if (p.range("transformer.heads", t.heads, 1, kMostChannels)) {
    p.require(t.hidden % t.heads == 0,
              fmt::format("transformer.heads {} does not divide hidden {}", t.heads, t.hidden));
  }
  p.range("transformer.feed_forward", t.feed_forward, 1, kMostChannels);
  p.range("transformer.condition", t.condition, 1, kMostChannels);
  p.range("transformer.refiner_layers", t.refiner_layers, 0, kMostRefinerLayers);
  p.range("transformer.classes", t.classes, 0, kMostChannels);
  p.range("transformer.stored_positions", t.stored_positions, 0, kMostChannels);
  std::int64_t all = 0;
  for (const auto& [field, count] : {std::pair{"transformer.layers", t.layers},
                                     {"transformer.joint_layers", t.joint_layers},
                                     {"transformer.double_layers", t.double_layers},
                                     {"transformer.single_layers", t.single_layers}}) {
    if (p.range(field, count, 0, kMostLayers)) all += count;
  }
  p.require(all > 0,
            "the transformer has no layers: state layers, joint_layers, double_layers or "
            "single_layers");
  p.range("transformer.vocabulary", t.vocabulary, 0, kMostChannels);
  p.require(!t.temporal || all == t.layers,
            "transformer.temporal is modelled of layers on the image alone");
  p.require((all == t.layers && !t.cross_attention) || m.text.tokens > 0,
            "joint, double and single layers and cross_attention attend to text: state text");
}

// Whether the image is made of whole latent positions and patches.
void check_image(const ImageModel& m, ModelProblems& p) {
  bool right = p.range("image.height", m.image.height, 1, kMostPixels);
  right = p.range("image.width", m.image.width, 1, kMostPixels) && right;
  right = p.range("image.frames", m.image.frames, 1, kMostFrames) && right;
  right = p.range("latent_scale", m.latent_scale, 1, 1024) && right;
  right = p.range("frame_scale", m.frame_scale, 1, 1024) && right;
  std::int64_t cell = m.latent_scale;
  std::int64_t patch_frames = 1;
  if (m.unet && m.unet->channels.size() <= kMostResolutions) {
    for (std::size_t i = 1; i < m.unet->channels.size(); ++i) cell *= 2;
  }
  if (m.transformer) {
    right = p.range("transformer.patch", m.transformer->patch, 1, 1024) && right;
    right = p.range("transformer.patch_frames", m.transformer->patch_frames, 1, 1024) && right;
    cell *= m.transformer->patch;
    patch_frames = m.transformer->patch_frames;
  }
  if (!right) return;
  for (const auto& [side, pixels] :
       {std::pair{"height", m.image.height}, {"width", m.image.width}}) {
    const std::int64_t near = std::max(cell, (pixels + cell / 2) / cell * cell);
    p.require(pixels % cell == 0,
              fmt::format("image.{} {} is not a multiple of {} pixels; write {}", side, pixels,
                          cell, near));
  }
  const std::int64_t frames = m.image.frames;
  const std::int64_t step = m.frame_scale;
  p.require((frames - 1) % step == 0,
            fmt::format("image.frames {} is not one more than a multiple of {}; write {}", frames,
                        step, (frames - 1) / step * step + 1));
  p.require(latent_of(m).frames % patch_frames == 0,
            fmt::format("{} latent frames are not a multiple of transformer.patch_frames {}",
                        latent_of(m).frames, patch_frames));
  p.require(
      tokens_of(m) <= kMostTokens,
      fmt::format("an image of {:.3g} tokens is more than {:.0g}", tokens_of(m), kMostTokens));
}

}  // namespace

std::vector<std::string> image_model_problems(const ImageModel& m) {
  ModelProblems p;
  const int networks = (m.unet ? 1 : 0) + (m.transformer ? 1 : 0) + (m.autoencoder ? 1 : 0);
  p.require(networks == 1, "state one of unet, transformer and autoencoder");
  p.range("in_channels", m.in_channels, 1, kMostChannels);
  p.range("out_channels", m.out_channels, 1, kMostChannels);
  p.range("text.tokens", m.text.tokens, 0, kMostText);
  p.range("text.width", m.text.width, 0, kMostChannels);
  p.range("text.pooled", m.text.pooled, 0, kMostChannels);
  p.require((m.text.tokens > 0) == (m.text.width > 0),
            "text.tokens and text.width go together: give both or neither");
  if (m.unet) check_unet(*m.unet, m, p);
  if (m.transformer) check_transformer(*m.transformer, m, p);
  if (m.autoencoder) check_autoencoder(*m.autoencoder, m, p);
  if (m.sampling) {
    p.range("sampling.steps", m.sampling->steps, 1, kMostFrames);
    p.range("sampling.prompt_tokens", m.sampling->prompt_tokens, 0, kMostText);
    p.require(m.sampling->text_encoders.size() <= kMostEncoders,
              fmt::format("sampling.text_encoders lists {} models, must be at most {}",
                          m.sampling->text_encoders.size(), kMostEncoders));
  }
  check_image(m, p);
  return std::move(p.all);
}

}  // namespace orrery
