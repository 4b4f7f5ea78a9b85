// Reads the keys of one config.json, collecting what is missing and what is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/transformer/architecture.h"

namespace orrery {

class ConfigKeys {
 public:
  explicit ConfigKeys(const Value& map) : map_(map) {}

  // The first of the keys (spellings of different releases) that is present and not null. A missing
  // one is noted under the first spelling and read as zero.
  std::int64_t required(std::initializer_list<std::string_view> keys);
  // `absent` if none of the keys is present; `null` counts as absent but for the window below.
  std::int64_t integer(std::initializer_list<std::string_view> keys, std::int64_t absent);
  bool flag(std::string_view key, bool absent);
  std::string text(std::string_view key, std::string absent);

  [[nodiscard]] bool has(std::string_view key) const;       // present and not null
  [[nodiscard]] bool mentions(std::string_view key) const;  // present, null or not
  [[nodiscard]] const Value* find(std::string_view key) const {
    looked_up_.emplace(key);
    return map_.find(key);
  }
  // Keys that nobody asked for, and that may change the shape of the model.
  [[nodiscard]] std::vector<std::string> not_understood() const;

  void refuse(Error error);
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  // The first error, or that of the missing keys.
  [[nodiscard]] Result<void> outcome(std::string_view family) const;

 private:
  const Value& map_;
  mutable std::set<std::string, std::less<>> looked_up_;
  std::vector<std::string> missing_;
  std::vector<Error> errors_;
};

// The activation of a config ("silu", "gelu_new", "relu2") in a feed-forward that is gated or not.
enum class FeedForwardGate { gated, plain };
FeedForwardKind feed_forward_kind(ConfigKeys& keys, const std::string& activation,
                                  FeedForwardGate gate);

// A family fills what its configuration class says.
using HuggingFaceFamily = void (*)(ConfigKeys&, Architecture&);

void read_llama(ConfigKeys& keys, Architecture& a);
void read_mistral(ConfigKeys& keys, Architecture& a);
void read_mixtral(ConfigKeys& keys, Architecture& a);
void read_qwen2(ConfigKeys& keys, Architecture& a);
void read_qwen2_moe(ConfigKeys& keys, Architecture& a);
void read_qwen3(ConfigKeys& keys, Architecture& a);
void read_qwen3_moe(ConfigKeys& keys, Architecture& a);
void read_gemma2(ConfigKeys& keys, Architecture& a);
void read_gemma3(ConfigKeys& keys, Architecture& a);
void read_deepseek(ConfigKeys& keys, Architecture& a);
void read_gpt2(ConfigKeys& keys, Architecture& a);
void read_gpt_neox(ConfigKeys& keys, Architecture& a);
void read_opt(ConfigKeys& keys, Architecture& a);
void read_bloom(ConfigKeys& keys, Architecture& a);
void read_falcon(ConfigKeys& keys, Architecture& a);
void read_phi(ConfigKeys& keys, Architecture& a);
void read_phi3(ConfigKeys& keys, Architecture& a);
// A model type of no known family that has all keys of a Llama, experts included.
void read_llama_like(ConfigKeys& keys, Architecture& a);

// Shape shared by the families whose keys are Llama's: layers, widths, heads, vocabulary.
void read_llama_shape(ConfigKeys& keys, Architecture& a, std::int64_t kv_heads_if_absent);

}  // namespace orrery
