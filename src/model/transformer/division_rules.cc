#include "model/transformer/division_rules.h"

#include <fmt/core.h>

#include "model/transformer/transformer.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

using Broken = std::optional<std::string>;

// Not with latent attention, whose heads are all query heads.
bool copies_key_value_heads(const Architecture& a, std::int64_t tp) {
  const std::int64_t heads = a.num_kv_heads;
  return has_attention(a) && !a.latent_attention && heads > 0 && tp > heads && tp % heads == 0;
}

Broken attention_heads(const Architecture& a, const Division& d) {
  if (!has_attention(a) || a.num_heads % d.tp == 0) return {};
  return fmt::format("tp {} does not divide {} attention heads", d.tp, a.num_heads);
}

Broken key_value_heads(const Architecture& a, const Division& d) {
  if (!has_attention(a) || a.latent_attention || a.num_kv_heads == 0 ||
      a.num_kv_heads % d.tp == 0 || copies_key_value_heads(a, d.tp)) {
    return {};
  }
  return fmt::format(
      "tp {} and {} key-value heads: neither divides the other, so that heads would be split", d.tp,
      a.num_kv_heads);
}

Broken feed_forward_width(const Architecture& a, const Division& d) {
  if (a.ffn_hidden == 0 || a.ffn_hidden % d.tp == 0) return {};
  return fmt::format("tp {} does not divide the feed-forward width {}", d.tp, a.ffn_hidden);
}

Broken exchanged_heads(const Architecture& a, const Division& d) {
  return exchanged_heads_problem(d, a.num_heads, a.latent_attention ? a.num_heads : a.num_kv_heads);
}

// Megatron-Core divides heads and groups of Mamba-2 (megatron/core/ssm/mamba_mixer.py). Channels of
// Mamba belong to no heads.
Broken state_heads(const Architecture& a, const Division& d) {
  const std::int64_t ranks = d.tp * d.head_ranks;
  const std::string who =
      d.head_ranks == 1 ? fmt::format("tp {}", d.tp)
                        : fmt::format("tp {} x {} ranks that exchange heads", d.tp, d.head_ranks);
  const char* instead =
      d.head_ranks == 1 ? "" : "; context_parallel=all-gather hands states on instead";
  if (a.state_space) {
    const StateSpace& s = *a.state_space;
    if (s.heads > 0 && (s.heads % ranks != 0 || s.groups % ranks != 0)) {
      return fmt::format("{} does not divide {} state-space heads in {} groups{}", who, s.heads,
                         s.groups, instead);
    }
    if (s.inner % ranks != 0) {
      return fmt::format("{} does not divide {} state-space channels{}", who, s.inner, instead);
    }
  }
  if (a.gated_delta && a.gated_delta->key_heads % ranks != 0) {
    return fmt::format("{} does not divide {} key heads of the gated delta rule{}", who,
                       a.gated_delta->key_heads, instead);
  }
  return {};
}

Broken attention_chunks(const Architecture& a, const Division& d) {
  if (!a.chunked_attention || a.sliding_window == 0 || d.sequence_length <= a.sliding_window) {
    return {};
  }
  if (d.cp > 1) {
    return fmt::format(
        "cp {}: attention in chunks of {} tokens is not modelled in pieces of a sequence of {}; "
        "use cp 1",
        d.cp, a.sliding_window, d.sequence_length);
  }
  if (d.sequence_length % a.sliding_window == 0) return {};
  return fmt::format("a sequence of {} tokens is not a multiple of the attention's chunk of {}",
                     d.sequence_length, a.sliding_window);
}

Broken sequence(const Architecture&, const Division& d) {
  const std::int64_t pieces = d.cp * (d.sequence_parallel ? d.tp : 1);
  if (d.sequence_length % pieces != 0) {
    return fmt::format(
        "cp {} and sequence parallelism over tp {} do not divide the sequence of {} tokens", d.cp,
        d.tp, d.sequence_length);
  }
  if (d.cp == 1 || d.sequence_length % (2 * d.cp) == 0) return {};
  return fmt::format(
      "cp {} cuts a sequence into {} pieces to balance causal attention; {} tokens are not a "
      "multiple",
      d.cp, 2 * d.cp, d.sequence_length);
}

Broken experts(const Architecture& a, const Division& d) {
  if (!a.moe) {
    if (d.ep == 1) return {};
    return fmt::format("ep {} needs experts; {} has none", d.ep, a.name);
  }
  if (a.moe->num_experts % d.ep == 0) return {};
  return fmt::format("ep {} does not divide {} experts", d.ep, a.moe->num_experts);
}

Broken expert_width(const Architecture& a, const Division& d) {
  if (!a.moe || a.moe->expert_ffn % d.etp == 0) return {};
  return fmt::format("etp {} does not divide the expert width {}", d.etp, a.moe->expert_ffn);
}

Broken memory_values(const Architecture& a, const Division& d) {
  if (!a.memory || a.memory->value_dim % d.tp == 0) return {};
  return fmt::format("tp {} does not divide the values of a memory, {} elements each", d.tp,
                     a.memory->value_dim);
}

constexpr TransformerDivisionRule kRules[] = {
    {"attention heads", attention_heads},
    {"key-value heads", key_value_heads},
    {"feed-forward width", feed_forward_width},
    {"exchanged heads", exchanged_heads},
    {"state heads", state_heads},
    {"attention chunks", attention_chunks},
    {"sequence", sequence},
    {"experts", experts},
    {"expert width", expert_width},
    {"memory values", memory_values},
};

}  // namespace

std::span<const TransformerDivisionRule> transformer_division_rules() { return kRules; }

std::vector<std::string> transformer_division_problems(const Model& model, const Division& d) {
  std::vector<std::string> out;
  for (const TransformerDivisionRule& rule : kRules) {
    if (Broken reason = rule.broken(*architecture_of(model), d)) out.push_back(std::move(*reason));
  }
  return out;
}

std::optional<Model> with_copied_heads(const Model& model, const Division& d) {
  if (!copies_key_value_heads(*architecture_of(model), d.tp)) return std::nullopt;
  Architecture a = *architecture_of(model);
  a.num_kv_heads = d.tp;
  a.attention = a.num_heads == d.tp ? AttentionKind::mha : AttentionKind::gqa;
  Result<Model> copied = build_model(a);
  ORRERY_INVARIANT(copied.has_value());
  return std::move(*copied);
}

std::string copied_heads(const Model& model, std::int64_t tp) {
  const Architecture& a = *architecture_of(model);
  if (!copies_key_value_heads(a, tp)) return "";
  return fmt::format("each of {} key-value heads is held by {} tensor-parallel ranks",
                     a.num_kv_heads, tp / a.num_kv_heads);
}

}  // namespace orrery
