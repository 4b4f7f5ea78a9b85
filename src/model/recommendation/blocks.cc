#include "model/recommendation/blocks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/layer_writer.h"

namespace orrery {
namespace {

Dimension samples(double of_each = 1) { return {of_each, Symbol::tokens, LogicalAxis::none}; }

// How a layer of an MLP is divided over tensor-parallel ranks.
enum class Cut { none, columns, rows };
Cut cut_of(std::size_t layer, std::size_t layers) {
  if (layer % 2 == 1) return Cut::rows;
  return layer + 1 < layers ? Cut::columns : Cut::none;
}

// Of a recommendation model, whose products are those of MLPs.
class Writer : public LayerWriter {
 public:
  // y[rows, out] = x[rows, in] W, and a bias.
  Operator& product(std::string_view name, Dimension rows, double in, double out, Cut cut,
                    bool bias = true) {
    const auto axis = [&](Cut of) { return cut == of ? LogicalAxis::ffn : LogicalAxis::none; };
    return LayerWriter::product({.name = name,
                                 .boundary = cut == Cut::columns ? Boundary::column
                                             : cut == Cut::rows  ? Boundary::row
                                                                 : Boundary::none,
                                 .rows = rows,
                                 .n = fixed(out, axis(Cut::columns)),
                                 .k = fixed(in, axis(Cut::rows)),
                                 .bias = bias ? 1.0 : 0.0});
  }

  // Reads and writes; backward reads the gradient and the result, which the next product keeps.
  void activation(std::string_view name, Dimension rows, double width, Cut cut) {
    elementwise(name, OperatorClass::elementwise, rows,
                fixed(width, cut == Cut::columns ? LogicalAxis::ffn : LogicalAxis::none), 2, 3)
        .elementwise = ElementwiseKind::activation;
  }

  // Products of pairs of activations.
  Operator& pairs(std::string_view name, Dimension groups, double m, double n, double k) {
    return batched_product(name, OperatorClass::feed_forward, groups, m, n, k);
  }
};

class ModelWriter {
 public:
  ModelWriter(Model& model, const Recommender& r, const TablePlacement* placement)
      : model_(model), r_(r), placement_(placement) {}

  void write() {
    tables();
    if (r_.tower_modules) modules(*r_.tower_modules);
    mlp_layers(r_.bottom_mlp, "bottom.product", "bottom.activation");
    join();
    add_layer("look-ups, bottom MLP and interaction");
    if (r_.cross) cross_network(*r_.cross);
    if (r_.transformer) transformer(*r_.transformer);
    for (std::size_t layer = 0; layer + 1 < r_.top_mlp.size(); ++layer) {
      const double in = static_cast<double>(r_.top_mlp[layer]);
      const double out = static_cast<double>(r_.top_mlp[layer + 1]);
      const std::size_t layers = r_.top_mlp.size() - 1;
      const Cut cut = r_.moe ? Cut::none : cut_of(layer, layers);
      for (std::int64_t task = 0; task < r_.tasks; ++task) {
        if (r_.moe) {
          experts(*r_.moe, in, out);
        } else {
          w_.product("top.product", samples(), in, out, cut);
        }
        if (layer + 1 < layers) w_.activation("top.activation", samples(), out, cut);
      }
      add_layer("layer of the top MLP");
    }
    if (placement_ != nullptr && r_.prefetch) prefetch(placement_->bags.indices);
    // Sigmoid and binary cross-entropy of each task, in fp32.
    w_.elementwise("head.loss", OperatorClass::loss, samples(),
                   fixed(static_cast<double>(r_.tasks)), 6, 4);
    model_.head = {"head", w_.take()};
    model_.embedding = {"embedding", {}};
    model_.width = static_cast<double>(r_.top_mlp.front());
    model_.tensor_parts = std::max<std::int64_t>(1, tensor_parts());
  }

 private:
  void tables() {
    Operator op;
    op.name = "tables.look_up";
    op.kind = OperatorKind::embedding_bag;
    op.op_class = OperatorClass::embedding;
    op.m = samples();
    op.counts_in_model_flops = false;
    if (placement_ == nullptr) {
      for (const EmbeddingTable& t : tables_of(r_)) op.parameters += t.rows * t.width;
      w_.append(std::move(op));
      return;
    }
    op.bags = placement_->bags;
    op.sends = placement_->sends;
    op.parameters = placement_->sharded_parameters;
    w_.append(std::move(op));
    if (placement_->replicated_parameters <= 0) return;
    // In passes over two bytes of one element of a sample.
    constexpr double kPass = 2;
    w_.elementwise("tables.replicated", OperatorClass::embedding, samples(), fixed(1),
                   placement_->replicated_looked_up.value() / kPass,
                   placement_->replicated_updated.value() / kPass)
        .parameters = placement_->replicated_parameters;
  }

  // Each rank has the tower's vectors of as many samples as there are towers times its own. Ranks of
  // a tower hold the same weights, and reduce their gradients among themselves.
  void modules(const TowerModules& modules) {
    const auto towers = static_cast<double>(modules.towers);
    const double width = tower_width(r_);
    const Dimension rows = samples(towers);
    const auto product = [&](std::string_view name, double out) {
      Operator& op = w_.product(name, rows, width, out, Cut::none);
      constexpr double kState = 12;  // of AdamW: moments and master weights in fp32
      op.bags.weights = Bytes(2 * op.parameters);
      op.bags.optimizer_state = Bytes(kState * op.parameters);
      op.parameters *= towers;
    };
    const std::size_t first = w_.size();
    for (std::int64_t i = 0; i < modules.cross_layers; ++i) {
      product("tower.cross", width);
      w_.elementwise("tower.combination", OperatorClass::elementwise, rows, fixed(width), 4, 6)
          .saved = {{rows, fixed(width), ElementKind::activation}};
    }
    product("tower.projection", width / static_cast<double>(modules.compression));
    w_[first].boundary = Boundary::pooled;
    if (placement_ != nullptr) w_[w_.size() - 1].sends = placement_->module_sends;
  }

  void mlp_layers(const std::vector<std::int64_t>& widths, std::string_view product,
                  std::string_view activation) {
    const std::size_t layers = widths.size() - 1;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const Cut cut = cut_of(layer, layers);
      const double out = static_cast<double>(widths[layer + 1]);
      w_.product(product, samples(), static_cast<double>(widths[layer]), out, cut);
      w_.activation(activation, samples(), out, cut);
    }
  }

  // The first operator that needs the tables' vectors.
  void join() {
    const auto vectors = static_cast<double>(r_.bottom_mlp.back() + joined_width(r_));
    const auto top = static_cast<double>(r_.top_mlp.front());
    if (r_.interaction == Interaction::dot) {
      const double count = vectors / static_cast<double>(r_.bottom_mlp.back());
      Operator& dot = w_.pairs("interaction.products", samples(), count, count, vectors / count);
      dot.boundary = Boundary::pooled;
      dot.saved = {{samples(), fixed(vectors), ElementKind::activation}};
      // The pairs of one triangle, beside the bottom MLP's output.
      w_.elementwise("interaction.triangle", OperatorClass::elementwise, samples(), fixed(top), 2,
                     2);
      return;
    }
    const bool reads_only = r_.interaction == Interaction::none;
    Operator& join =
        w_.elementwise("interaction.concatenation", OperatorClass::elementwise, samples(),
                       fixed(vectors), reads_only ? 1 : 2, reads_only ? 1 : 2);
    join.boundary = Boundary::pooled;
    // The layers of a cross network read the concatenation again.
    if (r_.cross) join.saved = {{samples(), fixed(vectors), ElementKind::activation}};
  }

  // x' = x0 * (U V x + b) + x, or W x + b.
  void cross_network(const CrossNetwork& cross) {
    const auto width = static_cast<double>(interaction_width(r_));
    const auto rank = static_cast<double>(cross.rank);
    for (std::int64_t i = 0; i < cross.layers; ++i) {
      if (cross.rank > 0) {
        w_.product("cross.down", samples(), width, rank, Cut::columns, false);
        w_.product("cross.up", samples(), rank, width, Cut::rows);
      } else {
        w_.product("cross.product", samples(), width, width, Cut::none);
      }
      // Reads x0, the product and x, writes one; backward reads three and writes three.
      w_.elementwise("cross.combination", OperatorClass::elementwise, samples(), fixed(width), 4, 6)
          .saved = {{samples(), fixed(width), ElementKind::activation}};
      add_layer("cross layer");
    }
  }

  void transformer(const InteractionTransformer& t) {
    const auto width = static_cast<double>(t.attention_dim);
    const auto ffn = static_cast<double>(t.ffn);
    const auto tokens = static_cast<double>(t.seq_len);
    const auto heads = static_cast<double>(t.heads);
    const Dimension rows = samples(tokens);
    for (std::int64_t i = 0; i < t.layers; ++i) {
      w_.product("interaction.qkv", rows, width, 3 * width, Cut::none, false)
          .saved.push_back({rows, fixed(3 * width), ElementKind::activation});
      w_.pairs("interaction.scores", samples(heads), tokens, tokens, width / heads);
      w_.elementwise("interaction.softmax", OperatorClass::elementwise, samples(heads * tokens),
                     fixed(tokens), 2, 3)
          .saved = {{samples(heads * tokens), fixed(tokens), ElementKind::activation}};
      w_.pairs("interaction.values", samples(heads), tokens, width / heads, tokens);
      w_.product("interaction.projection", rows, width, width, Cut::none, false);
      w_.product("interaction.up", rows, width, ffn, Cut::columns, false);
      w_.activation("interaction.activation", rows, ffn, Cut::columns);
      w_.product("interaction.down", rows, ffn, width, Cut::rows, false);
      w_.elementwise("interaction.sums", OperatorClass::elementwise, rows, fixed(width), 6, 6);
      add_layer("transformer layer of the interaction");
    }
  }

  // The router's scores, each sample's rows sorted by expert, one grouped product, and their sum.
  void experts(const RoutedTopMlp& moe, double in, double out) {
    const auto count = static_cast<double>(moe.num_experts);
    const auto top_k = static_cast<double>(moe.top_k);
    w_.product("router", samples(), in, count, Cut::none, false).op_class = OperatorClass::router;
    const double permuted = 1 + 1 / top_k;
    w_.elementwise("experts.permutation", OperatorClass::experts, samples(top_k), fixed(in),
                   permuted, permuted);
    w_.grouped_product("experts.product", samples(top_k), fixed(out), fixed(in), fixed(count),
                       (in + 1) * out);
    w_.elementwise("experts.sum", OperatorClass::experts, samples(top_k), fixed(out), permuted,
                   permuted);
  }

  static bool same(const std::vector<Operator>& a, const std::vector<Operator>& b) {
    return std::ranges::equal(a, b, [](const Operator& x, const Operator& y) {
      return x.name == y.name && x.boundary == y.boundary && x.n.factor == y.n.factor &&
             x.k.factor == y.k.factor && x.width.factor == y.width.factor &&
             x.rows.factor == y.rows.factor;
    });
  }

  // Layers that are alike share a block.
  void add_layer(const char* name) {
    std::vector<Operator> operators = w_.take();
    const auto known = std::ranges::find_if(
        model_.blocks, [&](const Block& b) { return same(b.operators, operators); });
    model_.layers.push_back(static_cast<std::uint16_t>(known - model_.blocks.begin()));
    if (known == model_.blocks.end()) model_.blocks.push_back({name, std::move(operators)});
  }

  // Look-ups of the next batch travel beside the layer behind the interaction that works longest.
  void prefetch(Bytes look_ups) {
    const auto flops = [](const Block& block) {
      double sum = 0;
      for (const Operator& op : block.operators) sum += model_flops(op, Phase::forward, {}).value();
      return sum;
    };
    Block& longest = *std::ranges::max_element(model_.blocks.begin() + 1, model_.blocks.end(),
                                               std::ranges::less{}, flops);
    const auto block = static_cast<std::uint16_t>(&longest - model_.blocks.data());
    const auto times = static_cast<double>(std::ranges::count(model_.layers, block));
    const auto first = std::ranges::find_if(longest.operators, is_product);
    // A product may have more rows than samples, as tokens of the interaction.
    first->bags.indices = look_ups / (times * first->m.factor);
  }

  // The greatest number that divides every divided width.
  [[nodiscard]] std::int64_t tensor_parts() const {
    std::int64_t parts = 0;
    for (const Block& block : model_.blocks) {
      for (const Operator& op : block.operators) {
        if (op.boundary != Boundary::column) continue;
        parts = std::gcd(parts, static_cast<std::int64_t>(op.n.factor));
      }
    }
    return parts;
  }

  Model& model_;
  const Recommender& r_;
  const TablePlacement* placement_;
  Writer w_;
};

}  // namespace

void build_recommendation_blocks(Model& model, const Recommender& r,
                                 const TablePlacement* placement) {
  model.blocks.clear();
  model.layers.clear();
  ModelWriter(model, r, placement).write();
}

}  // namespace orrery
