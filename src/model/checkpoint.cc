#include "model/checkpoint.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

#include "document/fields.h"
#include "model/family.h"

namespace orrery {
namespace {

constexpr double kAgreement = 0.01;

// Bytes of an element of the weights; nothing if they are quantized or of an unknown type.
std::optional<double> element_bytes(const Value& config) {
  if (config.find("quantization_config") != nullptr) return std::nullopt;
  for (const char* key : {"dtype", "torch_dtype"}) {
    const Value* type = config.find(key);
    if (type == nullptr) {
      const Value* text = config.find("text_config");
      type = text != nullptr && text->kind() == Value::Kind::map ? text->find(key) : nullptr;
    }
    if (type == nullptr) continue;
    if (type->scalar_text() == "float32") return 4;
    if (type->scalar_text() == "bfloat16" || type->scalar_text() == "float16") return 2;
  }
  return std::nullopt;
}

std::string comparison(const Value& config, const Value& index, double counted) {
  const std::string what = "model.safetensors.index.json";
  const Value* metadata = index.find("metadata");
  const Value* size = metadata != nullptr && metadata->kind() == Value::Kind::map
                          ? metadata->find("total_size")
                          : nullptr;
  const auto bytes = size != nullptr ? read_real(*size) : Result<double>(0.0);
  if (!bytes || !(*bytes > 0))
    return "parameters were not compared: " + what + " has no total_size";
  const std::optional<double> element = element_bytes(config);
  if (!element) {
    return "parameters were not compared with " + what +
           ": the weights are quantized, or config.json names no type of theirs";
  }
  const double held = *bytes / *element;
  if (std::abs(held / counted - 1) <= kAgreement) return "";
  return fmt::format(
      "the weights hold {:.4g} B parameters ({}), {:.1f} % {} than the model's {:.4g} B",
      held / 1e9, what, 100 * std::abs(held / counted - 1), held > counted ? "more" : "fewer",
      counted / 1e9);
}

}  // namespace

Result<Model> read_checkpoint(const std::string& folder) {
  const std::filesystem::path path(folder);
  ORRERY_TRY(const Document config, read_document((path / "config.json").string()));
  ORRERY_TRY(Model model, read_model(config));
  const std::string index = (path / "model.safetensors.index.json").string();
  std::error_code none;
  if (config.root.kind() != Value::Kind::map || !std::filesystem::exists(index, none)) return model;
  ORRERY_TRY(const Document document, read_document(index));
  std::string line = comparison(config.root, document.root, parameters(model));
  if (!line.empty()) model.assumed.push_back(std::move(line));
  return model;
}

}  // namespace orrery
