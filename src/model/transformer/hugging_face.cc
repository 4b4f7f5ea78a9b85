#include "model/transformer/hugging_face.h"

#include <array>

#include "model/transformer/hugging_face_keys.h"

namespace orrery {

namespace {

struct Family {
  std::string_view model_type;
  HuggingFaceFamily read;
};

constexpr std::array kHuggingFaceFamilies{
    Family{"llama", read_llama},
    Family{"mistral", read_mistral},
    Family{"mixtral", read_mixtral},
    Family{"qwen2", read_qwen2},
    Family{"qwen2_moe", read_qwen2_moe},
    Family{"qwen3", read_qwen3},
    Family{"qwen3_moe", read_qwen3_moe},
    Family{"gemma2", read_gemma2},
    Family{"gemma3", read_gemma3},
    Family{"gemma3_text", read_gemma3},
    Family{"deepseek_v2", read_deepseek},
    Family{"deepseek_v3", read_deepseek},
    Family{"deepseek_v32", read_deepseek},
    Family{"kimi_k2", read_deepseek},
    Family{"gpt2", read_gpt2},
    Family{"gpt_neox", read_gpt_neox},
    Family{"opt", read_opt},
    Family{"bloom", read_bloom},
    Family{"falcon", read_falcon},
    Family{"RefinedWeb", read_falcon},
    Family{"RefinedWebModel", read_falcon},
    Family{"phi", read_phi},
    Family{"phi3", read_phi3},
};

// "meta-llama/Llama-3.1-8B" -> "Llama-3.1-8B".
std::string model_name(ConfigKeys& keys, const std::string& model_type) {
  std::string path = keys.text("_name_or_path", "");
  while (!path.empty() && path.back() == '/') path.pop_back();
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() || name == "." ? model_type : name;
}

std::string known_types() {
  std::string out;
  for (const Family& family : kHuggingFaceFamilies) {
    out += (out.empty() ? "" : ", ") + std::string(family.model_type);
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
  // A multimodal configuration keeps its decoder's keys one level down.
  const Value* text_config = root.find("text_config");
  const bool nested = text_config != nullptr && text_config->kind() == Value::Kind::map;
  ConfigKeys outer(root);
  ConfigKeys keys(nested ? *text_config : root);
  const std::string outer_type = outer.text("model_type", "");
  std::string model_type = keys.text("model_type", outer_type);

  Architecture a;
  a.name = model_name(outer, model_type.empty() ? "unnamed" : model_type);
  a.family = model_type;
  a.provenance = {.source = document.name, .verified = true, .unverified = {}, .notes = ""};
  HuggingFaceFamily reader = nullptr;
  for (const Family& family : kHuggingFaceFamilies) {
    if (family.model_type == model_type) reader = family.read;
  }
  const bool known = reader != nullptr;
  if (!known) {
    reader = read_llama_like;
    a.assumed.push_back("model type '" + model_type + "' is not known: read by the keys of llama");
  }
  reader(keys, a);
  ORRERY_RETURN_IF_ERROR(at(document.name, outer.outcome(outer_type)));
  if (auto r = keys.outcome(model_type); !r) {
    Error error = at(document.name, r.error());
    if (!known) {
      error.code = ErrorCode::unsupported;
      error.message = "model type '" + model_type + "' is not known, and " + error.message +
                      ", which a decoder like Llama has";
      error.hint = "describe the model in YAML, or use one of: " + known_types();
    }
    return fail(std::move(error));
  }
  if (!known) {
    if (const auto others = keys.not_understood(); !others.empty()) {
      std::string names;
      for (const std::string& key : others) names += (names.empty() ? "" : ", ") + key;
      return unsupported(
          "model type '" + model_type + "' is not known, and a decoder like Llama has no " + names,
          document.name, "describe the model in YAML, or use one of: " + known_types());
    }
  }
  return completed(std::move(a));
}

Result<Architecture> read_architecture(const Document& document) {
  if (is_hugging_face_config(document.root)) return read_hugging_face_config(document);
  ORRERY_TRY(Architecture architecture, read<Architecture>(document));
  return completed(std::move(architecture));
}

}  // namespace orrery
