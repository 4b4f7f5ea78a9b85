#include "measured/architecture_of_row.h"

#include <algorithm>
#include <utility>

#include "model/transformer/transformer.h"

namespace orrery {
namespace {

void apply_blocks(const MeasuredRow& row, const BlockConvention& blocks, RowArchitecture& out) {
  Architecture& a = out.architecture;
  a.family = blocks.family;
  a.norm = blocks.norm;
  a.position_encoding = blocks.position_encoding;
  // Learned positions are as many as the sequence has tokens (--max-position-embeddings).
  if (a.position_encoding == PositionEncoding::learned) a.max_position = row.seq_len.value_or(0);
  a.linear_bias = blocks.linear_bias;
  a.tie_embeddings = blocks.tie_embeddings && row.tie_embeddings != "no";
  out.assumed.push_back(blocks.words + (a.tie_embeddings ? ", tied embeddings" : ""));
}

// The vocabulary as Megatron-LM pads it (--make-vocab-size-divisible-by, times tp).
void pad_vocabulary(const MeasuredRow& row, std::int64_t multiple, RowArchitecture& out) {
  constexpr std::int64_t kLargest = 1'000'000'000;
  const std::int64_t tp = row.tp.value_or(1);
  std::int64_t& vocab = out.architecture.vocab;
  if (tp > kLargest || vocab > kLargest || vocab % (multiple * tp) == 0) return;
  const std::int64_t padded = (vocab + multiple * tp - 1) / (multiple * tp) * (multiple * tp);
  out.assumed.push_back("vocabulary " + std::to_string(vocab) + " padded to " +
                        std::to_string(padded) + ", a multiple of " + std::to_string(multiple) +
                        " x tp, as Megatron-LM does");
  vocab = padded;
}

Expressible<RowArchitecture> base_of(const MeasuredRow& row, const BlockConvention& blocks,
                                     const Catalog& catalog) {
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
  apply_blocks(row, blocks, out);
  return out;
}

}  // namespace

Expressible<RowArchitecture> architecture_of_row(const MeasuredRow& row,
                                                 const RunConvention& convention,
                                                 const Catalog& catalog) {
  auto base = base_of(row, convention.blocks, catalog);
  if (!base) return skip(base.error().because);
  RowArchitecture out = std::move(*base);
  Architecture& a = out.architecture;
  a.name = row.model.empty() ? row.row_id : row.model;

  const auto take = [](std::int64_t& member, const std::optional<std::int64_t>& cell) {
    if (cell) member = *cell;
  };
  const bool cut_down = row.num_layers.value_or(a.num_layers) < a.num_layers;
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
    take(a.moe->first_dense_layers, row.dense_layers);
    a.moe->first_dense_layers = std::min(a.moe->first_dense_layers, a.num_layers);
  }
  if (a.num_multi_token_prediction > 0) {
    const std::string& heads = row.mtp;
    if (heads == "off" || cut_down) {
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
  if (convention.vocab_multiple > 0) pad_vocabulary(row, convention.vocab_multiple, out);

  std::string unknown;
  for (const auto& [name, value] : {std::pair{"num_layers", a.num_layers},
                                    {"hidden", a.hidden},
                                    {"num_heads", a.num_heads},
                                    {"ffn_hidden", a.ffn_hidden},
                                    {"vocab", a.vocab}}) {
    if (value == 0) unknown += (unknown.empty() ? "" : ", ") + std::string(name);
  }
  if (!unknown.empty()) return skip("the source does not state: " + unknown);
  if (row.norm_kernel == "unfused") {
    out.assumed.push_back("norms modelled as fused kernels, though the source ran unfused ones");
  }
  if (row.compile == "off") {
    out.assumed.push_back(
        "element-wise kernels modelled as fused, though the source did not "
        "compile");
  }
  a = completed(std::move(a));
  return out;
}

}  // namespace orrery
