// What an image or video model is made of: the numbers of its paper or its published configuration.
//
// A plain value, read and written by one table of fields (docs/image-models.md). One model is one
// network: a denoiser that is evaluated many times (a U-Net or a transformer), or the half of an
// autoencoder that maps images to latents or back. Counts of parameters and FLOPs are not stored;
// they follow from the operators (blocks.h).
//
// Sizes of images are pixels. A denoiser works on a latent, which is `latent_scale` times smaller
// along each side and `frame_scale` times along time, the first frame apart:
//
//   positions = height / s x width / s x ((frames - 1) / f + 1)      of a U-Net, autoencoder
//   tokens    = positions / (patch^2 x patch_frames)                 of a transformer
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/fields.h"
#include "document/provenance.h"

namespace orrery {

struct ImageSize {
  std::int64_t height = 0;  // pixels
  std::int64_t width = 0;
  std::int64_t frames = 1;  // of a video
  bool operator==(const ImageSize&) const = default;
};
Fields<ImageSize> fields_of(const ImageSize*);
// "1280x720", "1280x720 x 129 frames": width first, as screens are named.
std::string in_words(const ImageSize& image);

// What a denoiser is told besides the noisy image.
struct TextCondition {
  std::int64_t tokens = 0;  // of the encoded prompt
  std::int64_t width = 0;   // of one of them
  std::int64_t pooled = 0;  // width of a vector of the whole prompt; 0: none
  bool operator==(const TextCondition&) const = default;
};
Fields<TextCondition> fields_of(const TextCondition*);

// Residual blocks at falling, then rising resolution with skips between them (arXiv 2006.11239
// app. B; with attention to text arXiv 2112.10752 s.3.3, app. E.2.1).
struct UNet {
  std::vector<std::int64_t> channels;  // of each resolution, halved from one to the next
  std::vector<std::int64_t> depth;     // transformer blocks behind a residual block; 0: none
  std::int64_t middle_depth = 1;       // of the middle, at the lowest resolution
  std::int64_t residual_blocks = 2;    // of a resolution on the way down; one more on the way up
  std::int64_t heads = 0;              // of attention, at every resolution; or
  std::int64_t head_dim = 0;           // width of a head
  bool linear_projection = false;      // around transformer blocks; else 1x1 convolutions
  std::int64_t added_condition = 0;    // width of a vector of sizes and pooled text; 0: none
  // Behind each block another one along time: convolutions over three frames, attention over all
  // frames of a position (arXiv 2311.15127 s.3).
  bool temporal = false;
  // The way down and the middle alone, told an image: what a denoiser adds to its skips and its
  // middle (ControlNet, arXiv 2302.05543 s.3).
  bool control = false;
  bool operator==(const UNet&) const = default;
};
Fields<UNet> fields_of(const UNet*);

// Norms on queries and keys: of each head, or of all heads of a token together.
enum class HeadNorm { none, rms, layer, rms_across };

// A transformer over patches of the latent (DiT, arXiv 2212.09748). Every layer scales, shifts and
// gates by the time step (adaLN-Zero, s.3.2). Layers come in the order of their kinds below. With a
// vocabulary it predicts masked tokens of an image instead, all in each step (Muse, arXiv
// 2301.00704): `latent_scale` pixels along a token, patch 1.
struct ImageTransformer {
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t feed_forward = 0;  // inner width; 0: 4 x hidden
  std::int64_t layers = 0;        // on the image alone
  // Behind each of these one that attends to the frames of a position, while `layers` attend to the
  // positions of a frame (spatial and temporal blocks of Open-Sora's STDiT).
  bool temporal = false;
  std::int64_t joint_layers = 0;   // on text and image as one sequence with the same weights
  std::int64_t double_layers = 0;  // joint attention, own weights for either (arXiv 2403.03206 s.4)
  std::int64_t single_layers = 0;  // one sequence, attention beside feed-forward
  std::int64_t patch = 2;          // latent positions along a side of a token
  std::int64_t patch_frames = 1;
  std::int64_t condition = 0;         // width of the vector that modulates; 0: hidden
  std::int64_t refiner_layers = 0;    // of a transformer on the text before the first layer
  std::int64_t classes = 0;           // rows of a table of labels; 0: none
  std::int64_t stored_positions = 0;  // position vectors that are kept as parameters
  HeadNorm head_norm = HeadNorm::none;
  bool modulated = true;  // by the time step; else norms with scale and shift alone
  // One product computes the modulation of all layers, and each adds its own vectors (adaLN-single,
  // arXiv 2310.00426 s.2.3).
  bool shared_modulation = false;
  // Layers on the image alone attend to the text behind, after a norm with scale and shift.
  bool cross_attention = false;
  bool second_text_product = false;  // the text embedding has two linear layers
  std::int64_t vocabulary = 0;       // rows of a table of image tokens; 0: a latent is denoised
  bool rotary = false;               // positions turn queries and keys
  bool affine_norms = false;         // norms have a scale and a shift of their own
  bool last_text_ends = false;       // the last double layer computes no text any more
  bool guidance_embedding = false;   // is told the guidance (distilled): one evaluation a step
  bool operator==(const ImageTransformer&) const = default;
};
Fields<ImageTransformer> fields_of(const ImageTransformer*);

enum class AutoencoderHalf { encoder, decoder };
// A convolutional autoencoder with one attention in the middle (arXiv 2112.10752 app. G).
struct Autoencoder {
  AutoencoderHalf half = AutoencoderHalf::decoder;
  std::vector<std::int64_t> channels;  // of each resolution, from the image's
  std::int64_t residual_blocks = 2;    // of a resolution of the encoder; one more of the decoder
  bool latent_convolution = true;      // a 1x1 convolution between both halves on either side
  std::int64_t frame_taps = 1;         // frames that a convolution reaches over
  std::vector<std::int64_t> frame_scales;  // frames of a frame at each resolution; empty: 1
  bool operator==(const Autoencoder&) const = default;
};
Fields<Autoencoder> fields_of(const Autoencoder*);

// How an image is made with the denoiser; used by `orrery generate`.
struct Sampling {
  std::int64_t steps = 50;
  bool guidance = true;                    // two evaluations a step: with and without the prompt
  std::vector<std::string> text_encoders;  // models of the catalog or files
  std::int64_t prompt_tokens = 0;          // that an encoder sees at most; 0: those of the text
  std::string control;                     // model evaluated beside the denoiser in each step
  std::string decoder;
  bool operator==(const Sampling&) const = default;
};
Fields<Sampling> fields_of(const Sampling*);

struct ImageModel {
  std::string name = "unnamed";
  std::vector<std::string> aliases;
  std::vector<std::string> assumed;  // what was read without being sure; not a field of files
  std::string family;
  ImageSize image;  // what is made where nothing else is asked
  std::int64_t latent_scale = 8;
  std::int64_t frame_scale = 1;
  std::int64_t in_channels = 4;   // of a position of the latent
  std::int64_t out_channels = 0;  // 0: as many
  TextCondition text;
  std::optional<UNet> unet;  // one of these three
  std::optional<ImageTransformer> transformer;
  std::optional<Autoencoder> autoencoder;
  std::optional<Sampling> sampling;
  double published_parameters = 0;  // what the authors state; 0: nothing
  Provenance provenance;
  bool operator==(const ImageModel&) const = default;
};
Fields<ImageModel> fields_of(const ImageModel*);

// Whether it is no denoiser itself but steers one (UNet::control).
inline bool steers(const ImageModel& m) { return m.unet && m.unet->control; }

// Positions of the latent along height, width and time.
struct LatentSize {
  std::int64_t height = 0, width = 0, frames = 1;
  [[nodiscard]] double positions() const {
    return static_cast<double>(height) * static_cast<double>(width) * static_cast<double>(frames);
  }
};
LatentSize latent_of(const ImageModel& model);
// Of the network's main sequence: patches of a transformer, else positions.
double tokens_of(const ImageModel& model);

// Fills what follows from other fields: out_channels, widths.
ImageModel completed(ImageModel model);

// Every reason why a completed model makes no sense or does not take its image, each naming its
// field; empty if there is none.
std::vector<std::string> image_model_problems(const ImageModel& model);

}  // namespace orrery
