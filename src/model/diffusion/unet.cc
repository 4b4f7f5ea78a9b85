// A U-Net as `diffusers` builds it (UNet2DConditionModel, UNetSpatioTemporalConditionModel;
// src/diffusers/models/unets): the blocks of CompVis/latent-diffusion, openaimodel.py. With
// `control` the network beside it (ControlNetModel, models/controlnet.py).
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "model/diffusion/blocks.h"
#include "model/diffusion/residual_block.h"

namespace orrery {
namespace {

constexpr double kConditionMultiple = 4;  // width of the time vector over the first channels
constexpr double kFeedForwardMultiple = 4;

class UNetWriter {
 public:
  UNetWriter(const ImageModel& image, Model& model)
      : image_(image), unet_(*image.unet), model_(model), latent_(latent_of(image)) {}

  void write() {
    const auto levels = static_cast<std::int64_t>(unet_.channels.size());
    std::vector<double> skips = {channels(0)};
    double width = channels(0);
    for (std::int64_t level = 0; level < levels; ++level) {
      for (std::int64_t i = 0; i < unet_.residual_blocks; ++i) {
        layer("down", level, width, 0, channels(level), depth(level), unet_.control);
        skips.push_back(width = channels(level));
      }
      if (level + 1 < levels) {
        resample("down-sampling", level + 1, width, 2);
        skips.push_back(width);
      }
    }
    layer("middle", levels - 1, width, 0, width, unet_.middle_depth);
    layer("last of the middle", levels - 1, width, 0, width, 0, unet_.control);
    if (unet_.control) return ends(width);
    for (std::int64_t level = levels; level-- > 0;) {
      for (std::int64_t i = 0; i <= unet_.residual_blocks; ++i) {
        layer("up", level, width, skips.back(), channels(level), depth(level));
        skips.pop_back();
        width = channels(level);
      }
      if (level > 0) resample("up-sampling", level - 1, width, 1);
    }
    ends(width);
  }

 private:
  [[nodiscard]] double channels(std::int64_t level) const {
    return static_cast<double>(unet_.channels[static_cast<std::size_t>(level)]);
  }
  [[nodiscard]] std::int64_t depth(std::int64_t level) const {
    return unet_.depth[static_cast<std::size_t>(level)];
  }
  [[nodiscard]] double condition() const { return kConditionMultiple * channels(0); }
  // Positions of a frame at a resolution.
  [[nodiscard]] double positions(std::int64_t level) const {
    const double side = static_cast<double>(std::int64_t{1} << level);
    return static_cast<double>(latent_.height) * static_cast<double>(latent_.width) / (side * side);
  }
  [[nodiscard]] Dimension rows(std::int64_t level) const {
    const double side = static_cast<double>(std::int64_t{1} << level);
    return {1 / (side * side), Symbol::tokens};
  }

  using Key = std::tuple<std::string, std::int64_t, double, double, double, std::int64_t>;
  void append(const Key& key, double input_width) {
    const auto known = std::ranges::find(keys_, key);
    const auto index = static_cast<std::uint16_t>(known - keys_.begin());
    if (known == keys_.end()) {
      keys_.push_back(key);
      const auto& [name, level, in, skip, out, depth] = key;
      const std::string scale = "1/" + std::to_string(std::int64_t{1} << level);
      model_.blocks.push_back({name + " block at " + scale, out_.take(), input_width});
    }
    out_.take();
    model_.layers.push_back(index);
  }

  // A residual block, behind it transformer blocks.
  void layer(const char* name, std::int64_t level, double width, double skip, double out,
             std::int64_t depth, bool steers = false) {
    if (skip > 0) {
      out_.elementwise("skip.concatenation", rows(level), fixed(width + skip),
                       ElementwiseKind::other, 2);
    }
    write_residual_block(
        out_, {.rows = rows(level), .in = width + skip, .out = out, .condition = condition()});
    if (unet_.temporal) temporal_residual(level, out);
    if (depth > 0) spatial_transformer(level, out, depth);
    if (steers) steer(level, out);
    append({name, level, width, skip, out, depth}, width + skip);
  }

  void resample(const char* name, std::int64_t level, double width, double stride) {
    if (stride == 1) {  // each position becomes four
      Operator& copy = out_.elementwise("resample.repetition", rows(level), fixed(width),
                                        ElementwiseKind::other, 1.25);
      copy.backward_passes = 1.25;
    }
    out_.convolution({"resample.convolution", rows(level), width, width, 9, stride});
    if (unet_.control) steer(level, width);
    append({name, level, width, 0, width, 0}, width);
  }

  // Handed to the denoiser, which adds it to its own, through a 1x1 convolution that begins at zero.
  void steer(std::int64_t level, double width) {
    out_.convolution({"control.convolution", rows(level), width, width, 1});
    out_.elementwise("control.sum", rows(level), fixed(width), ElementwiseKind::other, 3);
  }
  // The image that steers, at 8 pixels along a position (diffusers models/controlnet.py,
  // ControlNetConditioningEmbedding), added to the noisy one.
  void control_image() {
    double side = 8;
    double width = 3;
    for (const auto& [out, stride] : {std::pair{16., 1.},
                                      {16., 1.},
                                      {32., 2.},
                                      {32., 1.},
                                      {96., 2.},
                                      {96., 1.},
                                      {256., 2.},
                                      {channels(0), 1.}}) {
      side /= stride;
      const Dimension positions{side * side, Symbol::tokens};
      out_.convolution({"control.image", positions, width, out, 9, stride});
      out_.activation("control.activation", positions, fixed(width = out));
    }
  }

  // Over three frames at each position; joined with the spatial result by one learnt weight.
  void temporal_residual(std::int64_t level, double width) {
    permute(level, width);
    write_residual_block(
        out_,
        {.rows = rows(level), .in = width, .out = width, .taps = 3, .condition = condition()});
    permute(level, width);
    mix(level, width);
  }

  // Between frames whose positions, and positions whose frames, lie side by side.
  void permute(std::int64_t level, double width) {
    out_.elementwise("temporal.permutation", rows(level), fixed(width), ElementwiseKind::other, 2);
  }
  void mix(std::int64_t level, double width) {
    out_.elementwise("temporal.mix", rows(level), fixed(width), ElementwiseKind::other, 3)
        .parameters = 1;
  }

  void spatial_transformer(std::int64_t level, double width, std::int64_t depth) {
    out_.norm("attention.group_norm", rows(level), width, ElementwiseKind::group_norm, 2 * width,
              3);
    project("attention.input", level, width);
    if (unet_.temporal) {  // places of the frames
      out_.product({.name = "temporal.place",
                    .op_class = OperatorClass::embedding,
                    .rows = {static_cast<double>(latent_.frames), Symbol::sequences},
                    .n = fixed(4 * width),
                    .k = fixed(width)});
      out_.product({.name = "temporal.place_output",
                    .op_class = OperatorClass::embedding,
                    .rows = {static_cast<double>(latent_.frames), Symbol::sequences},
                    .n = fixed(width),
                    .k = fixed(4 * width)});
    }
    for (std::int64_t i = 0; i < depth; ++i) {
      const double window = unet_.temporal ? positions(level) : 0;
      self_attention("attention.norm", "attention.core", level, width, window);
      cross_attention(level, width);
      feed_forward(level, width);
      if (unet_.temporal) {
        permute(level, width);
        feed_forward(level, width);
        self_attention("temporal.norm", "temporal.core", level, width,
                       static_cast<double>(latent_.frames));
        cross_attention(level, width);
        feed_forward(level, width);
        permute(level, width);
      }
    }
    if (unet_.temporal) mix(level, width);
    project("attention.output", level, width);
    residual("attention.residual", level, width);
  }

  void project(std::string_view name, std::int64_t level, double width) {
    if (unet_.linear_projection) {
      linear(name, level, width, width, 1);
    } else {
      out_.convolution({name, rows(level), width, width, 1});
    }
  }
  Operator& linear(std::string_view name, std::int64_t level, double n, double k, double bias) {
    return out_.product({.name = name,
                         .op_class = OperatorClass::attention_projection,
                         .rows = rows(level),
                         .n = fixed(n),
                         .k = fixed(k),
                         .bias = bias});
  }
  void norm(std::string_view name, std::int64_t level, double width) {
    out_.norm(name, rows(level), width, ElementwiseKind::layer_norm, 2 * width);
  }
  void residual(std::string_view name, std::int64_t level, double width) {
    out_.elementwise(name, rows(level), fixed(width), ElementwiseKind::residual, 3);
  }
  void core(std::string_view name, Dimension queries, Dimension keys, double width, double window) {
    const double heads = unet_.heads > 0 ? static_cast<double>(unet_.heads)
                                         : width / static_cast<double>(unet_.head_dim);
    out_.attention({name, queries, keys, heads, width / heads, window});
  }

  void self_attention(std::string_view name, std::string_view core_name, std::int64_t level,
                      double width, double window) {
    norm(name, level, width);
    // Three products of one input; what each makes is kept for the attention's backward.
    const Tensor kept{rows(level), fixed(width), ElementKind::activation};
    linear("attention.query", level, width, width, 0).saved.push_back(kept);
    for (const char* product : {"attention.key", "attention.value"}) {
      Operator& op = linear(product, level, width, width, 0);
      op.saved = {kept};
      op.keeps_input = false;
    }
    core(core_name, rows(level), rows(level), width, window);
    linear("attention.projection", level, width, width, 1);
    residual("attention.residual", level, width);
  }
  void cross_attention(std::int64_t level, double width) {
    const Dimension text{1, Symbol::source_tokens};
    norm("cross_attention.norm", level, width);
    linear("cross_attention.query", level, width, width, 0)
        .saved.push_back({rows(level), fixed(width), ElementKind::activation});
    Operator& keys = linear("cross_attention.key_value", level, 2 * width,
                            static_cast<double>(image_.text.width), 0);
    keys.m = text;
    keys.saved = {{text, fixed(2 * width), ElementKind::activation}};  // the text is kept once
    keys.keeps_input = false;
    core("cross_attention.core", rows(level), text, width, 0);
    linear("cross_attention.projection", level, width, width, 1);
    residual("cross_attention.residual", level, width);
  }
  // GEGLU (arXiv 2002.05202).
  void feed_forward(std::int64_t level, double width) {
    const double inner = kFeedForwardMultiple * width;
    norm("feed_forward.norm", level, width);
    out_.product({.name = "feed_forward.up",
                  .rows = rows(level),
                  .n = fixed(2 * inner),
                  .k = fixed(width)})
        .joined = 2;
    Operator& gate = out_.elementwise("feed_forward.activation", rows(level), fixed(inner),
                                      ElementwiseKind::gated_activation, 3);
    gate.backward_passes = 5;
    gate.saved = {{rows(level), fixed(2 * inner), ElementKind::activation}};
    out_.product(
        {.name = "feed_forward.down", .rows = rows(level), .n = fixed(width), .k = fixed(inner)});
    residual("feed_forward.residual", level, width);
  }

  void ends(double width) {
    const Dimension image{1, Symbol::sequences};
    const double first = channels(0);
    const auto embed = [&](std::string_view name, double n, double k) {
      out_.product({.name = name,
                    .op_class = OperatorClass::embedding,
                    .rows = image,
                    .n = fixed(n),
                    .k = fixed(k)});
    };
    out_.convolution(
        {"input.convolution", rows(0), static_cast<double>(image_.in_channels), first});
    if (unet_.control) {
      control_image();
      steer(0, first);
    }
    embed("time.input", condition(), first);
    embed("time.output", condition(), condition());
    if (unet_.added_condition > 0) {
      embed("condition.input", condition(), static_cast<double>(unet_.added_condition));
      embed("condition.output", condition(), condition());
    }
    model_.embedding = {"embedding", out_.take(), static_cast<double>(image_.in_channels)};
    model_.width = first;
    model_.tensor_parts = 1;
    if (unet_.control) return;
    write_norm_and_activation(out_, "output.norm", "output.activation", rows(0), width);
    out_.convolution(
        {"output.convolution", rows(0), width, static_cast<double>(image_.out_channels)});
    model_.head = {"head", out_.take(), width};
  }

  const ImageModel& image_;
  const UNet& unet_;
  Model& model_;
  LatentSize latent_;
  LayerWriter out_;
  std::vector<Key> keys_;
};

}  // namespace

void write_unet(const ImageModel& image, Model& model) { UNetWriter(image, model).write(); }

}  // namespace orrery
