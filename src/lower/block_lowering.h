// The passes of one block of operators, lowered to kernels and collectives (lower/block_cost.h says
// what waits for what).
//
// What a framework makes of an operator is the profile's (plan/software.h): chains of kernels
// instead of one, a product that adds into the accumulated gradient, layout copies. A product that
// adds into a gradient of g bytes reads and writes it instead of writing 2 bytes once,
//
//   extra = e (2 g - 2) k n / bandwidth,    e = 0.45
//
// e: the share of that traffic which the main loop of other tiles does not hide. Source: 61 shapes
// on A100 and 144 on B200 with fp32 accumulation, against the plain products of the same FLOPs
// (validation/measured/other/simumax-operator-efficiency.csv, layouts NN and NT): medians 0.46 and
// 0.44.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "lower/block_cost.h"
#include "lower/dimension_switch.h"
#include "lower/expert_exchange.h"
#include "lower/expert_launches.h"
#include "lower/head_exchange.h"
#include "lower/operator_work.h"
#include "lower/product_format.h"
#include "lower/recomputed_work.h"
#include "lower/sequence_tiles.h"
#include "lower/shard_moves.h"
#include "lower/shortcut_turns.h"
#include "lower/step_category.h"
#include "model/operator.h"

namespace orrery {

// The line of the breakdown an operator's time is booked on: the classes of operators are the first
// categories, in their order.
constexpr Category category_of(OperatorClass c) { return static_cast<Category>(c); }
static_assert(category_of(OperatorClass::attention_projection) == Category::attention_projection &&
              category_of(OperatorClass::router) == Category::router &&
              category_of(OperatorClass::convolution) == Category::convolution);

// Which gradients a backward pass computes.
enum class Part { both, input };

inline bool has_weight_gradient(const Operator& op) { return is_product(op) && !op.frozen; }

inline bool runs_products(const Operator& op) {
  return is_product(op) || op.kind == OperatorKind::attention;
}

// What surrounds a pass and changes it.
struct PassSurroundings {
  Picoseconds idle;           // that the device waits for the host
  Picoseconds slowed;         // that its computing loses to the exchange of another pass
  double exchange_share = 1;  // of its own exchanges of tokens, what no other pass hides
};

inline constexpr Bytes kFp32{4};
// Share of the traffic of accumulation in a product that its main loop does not hide.
inline constexpr double kExposedAccumulation = 0.45;

class BlockLowering {
 public:
  BlockLowering(const Block& block, const BlockSetting& setting)
      : block_(block), s_(setting), whole_(setting.binding) {}

  BlockPass forward(const PassSurroundings& around = {}) {
    return lowered(around, [&](PassBuilder& out) { forward_all(out, false); });
  }

  BlockPass backward(Recompute recompute, Part part, const PassSurroundings& around = {}) {
    return lowered(around, [&](PassBuilder& out) {
      if (recompute == Recompute::full) forward_all(out, true);
      if (recompute == Recompute::alternate) forward_some(out, recompute);
      std::vector<RecomputedOperator> modules;
      if (recompute == Recompute::selective) modules = recomputed(recompute);
      take_turns(out, block_.operators.size(), PassOrder::backward, [&](std::size_t i) {
        if (!modules.empty() && portion_ != Portion::rest) forward_modules(out, modules, i);
        if (beside_exchange(block_.operators[i])) return;
        if (block_.operators[i].name == "feed_forward.down") forward_tiles(out);
        backward(out, block_.operators[i], part);
      });
    });
  }

  // The products a split backward defers, in the order of the backward. Each gathers its input
  // again beside the product before it.
  BlockPass weight_gradients(const PassSurroundings& around = {}) {
    PassBuilder out = pass_builder();
    s_.binding = whole_;
    std::vector<const Operator*> products;
    for (std::size_t i = block_.operators.size(); i-- > 0;) {
      if (has_weight_gradient(block_.operators[i])) products.push_back(&block_.operators[i]);
    }
    const auto gather_of = [&](std::size_t i) {
      return i < products.size() ? input_gather(*products[i]) : Communication{};
    };
    std::optional<NodeIndex> gathered = transfer(out, "all-gather of inputs", gather_of(0));
    for (std::size_t i = 0; i < products.size(); ++i) {
      const Communication beside = gather_of(i + 1);
      const auto next = transfer(out, "all-gather of inputs", beside);
      out.wait_for(gathered);
      out.slowed_compute(products[i]->name, category_of(products[i]->op_class),
                         weight_gradient(*products[i]), time(beside));
      if (products[i]->kind == OperatorKind::grouped_gemm) {
        out.launch(product_launches(s_, experts_of(*products[i])) - 1, 0);
      }
      accumulate(out, *products[i]);
      gathered = next;
    }
    return out.finish(around.idle);
  }

 private:
  // What runs beside kernels of a block are pieces of tensor-parallel collectives and the ring of
  // context parallelism; the kernels are products and attention, bound by computing.
  [[nodiscard]] double share_lost() const {
    constexpr Bytes kPiece{32 * 1024 * 1024};  // a layer's activations; chooses the algorithm
    const bool pieces = s_.plan.overlap.tensor_parallel && s_.binding.tp > 1;
    const bool ring = s_.layout.cp_ring.size > 1 && !pieces;
    if ((halved() && s_.binding.tp == 1) || (s_.binding.ep > 1 && expert_places(block_) > 1)) {
      return s_.costs.interference(CollectiveKind::all_to_all, kPiece, s_.layout.ep).compute_share;
    }
    const bool sums = halved() || sums_late(block_.residual);
    const GroupShape& beside = ring && !sums ? s_.layout.cp_ring : s_.layout.tp;
    return s_.costs.interference(sums ? reduction() : CollectiveKind::all_gather, kPiece, beside)
        .compute_share;
  }
  [[nodiscard]] PassBuilder pass_builder() const {
    return PassBuilder(share_lost(), s_.costs, s_.layout.groups);
  }
  [[nodiscard]] double extent(const Dimension& d) const { return size(d, s_.binding); }
  [[nodiscard]] NumberFormat format() const { return s_.training.precision; }
  // Of one element of activations, weights and their gradients.
  [[nodiscard]] Bytes element() const { return tensor_element_size(format()); }
  [[nodiscard]] bool sharded_sequence() const { return s_.binding.sequence_parallel; }
  // What sums up partial results of the tensor-parallel ranks.
  [[nodiscard]] CollectiveKind reduction() const {
    return sharded_sequence() ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  }
  [[nodiscard]] static Communication tensor_collective(CollectiveKind kind, Bytes payload) {
    return {.collective = kind, .group = index(StepGroup::tensor), .payload = payload};
  }
  // Of the ranks that pass each other keys and values.
  [[nodiscard]] Communication context_collective(CollectiveKind kind, Bytes payload) const {
    return {.collective = kind, .group = index(ring_group(s_.plan)), .payload = payload};
  }
  [[nodiscard]] Seconds time(const Communication& c) const {
    return price(c, s_.layout.groups[c.group.value()].shape, s_.costs);
  }
  // Of the tensor-parallel ranks.
  static std::optional<NodeIndex> transfer(PassBuilder& out, std::string_view name,
                                           const Communication& c) {
    return out.transfer(name, StepStream::tp, Category::exposed_tp, c);
  }
  [[nodiscard]] NumberFormat format_of(const Operator& op) const {
    return product_format(op, format());
  }
  [[nodiscard]] Kernel product(const Operator& op, double m, double n, double k,
                               double groups = 1) const {
    const double tiles = tiles_of(op);
    const GemmShape tile{
        .m = m / tiles, .n = n, .k = k, .groups = groups, .input_reuse = op.input_reuse};
    Kernel kernel = orrery::product(tile, format_of(op));
    kernel.pieces /= tiles;
    return kernel;
  }
  // Pieces of a rank's tokens that an operator works through.
  [[nodiscard]] double tiles_of(const Operator& op) const {
    return orrery::tiles_of(op, sequence_tiles(s_.plan));
  }
  // A convolution's is one too: of the gradient of its output with as many taps.
  [[nodiscard]] Kernel input_gradient(const Operator& op) const {
    return product(op, extent(op.m), extent(op.k) / op.input_reuse, extent(op.n) * op.input_reuse);
  }
  // Of two activations, which narrow recipes leave in 16 bits.
  [[nodiscard]] Kernel batched_product(const Operator& op) const {
    return orrery::product(GemmShape{extent(op.m), extent(op.n), extent(op.k), extent(op.groups)},
                           format_of(op));
  }
  // Products narrower than 16 bits read operands that one pass has cast: it reads two bytes, writes
  // the narrow value and, for the weight gradient, its transpose. Current scaling reads those of
  // experts once more, for their greatest magnitude. Weights are cast once a step.
  void cast(PassBuilder& out, const Operator& op, double elements, Category category) const {
    const Bytes narrow = element_size(format_of(op));
    if (narrow >= element()) return;
    const CastWork work = op.kind == OperatorKind::grouped_gemm
                              ? cast_work(s_, format_of(op), experts_of(op))
                              : CastWork{};
    out.compute("cast operands", category == Category::recompute ? category : Category::elementwise,
                memory_bound((element() * work.reads + 2 * narrow) * elements, work.launches));
  }
  // A kernel, or a chain of them, of this many 2-byte reads and writes of `elements`.
  void passes_over(PassBuilder& out, std::string_view name, Category category, OperatorWork work,
                   double elements) const {
    if (work.kernels == 0) return;
    out.compute(name, category, memory_bound(element() * (work.passes * elements), work.kernels));
  }
  void elementwise(PassBuilder& out, const Operator& op, Phase phase, Category category) const {
    if (switches_dimension(op, s_.plan)) {
      exchange(out, {{"all-to-all of a dimension", extent(op.rows) * extent(op.width)}},
               StepGroup::context, element(), category);
      return;
    }
    passes_over(out, op.name, category,
                operator_work(op, phase, s_.costs.software, s_.training.dropout),
                extent(op.rows) * extent(op.width));
  }
  [[nodiscard]] bool gathers_logits() const {
    return bytes_of(s_.costs.software.memory.loss).gathers_all;
  }
  // The loss over logits that every tensor-parallel rank gathers: all of them on each.
  void gathered_loss(PassBuilder& out, const Operator& op, Phase phase, Category category) const {
    const double logits = extent(op.rows) * op.width.factor;
    if (phase == Phase::forward && s_.binding.tp > 1) {
      out.wait_for(transfer(out, "all-gather of logits",
                            tensor_collective(CollectiveKind::all_gather, element() * logits)));
      passes_over(out, op.name, category, kGatheredLogits, logits);
    }
    passes_over(out, op.name, category, kWholeLoss, logits);
  }
  // Rows x columns of activations that tensor parallelism moves around an operator.
  [[nodiscard]] Bytes activation_bytes(double rows, double columns) const {
    return element() * (rows * columns);
  }

  // Collectives join and cut along the outermost dimension, the batch. Around those of sequence
  // shards some frameworks copy the whole activation into that order or out of it.
  void copy_sequence(PassBuilder& out, Category category, Bytes whole) const {
    if (!s_.costs.software.copies_sequence_shards || !sharded_sequence()) return;
    out.compute("copy of sequence shards",
                category == Category::recompute ? category : Category::elementwise,
                memory_bound(2 * whole));
  }

  void forward_all(PassBuilder& out, bool again) {
    const std::size_t end = again ? recomputed_operators() : block_.operators.size();
    take_turns(out, end, PassOrder::forward, [&](std::size_t i) {
      if (!beside_exchange(block_.operators[i])) forward(out, i, again);
    });
  }

  // What takes turns in a pass (lower/block_halves.cc): the halves of a microbatch, if the plan cuts
  // it in two.
  [[nodiscard]] bool halved() const { return s_.plan.halves != Halves::none && s_.layer; }
  void take_turns(PassBuilder& out, std::size_t operators, PassOrder order,
                  const std::function<void(std::size_t)>& emit);
  void turn_to(PassBuilder& out, std::size_t half);
  BlockPass lowered(const PassSurroundings& around, const std::function<void(PassBuilder&)>& emit);
  // The sum of a module's outputs, or of the gradients of its inputs, which the model may need behind
  // the next module only.
  void sum_up(PassBuilder& out, std::string_view name, const Communication& c);
  // Of parts of a layer that keep their own residual stream, attention's outputs are not added up.
  [[nodiscard]] bool sums_up(const Operator& op) const {
    return block_.residual != Residual::kraken ||
           op.op_class != OperatorClass::attention_projection;
  }

  // What selective recomputation makes again before the backward of the operator at `before`. What
  // runs beside an exchange does so again where the exchange is among it.
  void forward_modules(PassBuilder& out, const std::vector<RecomputedOperator>& modules,
                       std::size_t before) {
    bool exchanges = false;
    for (std::size_t i = 0; i <= before; ++i) {
      if (modules[i].share <= 0 || modules[i].before != before) continue;
      exchanges = exchanges || block_.operators[i].boundary == Boundary::dispatch;
      if (!exchanges || !beside_exchange(block_.operators[i])) forward(out, i, true);
    }
  }

  // What a tiled feed-forward part computes again in its backward.
  void forward_tiles(PassBuilder& out) {
    for (std::size_t i = 0; i < block_.operators.size(); ++i) {
      if (in_tiled_mlp(block_.operators[i], sequence_tiles(s_.plan))) forward(out, i, true);
    }
  }

  // A checkpoint whose policy kept some results: the other operators run again, of a product the
  // columns that are missing. What a product's reduce-scatter left is kept.
  void forward_some(PassBuilder& out, Recompute recompute) {
    const std::vector<RecomputedOperator> again = recomputed(recompute);
    for (std::size_t i = 0; i < again.size(); ++i) {
      const Operator& op = block_.operators[i];
      if (again[i].share <= 0 || beside_exchange(op)) continue;
      if (op.kind != OperatorKind::gemm) {
        forward(out, i, true);
        continue;
      }
      out.launch_as_graph(in_graph(op));
      out.launch_module();
      const double m = extent(op.m);
      const double k = extent(op.k);
      const bool sharded_input =
          s_.binding.tp > 1 && op.boundary == Boundary::column && sharded_sequence();
      cast(out, op, m * k / (sharded_input ? s_.binding.tp : 1), Category::recompute);
      if (sharded_input) {
        out.wait_for(
            transfer(out, "all-gather of inputs",
                     tensor_collective(CollectiveKind::all_gather, activation_bytes(m, k))));
        copy_sequence(out, Category::recompute, activation_bytes(m, k));
      }
      out.compute(op.name, Category::recompute, product(op, m, extent(op.n) * again[i].share, k));
      if (op.name == "router") route(out, op, Phase::forward, Category::recompute);
      if (s_.binding.tp > 1 && op.boundary == Boundary::row && !sharded_sequence()) {
        out.wait_for(transfer(
            out, "all-reduce of outputs",
            tensor_collective(CollectiveKind::all_reduce, activation_bytes(m, extent(op.n)))));
      }
    }
  }

 public:
  // How many operators full recomputation runs again. A checkpoint that stops early leaves out
  // what comes behind the last tensor that the backward reads: the input of a dense block's last
  // product. Experts go on to be weighed by the router, whose gradient reads their outputs.
  [[nodiscard]] std::size_t recomputed_operators() const {
    const auto& operators = block_.operators;
    std::size_t last = operators.size();
    for (std::size_t i = 0; i < operators.size(); ++i) {
      if (operators[i].kind == OperatorKind::grouped_gemm) return operators.size();
      if (operators[i].kind == OperatorKind::gemm) last = i;
    }
    return s_.costs.software.recompute_stops_early ? last : operators.size();
  }

  // Whether a backward dispatches the tokens of experts again.
  [[nodiscard]] bool sends_again(Recompute recompute) const {
    const std::vector<RecomputedOperator> again = recomputed(recompute);
    for (std::size_t i = 0; i < again.size(); ++i) {
      if (block_.operators[i].boundary == Boundary::dispatch && again[i].share > 0) return true;
    }
    return false;
  }

  [[nodiscard]] std::vector<RecomputedOperator> recomputed(Recompute recompute) const {
    return recomputed_work(
        block_, {recompute, RecomputeModuleSet(s_.plan.recompute_modules), recomputed_operators()});
  }

 private:
  // The shared expert needs no exchange: with overlap.expert it runs beside the one that sends
  // tokens away (arXiv 2404.05019). Its sum with the routed experts stays where it is.
  [[nodiscard]] bool beside_exchange(const Operator& op) const {
    return s_.plan.overlap.expert && s_.binding.ep > 1 && s_.binding.etp == 1 &&
           op.name.starts_with("shared_expert") && op.name != "shared_expert.sum";
  }

  void forward(PassBuilder& out, std::size_t index, bool again) {
    const Operator& op = block_.operators[index];
    out.launch_as_graph(in_graph(op));
    const Category category = again ? Category::recompute : category_of(op.op_class);
    if (runs_products(op)) out.launch_module();
    if (!again) host_work(out, op, category, Direction::forward);
    if (op.boundary == Boundary::pooled) receive_pooled(out);
    if (!again) prefetch(out, op, Phase::forward);
    forward_alone(out, op, category, again);
    exchange_vectors(out, op, Phase::forward);
  }

  void forward_alone(PassBuilder& out, const Operator& op, Category category, bool again) {
    if (hands_on(op)) {
      carry_states(out, op, category, Direction::forward);
      return;
    }
    switch (op.kind) {
      case OperatorKind::gemm:
        forward_product(out, op, category);
        if (op.name == "router") route(out, op, Phase::forward, category);
        return;
      case OperatorKind::grouped_gemm:
        cast(out, op, extent(op.m) * extent(op.k), category);
        expert_product(out, op, category,
                       product(op, rows_of_expert(op), extent(op.n), extent(op.k), experts_of(op)));
        return;
      case OperatorKind::batched_gemm:
        out.compute(op.name, category, batched_product(op));
        return;
      case OperatorKind::attention:
        forward_attention(out, op, category);
        return;
      case OperatorKind::elementwise:
        if (op.boundary == Boundary::dispatch) {
          count_tokens(out, category);
          permute(out, op, category, Direction::forward);
          exchange_tokens(out, op, Way::tokens_out, [&] {
            for (std::size_t i = 0; i < block_.operators.size(); ++i) {
              if (beside_exchange(block_.operators[i])) forward(out, i, again);
            }
          });
        } else if (op.boundary == Boundary::combine) {
          if (portion_ != Portion::rest) exchange_tokens(out, op, Way::tokens_back, [] {});
          if (portion_ != Portion::exchange) permute(out, op, category, Direction::forward);
        } else {
          elementwise(out, op, Phase::forward, category);
        }
        return;
      case OperatorKind::embedding:
        elementwise(out, op, Phase::forward, category);
        out.wait_for(
            transfer(out, "embedding of all vocabulary shards",
                     tensor_collective(reduction(), activation_bytes(extent(op.m), extent(op.k)))));
        return;
      case OperatorKind::embedding_bag:
        look_up(out, op, category);
        return;
      case OperatorKind::cross_entropy:
        if (gathers_logits()) {
          gathered_loss(out, op, Phase::forward, category);
          return;
        }
        // Vocabulary-parallel loss: maximum, sum and target logit of each token in fp32.
        elementwise(out, op, Phase::forward, category);
        out.wait_for(
            transfer(out, "loss over vocabulary shards",
                     tensor_collective(CollectiveKind::all_reduce, kFp32 * (3 * extent(op.m)))));
        return;
    }
  }

  // Of products, alone or in pieces beside their collectives (lower/block_products.cc).
  enum class Order { transfer_first, product_first };
  void forward_product(PassBuilder& out, const Operator& op, Category category);
  void pipelined(PassBuilder& out, const Operator& op, Category category, Communication part,
                 std::string_view what, Order order, double m, double n, double k);

  // Of attention and its context parallelism (lower/block_attention.cc).
  [[nodiscard]] AttentionShape attention_shape(const Operator& op) const;
  [[nodiscard]] double keys_and_values(const AttentionShape& a) const;
  [[nodiscard]] Bytes key_value_bytes(const Operator& op) const;
  void forward_attention(PassBuilder& out, const Operator& op, Category category);
  void backward_attention(PassBuilder& out, const Operator& op, Category category);
  void around_attention(PassBuilder& out, const Operator& op, Category category);
  [[nodiscard]] Kernel attention_kernel(const Operator& op, Direction direction) const;
  void attend(PassBuilder& out, const Operator& op, Category category, Kernel kernel, Phase phase);
  void around_context(PassBuilder& out, const Operator& op, Category category, Kernel kernel,
                      double volume, CollectiveKind kind, bool after);
  void gather_context(PassBuilder& out, const Operator& op, Category category, const Kernel& kernel,
                      CollectiveKind kind, bool after);
  // Of rows that as many ranks share as their documents need (lower/context_groups.cc).
  void attend_by_length(PassBuilder& out, const Operator& op, Category category,
                        const Kernel& kernel, bool after);
  // Of rings (lower/context_ring.cc).
  [[nodiscard]] Communication ring_step(Bytes bytes) const;
  [[nodiscard]] Communication ring_step(Bytes bytes, std::int64_t j) const;
  void go_round(PassBuilder& out, const Operator& op, Category category, Kernel kernel,
                std::string_view name, const std::function<Communication(std::int64_t)>& step,
                const std::function<void(std::int64_t)>& behind);
  void pass_keys(PassBuilder& out, const Operator& op, Category category, const Kernel& kernel,
                 double volume, bool backward);
  void pass_queries(PassBuilder& out, const Operator& op, Category category, const Kernel& kernel,
                    bool backward);
  void attend_in_pieces(PassBuilder& out, const Operator& op, Category category,
                        const Kernel& piece, bool backward);
  void merge_ring_step(PassBuilder& out, const Operator& op, Category category, bool backward);

  // Of layers that carry a state from one rank's piece of a sequence to the next
  // (lower/carried_states.cc).
  [[nodiscard]] bool hands_on(const Operator& op) const {
    return op.carried.elements > 0 && s_.binding.cp > 1;
  }
  void carry_states(PassBuilder& out, const Operator& op, Category category, Direction direction);

  // Of embedding tables that are divided over ranks (lower/block_tables.cc).
  void look_up(PassBuilder& out, const Operator& op, Category category);
  void receive_pooled(PassBuilder& out);
  void send_gradients(PassBuilder& out, const Operator& from);
  void update_tables(PassBuilder& out, const Operator& op, Category category);
  void update_module(PassBuilder& out, const Operator& op);
  void prefetch(PassBuilder& out, const Operator& op, Phase phase);
  BlockPass finish(PassBuilder& out, const PassSurroundings& around) {
    out.wait_for(prefetched_);
    prefetched_.reset();
    return out.finish(around.idle, around.slowed);
  }
  void exchange_vectors(PassBuilder& out, const Operator& op, Phase phase);
  void host_work(PassBuilder& out, const Operator& op, Category category, Direction pass) const;

  void permute(PassBuilder& out, const Operator& op, Category category, Direction direction) const {
    passes_over(out, op.name, category, permutation_work(block_, op, s_, direction),
                extent(op.rows) * extent(op.width));
  }

  // The all-to-all of tokens to or from their experts; the busiest rank receives more than the
  // mean. `beside` emits what runs meanwhile.
  template <class Beside>
  void exchange_tokens(PassBuilder& out, const Operator& op, Way way, Beside beside) {
    const double rows = extent(op.rows) / std::max(1, s_.binding.etp);
    const Bytes payload = activation_bytes(rows, extent(op.width));
    std::optional<NodeIndex> exchange;
    for (Communication& tokens : token_communications(block_, op, s_, way)) {
      tokens.exposed = exchange_share_;
      const auto sent = out.transfer(name_of(way), StepStream::ep, Category::exposed_ep, tokens);
      if (sent) exchange = sent;
    }
    beside();
    out.wait_for(exchange);
    if (s_.binding.etp > 1) {
      out.wait_for(transfer(out, "tokens within an expert's ranks",
                            {.collective = CollectiveKind::all_gather,
                             .group = index(StepGroup::expert_tensor),
                             .payload = payload * s_.binding.etp}));
    }
  }

  // Of what experts launch besides their products (lower/block_experts.cc).
  [[nodiscard]] double experts_of(const Operator& op) const {
    return std::max(1.0, extent(op.groups));
  }
  [[nodiscard]] bool in_graph(GraphModule module) const;
  [[nodiscard]] bool in_graph(const Operator& op) const;
  void expert_product(PassBuilder& out, const Operator& op, Category category,
                      const Kernel& kernel) const;
  void route(PassBuilder& out, const Operator& op, Phase phase, Category category) const;
  void count_tokens(PassBuilder& out, Category category) const;

  // Rows of one expert's product. Kernels fill them up to a multiple; since the number of rows is
  // arbitrary, that adds half a multiple on average.
  [[nodiscard]] double rows_of_expert(const Operator& op) const {
    const auto multiple = static_cast<double>(s_.costs.software.expert_row_multiple);
    return extent(op.m) / std::max(1.0, extent(op.groups)) + (multiple - 1) / 2;
  }
  [[nodiscard]] double weights(const Operator& op) const {
    return extent(op.k) * extent(op.n) *
           (op.kind == OperatorKind::grouped_gemm ? extent(op.groups) : 1);
  }
  [[nodiscard]] bool accumulates(GradientAccumulation how) const {
    return s_.costs.software.accumulation == how &&
           (halved() || microbatches(s_.training, s_.plan) > 1);
  }
  [[nodiscard]] Kernel weight_gradient(const Operator& op) const {
    const bool grouped = op.kind == OperatorKind::grouped_gemm;
    const double groups = grouped ? std::max(1.0, extent(op.groups)) : 1;
    const double tiles = tiles_of(op);
    const GemmShape tile{.m = extent(op.k),
                         .n = extent(op.n),
                         .k = (grouped ? rows_of_expert(op) : extent(op.m)) / tiles,
                         .groups = groups,
                         .input_reuse = op.input_reuse};
    Kernel kernel = orrery::product(tile, format_of(op));
    kernel.pieces /= tiles;
    const double times = accumulates(GradientAccumulation::in_product) ? tiles : tiles - 1;
    if (times > 0) {
      const Bytes more = 2 * element_size(s_.training.gradients) - element();
      kernel.bytes = more * (kExposedAccumulation * weights(op) * times);
    }
    return kernel;
  }
  // A kernel of its own that adds a weight gradient to those of earlier microbatches. Sharded
  // gradients that are reduced behind every microbatch are small: only a shard is added.
  void accumulate(PassBuilder& out, const Operator& op) const {
    if (!accumulates(GradientAccumulation::separate)) return;
    if (s_.plan.zero >= 2 &&
        shard_moves(s_.plan, s_.costs.software).gradients == ShardMove::each_pass) {
      return;
    }
    const Bytes moved = element() + 2 * element_size(s_.training.gradients);
    out.compute("add weight gradient", Category::elementwise, memory_bound(moved * weights(op)));
  }
  // Of a product whose input was kept in pieces of the sequence.
  [[nodiscard]] Communication input_gather(const Operator& op) const {
    if (s_.binding.tp == 1 || op.boundary != Boundary::column || !sharded_sequence() ||
        op.kind != OperatorKind::gemm) {
      return {};
    }
    return tensor_collective(CollectiveKind::all_gather,
                             activation_bytes(extent(op.m), extent(op.k)));
  }

  // Of one operator (lower/block_backward.cc).
  void backward(PassBuilder& out, const Operator& op, Part part);
  void backward_alone(PassBuilder& out, const Operator& op, Part part);
  // How many gradients of its input a joined product leaves to be reduced.
  [[nodiscard]] int input_gradients(const Operator& op) const {
    const bool modules = s_.costs.software.memory.gate == Gate::modules;
    return modules && !sharded_sequence() ? op.joined : 1;
  }
  void backward_product(PassBuilder& out, const Operator& op, Category category);
  // What backward_product does without the weight gradient: nothing hides the reduction of input
  // gradients but the product itself, cut in pieces.
  void input_gradient_product(PassBuilder& out, const Operator& op, Category category);

  const Block& block_;
  BlockSetting s_;  // its binding is that of the half whose turn it is
  const Binding whole_;
  std::size_t half_ = 0;
  Portion portion_ = Portion::whole;
  std::size_t expert_place_ = 0;   // where experts compute that read the layer before
  std::optional<NodeIndex> late_;  // the sum that the module behind the next waits for
  double exchange_share_ = 1;      // of the pass that is being lowered
  std::vector<std::optional<NodeIndex>> pooled_;  // exchanges of tables that are under way
  Seconds decoding_;                              // of what they bring
  std::optional<NodeIndex> prefetched_;           // what the end of a pass waits for
};

}  // namespace orrery
