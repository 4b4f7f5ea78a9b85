#include "lower/block_memory.h"

#include <algorithm>
#include <vector>

#include "lower/recomputed_work.h"

namespace orrery {
namespace {

constexpr double k16Bits = 2;  // bytes; what facts about memory are stated for
constexpr double kFp32 = 4;

// Bytes of one operator of one microbatch on one rank.
struct OperatorMemory {
  double kept = 0;
  double gradients = 0;  // of its output and its input
  double kernel = 0;     // what else its backward needs while it runs
};

class OperatorReader {
 public:
  explicit OperatorReader(const BlockMemorySetting& s)
      : s_(s),
        element_(tensor_element_size(s.precision).value()),
        backward_(passes_of(s.workload).backward) {}

  [[nodiscard]] OperatorMemory read(const Operator& op) const {
    OperatorMemory out;
    out.kept = saved_bytes(op, s_.binding, s_.precision).value();
    switch (op.kind) {
      case OperatorKind::gemm:
        product(op, out);
        break;
      case OperatorKind::grouped_gemm:
        out.gradients = element_ * extent(op.m) * (extent(op.n) + extent(op.k));
        if (!s_.facts.fused_weight_gradients) out.kernel = weight(op);
        if (s_.expert_products == ExpertProducts::scattered && op.name == "experts.up") {
          if (backward_) out.kernel += out.kept;
          out.kept = 0;
        }
        break;
      case OperatorKind::batched_gemm:
        out.gradients =
            element_ * extent(op.groups) *
            (extent(op.m) * (extent(op.k) + extent(op.n)) + extent(op.k) * extent(op.n));
        break;
      case OperatorKind::attention:
        attention(op, out);
        break;
      case OperatorKind::elementwise:
        elementwise(op, out);
        break;
      case OperatorKind::embedding:
        // Autograd's gradient of the whole matrix; no product into which it could be fused.
        out.gradients = op.frozen ? 0 : element_ * extent(op.m) * extent(op.k);
        out.kernel = weight(op);
        break;
      case OperatorKind::embedding_bag:
        // What is sent and what is received, of summed vectors or of their gradients.
        for (const VectorExchange& e : op.sends) {
          out.gradients += element_ * extent(op.m) * e.elements * (e.partial ? 1 : 2);
        }
        break;
      case OperatorKind::cross_entropy: {
        const LossBytes& loss = bytes_of(s_.facts.loss);
        const double logits = extent(op.m) * (loss.gathers_all ? op.n.factor : extent(op.n));
        // The table counts logits of 16 bits; of those gathered there are two copies.
        const double wider = element_ - k16Bits;
        const double peak = (s_.binding.tp > 1 ? loss.sharded_peak : loss.peak) +
                            (loss.gathers_all ? 2 : 1) * wider;
        out.kept = (loss.kept + wider) * logits;
        out.gradients = peak * logits - out.kept;
        break;
      }
    }
    if (const double tiles = tiles_of(op, s_.tiles); tiles > 1) tile(op, tiles, out);
    return out;
  }

  // Of an operator that works through its rows in tiles: what of it exists for one tile only.
  void tile(const Operator& op, double tiles, OperatorMemory& out) const {
    const double input = element_ * extent(op.m) * extent(op.k);
    const double result = element_ * extent(op.m) * extent(op.n);
    if (!is_product(op)) {
      out.kernel += out.kept / tiles;
      out.kept = 0;
      out.gradients /= tiles;
    } else if (in_tiled_mlp(op, s_.tiles)) {
      const bool up = op.name == "feed_forward.up";
      const double kept = up && op.keeps_input ? std::min(out.kept, input) : 0;
      out.kernel += (out.kept - kept) / tiles;
      out.kept = kept;
      out.gradients = up ? input + result / tiles : input / tiles + result;
    } else {
      // The gradient of the hidden states is there before the backward begins.
      out.kept += backward_ ? input : 0;
      out.gradients = input + result / tiles;
    }
  }

  // One tensor of the shape of this operator's weight, for its gradient.
  [[nodiscard]] double weight(const Operator& op) const {
    return op.frozen || !backward_ ? 0 : element_ * extent(op.n) * extent(op.k);
  }

 private:
  [[nodiscard]] double extent(const Dimension& d) const { return size(d, s_.binding); }

  void product(const Operator& op, OperatorMemory& out) const {
    const Binding& b = s_.binding;
    const double in = element_ * extent(op.m) * extent(op.k) / op.input_reuse;
    const double result = element_ * extent(op.m) * extent(op.n);
    out.gradients = in + result;
    if (!s_.facts.fused_weight_gradients) out.kernel += weight(op);
    if (b.sequence_parallel && op.boundary == Boundary::column) {
      if (s_.facts.keeps_gathered_input) {
        out.kept += op.saved.empty() ? 0 : in - in / b.tp;
      } else if (backward_) {
        out.kernel += in;  // gathered for the weight gradient
      }
      out.kernel += in / b.tp;  // the reduced piece of the input gradient
    }
    if (b.sequence_parallel && op.boundary == Boundary::row) out.kernel += result / b.tp;
    // The input of the product behind attention is attention's own output, once or copied.
    if (op.op_class == OperatorClass::attention_projection && op.boundary != Boundary::column &&
        op.k.axis == LogicalAxis::heads) {
      out.kept *= s_.attention_outputs;
    }
  }

  void attention(const Operator& op, OperatorMemory& out) const {
    const Binding& b = s_.binding;
    const AttentionCore& a = op.attention;
    const double rows = extent(op.m);
    const double keys = whole_length(op.n, b);
    const double query = rows * a.heads * a.query_key_dim / b.tp;
    const double key_value = rows * a.kv_heads * (a.query_key_dim + a.value_dim) / b.tp;
    const double result = rows * a.heads * a.value_dim / b.tp;
    out.gradients = element_ * (query + key_value + result);
    if (s_.attention == AttentionKernel::unfused) {
      const double scores = rows * keys * a.heads / b.tp;
      out.kept += s_.facts.score_bytes * (element_ / k16Bits) * scores;
      out.kernel = 2 * element_ * scores;  // gradients of probabilities and scores
    } else {
      if (backward_) out.kernel = kFp32 * query;
      // Attention keeps the output with all tokens of some heads, the product behind it with all
      // heads of some tokens.
      if (s_.exchanges_heads) out.kept += element_ * result;
    }
    if (s_.exchanges_heads) {
      // Behind the kernel the gradients of queries, keys and values are copied and received.
      out.kernel = std::max(out.kernel, 2 * element_ * (query + key_value));
    }
  }

  void elementwise(const Operator& op, OperatorMemory& out) const {
    const double elements = extent(op.rows) * extent(op.width);
    const double kept = out.kept;
    if (op.op_class == OperatorClass::normalization) {
      out.kept *= s_.facts.norm_kept_bytes / k16Bits;
    } else if (op.name.ends_with(".residual")) {
      out.kept += s_.facts.residual_mask_bytes * elements;
    } else if (s_.facts.gate >= Gate::apart && kept > 1.5 * element_ * elements) {
      out.kept += element_ * elements;  // keeps gate and up: also the activated gate
    }
    if (s_.facts.gate == Gate::narrow && op.elementwise == ElementwiseKind::gated_activation) {
      out.kept *= std::min(1.0, element_size(s_.precision).value() / element_);
    }
    out.gradients = element_ * elements + std::max(kept, element_ * elements);
  }

  const BlockMemorySetting& s_;
  double element_;  // bytes of one of activations, weights and their gradients
  bool backward_;
};

double element_of(const BlockMemorySetting& setting) {
  return tensor_element_size(setting.precision).value();
}

// One element a token and channel, sharded as the sequence is.
double block_input(const Block& block, const BlockMemorySetting& setting) {
  if (block.operators.empty()) return 0;
  const Operator& first = block.operators.front();
  // A block that does not begin with a norm begins with the product of its branch.
  Dimension rows = is_product(first) ? first.m : first.rows;
  if (is_product(first)) rows.axis = LogicalAxis::sequence;
  return element_of(setting) * size(rows, setting.binding) *
         (block.input_width > 0 ? block.input_width : setting.hidden);
}

// The input that a product keeps, without what else it keeps of its results.
double kept_input(const Operator& op, const BlockMemorySetting& setting) {
  if (op.saved.empty() || !op.keeps_input) return 0;
  Operator input = op;
  input.saved.resize(1);
  return saved_bytes(input, setting.binding, setting.precision).value();
}

// Of the `kept` bytes of an operator, those that selective recomputation discards.
double discarded_bytes(const Operator& op, Discarded what, const BlockMemorySetting& setting,
                       double kept) {
  switch (what) {
    case Discarded::nothing:
      return 0;
    case Discarded::input:
      return kept_input(op, setting);
    case Discarded::all_but_input:
      return kept - kept_input(op, setting);
    case Discarded::all:
      return kept;
  }
  return 0;
}

// Under Recompute::alternate: the input of the block, what attention and the kept products return,
// and 4 bytes a query and head, by which fused attention's backward normalises.
double kept_results(const Block& block, const BlockMemorySetting& setting) {
  const Binding& b = setting.binding;
  const std::vector<RecomputedOperator> again =
      recomputed_work(block, {Recompute::alternate, {}, block.operators.size()});
  double out = block_input(block, setting);
  for (std::size_t i = 0; i < block.operators.size(); ++i) {
    const Operator& op = block.operators[i];
    if (op.kind == OperatorKind::attention) {
      const AttentionCore& a = op.attention;
      out += size(op.m, b) * a.heads / b.tp * (element_of(setting) * a.value_dim + kFp32);
    } else if (op.kind == OperatorKind::gemm) {
      const bool scattered = b.sequence_parallel && op.boundary == Boundary::row;
      const double result = element_of(setting) * size(op.m, b) * size(op.n, b);
      // Behind a product whose result is reduced and scattered, the piece is kept instead.
      out += scattered ? result / b.tp : result * (1 - again[i].share);
    }
  }
  return out;
}

// Of a block that no backward follows.
BlockMemory forward_memory(const Block& block, const BlockMemorySetting& setting) {
  const OperatorReader reader(setting);
  double most = 0;
  for (const Operator& op : block.operators) {
    const OperatorMemory memory = reader.read(op);
    const bool loss = op.kind == OperatorKind::cross_entropy;
    most = std::max(most, memory.gradients + memory.kernel + (loss ? memory.kept : 0));
  }
  BlockMemory out;
  out.working = Bytes(block_input(block, setting) + most);
  return out;
}

}  // namespace

BlockMemory block_memory(const Block& block, const BlockMemorySetting& setting,
                         Recompute recompute) {
  if (!passes_of(setting.workload).backward) return forward_memory(block, setting);
  const OperatorReader reader(setting);
  const std::size_t count = block.operators.size();
  const bool whole = recompute == Recompute::full || recompute == Recompute::alternate;
  const std::vector<RecomputedOperator> work =
      recomputed_work(block, {recompute, setting.modules, count});
  // Made again before the backward of each operator begins.
  std::vector<double> restored(count, 0.0);
  double kept = 0;
  double again = 0;
  double attention_weights = 0;
  double other_weights = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Operator& op = block.operators[i];
    const double bytes = reader.read(op).kept;
    const double part = recompute == Recompute::full
                            ? bytes
                            : discarded_bytes(op, work[i].discarded, setting, bytes);
    if (!whole) restored[work[i].before] += part;
    again += part;
    kept += bytes - part;
    if (is_product(op)) {
      (op.op_class == OperatorClass::attention_projection ? attention_weights : other_weights) +=
          reader.weight(op);
    }
  }
  BlockMemory out;
  if (recompute == Recompute::full) kept = block_input(block, setting);
  if (recompute == Recompute::alternate) {
    const double all = kept + again;
    kept = std::min(all, kept_results(block, setting));
    again = all - kept;
  }
  out.saved = Bytes(kept);

  // A whole block is computed again before its backward begins, a part of it when its turn comes.
  double extra = whole ? again : 0;
  double most = 0;
  for (std::size_t i = count; i-- > 0;) {
    const Operator& op = block.operators[i];
    const OperatorMemory memory = reader.read(op);
    extra += restored[i];
    most = std::max(most, extra + memory.gradients + memory.kernel);
    extra -= memory.kept;
  }
  out.working = Bytes(most);
  out.recomputed = Bytes(std::min(again, most));
  if (setting.facts.weight_gradient_placeholders) {
    out.attention_placeholders = Bytes(attention_weights);
    out.other_placeholders = Bytes(other_weights);
  }
  return out;
}

}  // namespace orrery
