#include "validate/architecture_of_row.h"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

bool starts_with_any(const std::string& text, std::initializer_list<std::string_view> heads) {
  return std::any_of(heads.begin(), heads.end(),
                     [&](std::string_view head) { return text.starts_with(head); });
}

// What a family has besides its dimensions.
void apply_family(const MeasuredRow& row, RowArchitecture& out) {
  Architecture& a = out.architecture;
  if (a.ffn == FeedForwardKind::swiglu || a.ffn == FeedForwardKind::geglu) {
    a.family = "llama";
    a.norm = NormKind::rmsnorm;
    a.position_encoding = PositionEncoding::rope;
    out.assumed.push_back("LLaMA blocks: RMSNorm, rotary positions, no biases, untied embeddings");
    return;
  }
  a.norm = NormKind::layernorm;
  if (a.ffn == FeedForwardKind::squared_relu) {  // arXiv 2402.16819 s.2
    a.family = "nemotron";
    a.position_encoding = PositionEncoding::rope;
    out.assumed.push_back(
        "Nemotron-4 blocks: LayerNorm, rotary positions, no biases, untied "
        "embeddings");
    return;
  }
  if (starts_with_any(row.model, {"MPT"})) {  // llm-foundry scripts/train/yamls/pretrain
    a.family = "mpt";
    a.position_encoding = PositionEncoding::alibi;
    a.tie_embeddings = true;
    out.assumed.push_back("MPT blocks: LayerNorm, ALiBi, no biases, tied embeddings");
    return;
  }
  a.family = "gpt";
  a.position_encoding = PositionEncoding::learned;
  a.max_position = row.seq_len.value_or(0);  // --max-position-embeddings is the sequence length
  a.linear_bias = true;
  a.tie_embeddings = row.notes.find("untied embeddings") == std::string::npos;
  out.assumed.push_back(std::string("GPT-2 blocks as in Megatron-LM: LayerNorm, learned positions, "
                                    "biases") +
                        (a.tie_embeddings ? ", tied embeddings" : ""));
}

// The value of a key of the row's `variant`, or nothing.
std::string variant(const MeasuredRow& row, std::string_view key) {
  const std::string text = " " + row.variant + " ";
  const auto at = text.find(" " + std::string(key) + "=");
  if (at == std::string::npos) return "";
  const auto value = at + key.size() + 2;
  return text.substr(value, text.find(' ', value) - value);
}

// The vocabulary as Megatron-LM pads it (--make-vocab-size-divisible-by, default 128, times tp).
void pad_vocabulary(const MeasuredRow& row, RowArchitecture& out) {
  constexpr std::int64_t kMultiple = 128;
  constexpr std::int64_t kLargest = 1'000'000'000;
  const std::int64_t tp = row.tp.value_or(1);
  std::int64_t& vocab = out.architecture.vocab;
  if (tp > kLargest || vocab > kLargest || vocab % (kMultiple * tp) == 0) return;
  const std::int64_t padded = (vocab + kMultiple * tp - 1) / (kMultiple * tp) * (kMultiple * tp);
  out.assumed.push_back("vocabulary " + std::to_string(vocab) + " padded to " +
                        std::to_string(padded) + ", a multiple of 128 x tp, as Megatron-LM does");
  vocab = padded;
}

Expressible<RowArchitecture> base_of(const MeasuredRow& row, const Catalog& catalog) {
  RowArchitecture out;
  if (!row.catalog_model.empty()) {
    auto document = catalog.find("models", row.catalog_model);
    if (!document) return skip("the model: " + document.error().text());
    auto architecture = read_architecture(*document);
    if (!architecture) return skip("the model: " + architecture.error().text());
    out.architecture = std::move(*architecture);
    return out;
  }
  if (row.num_experts) {
    return skip(
        "a mixture of experts without a catalog entry: its shared experts and dense layers "
        "are not in the columns");
  }
  std::string kind = row.ffn_kind;
  std::replace(kind.begin(), kind.end(), '-', '_');
  auto ffn = parse_enum<FeedForwardKind>(kind);
  if (!ffn) return skip("feed-forward kind '" + row.ffn_kind + "' is not modelled");
  out.architecture.ffn = *ffn;
  apply_family(row, out);
  return out;
}

}  // namespace

Expressible<RowArchitecture> architecture_of_row(const MeasuredRow& row,
                                                 const RunConvention& convention,
                                                 const Catalog& catalog) {
  auto base = base_of(row, catalog);
  if (!base) return skip(base.error().because);
  RowArchitecture out = std::move(*base);
  Architecture& a = out.architecture;
  a.name = row.model.empty() ? row.row_id : row.model;

  const auto take = [](std::int64_t& member, const std::optional<std::int64_t>& cell) {
    if (cell) member = *cell;
  };
  take(a.num_layers, row.num_layers);
  take(a.hidden, row.hidden);
  take(a.ffn_hidden, row.ffn_hidden);
  take(a.vocab, row.vocab);
  // Latent attention has head sizes of its own.
  if (!a.latent_attention) {
    if (row.num_heads && *row.num_heads != a.num_heads) {
      // Another head count at the same width: another head size.
      a.head_dim = 0;
      a.attention.reset();
    }
    take(a.num_heads, row.num_heads);
    take(a.num_kv_heads, row.num_kv_heads);
    take(a.head_dim, row.head_dim);
  }
  if (a.moe) {
    take(a.moe->num_experts, row.num_experts);
    take(a.moe->top_k, row.top_k);
    take(a.moe->expert_ffn, row.expert_ffn);
    if (const auto at = row.notes.find("dense_layers="); at != std::string::npos) {
      const char digit = row.notes.substr(at + 13, 1).front();
      if (digit >= '0' && digit <= '9') a.moe->first_dense_layers = digit - '0';
    } else if (row.source_id == "simumax-b200" && row.num_layers &&
               a.moe->first_dense_layers >= *row.num_layers) {
      a.moe->first_dense_layers = 1;
    }
    a.moe->first_dense_layers = std::min(a.moe->first_dense_layers, a.num_layers);
  }
  if (a.num_multi_token_prediction > 0) {
    const std::string heads = variant(row, "mtp");
    const bool proxy = row.num_layers && row.model.find("-L") != std::string::npos;
    if (heads == "off" || proxy) {
      a.num_multi_token_prediction = 0;
      if (heads.empty()) out.assumed.push_back("no multi-token prediction in a cut-down model");
    } else {
      out.assumed.push_back("multi-token prediction trained, as in the published model");
    }
  }
  if (a.vocab == 0 && convention.vocab > 0) {
    a.vocab = convention.vocab;
    out.assumed.push_back("vocabulary " + std::to_string(a.vocab) +
                          ": validation/measured/README.md");
  }
  if (convention.padding == VocabularyPadding::megatron) pad_vocabulary(row, out);

  std::string unknown;
  for (const auto& [name, value] : {std::pair{"num_layers", a.num_layers},
                                    {"hidden", a.hidden},
                                    {"num_heads", a.num_heads},
                                    {"ffn_hidden", a.ffn_hidden},
                                    {"vocab", a.vocab}}) {
    if (value == 0) unknown += (unknown.empty() ? "" : ", ") + std::string(name);
  }
  if (!unknown.empty()) return skip("the source does not state: " + unknown);
  if (variant(row, "norm_kernel") == "unfused") {
    out.assumed.push_back("norms modelled as fused kernels, though the source ran unfused ones");
  }
  if (variant(row, "compile") == "off") {
    out.assumed.push_back(
        "element-wise kernels modelled as fused, though the source did not "
        "compile");
  }
  a = completed(std::move(a));
  return out;
}

}  // namespace orrery
