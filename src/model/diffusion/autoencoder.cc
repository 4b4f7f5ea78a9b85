// Half of an autoencoder as `diffusers` builds it (AutoencoderKL and those of videos,
// src/diffusers/models/autoencoders): the blocks of CompVis/latent-diffusion, model.py.
#include <string>

#include "model/diffusion/blocks.h"
#include "model/diffusion/residual_block.h"

namespace orrery {
namespace {

constexpr double kImageChannels = 3;

class AutoencoderWriter {
 public:
  AutoencoderWriter(const ImageModel& image, Model& model)
      : image_(image),
        a_(*image.autoencoder),
        model_(model),
        last_(static_cast<std::int64_t>(a_.channels.size()) - 1),
        cube_(9 * static_cast<double>(a_.frame_taps)) {}

  void write() {
    if (a_.half == AutoencoderHalf::encoder) {
      encode();
    } else {
      decode();
    }
    model_.tensor_parts = 1;
  }

 private:
  [[nodiscard]] double channels(std::int64_t level) const {
    return static_cast<double>(a_.channels[static_cast<std::size_t>(level)]);
  }
  [[nodiscard]] double frames(std::int64_t level) const {
    const std::int64_t scale =
        a_.frame_scales.empty() ? 1 : a_.frame_scales[static_cast<std::size_t>(level)];
    const std::int64_t behind_the_first = (image_.image.frames - 1) / scale;
    return static_cast<double>(behind_the_first + 1);
  }
  // A resolution has 4 positions for each of the next, and the frames of its own scale.
  [[nodiscard]] Dimension rows(std::int64_t level) const {
    const double side = static_cast<double>(std::int64_t{1} << (last_ - level));
    return {side * side * frames(level) / frames(last_), Symbol::tokens};
  }
  [[nodiscard]] double latent() const { return static_cast<double>(image_.in_channels); }

  void block(std::string name, double input_width) {
    model_.layers.push_back(static_cast<std::uint16_t>(model_.blocks.size()));
    model_.blocks.push_back({std::move(name), out_.take(), input_width});
  }
  void residual(const char* name, std::int64_t level, double in, double out) {
    write_residual_block(out_, {.rows = rows(level), .in = in, .out = out, .taps = cube_});
    block(name, in);
  }
  // One head over all positions of a frame.
  void middle() {
    const double width = channels(last_);
    residual("middle block", last_, width, width);
    const Dimension all = rows(last_);
    out_.norm("attention.norm", all, width, ElementwiseKind::group_norm, 2 * width, 3);
    out_.product({.name = "attention.qkv",
                  .op_class = OperatorClass::attention_projection,
                  .rows = all,
                  .n = fixed(3 * width),
                  .k = fixed(width)})
        .saved.push_back({all, fixed(3 * width), ElementKind::activation});
    const double window =
        image_.image.frames > 1 ? latent_of(image_).positions() / frames(last_) : 0;
    out_.attention({"attention.core", all, all, 1, width, window});
    out_.product({.name = "attention.projection",
                  .op_class = OperatorClass::attention_projection,
                  .rows = all,
                  .n = fixed(width),
                  .k = fixed(width)});
    out_.elementwise("attention.residual", all, fixed(width), ElementwiseKind::residual, 3);
    block("middle attention", width);
    residual("middle block", last_, width, width);
  }

  void decode() {
    double width = channels(last_);
    if (a_.latent_convolution) {
      out_.convolution({"input.latent", rows(last_), latent(), latent(), 1});
    }
    out_.convolution({"input.convolution", rows(last_), latent(), width, cube_});
    model_.embedding = {"embedding", out_.take(), latent()};
    middle();
    for (std::int64_t level = last_ + 1; level-- > 0;) {
      for (std::int64_t i = 0; i <= a_.residual_blocks; ++i) {
        residual("up block", level, width, channels(level));
        width = channels(level);
      }
      if (level == 0) break;
      const Dimension to = rows(level - 1);
      out_.elementwise("resample.repetition", to, fixed(width), ElementwiseKind::other, 1.25);
      out_.convolution({"resample.convolution", to, width, width, cube_});
      block("up-sampling", width);
    }
    write_norm_and_activation(out_, "output.norm", "output.activation", rows(0), width);
    out_.convolution({"output.convolution", rows(0), width, kImageChannels, cube_});
    model_.head = {"head", out_.take(), width};
    model_.width = channels(last_);
  }

  void encode() {
    double width = channels(0);
    out_.convolution({"input.convolution", rows(0), kImageChannels, width, cube_});
    model_.embedding = {"embedding", out_.take(), kImageChannels};
    for (std::int64_t level = 0; level <= last_; ++level) {
      for (std::int64_t i = 0; i < a_.residual_blocks; ++i) {
        residual("down block", level, width, channels(level));
        width = channels(level);
      }
      if (level == last_) break;
      out_.convolution({"resample.convolution", rows(level + 1), width, width, cube_, 2});
      block("down-sampling", width);
    }
    middle();
    // Mean and variance of every latent position.
    const double moments = 2 * latent();
    write_norm_and_activation(out_, "output.norm", "output.activation", rows(last_), width);
    out_.convolution({"output.convolution", rows(last_), width, moments, cube_});
    if (a_.latent_convolution) {
      out_.convolution({"output.latent", rows(last_), moments, moments, 1});
    }
    model_.head = {"head", out_.take(), width};
    model_.width = channels(last_);
  }

  const ImageModel& image_;
  const Autoencoder& a_;
  Model& model_;
  std::int64_t last_;
  double cube_;  // taps of a convolution
  LayerWriter out_;
};

}  // namespace

void write_autoencoder(const ImageModel& image, Model& model) {
  AutoencoderWriter(image, model).write();
}

}  // namespace orrery
