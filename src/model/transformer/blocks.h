// The operators of the parts a layer is made of: attention, feed-forward, experts, embedding, head.
//
// Division over tensor-parallel ranks and the tensors kept for the backward pass are those of
// Megatron-LM (arXiv 1909.08053, 2205.05198) without dropout and with a fused attention kernel,
// which keeps one log-sum-exp per query and head (arXiv 2205.14135): 32 b s h bytes of a GPT layer
// instead of 34 b s h (the two dropped bytes are the dropout masks of the residual branches), and
// 4 b s a instead of 5 b a s^2. Score tensors of an unfused kernel are added by the memory model.
// Layers that carry a state: state_block.cc.
#pragma once

#include <string_view>
#include <vector>

#include "model/layer_writer.h"
#include "model/transformer/architecture.h"

namespace orrery {

// Which sequence a layer works on, and how its attention looks around.
struct LayerKind {
  bool encoder = false;  // on the source side of an encoder-decoder
  bool cross = false;    // reads the encoder's output as well
  Mixer mixer = Mixer::attention;
  FeedForwardPart feed_forward = FeedForwardPart::dense;
  bool final_norm = false;  // last encoder layer: the encoder's final norm follows
  bool auxiliary = false;   // of a multi-token prediction module
  // The layer begins with the dense feed-forward part of the layer before, or with all of it.
  enum class Begin { own, feed_forward, layer };
  Begin begin = Begin::own;
  bool operator==(const LayerKind&) const = default;
};

class BlockWriter : LayerWriter {
 public:
  BlockWriter(const Architecture& a, LayerKind kind) : a_(a), kind_(kind) {}

  // One after the other in the order of execution.
  void layer();
  void token_embedding();
  void patch_embedding();
  void position_embedding();  // nothing unless positions are learned
  void head();
  void multi_token_prediction();

  std::vector<Operator> take();

 private:
  void mix();
  void state_space();
  void scan_channels();
  void scan_chunks();
  void gated_delta();
  void self_attention();
  void project_heads();
  void project_latent();
  void rotary();
  void cross_attention();
  void attention_core(std::string_view name, double query_key, double value, bool cross);
  void feed_forward_part(FeedForwardPart part);
  void feed_forward();
  void experts();
  void shared_expert();
  void memory();

  // shared: an earlier operator already keeps the input.
  enum class Input { kept, shared };
  Operator& gemm(std::string_view name, OperatorClass op_class, Boundary boundary, Dimension n,
                 Dimension k, double parameters, Input input = Input::kept);
  // `each` products of m x n x k a chunk of so many tokens, divided with the heads.
  Operator& chunk_product(std::string_view name, double each, double chunk, double m, double n,
                          double k, int backward_products);
  // Depthwise along the sequence; its output is computed again in the backward.
  void convolution(std::string_view name, double channels, double parameters);
  Operator& grouped_gemm(std::string_view name, Dimension n, Dimension k, double parameters);
  void norm(std::string_view name, Dimension rows);  // of the hidden state
  void norm(std::string_view name, Dimension rows, Dimension width, double parameters);
  // Of the product before it, which is as wide as `up`: with its gate twice the width of `inner`.
  void activation(std::string_view name, OperatorClass op_class, Dimension rows, Dimension inner,
                  Dimension up);
  [[nodiscard]] bool norms_before() const { return a_.norm != NormKind::rmsnorm_post; }
  [[nodiscard]] bool norms_behind() const {
    return a_.norm == NormKind::rmsnorm_post || a_.norm == NormKind::rmsnorm_sandwich;
  }
  void residual(std::string_view name, double inputs);

  // Rows of the residual stream: cut along the sequence between products, whole inside them.
  [[nodiscard]] Dimension stream_rows() const;
  [[nodiscard]] Dimension whole_rows() const;
  [[nodiscard]] Dimension routed_rows() const;
  [[nodiscard]] double norm_parameters() const;
  [[nodiscard]] ElementwiseKind norm_kind() const;
  // 1 if there are such biases, to be counted beside the inputs of a product.
  [[nodiscard]] double query_key_value_bias() const {
    return a_.qkv_bias || a_.linear_bias ? 1 : 0;
  }
  [[nodiscard]] double output_bias() const { return a_.output_bias || a_.linear_bias ? 1 : 0; }
  [[nodiscard]] bool single_reduction() const { return a_.parallel_block; }

  const Architecture& a_;
  LayerKind kind_;
};

}  // namespace orrery
