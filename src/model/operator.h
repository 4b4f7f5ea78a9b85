// One operator of a model, with symbolic shapes.
//
// An operator does not know how it will be run. Its dimensions name what they grow with (tokens of
// a microbatch, tokens routed to experts) and along which *logical axis* they may be divided; a
// plan later binds each logical axis to a degree (Binding). From shape and binding follow, per rank
// and microbatch: FLOPs, bytes moved, parameters and the activation bytes kept for the backward
// pass, for forward (F), input gradient (B) and weight gradient (W).
//
// Conventions: one multiply-add is two FLOPs; sizes are per rank; activations are two bytes unless
// a tensor says otherwise (ElementKind).
#pragma once

#include <string_view>
#include <vector>

#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

// Where a dimension may be cut. A plan binds: heads, kv_heads, ffn, vocabulary -> tp; sequence ->
// tp under sequence parallelism (else 1); experts -> ep; expert_ffn -> etp.
enum class LogicalAxis { none, heads, kv_heads, ffn, vocabulary, sequence, experts, expert_ffn };

// What a dimension grows with.
enum class Symbol {
  one,            // a fixed size
  tokens,         // micro_batch * sequence_length / cp: tokens of one microbatch on one rank
  source_tokens,  // the same for the encoder side of an encoder-decoder
  routed_tokens,  // rows that reach this rank's experts, expert_imbalance included: tokens * top_k,
                  // times etp / tp if sequence parallel; `factor` holds top_k
  routed_source_tokens,  // the same on the encoder side
  joint_tokens,          // tokens + source_tokens: both sequences as one
  sequences,             // micro_batch: one row a sequence, whatever its length; the same on all cp
};

struct Dimension {
  double factor = 1;
  Symbol symbol = Symbol::one;
  LogicalAxis axis = LogicalAxis::none;
};

// What a plan makes of the symbols.
struct Binding {
  double micro_batch = 1;      // sequences
  double sequence_length = 1;  // tokens of one sequence, before context parallelism
  double source_length = 0;    // tokens of one encoder sequence (encoder-decoder only)
  int tp = 1;
  int cp = 1;
  int ep = 1;
  int etp = 1;
  bool sequence_parallel = false;
  double expert_imbalance = 1;  // rows on the busiest rank over the mean
  double expert_copies = 1;     // experts that all ranks hold over those of the model
};

// The size of a dimension on one rank; not rounded (a cost model rounds where hardware does).
double size(const Dimension& d, const Binding& b);
// Positions of one whole sequence that a dimension of tokens stands for, before context
// parallelism: factor x its length.
double whole_length(const Dimension& d, const Binding& b);

enum class OperatorKind {
  gemm,           // y[m,n] = x[m,k] w[k,n]
  grouped_gemm,   // `groups` products that share m rows among them; one per local expert
  batched_gemm,   // `groups` products of two activations each, of m, n and k; no weights
  attention,      // softmax(q k^T) v, fused or not as the kernel decides
  elementwise,    // bytes decide: norms, activations, rotary embedding, residual, permutation
  embedding,      // row look-up (F) and scatter-add (W)
  embedding_bag,  // rows of embedding tables looked up and added up (F), updated in place (B)
  cross_entropy,  // softmax and loss over the vocabulary
};

// What an element-wise operator (or the loss) computes; how many kernels do it, and what they read
// and write, is the software's (lower/operator_work.h). `other`: one kernel in any software.
enum class ElementwiseKind {
  other,
  rms_norm,
  layer_norm,
  group_norm,
  convolution_bias,
  gated_activation,
  activation,
  rotary,
  residual,
  modulation,  // scale, shift or gate by a vector of the sequence (adaLN, arXiv 2212.09748 s.3.2)
  loss,
};

// The line of the breakdown an operator's time is booked on.
enum class OperatorClass {
  attention_projection,  // qkv and output products
  attention_core,
  feed_forward,
  experts,
  router,
  normalization,
  elementwise,
  embedding,
  logits,
  loss,
  convolution,
};

enum class ElementKind {
  activation,    // 2 bytes (bf16, fp16)
  gemm_operand,  // input of a product: 2 bytes, or its narrower format under fp8 and below
  fp32,          // 4 bytes
  mask,          // 1 byte
};

// A tensor kept for the backward pass: rows x width elements on one rank.
struct Tensor {
  Dimension rows;
  Dimension width;
  ElementKind element = ElementKind::activation;
};

struct AttentionCore {
  double heads = 0;  // query heads of the whole model (divided along LogicalAxis::heads)
  double kv_heads = 0;
  double query_key_dim = 0;  // per head
  double value_dim = 0;
  double window = 0;     // tokens each query sees at most; 0: all
  bool chunked = false;  // the window lies still: tokens see those of their own piece of it
  bool causal = true;
  bool cross = false;  // keys and values from the encoder (source tokens)
};

// What tensor parallelism must communicate around an operator. `column` operators need the whole
// sequence of their input (all-gather before F, reduce-scatter after B under sequence parallelism;
// all-reduce after B without); `row` operators leave partial sums (reduce-scatter or all-reduce
// after F). `dispatch` and `combine` mark expert all-to-alls. `pooled` marks the operator that
// needs the vectors of embedding tables which other ranks hold. Which collective is used is the
// plan's.
enum class Boundary { none, column, row, dispatch, combine, pooled };

// What a module of a layer reads of the modules before it, whose outputs tensor parallelism sums up:
// all of them; all but the one just before it, which is summed up meanwhile (Ladder Residual, arXiv
// 2501.06589); or, of layers whose parts keep a residual stream of their own on each rank, those of
// the layers before, for attention all but the last of them (Kraken, arXiv 2408.07802). Experts of a
// shortcut read what the layer before has made, while a shared expert reads what attention has made
// of it (ScMoE, arXiv 2404.05019).
enum class Residual { standard, ladder, kraken, shortcut };
// Whether sums of tensor parallelism are needed behind the next module only.
inline bool sums_late(Residual residual) {
  return residual == Residual::ladder || residual == Residual::kraken;
}

// What the embedding tables that one rank holds cost it: of the rank with the most to do where
// ranks differ. Amounts "of a sample" are multiplied by the samples of one rank (`m` of the
// operator), of which there are as many on each of the other ranks that exchange with it.
struct EmbeddingBags {
  Bytes looked_up;         // of a sample: read and written by the forward, indices included
  Bytes updated;           // of a sample: read and written by the backward with its fused optimizer
  Bytes indices;           // of a sample: what the all-to-all of look-ups sends
  Bytes fetched;           // of a sample: rows that the forward reads in memory of the host
  Bytes returned;          // of a sample: rows that the backward writes there
  Seconds stored;          // of a sample: time of disks, of which half is the forward's
  Bytes weights;           // held
  Bytes optimizer_state;   // held beside them
  int divisions = 0;       // kinds of it, each of which the framework works on by itself
  bool prefetched = true;  // look-ups of the next batch travel while this one is worked on
  bool replicated = false;  // ranks of another group hold the same, and average it in every step
};

// Vectors of embedding tables on their way to the ranks of their samples: an all-to-all, or of
// partial sums a reduce-scatter. Gradients travel back the same way (all-to-all, all-gather).
struct VectorExchange {
  // Ranks among which they travel: all that share tables, those of one tower (or node), or the one
  // of each tower at the same place in it.
  enum class Ranks { all, tower, peers };
  Ranks among = Ranks::all;
  bool partial = false;
  double elements = 0;     // of a sample, what enters the exchange
  double forward = 1;      // bytes sent for each byte of vectors
  double backward = 1;     // and of gradients
  Seconds encode, decode;  // of a sample, in a direction in which fewer bytes are sent
};

// What a layer that carries a state along the sequence hands on where ranks have pieces of it
// (lower/carried_states.cc).
struct CarriedState {
  double elements = 0;  // fp32, of one sequence and the whole model
  double columns_in =
      0;  // read by such a layer, of a token, if all tokens of some heads meet on a rank
  double columns_out = 0;
  double apart = 0;  // share of the operator's work that needs no state of another rank
};

struct Operator {
  std::string_view name;  // "attention.qkv"; static storage
  OperatorKind kind = OperatorKind::elementwise;
  OperatorClass op_class = OperatorClass::elementwise;
  Boundary boundary = Boundary::none;

  // gemm, grouped_gemm: m rows in all, n columns out, k in. embedding, cross_entropy: m rows, n
  // vocabulary, k width. attention: m queries and n keys say by their symbol which sequence (tokens,
  // source_tokens or both) each comes from, by their factor which share of its positions.
  Dimension m, n, k;
  Dimension groups;  // grouped_gemm: experts (along LogicalAxis::experts); batched_gemm: products
  int backward_products = 2;  // batched_gemm: of its shape; 3 if its forward is computed again
  AttentionCore attention;
  CarriedState carried;  // of the operator that needs the states of earlier pieces
  EmbeddingBags
      bags;  // embedding_bag, of m samples; weights of a product that a tower's ranks copy
  std::vector<VectorExchange> sends;  // behind its forward; gradients before its backward

  // dispatch, combine: a token's experts are chosen of so many of the groups of experts, the limit of
  // its routing; 0: of all.
  double expert_groups = 0;
  double chosen_groups = 0;

  // elementwise, embedding, cross_entropy: rows x width elements, and how many times an array of
  // that size is read or written by the fused kernel in each direction.
  Dimension rows, width;
  ElementwiseKind elementwise = ElementwiseKind::other;
  double forward_passes = 0;
  double backward_passes = 0;

  double parameters = 0;  // of the whole model, weights and biases
  LogicalAxis parameter_axis = LogicalAxis::none;

  // Tensors the backward pass needs that no earlier operator of the block already keeps. Queries,
  // keys and values are kept by the operator that made them and the attention's output by the
  // product that reads it, so that what an operator of the attention core keeps is exactly what
  // selective recomputation saves.
  std::vector<Tensor> saved;
  // Products of one input that are written as one: gate and up.
  int joined = 1;
  // A convolution is a product of m output positions with k = taps x input channels that is never
  // written out: how many of its products read one element of the input. 9 for 3 x 3, 9/4 if it
  // halves both sides of an image.
  double input_reuse = 1;
  // A product whose input is saved[0]; false if an earlier operator already keeps it.
  bool keeps_input = false;
  // Part of the attention core that "selective" recomputation computes again (arXiv 2205.05198
  // s.5).
  bool in_attention_core = false;
  // Counted in model FLOPs: every matrix product, the router's included, and attention.
  bool counts_in_model_flops = true;
  // After this operator, attention runs along another dimension of the sequence: in a video, from
  // positions of a frame to frames of a position, or back.
  bool turns = false;
  // Its weights are not trained: their gradient is not computed, nor are inputs kept for it.
  bool frozen = false;
  // A low-rank adapter's product: in 16 bits, whatever recipe the layers' own products follow.
  bool adapter = false;
  // Part of a multi-token prediction module: trained, but in no published parameter count.
  bool auxiliary = false;
};

inline bool is_product(const Operator& op) {
  return op.kind == OperatorKind::gemm || op.kind == OperatorKind::grouped_gemm;
}

enum class Phase { forward, input_gradient, weight_gradient };

// FLOPs on one rank of one microbatch. Attention is counted in full (not causal); a gemm's phase is
// 2mnk each; the input gradient of attention and of products of activations is twice their forward
// (no recomputation), their weight gradient zero; so is a frozen product's. Elementwise work counts
// zero.
Flops model_flops(const Operator& op, Phase phase, const Binding& b);

// Parameters of this operator on one rank (before data-parallel sharding).
double parameters_on_rank(const Operator& op, const Binding& b);

// Bytes of the saved tensors on one rank. `operand` is the number format of products.
Bytes saved_bytes(const Operator& op, const Binding& b, NumberFormat operand);

// Bytes the weight gradient of a product needs once its input gradient is computed: the input it
// keeps (not one an earlier operator keeps) and the gradient of its output, whole along the
// sequence. Dense layers of h x 4h: 32 s b h (arXiv 2401.10241 s.2.3). Zero for other operators.
Bytes bytes_for_weight_gradient(const Operator& op, const Binding& b, NumberFormat operand);

}  // namespace orrery
