#include "model/diffusion/diffusers_config.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "model/config_rules.h"
#include "model/model_name.h"
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
  for (const char* part :
       {"class_embed_type", "dual_cross_attention", "only_cross_attention", "num_class_embeds",
        "reverse_transformer_layers_per_block", "attention_type"}) {
    r.keys.refuse_part(part);
  }
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

// Networks of convolutions, whose keys list a number for each resolution. Classes of transformers
// are entries of the catalog.
struct KnownClass {
  std::string_view name;
  void (*read)(ConfigReader& reader, ImageModel& model);
};
constexpr KnownClass kConvolutions[] = {
    {"UNet2DConditionModel", [](ConfigReader& r, ImageModel& m) { read_unet(r, m, false); }},
    {"UNetSpatioTemporalConditionModel",
     [](ConfigReader& r, ImageModel& m) { read_unet(r, m, true); }},
    {"AutoencoderKL", read_autoencoder},
};
constexpr std::string_view kKind = "diffusers";

std::vector<std::string> items_of(const Value& entry, std::string_view key) {
  std::vector<std::string> out;
  const Value* list = entry.find(key);
  if (list == nullptr) return out;
  for (const Value& item : list->items()) out.push_back(item.scalar_text());
  return out;
}

// Classes of transformers, spelt as in diffusers, each with the entry of the catalog that names it.
using TransformerClasses = std::map<std::string, std::string, std::less<>>;

Result<TransformerClasses> transformer_classes(const Catalog& catalog) {
  TransformerClasses out;
  for (const std::string& entry : catalog.names(kKind)) {
    ORRERY_TRY(const Document document, catalog.find(kKind, entry));
    for (const std::string& name : items_of(document.root, "aliases")) out.emplace(name, entry);
  }
  return out;
}

Failure unknown_class(const std::string& name, const std::string& where,
                      const TransformerClasses& transformers) {
  std::vector<std::string> known;
  for (const KnownClass& c : kConvolutions) known.emplace_back(c.name);
  for (const auto& [one, entry] : transformers) known.push_back(one);
  return unsupported("class '" + name + "' of diffusers is not known", where,
                     name_hint(name, known));
}

// Keys that are null say no more than absent ones.
Value without_nulls(const Value& map) {
  Value out = Value::map();
  out.set_line(map.line());
  for (const auto& [key, value] : map.members()) {
    if (value.kind() != Value::Kind::null) out.append_member(key, value);
  }
  return out;
}

}  // namespace

Result<ImageModel> read_diffusers_config(const Document& document) {
  const Catalog& catalog = Catalog::built_in();
  const Value root = without_nulls(document.root);
  ConfigReader reader(root);
  const std::string name = reader.keys.text("_class_name").value_or("");
  const auto* known = std::ranges::find(kConvolutions, name, &KnownClass::name);
  ORRERY_TRY(const TransformerClasses transformers, transformer_classes(catalog));
  const auto entry = transformers.find(name);
  ImageModel out;
  if (known != std::end(kConvolutions)) {
    known->read(reader, out);
    ORRERY_RETURN_IF_ERROR(at(document.name, reader.keys.outcome(name)));
  } else if (entry != transformers.end()) {
    ORRERY_TRY(ConfigRules rules, ConfigRules::of(catalog, kKind, entry->second, false));
    const Value fields = rules.fields(reader.keys);
    ORRERY_RETURN_IF_ERROR(at(document.name, reader.keys.outcome(name)));
    ORRERY_TRY(out, read<ImageModel>(Document{document.name, fields}));
    ORRERY_TRY(const Document facts, catalog.find(kKind, entry->second));
    out.assumed = items_of(facts.root, "assumed");
  } else {
    return unknown_class(name, document.name, transformers);
  }
  out.name = model_name_of_file(document.name);
  out.family = name;
  out.provenance = {.source = document.name, .verified = true, .unverified = {}, .notes = ""};
  return out;
}

}  // namespace orrery
