#include "model/transformer/blocks.h"

namespace orrery {

Dimension BlockWriter::stream_rows() const {
  return {1, kind_.encoder ? Symbol::source_tokens : Symbol::tokens, LogicalAxis::sequence};
}

Dimension BlockWriter::whole_rows() const {
  return {1, kind_.encoder ? Symbol::source_tokens : Symbol::tokens, LogicalAxis::none};
}

Dimension BlockWriter::routed_rows() const {
  return {static_cast<double>(a_.moe->top_k),
          kind_.encoder ? Symbol::routed_source_tokens : Symbol::routed_tokens, LogicalAxis::none};
}

ElementwiseKind BlockWriter::norm_kind() const {
  const bool layer = a_.norm == NormKind::layernorm || a_.norm == NormKind::layernorm_scale ||
                     a_.norm == NormKind::layernorm_plain;
  return layer ? ElementwiseKind::layer_norm : ElementwiseKind::rms_norm;
}

double BlockWriter::norm_parameters() const {
  if (a_.norm == NormKind::layernorm_plain) return 0;
  return static_cast<double>(a_.hidden) * (a_.norm == NormKind::layernorm ? 2 : 1);
}

std::vector<Operator> BlockWriter::take() {
  std::vector<Operator> out = LayerWriter::take();
  for (Operator& op : out) op.auxiliary = kind_.auxiliary;
  return out;
}

Operator& BlockWriter::gemm(std::string_view name, OperatorClass op_class, Boundary boundary,
                            Dimension n, Dimension k, double parameters, Input input) {
  // Without a boundary the product is not divided by columns or rows: it works on its own piece of
  // the sequence, unless it shares the gathered input (or the reduction) of another product.
  const bool divided = n.axis != LogicalAxis::none || k.axis != LogicalAxis::none;
  Operator& op = product({.name = name,
                          .op_class = op_class,
                          .boundary = boundary,
                          .rows = divided ? whole_rows() : stream_rows(),
                          .n = n,
                          .k = k,
                          .shares_input = input == Input::shared});
  op.parameters = parameters;
  return op;
}

Operator& BlockWriter::grouped_gemm(std::string_view name, Dimension n, Dimension k,
                                    double parameters) {
  return grouped_product(name, routed_rows(), n, k,
                         fixed(static_cast<double>(a_.moe->num_experts), LogicalAxis::experts),
                         parameters);
}

// Forward reads x and writes y; backward reads x and dy and writes dx.
void BlockWriter::norm(std::string_view name, Dimension rows) {
  norm(name, rows, fixed(static_cast<double>(a_.hidden)), norm_parameters());
}

void BlockWriter::norm(std::string_view name, Dimension rows, Dimension width, double parameters) {
  Operator& op = elementwise(name, OperatorClass::normalization, rows, width, 2, 3);
  op.elementwise = norm_kind();
  op.parameters = parameters;
  op.saved = {{rows, width, ElementKind::activation}};
}

void BlockWriter::activation(std::string_view name, OperatorClass op_class, Dimension rows,
                             Dimension inner, Dimension up) {
  const double gate = up.factor / inner.factor;
  Operator& op = elementwise(name, op_class, rows, inner, gate + 1, 2 * gate + 1);
  op.elementwise = gate > 1 ? ElementwiseKind::gated_activation : ElementwiseKind::activation;
  op.saved = {{rows, up, ElementKind::activation}};
}

// y = x + sum of the branches: reads each, writes one; backward adds as many gradients.
void BlockWriter::residual(std::string_view name, double inputs) {
  elementwise(name, OperatorClass::elementwise, stream_rows(),
              fixed(static_cast<double>(a_.hidden)), inputs + 1, inputs + 1)
      .elementwise = ElementwiseKind::residual;
}

void BlockWriter::layer() {
  if (kind_.begin == LayerKind::Begin::layer) mix();
  if (kind_.begin != LayerKind::Begin::own) feed_forward_part(FeedForwardPart::dense);
  if (kind_.mixer != Mixer::none) mix();
  if (kind_.cross) {
    norm("cross_attention.norm", stream_rows());
    cross_attention();
    residual("cross_attention.residual", 2);
  }
  if (kind_.feed_forward != FeedForwardPart::none) feed_forward_part(kind_.feed_forward);
  if (kind_.final_norm) {
    norm("encoder.final_norm", stream_rows());
    // The encoder's output, read by the cross-attention of all decoder layers.
    last().saved.push_back(
        {stream_rows(), fixed(static_cast<double>(a_.hidden)), ElementKind::gemm_operand});
  }
}

void BlockWriter::feed_forward_part(FeedForwardPart part) {
  if (norms_before() && (!a_.parallel_block || a_.parallel_norms == 2)) {
    norm("feed_forward.norm", stream_rows());
  }
  if (part == FeedForwardPart::experts) {
    experts();
  } else if (part == FeedForwardPart::memory) {
    memory();
  } else {
    feed_forward();
  }
  if (norms_behind()) norm("feed_forward.post_norm", stream_rows());
  // In a parallel block the partial sums of both branches are added before the one reduction.
  residual("feed_forward.residual", 2);
}

void BlockWriter::mix() {
  const bool state_space_layer = kind_.mixer == Mixer::state_space;
  const bool attends = !state_space_layer && kind_.mixer != Mixer::gated_delta;
  const auto name = [&](std::string_view attention, std::string_view state,
                        std::string_view delta) {
    return attends ? attention : state_space_layer ? state : delta;
  };
  if (norms_before()) {
    norm(name("attention.norm", "state_space.norm", "gated_delta.norm"), stream_rows());
  }
  if (attends) {
    self_attention();
  } else if (state_space_layer) {
    state_space();
  } else {
    gated_delta();
  }
  if (norms_behind()) {
    norm(name("attention.post_norm", "state_space.post_norm", "gated_delta.post_norm"),
         stream_rows());
  }
  if (a_.parallel_block) return;
  residual(name("attention.residual", "state_space.residual", "gated_delta.residual"), 2);
}

void BlockWriter::feed_forward() {
  const double h = static_cast<double>(a_.hidden);
  const double f = static_cast<double>(a_.ffn_hidden);
  const double gate = is_gated(a_.ffn) ? 2 : 1;
  const Dimension inner = fixed(f, LogicalAxis::ffn);
  const Dimension up = fixed(gate * f, LogicalAxis::ffn);
  const double bias = a_.feed_forward_bias || a_.linear_bias ? 1 : 0;
  const bool shared = a_.parallel_block && a_.parallel_norms == 1;
  gemm("feed_forward.up", OperatorClass::feed_forward, shared ? Boundary::none : Boundary::column,
       up, fixed(h), (h + bias) * gate * f, shared ? Input::shared : Input::kept)
      .joined = static_cast<int>(gate);
  // Gated: reads gate and up, writes one; backward reads them and dy, writes two.
  activation("feed_forward.activation", OperatorClass::elementwise, whole_rows(), inner, up);
  gemm("feed_forward.down", OperatorClass::feed_forward, Boundary::row, fixed(h), inner,
       (f + bias) * h);
}

// Routing probabilities multiply the activation, as in Megatron Core: the experts' outputs need not
// be kept to weigh them. Expert products have no biases.
void BlockWriter::experts() {
  const MixtureOfExperts& moe = *a_.moe;
  const double h = static_cast<double>(a_.hidden);
  const double f = static_cast<double>(moe.expert_ffn);
  const double experts = static_cast<double>(moe.num_experts);
  const double gate = is_gated(moe.ffn.value_or(a_.ffn)) ? 2 : 1;
  const Dimension inner = fixed(f, LogicalAxis::expert_ffn);
  const Dimension up = fixed(gate * f, LogicalAxis::expert_ffn);
  const Dimension width = fixed(h);

  // What attention has not read yet, normed by itself.
  if (a_.residual == Residual::shortcut) norm("experts.norm", stream_rows());
  Operator& router = gemm("router", OperatorClass::router, Boundary::none, fixed(experts), width,
                          h * experts + (moe.shared_expert_gate ? h : 0));
  router.saved.push_back({stream_rows(), fixed(experts), ElementKind::fp32});
  // Each permutation reads a row and writes it.
  const auto exchange = [&](std::string_view name, double passes, Boundary boundary) {
    Operator& op = elementwise(name, OperatorClass::experts, routed_rows(), width, passes, passes);
    op.boundary = boundary;
    op.expert_groups = static_cast<double>(moe.num_groups);
    op.chosen_groups = static_cast<double>(moe.top_groups);
  };
  exchange("experts.dispatch", 2, Boundary::dispatch);
  grouped_gemm("experts.up", up, width, h * gate * f).joined = static_cast<int>(gate);
  activation("experts.activation", OperatorClass::experts, routed_rows(), inner, up);
  grouped_gemm("experts.down", width, inner, f * h);
  // Reads the top_k rows of a token, writes their sum.
  const double combine = 1 + 1 / static_cast<double>(moe.top_k);
  exchange("experts.combine", combine, Boundary::combine);
  if (moe.shared_ffn > 0) shared_expert();
}

void BlockWriter::shared_expert() {
  const double h = static_cast<double>(a_.hidden);
  const double f = static_cast<double>(a_.moe->shared_ffn);
  const double gate = is_gated(a_.ffn) ? 2 : 1;
  const Dimension inner = fixed(f, LogicalAxis::ffn);
  const Dimension up = fixed(gate * f, LogicalAxis::ffn);
  gemm("shared_expert.up", OperatorClass::experts, Boundary::column, up, fixed(h), h * gate * f,
       a_.residual == Residual::shortcut ? Input::kept : Input::shared)  // the router keeps it
      .joined = static_cast<int>(gate);
  activation("shared_expert.activation", OperatorClass::experts, whole_rows(), inner, up);
  gemm("shared_expert.down", OperatorClass::experts, Boundary::row, fixed(h), inner, f * h);
  residual("shared_expert.sum", 2);
}

// An image encoder turns patches into tokens by a product; its positions include the class token.
void BlockWriter::patch_embedding() {
  const double h = static_cast<double>(a_.hidden);
  const double pixels = 3 * static_cast<double>(a_.vision->patch * a_.vision->patch);
  gemm("embedding.patch", OperatorClass::embedding, Boundary::none, fixed(h), fixed(pixels),
       pixels * h);
}

// Row look-up of a vocabulary cut over ranks: each rank adds the rows it holds, so sums are partial
// (arXiv 1909.08053 s.3). Forward reads a row and writes it; backward reads the gradient and adds
// it to the row's.
void BlockWriter::token_embedding() {
  const double h = static_cast<double>(a_.hidden);
  const bool two_sides = a_.kind == ModelKind::encoder_decoder;
  for (int side = 0; side < (two_sides ? 2 : 1); ++side) {
    kind_.encoder = two_sides && side == 0;
    Operator op;
    op.name = kind_.encoder ? "embedding.source_lookup" : "embedding.lookup";
    op.kind = OperatorKind::embedding;
    op.op_class = OperatorClass::embedding;
    op.boundary = Boundary::row;
    op.m = whole_rows();
    op.n = fixed(static_cast<double>(a_.vocab), LogicalAxis::vocabulary);
    op.k = fixed(h);
    op.rows = whole_rows();
    op.width = fixed(h);
    op.forward_passes = 2;
    op.backward_passes = 3;
    // One matrix serves both sides of an encoder-decoder.
    op.parameters = side == 0 ? static_cast<double>(a_.vocab) * h : 0;
    op.parameter_axis = LogicalAxis::vocabulary;
    op.counts_in_model_flops = false;
    append(std::move(op));
  }
  if (a_.embedding_norm) norm("embedding.norm", stream_rows());
}

// Forward reads the tokens' rows and writes their sum with the positions'; backward passes the
// gradient on and adds it to the positions' rows. An encoder-decoder has positions on both sides.
void BlockWriter::position_embedding() {
  if (a_.position_encoding != PositionEncoding::learned) return;
  const double h = static_cast<double>(a_.hidden);
  const bool two_sides = a_.kind == ModelKind::encoder_decoder;
  for (int side = 0; side < (two_sides ? 2 : 1); ++side) {
    kind_.encoder = two_sides && side == 0;
    Operator& op = elementwise(kind_.encoder ? "embedding.source_position" : "embedding.position",
                               OperatorClass::embedding, stream_rows(), fixed(h), 2, 1);
    op.parameters = static_cast<double>(a_.max_position) * h;
  }
}

void BlockWriter::head() {
  const double h = static_cast<double>(a_.hidden);
  norm("head.norm", stream_rows());
  if (a_.vocab == 0) return;
  const Dimension vocabulary = fixed(static_cast<double>(a_.vocab), LogicalAxis::vocabulary);
  gemm("head.logits", OperatorClass::logits, Boundary::column, vocabulary, fixed(h),
       a_.tie_embeddings || kind_.auxiliary ? 0 : static_cast<double>(a_.vocab) * h);
  Operator loss;
  loss.name = "head.loss";
  loss.kind = OperatorKind::cross_entropy;
  loss.op_class = OperatorClass::loss;
  loss.m = whole_rows();
  loss.n = vocabulary;
  loss.k = fixed(h);
  loss.rows = whole_rows();
  loss.width = vocabulary;
  // Forward reads the logits for the maximum and for the sum; backward reads and overwrites them.
  loss.forward_passes = 2;
  loss.backward_passes = 2;
  loss.elementwise = ElementwiseKind::loss;
  loss.counts_in_model_flops = false;
  // Softmax in fp32: the 4 s b V of arXiv 2205.05198 s.4.3.
  loss.saved = {{whole_rows(), vocabulary, ElementKind::fp32}};
  append(std::move(loss));
}

// Embedding of the next token beside the last hidden state, both normed, a product 2h -> h, one
// layer, and the head again; embedding and logits matrices are those of the model
// (arXiv 2412.19437 s.2.2).
void BlockWriter::multi_token_prediction() {
  const double h = static_cast<double>(a_.hidden);
  norm("prediction.embedding_norm", stream_rows());
  norm("prediction.hidden_norm", stream_rows());
  gemm("prediction.projection", OperatorClass::feed_forward, Boundary::none, fixed(h), fixed(2 * h),
       2 * h * h);
  layer();
  head();
}

}  // namespace orrery
