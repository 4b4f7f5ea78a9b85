#include "model/transformer/hugging_face_keys.h"

#include <algorithm>
#include <string_view>

namespace orrery {

namespace {

// Above every real figure, and small enough that a product of two stays exact.
constexpr std::int64_t kMostInteger = 1'000'000'000;

std::string place(const Value& v, std::string_view key) {
  return (v.line() > 0 ? "line " + std::to_string(v.line()) + ", " : "") + std::string(key);
}

}  // namespace

// Keys of every configuration (transformers, configuration_utils.py) and of training or sampling
// that change no shape.
constexpr auto kWithoutShape = std::to_array<std::string_view>({"_attn_implementation",
                                                                "_name_or_path",
                                                                "architectures",
                                                                "attention_dropout",
                                                                "attn_pdrop",
                                                                "auto_map",
                                                                "bos_token_id",
                                                                "classifier_dropout",
                                                                "decoder_start_token_id",
                                                                "dtype",
                                                                "embd_pdrop",
                                                                "eos_token_id",
                                                                "finetuning_task",
                                                                "hidden_dropout",
                                                                "hidden_dropout_prob",
                                                                "id2label",
                                                                "initializer_factor",
                                                                "initializer_range",
                                                                "input_jitter_noise",
                                                                "is_decoder",
                                                                "label2id",
                                                                "layer_norm_eps",
                                                                "layer_norm_epsilon",
                                                                "mask_token_id",
                                                                "model_type",
                                                                "norm_eps",
                                                                "norm_topk_prob",
                                                                "original_max_position_embeddings",
                                                                "output_attentions",
                                                                "output_hidden_states",
                                                                "output_router_logits",
                                                                "pad_token_id",
                                                                "partial_rotary_factor",
                                                                "pretraining_tp",
                                                                "problem_type",
                                                                "quantization_config",
                                                                "resid_pdrop",
                                                                "return_dict",
                                                                "rms_norm_eps",
                                                                "rope_parameters",
                                                                "rope_scaling",
                                                                "rope_theta",
                                                                "router_aux_loss_coef",
                                                                "router_jitter_noise",
                                                                "routed_scaling_factor",
                                                                "scoring_func",
                                                                "sep_token_id",
                                                                "tie_word_embeddings",
                                                                "tokenizer_class",
                                                                "topk_group",
                                                                "topk_method",
                                                                "torch_dtype",
                                                                "torchscript",
                                                                "transformers_version",
                                                                "unk_token_id",
                                                                "use_cache"});

bool ConfigKeys::mentions(std::string_view key) const { return find(key) != nullptr; }

std::vector<std::string> ConfigKeys::not_understood() const {
  std::vector<std::string> out;
  for (const auto& [key, value] : map_.members()) {
    const bool off = value.kind() == Value::Kind::null ||
                     (value.kind() == Value::Kind::boolean && value.scalar_text() == "false");
    if (off || looked_up_.contains(key) ||
        std::ranges::find(kWithoutShape, key) != kWithoutShape.end()) {
      continue;
    }
    out.push_back(key);
  }
  return out;
}

bool ConfigKeys::has(std::string_view key) const {
  const Value* v = find(key);
  return v != nullptr && v->kind() != Value::Kind::null;
}

void ConfigKeys::refuse(Error error) { errors_.push_back(std::move(error)); }

std::int64_t ConfigKeys::required(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (has(key)) return integer(keys, 0);
  }
  missing_.emplace_back(*keys.begin());
  return 0;
}

std::int64_t ConfigKeys::integer(std::initializer_list<std::string_view> keys,
                                 std::int64_t absent) {
  for (const std::string_view key : keys) {
    if (!has(key)) continue;
    const Value& v = *map_.find(key);
    const auto value = read_integer(v);
    if (!value) {
      refuse(at(place(v, key), value.error()));
      return 0;
    }
    if (*value < 0 || *value > kMostInteger) {
      refuse({ErrorCode::bad_input, "number " + v.scalar_text() + " is out of range", place(v, key),
              "0 to " + std::to_string(kMostInteger)});
      return 0;
    }
    return *value;
  }
  return absent;
}

bool ConfigKeys::flag(std::string_view key, bool absent) {
  if (!has(key)) return absent;
  const Value& v = *map_.find(key);
  const auto value = read_boolean(v);
  if (value) return *value;
  refuse(at(place(v, key), value.error()));
  return absent;
}

std::string ConfigKeys::text(std::string_view key, std::string absent) {
  if (!has(key)) return absent;
  const Value& v = *map_.find(key);
  const auto value = read_text(v);
  if (value) return *value;
  refuse(at(place(v, key), value.error()));
  return absent;
}

Result<void> ConfigKeys::outcome(std::string_view family) const {
  if (!errors_.empty()) return fail(errors_.front());
  if (missing_.empty()) return {};
  std::string names;
  for (const std::string& key : missing_) names += (names.empty() ? "" : ", ") + key;
  return bad_input("config of model type '" + std::string(family) + "' lacks " + names,
                   place(map_, "").substr(0, place(map_, "").find(',')));
}

FeedForwardKind feed_forward_kind(ConfigKeys& keys, const std::string& activation,
                                  FeedForwardGate gate) {
  const bool gelu = activation.rfind("gelu", 0) == 0;
  if (gate == FeedForwardGate::gated) {
    if (activation == "silu" || activation == "swish") return FeedForwardKind::swiglu;
    if (gelu) return FeedForwardKind::geglu;
  } else {
    if (gelu) return FeedForwardKind::gelu;
    if (activation == "relu") return FeedForwardKind::relu;
    if (activation == "relu2") return FeedForwardKind::squared_relu;
  }
  keys.refuse({ErrorCode::unsupported,
               "activation '" + activation + "' is not modelled in this feed-forward", "",
               gate == FeedForwardGate::gated ? "silu or gelu" : "gelu, relu or relu2"});
  return FeedForwardKind::gelu;
}

}  // namespace orrery
