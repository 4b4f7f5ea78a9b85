// Transformers over patches of a latent: DiT (arXiv 2212.09748), MMDiT (arXiv 2403.03206) with
// double and single layers (black-forest-labs/flux src/flux/modules/layers.py, Tencent/HunyuanVideo
// hyvideo/modules/models.py), layers on text and video as one sequence (CogVideoX, arXiv
// 2408.06072; diffusers src/diffusers/models/transformers/cogvideox_transformer_3d.py), and layers
// on video that attend to text (Wan-Video/Wan2.1 wan/modules/model.py).

#include "model/diffusion/blocks.h"
#include "model/layer_writer.h"

namespace orrery {
namespace {

constexpr double kSines = 256;  // of a time step, before its two products

// Rows that a set of weights works on.
enum class Stream { image, text, joint };

Symbol symbol_of(Stream stream) {
  switch (stream) {
    case Stream::image:
      return Symbol::tokens;
    case Stream::text:
      return Symbol::source_tokens;
    case Stream::joint:
      return Symbol::joint_tokens;
  }
  return Symbol::tokens;
}

class TransformerWriter {
 public:
  TransformerWriter(const ImageModel& image, Model& model)
      : image_(image), t_(*image.transformer), model_(model) {}

  void write() {
    if (t_.temporal) {
      space_and_time();
    } else {
      layers("layer on the image", t_.layers, [&] { sequential(Stream::image); });
    }
    layers("joint layer", t_.joint_layers, [&] { sequential(Stream::joint); });
    const bool ends = t_.last_text_ends && t_.double_layers > 0;
    layers("double layer", t_.double_layers - (ends ? 1 : 0), [&] { double_layer(true); });
    if (ends) layers("last double layer", 1, [&] { double_layer(false); });
    layers("single layer", t_.single_layers, [&] { single_layer(); });
    embedding();
    head();
    model_.width = hidden();
    model_.tensor_parts = t_.heads;
  }

 private:
  [[nodiscard]] double hidden() const { return static_cast<double>(t_.hidden); }
  [[nodiscard]] double inner() const { return static_cast<double>(t_.feed_forward); }
  [[nodiscard]] double heads() const { return static_cast<double>(t_.heads); }
  [[nodiscard]] double condition() const { return static_cast<double>(t_.condition); }
  [[nodiscard]] static Dimension stream_rows(Stream s) {
    return {1, symbol_of(s), LogicalAxis::sequence};
  }
  [[nodiscard]] static Dimension whole_rows(Stream s) { return {1, symbol_of(s)}; }
  [[nodiscard]] static Dimension divided(double width, LogicalAxis axis) {
    return fixed(width, axis);
  }

  template <class Write>
  void layers(const char* name, std::int64_t count, Write write) {
    if (count <= 0) return;
    write();
    model_.layers.insert(model_.layers.end(), static_cast<std::size_t>(count),
                         static_cast<std::uint16_t>(model_.blocks.size()));
    model_.blocks.push_back({name, out_.take(), hidden()});
  }

  // `vectors` of the hidden width for every image, from the vector that conditions it.
  void modulate(std::string_view name, double vectors) {
    if (!t_.modulated) return;
    if (t_.shared_modulation) {
      Operator& own = out_.elementwise(name, {1, Symbol::sequences}, fixed(vectors * hidden()),
                                       ElementwiseKind::other, 2);
      own.op_class = OperatorClass::embedding;
      own.parameters = vectors * hidden();
      return;
    }
    out_.product({.name = name,
                  .op_class = OperatorClass::embedding,
                  .rows = {1, Symbol::sequences},
                  .n = fixed(vectors * hidden()),
                  .k = fixed(condition())});
  }

  // A norm and what scales and shifts its output.
  void norm(std::string_view name, Stream s) {
    out_.norm(name, stream_rows(s), hidden(), ElementwiseKind::layer_norm,
              t_.affine_norms ? 2 * hidden() : 0);
    if (!t_.modulated) return;
    out_.elementwise("modulation", stream_rows(s), fixed(hidden()), ElementwiseKind::modulation, 4);
  }
  // The branch scaled by its gate and added.
  void residual(std::string_view name, Stream s) {
    if (t_.modulated) {
      out_.elementwise("gate", stream_rows(s), fixed(hidden()), ElementwiseKind::modulation, 2);
    }
    out_.elementwise(name, stream_rows(s), fixed(hidden()), ElementwiseKind::residual, 3);
  }

  void qkv_product(std::string_view name, Stream s) {
    const Dimension width = divided(3 * hidden(), LogicalAxis::heads);
    out_.product({.name = name,
                  .op_class = OperatorClass::attention_projection,
                  .boundary = Boundary::column,
                  .rows = whole_rows(s),
                  .n = width,
                  .k = fixed(hidden())})
        .saved.push_back({whole_rows(s), width, ElementKind::activation});
  }
  void qkv(Stream s) {
    qkv_product("attention.qkv", s);
    const Dimension query_key = divided(2 * hidden(), LogicalAxis::heads);
    head_norm("attention.query_key_norm", s, query_key, 2);
    if (t_.rotary) {
      out_.elementwise("attention.rotary", whole_rows(s), query_key, ElementwiseKind::rotary, 2);
    }
  }
  // Of `sets` sets of heads, together `width` wide: queries, keys or both.
  void head_norm(std::string_view name, Stream s, Dimension width, double sets) {
    if (t_.head_norm == HeadNorm::none) return;
    const bool layer = t_.head_norm == HeadNorm::layer;
    const double scaled = t_.head_norm == HeadNorm::rms_across ? hidden() : hidden() / heads();
    Operator& op =
        out_.elementwise(name, whole_rows(s), width,
                         layer ? ElementwiseKind::layer_norm : ElementwiseKind::rms_norm, 2);
    op.op_class = OperatorClass::normalization;
    op.backward_passes = 3;
    op.parameters = (layer ? 2 : 1) * sets * scaled;
    op.saved = {{whole_rows(s), width, ElementKind::activation}};
  }
  void core(Stream s) {
    out_.attention(
        {"attention.core", whole_rows(s), whole_rows(s), heads(), hidden() / heads(), window_});
  }
  // Copies of what several products wrote, side by side for the next kernel.
  void join(std::string_view name, Dimension width) {
    out_.elementwise(name, whole_rows(Stream::joint), width, ElementwiseKind::other, 2);
  }
  void projection(Stream s) {
    out_.product({.name = "attention.projection",
                  .op_class = OperatorClass::attention_projection,
                  .boundary = Boundary::row,
                  .rows = whole_rows(s),
                  .n = fixed(hidden()),
                  .k = divided(hidden(), LogicalAxis::heads)});
  }
  void up(Stream s, bool shares_input) {
    const Dimension width = divided(inner(), LogicalAxis::ffn);
    out_.product({.name = "feed_forward.up",
                  .boundary = shares_input ? Boundary::none : Boundary::column,
                  .rows = whole_rows(s),
                  .n = width,
                  .k = fixed(hidden()),
                  .shares_input = shares_input});
    out_.activation("feed_forward.activation", whole_rows(s), width);
  }
  void feed_forward(Stream s) {
    norm("feed_forward.norm", s);
    up(s, false);
    out_.product({.name = "feed_forward.down",
                  .boundary = Boundary::row,
                  .rows = whole_rows(s),
                  .n = fixed(hidden()),
                  .k = divided(inner(), LogicalAxis::ffn)});
    residual("feed_forward.residual", s);
  }

  // Layers within frames, each before one along time.
  void space_and_time() {
    const LatentSize latent = latent_of(image_);
    const std::int64_t patches = latent.frames / t_.patch_frames;  // whole ones
    const auto frames = static_cast<double>(patches);
    window_ = tokens_of(image_) / frames;
    sequential(Stream::image);
    model_.blocks.push_back({"layer within frames", out_.take(), hidden()});
    window_ = frames;
    turn();
    sequential(Stream::image);
    turn();
    model_.blocks.push_back({"layer along time", out_.take(), hidden()});
    window_ = 0;
    for (std::int64_t i = 0; i < t_.layers; ++i) {
      model_.layers.push_back(static_cast<std::uint16_t>(model_.blocks.size() - 2));
      model_.layers.push_back(static_cast<std::uint16_t>(model_.blocks.size() - 1));
    }
  }
  // Between frames whose positions, and positions whose frames, lie side by side.
  void turn() {
    out_.elementwise("temporal.permutation", stream_rows(Stream::image), fixed(hidden()),
                     ElementwiseKind::other, 2)
        .turns = true;
  }

  // Attention, then feed-forward.
  void sequential(Stream s) {
    const bool joint = s == Stream::joint;
    modulate("modulation.vectors", joint ? 12 : 6);  // text and image have vectors of their own
    norm("attention.norm", s);
    qkv(s);
    core(s);
    projection(s);
    residual("attention.residual", s);
    if (t_.cross_attention && s == Stream::image) cross_attention();
    feed_forward(s);
  }

  // The text is as wide as the layers by then. The time step modulates none of it.
  void cross_attention() {
    out_.norm("cross_attention.norm", stream_rows(Stream::image), hidden(),
              ElementwiseKind::layer_norm, 2 * hidden());
    const Dimension queries = divided(hidden(), LogicalAxis::heads);
    const Dimension keys = divided(2 * hidden(), LogicalAxis::heads);
    out_.product({.name = "cross_attention.query",
                  .op_class = OperatorClass::attention_projection,
                  .boundary = Boundary::column,
                  .rows = whole_rows(Stream::image),
                  .n = queries,
                  .k = fixed(hidden())})
        .saved.push_back({whole_rows(Stream::image), queries, ElementKind::activation});
    out_.product({.name = "cross_attention.key_value",
                  .op_class = OperatorClass::attention_projection,
                  .boundary = Boundary::column,
                  .rows = whole_rows(Stream::text),
                  .n = keys,
                  .k = fixed(hidden()),
                  .shares_input = true})
        .saved.push_back({whole_rows(Stream::text), keys, ElementKind::activation});
    head_norm("cross_attention.query_norm", Stream::image, queries, 1);
    head_norm("cross_attention.key_norm", Stream::text, queries, 1);
    out_.attention({"cross_attention.core", whole_rows(Stream::image), whole_rows(Stream::text),
                    heads(), hidden() / heads()});
    projection(Stream::image);
    out_.elementwise("cross_attention.residual", stream_rows(Stream::image), fixed(hidden()),
                     ElementwiseKind::residual, 3);
  }

  // Text and image meet in attention alone.
  void double_layer(bool text_goes_on) {
    modulate("modulation.vectors", 6);
    modulate("modulation.text_vectors", text_goes_on ? 6 : 2);
    for (const Stream s : {Stream::image, Stream::text}) {
      norm("attention.norm", s);
      qkv(s);
    }
    join("attention.concatenation", divided(3 * hidden(), LogicalAxis::heads));
    core(Stream::joint);
    projection(Stream::image);
    residual("attention.residual", Stream::image);
    feed_forward(Stream::image);
    if (!text_goes_on) return;
    projection(Stream::text);
    residual("attention.residual", Stream::text);
    feed_forward(Stream::text);
  }

  // Attention and feed-forward read one norm; one product sums both.
  void single_layer() {
    const Stream s = Stream::joint;
    modulate("modulation.vectors", 3);
    norm("attention.norm", s);
    qkv(s);
    core(s);
    up(s, true);
    join("output.concatenation", divided(hidden() + inner(), LogicalAxis::ffn));
    out_.product({.name = "output",
                  .boundary = Boundary::row,
                  .rows = whole_rows(s),
                  .n = fixed(hidden()),
                  .k = divided(hidden() + inner(), LogicalAxis::ffn)});
    residual("feed_forward.residual", s);
  }

  // A product of an embedding: one row an image, or one a token.
  void embed(std::string_view name, Dimension rows, double n, double k) {
    out_.product({.name = name,
                  .op_class = OperatorClass::embedding,
                  .rows = rows,
                  .n = fixed(n),
                  .k = fixed(k)});
  }
  void embed_twice(std::string_view name, Dimension rows, double width, double k) {
    embed(name, rows, width, k);
    embed(name, rows, width, width);
  }

  void look_up(std::string_view name, Dimension of, std::int64_t entries) {
    Operator& op = out_.elementwise(name, of, fixed(hidden()), ElementwiseKind::other, 2);
    op.op_class = OperatorClass::embedding;
    op.parameters = static_cast<double>(entries) * hidden();
  }

  // Channels of the latent under one token.
  [[nodiscard]] double patch(std::int64_t channels) const {
    return static_cast<double>(channels * t_.patch * t_.patch * t_.patch_frames);
  }

  void embedding() {
    const Dimension image{1, Symbol::sequences};
    const Dimension text = stream_rows(Stream::text);
    if (t_.vocabulary == 0) {
      embed("embedding.patch", stream_rows(Stream::image), hidden(), patch(image_.in_channels));
    } else {
      look_up("embedding.token", stream_rows(Stream::image), t_.vocabulary);
    }
    if (t_.stored_positions > 0) {
      Operator& positions = out_.elementwise("embedding.position", stream_rows(Stream::image),
                                             fixed(hidden()), ElementwiseKind::other, 2);
      positions.op_class = OperatorClass::embedding;
      positions.parameters = static_cast<double>(t_.stored_positions) * hidden();
    }
    // The time step: as many sines as the joint layers' tokens are wide, or kSines.
    if (t_.modulated) {
      embed_twice("embedding.time", image, condition(), t_.joint_layers > 0 ? hidden() : kSines);
    }
    if (t_.shared_modulation) embed("embedding.modulation", image, 6 * hidden(), condition());
    if (t_.guidance_embedding) embed_twice("embedding.guidance", image, condition(), kSines);
    if (image_.text.pooled > 0) {
      embed_twice("embedding.pooled", image, condition(), static_cast<double>(image_.text.pooled));
    }
    if (t_.classes > 0) look_up("embedding.label", image, t_.classes);
    if (image_.text.tokens > 0) {
      embed("embedding.text", text, hidden(), static_cast<double>(image_.text.width));
      if (t_.second_text_product) embed("embedding.text", text, hidden(), hidden());
      if (t_.refiner_layers > 0) refine_text(image);
    }
    model_.embedding = {"embedding", out_.take(), hidden()};
  }

  // A small transformer on the text, gated by the time step and the mean of the text.
  void refine_text(Dimension image) {
    embed_twice("refiner.time", image, hidden(), kSines);
    embed_twice("refiner.text", image, hidden(), static_cast<double>(image_.text.width));
    const Stream s = Stream::text;
    for (std::int64_t i = 0; i < t_.refiner_layers; ++i) {
      modulate("modulation.text_vectors", 2);
      for (const bool attention : {true, false}) {
        out_.norm(attention ? "refiner.norm" : "refiner.second_norm", stream_rows(s), hidden(),
                  ElementwiseKind::layer_norm, 2 * hidden());
        if (attention) {
          qkv_product("refiner.qkv", s);
          core(s);
          projection(s);
        } else {
          up(s, false);
          out_.product({.name = "refiner.down",
                        .boundary = Boundary::row,
                        .rows = whole_rows(s),
                        .n = fixed(hidden()),
                        .k = divided(inner(), LogicalAxis::ffn)});
        }
        residual("refiner.residual", s);
      }
    }
  }

  void head() {
    const Stream s = Stream::image;
    modulate("modulation.vectors", 2);
    if (t_.joint_layers > 0) {  // of text and image, before the image is modulated
      out_.norm("head.joint_norm", stream_rows(Stream::joint), hidden(),
                ElementwiseKind::layer_norm, 2 * hidden());
    }
    norm("head.norm", s);
    out_.product({.name = "head.output",
                  .op_class = t_.vocabulary > 0 ? OperatorClass::logits : OperatorClass::embedding,
                  .rows = stream_rows(s),
                  .n = fixed(t_.vocabulary > 0 ? static_cast<double>(t_.vocabulary)
                                               : patch(image_.out_channels)),
                  .k = fixed(hidden())});
    model_.head = {"head", out_.take(), hidden()};
  }

  const ImageModel& image_;
  const ImageTransformer& t_;
  Model& model_;
  LayerWriter out_;
  double window_ = 0;  // tokens that attention on the image sees; 0: all
};

}  // namespace

void write_image_transformer(const ImageModel& image, Model& model) {
  TransformerWriter(image, model).write();
}

}  // namespace orrery
