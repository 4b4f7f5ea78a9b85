#include "model/diffusion/diffusers_config.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string_view>

#include "model/transformer/config_keys.h"
#include "outcome/nearest_name.h"

namespace orrery {
namespace {

constexpr std::int64_t kPromptTokens = 77;  // of CLIP, openai/CLIP clip/clip.py
constexpr std::int64_t kPixelsOfALatent = 8;

class ConfigReader {
 public:
  explicit ConfigReader(const Value& root) : keys(root) {}

  // A key that must be there.
  std::int64_t number(std::string_view key) {
    keys.require(key);
    return keys.integer(key).value_or(0);
  }
  std::int64_t number(std::string_view key, std::int64_t absent) {
    return keys.has(key) ? keys.integer(key).value_or(0) : absent;
  }
  bool flag(std::string_view key, bool absent) { return keys.flag(key).value_or(absent); }

  // A list of numbers, or one number for all.
  std::vector<std::int64_t> numbers(std::string_view key, std::size_t count, std::int64_t absent) {
    const Value* value = keys.find(key);
    if (value == nullptr || value->kind() == Value::Kind::null) return repeated(count, absent);
    if (value->kind() != Value::Kind::list) return repeated(count, keys.integer(key).value_or(0));
    auto list = Codec<std::vector<std::int64_t>>::read(*value);
    if (list) return *std::move(list);
    keys.refuse(at(keys.place(key), list.error()));
    return {};
  }
  std::vector<std::string> words(std::string_view key) {
    keys.require(key);
    const Value* value = keys.find(key);
    if (value == nullptr) return {};
    auto list = Codec<std::vector<std::string>>::read(*value);
    if (list) return *std::move(list);
    keys.refuse(at(keys.place(key), list.error()));
    return {};
  }
  // Refuses a key that is stated and neither null, false nor zero: parts that are not modelled.
  void without(std::initializer_list<std::string_view> unknown) {
    for (const std::string_view key : unknown) {
      const Value* value = keys.find(key);
      const bool empty =
          value == nullptr || value->kind() == Value::Kind::null ||
          (value->is_scalar() && (value->scalar_text() == "false" || value->scalar_text() == "0" ||
                                  value->scalar_text() == "default")) ||
          (!value->is_scalar() && value->items().empty());
      if (!empty) {
        keys.refuse({ErrorCode::unsupported, std::string(key) + " is not modelled", keys.place(key),
                     "remove the key to predict the model without it"});
      }
    }
  }

  ConfigKeys keys;

 private:
  static std::vector<std::int64_t> repeated(std::size_t count, std::int64_t value) {
    return std::vector<std::int64_t>(count, value);
  }
};

ImageSize square(std::int64_t pixels, std::int64_t frames = 1) { return {pixels, pixels, frames}; }

void read_unet(ConfigReader& r, ImageModel& m, bool temporal) {
  UNet u;
  r.keys.require("block_out_channels");
  u.channels = r.numbers("block_out_channels", 0, 0);
  const std::size_t levels = u.channels.size();
  u.residual_blocks = r.number("layers_per_block", 2);
  u.linear_projection = temporal || r.flag("use_linear_projection", false);
  u.added_condition = r.number("projection_class_embeddings_input_dim", 0);
  u.temporal = temporal;
  // The number of heads, whatever the key is called (diffusers issue 2011).
  const char* key =
      r.keys.has("num_attention_heads") ? "num_attention_heads" : "attention_head_dim";
  const std::vector<std::int64_t> heads = r.numbers(key, levels, 8);
  const std::vector<std::string> kinds = r.words("down_block_types");
  const std::vector<std::int64_t> depth = r.numbers("transformer_layers_per_block", levels, 1);
  if (kinds.size() != levels || heads.size() != levels || depth.size() != levels) {
    r.keys.refuse({ErrorCode::bad_input,
                   "block_out_channels, down_block_types, transformer_layers_per_block and the "
                   "heads do not list one entry for each resolution",
                   "", ""});
    return;
  }
  std::set<std::int64_t> widths;  // of heads where there is attention
  for (std::size_t i = 0; i < levels; ++i) {
    const bool attends = kinds[i].find("CrossAttn") != std::string::npos;
    if (!attends && kinds[i] != "DownBlock2D" && kinds[i] != "DownBlockSpatioTemporal") {
      r.keys.refuse({ErrorCode::unsupported, "block " + kinds[i] + " is not modelled",
                     r.keys.place("down_block_types"),
                     "known: DownBlock2D, CrossAttnDownBlock2D, DownBlockSpatioTemporal, "
                     "CrossAttnDownBlockSpatioTemporal"});
    }
    u.depth.push_back(attends ? depth[i] : 0);
    if (heads[i] > 0 && (attends || i + 1 == levels)) widths.insert(u.channels[i] / heads[i]);
  }
  u.middle_depth = levels > 0 ? depth.back() : 0;
  if (std::ranges::adjacent_find(heads, std::not_equal_to<>()) == heads.end()) {
    u.heads = heads.empty() ? 0 : heads.front();
  } else if (widths.size() == 1) {
    u.head_dim = *widths.begin();
  } else {
    r.keys.refuse({ErrorCode::unsupported,
                   "heads of neither one number nor one width are not modelled", r.keys.place(key),
                   ""});
  }
  r.without({"class_embed_type", "dual_cross_attention", "only_cross_attention", "num_class_embeds",
             "reverse_transformer_layers_per_block", "attention_type"});
  m.in_channels = r.number("in_channels", 4);
  m.out_channels = r.number("out_channels", 4);
  m.text = {temporal ? 1 : kPromptTokens, r.number("cross_attention_dim", 1280), 0};
  m.assumed.push_back(temporal ? "the condition is one encoded image"
                               : "a prompt of 77 tokens, as CLIP encodes it");
  const std::int64_t size = r.number("sample_size", 64) * kPixelsOfALatent;
  m.image = square(size, temporal ? r.number("num_frames", 25) : 1);
  if (temporal) m.image = {576, 1024, m.image.frames};
  m.unet = u;
}

// Keys that all image transformers have.
ImageTransformer transformer_of(ConfigReader& r) {
  ImageTransformer t;
  t.heads = r.number("num_attention_heads");
  t.hidden = t.heads * r.number("attention_head_dim");
  t.patch = r.number("patch_size", 2);
  const auto norm = r.keys.text("qk_norm");
  if (norm && *norm != "rms_norm" && *norm != "layer_norm") {
    r.keys.refuse({ErrorCode::unsupported, "qk_norm '" + *norm + "' is not modelled",
                   r.keys.place("qk_norm"), "known: rms_norm, layer_norm"});
  }
  t.head_norm = !norm ? HeadNorm::none : *norm == "rms_norm" ? HeadNorm::rms : HeadNorm::layer;
  return t;
}

void read_flux(ConfigReader& r, ImageModel& m) {
  ImageTransformer t = transformer_of(r);
  t.double_layers = r.number("num_layers");
  t.single_layers = r.number("num_single_layers");
  t.guidance_embedding = r.flag("guidance_embeds", false);
  t.head_norm = HeadNorm::rms;
  t.rotary = true;
  // Channels are counted after four positions have become a token.
  t.patch = 2;
  m.in_channels = r.number("in_channels", 64) / 4;
  m.text = {512, r.number("joint_attention_dim"), r.number("pooled_projection_dim")};
  m.image = square(1024);
  m.assumed.emplace_back("a prompt of 512 tokens and an image of 1024x1024, as the model's page");
  m.transformer = t;
}

void read_sd3(ConfigReader& r, ImageModel& m) {
  ImageTransformer t = transformer_of(r);
  t.double_layers = r.number("num_layers");
  t.last_text_ends = true;
  r.without({"dual_attention_layers"});
  m.in_channels = r.number("in_channels", 16);
  m.text = {333, r.number("joint_attention_dim"), r.number("pooled_projection_dim")};
  m.image = square(r.number("sample_size", 128) * kPixelsOfALatent);
  m.assumed.emplace_back("a prompt of 77 tokens of CLIP and 256 of T5, as the pipeline encodes it");
  m.transformer = t;
}

void read_dit(ConfigReader& r, ImageModel& m) {
  ImageTransformer t = transformer_of(r);
  t.layers = r.number("num_layers");
  t.classes = r.number("num_embeds_ada_norm") + 1;  // one stands for no label
  m.in_channels = r.number("in_channels", 4);
  m.out_channels = r.number("out_channels", 2 * m.in_channels);
  m.image = square(r.number("sample_size", 32) * kPixelsOfALatent);
  m.assumed.emplace_back(
      "time step and label are embedded once; diffusers stores a copy of their weights in each "
      "layer");
  m.transformer = t;
}

void read_cogvideox(ConfigReader& r, ImageModel& m) {
  ImageTransformer t = transformer_of(r);
  t.joint_layers = r.number("num_layers");
  t.condition = r.number("time_embed_dim", 512);
  t.head_norm = HeadNorm::layer;
  t.affine_norms = true;
  t.rotary = r.flag("use_rotary_positional_embeddings", false);
  t.patch_frames = r.number("patch_size_t", 1);
  m.in_channels = r.number("in_channels", 16);
  m.out_channels = r.number("out_channels", 16);
  m.frame_scale = r.number("temporal_compression_ratio", 4);
  m.text = {r.number("max_text_seq_length", 226), r.number("text_embed_dim", 4096), 0};
  m.image = {r.number("sample_height", 60) * kPixelsOfALatent,
             r.number("sample_width", 90) * kPixelsOfALatent, r.number("sample_frames", 49)};
  m.transformer = t;
}

void read_hunyuan_video(ConfigReader& r, ImageModel& m) {
  ImageTransformer t = transformer_of(r);
  t.double_layers = r.number("num_layers");
  t.single_layers = r.number("num_single_layers");
  t.refiner_layers = r.number("num_refiner_layers", 2);
  t.patch_frames = r.number("patch_size_t", 1);
  t.guidance_embedding = r.flag("guidance_embeds", true);
  t.rotary = true;
  m.in_channels = r.number("in_channels", 16);
  m.out_channels = r.number("out_channels", 16);
  m.frame_scale = 4;
  m.text = {256, r.number("text_embed_dim", 4096), r.number("pooled_projection_dim", 768)};
  m.image = {720, 1280, 129};
  m.assumed.emplace_back("a prompt of 256 tokens and 129 frames of 1280x720, as the model's page");
  m.transformer = t;
}

void read_wan(ConfigReader& r, ImageModel& m) {
  ImageTransformer t;
  t.heads = r.number("num_attention_heads");
  t.hidden = t.heads * r.number("attention_head_dim");
  t.feed_forward = r.number("ffn_dim");
  t.layers = r.number("num_layers");
  const std::vector<std::int64_t> patch = r.numbers("patch_size", 0, 0);
  if (patch.size() == 3 && patch[1] == patch[2]) {
    t.patch_frames = patch[0];
    t.patch = patch[1];
  } else if (!patch.empty()) {
    r.keys.refuse({ErrorCode::unsupported, "patches that are not square are not modelled",
                   r.keys.place("patch_size"), "write frames, height and width: [1, 2, 2]"});
  }
  const auto norm = r.keys.text("qk_norm");
  if (norm && *norm != "rms_norm_across_heads") {
    r.keys.refuse({ErrorCode::unsupported, "qk_norm '" + *norm + "' is not modelled",
                   r.keys.place("qk_norm"), "known: rms_norm_across_heads"});
  }
  t.head_norm = norm ? HeadNorm::rms_across : HeadNorm::none;
  t.rotary = t.cross_attention = t.shared_modulation = t.second_text_product = true;
  r.without({"added_kv_proj_dim", "image_dim", "pos_embed_seq_len"});
  if (!r.flag("cross_attn_norm", true)) {
    r.keys.refuse({ErrorCode::unsupported, "attention to the text without a norm is not modelled",
                   r.keys.place("cross_attn_norm"), "remove the key to predict it with one"});
  }
  m.in_channels = r.number("in_channels", 16);
  m.out_channels = r.number("out_channels", 16);
  if (m.out_channels == 48) {
    r.keys.refuse({ErrorCode::unsupported,
                   "latents of 48 channels, of which each is 16 pixels wide, are not modelled",
                   r.keys.place("out_channels"), "known: 16 channels, 8 pixels wide"});
  }
  m.frame_scale = 4;
  m.text = {512, r.number("text_dim", 4096), 0};
  m.image = {720, 1280, 81};
  m.assumed.emplace_back("a prompt of 512 tokens and 81 frames of 1280x720, as the model's page");
  m.transformer = t;
}

void read_autoencoder(ConfigReader& r, ImageModel& m) {
  Autoencoder a;
  r.keys.require("block_out_channels");
  a.channels = r.numbers("block_out_channels", 0, 0);
  a.residual_blocks = r.number("layers_per_block", 1);
  a.latent_convolution = r.flag("use_post_quant_conv", true);
  m.in_channels = r.number("latent_channels", 4);
  if (!a.channels.empty() && a.channels.size() <= 16) {
    m.latent_scale = std::int64_t{1} << (a.channels.size() - 1);
  }
  m.image = square(r.number("sample_size", 512));
  m.assumed.emplace_back("of the autoencoder the decoder, which makes the image");
  m.autoencoder = a;
}

struct KnownClass {
  std::string_view name;
  void (*read)(ConfigReader& reader, ImageModel& model);
};
constexpr KnownClass kClasses[] = {
    {"UNet2DConditionModel", [](ConfigReader& r, ImageModel& m) { read_unet(r, m, false); }},
    {"UNetSpatioTemporalConditionModel",
     [](ConfigReader& r, ImageModel& m) { read_unet(r, m, true); }},
    {"FluxTransformer2DModel", read_flux},
    {"SD3Transformer2DModel", read_sd3},
    {"DiTTransformer2DModel", read_dit},
    {"CogVideoXTransformer3DModel", read_cogvideox},
    {"HunyuanVideoTransformer3DModel", read_hunyuan_video},
    {"WanTransformer3DModel", read_wan},
    {"AutoencoderKL", read_autoencoder},
};

}  // namespace

Result<ImageModel> read_diffusers_config(const Document& document) {
  ConfigReader reader(document.root);
  const std::string name = reader.keys.text("_class_name").value_or("");
  const auto* known = std::ranges::find(kClasses, name, &KnownClass::name);
  if (known == std::end(kClasses)) {
    std::vector<std::string> names;
    for (const KnownClass& c : kClasses) names.emplace_back(c.name);
    return unsupported("class '" + name + "' of diffusers is not known", document.name,
                       name_hint(name, names));
  }
  ImageModel out;
  known->read(reader, out);
  ORRERY_RETURN_IF_ERROR(at(document.name, reader.keys.outcome(name)));
  const std::filesystem::path path(document.name);
  const std::string folder = path.parent_path().filename().string();
  out.name = path.filename() == "config.json" && !folder.empty() ? folder : path.stem().string();
  out.family = name;
  out.provenance = {.source = document.name, .verified = true, .unverified = {}, .notes = ""};
  return out;
}

}  // namespace orrery
