#include "model/transformer/hugging_face.h"

#include <algorithm>
#include <array>

#include "model/config_rules.h"

namespace orrery {

namespace {

constexpr std::string_view kKind = "hugging-face";
// What entries of model types have, and those that others are like do not.
constexpr std::string_view kTitle = "title";
// The entry of a model type that has none.
constexpr std::string_view kUnknown = "other-decoders";
// Where configurations of several modalities keep that of their decoder.
constexpr std::array kDecoderKeys{"text_config", "llm_config", "language_config", "thinker_config"};

// "meta-llama/Llama-3.1-8B" -> "Llama-3.1-8B".
std::string model_name(ConfigKeys& keys, const std::string& model_type) {
  std::string path = keys.text("_name_or_path").value_or("");
  while (!path.empty() && path.back() == '/') path.pop_back();
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() || name == "." ? model_type : name;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

constexpr std::string_view kHint =
    "describe the model in YAML; orrery catalog hugging-face lists the model types that are known";

// The decoder's part of a configuration, and what else the configuration describes.
struct Part {
  const Value* decoder;
  std::string type;
  std::vector<std::string> beside;
};

Part decoder_of(const Value& root, std::string type) {
  Part out{&root, std::move(type), {}};
  bool found = true;
  while (found) {
    const Value& map = *out.decoder;
    found = false;
    for (const auto& [key, value] : map.members()) {
      if (value.kind() != Value::Kind::map) continue;
      const bool decoder = std::ranges::find(kDecoderKeys, key) != kDecoderKeys.end();
      if (decoder && !found) {
        found = true;
        out.decoder = &value;
      } else if (key.starts_with("vision") || key.starts_with("audio") ||
                 key.starts_with("talker") || key.starts_with("projector")) {
        out.beside.push_back(key);
      }
    }
    if (found) {
      const Value* inner = out.decoder->find("model_type");
      if (inner != nullptr && inner->is_scalar()) out.type = inner->scalar_text();
    }
  }
  return out;
}

}  // namespace

bool is_hugging_face_config(const Value& root) {
  return root.kind() == Value::Kind::map &&
         (root.find("model_type") != nullptr || root.find("architectures") != nullptr);
}

Result<Architecture> read_hugging_face_config(const Document& document) {
  const Value& root = document.root;
  if (root.kind() != Value::Kind::map) {
    return bad_input("expected a map with the keys of a config.json", document.name);
  }
  ConfigKeys outer(root);
  const std::string outer_type = outer.text("model_type").value_or("");
  const std::string name = model_name(outer, outer_type.empty() ? "unnamed" : outer_type);
  ORRERY_RETURN_IF_ERROR(at(document.name, outer.outcome(outer_type)));
  const Part part = decoder_of(root, outer_type);
  const bool nested = part.decoder != &root;
  const std::string& type = part.type;

  const Catalog& catalog = Catalog::built_in();
  const auto entry = catalog.find(kKind, type);
  const bool known = entry && entry->root.find(kTitle) != nullptr;
  ORRERY_TRY(ConfigRules rules, ConfigRules::of(catalog, kKind, known ? type : kUnknown, nested));
  Value decoder = *part.decoder;
  const Value* ties = root.find("tie_word_embeddings");
  if (ties != nullptr && decoder.find("tie_word_embeddings") == nullptr) {
    decoder.set("tie_word_embeddings", *ties);
  }
  ConfigKeys keys(decoder);
  const Value fields = rules.architecture(keys);
  auto understood = rules.without_shape();
  understood.insert(part.beside.begin(), part.beside.end());
  const std::vector<std::string> others = keys.not_understood(understood);
  if (auto r = keys.outcome(type); !r) {
    Error error = at(document.name, r.error());
    if (!known) {
      error.code = ErrorCode::unsupported;
      error.message = "model type '" + type + "' is not known, and " + error.message +
                      ", which a decoder like Llama has";
      error.hint = kHint;
    }
    return fail(std::move(error));
  }
  if (!known && !others.empty()) {
    return unsupported(
        "model type '" + type + "' is not known, and a decoder like Llama has no " + joined(others),
        document.name, std::string(kHint));
  }
  ORRERY_TRY(Architecture a, read<Architecture>(Document{document.name, fields}));
  a.name = name;
  a.family = type;
  a.provenance = {.source = document.name, .verified = true, .unverified = {}, .notes = ""};
  if (!part.beside.empty()) {
    a.assumed.push_back("the model is its decoder: " + joined(part.beside) +
                        (part.beside.size() > 1 ? " are left out" : " is left out"));
  }
  if (!known) {
    a.assumed.push_back("model type '" + type + "' is not known: read by the keys of llama");
  } else if (!others.empty()) {
    a.assumed.push_back("keys of the configuration that were not understood: " + joined(others));
  }
  return completed(std::move(a));
}

Result<Architecture> read_architecture(const Document& document) {
  if (is_hugging_face_config(document.root)) return read_hugging_face_config(document);
  ORRERY_TRY(Architecture architecture, read<Architecture>(document));
  return completed(std::move(architecture));
}

}  // namespace orrery
