#include "model/model.h"

#include <algorithm>

#include "model/adapted_block.h"
#include "model/blocks.h"

namespace orrery {

namespace {

bool sees_all(const Architecture& a, std::int64_t layer) {
  if (a.sliding_window == 0) return true;
  return a.global_attention_every > 0 && (layer + 1) % a.global_attention_every == 0;
}

bool has_experts(const Architecture& a, std::int64_t layer) {
  if (!a.moe || layer < a.moe->first_dense_layers) return false;
  const std::int64_t place = layer - a.moe->first_dense_layers;
  return (place + 1) % a.moe->layer_interval == 0;
}

std::string block_name(const Architecture& a, const LayerKind& kind) {
  std::string name = kind.final_norm ? "last " : "";
  if (kind.encoder) name += "encoder ";
  if (a.kind == ModelKind::encoder_decoder && !kind.encoder) name += "decoder ";
  if (kind.windowed) name += "local ";
  return name + (kind.experts ? "expert layer" : "dense layer");
}

void add_layer(Model& model, std::vector<LayerKind>& kinds, LayerKind kind) {
  const auto known = std::find(kinds.begin(), kinds.end(), kind);
  const auto index = static_cast<std::uint16_t>(known - kinds.begin());
  if (known == kinds.end()) {
    BlockWriter writer(model.architecture, kind);
    writer.layer();
    kinds.push_back(kind);
    model.blocks.push_back({block_name(model.architecture, kind), writer.take()});
  }
  model.layers.push_back(index);
}

// Sums over the operators of the whole model, each layer as often as it occurs.
template <class F>
double sum(const Model& model, F&& of) {
  std::vector<double> occurrences(model.blocks.size(), 0);
  for (const std::uint16_t block : model.layers) occurrences[block] += 1;
  double total = 0;
  for (const Operator& op : model.embedding.operators) total += of(op);
  for (const Operator& op : model.head.operators) total += of(op);
  for (std::size_t i = 0; i < model.blocks.size(); ++i) {
    for (const Operator& op : model.blocks[i].operators) total += occurrences[i] * of(op);
  }
  return total;
}

}  // namespace

Result<Model> build_model(const Architecture& architecture) {
  Model model;
  model.architecture = completed(architecture);
  const Architecture& a = model.architecture;
  const std::vector<std::string> problems = architecture_problems(a);
  if (!problems.empty()) {
    std::string message = "model '" + a.name + "' cannot be built: ";
    for (std::size_t i = 0; i < problems.size(); ++i) message += (i ? "; " : "") + problems[i];
    return fail(ErrorCode::bad_input, std::move(message));
  }

  std::vector<LayerKind> kinds;
  if (a.kind == ModelKind::encoder_decoder) {
    for (std::int64_t i = 0; i < a.num_encoder_layers; ++i) {
      add_layer(model, kinds,
                {.encoder = true,
                 .experts = has_experts(a, i),
                 .windowed = !sees_all(a, i),
                 .final_norm = i + 1 == a.num_encoder_layers});
    }
  }
  for (std::int64_t i = 0; i < a.num_layers; ++i) {
    add_layer(model, kinds,
              {.cross = a.kind == ModelKind::encoder_decoder,
               .experts = has_experts(a, i),
               .windowed = !sees_all(a, i)});
  }

  BlockWriter embedding(a, {});
  if (a.kind == ModelKind::vision_encoder) {
    embedding.patch_embedding();
  } else {
    embedding.token_embedding();
  }
  embedding.position_embedding();
  model.embedding = {"embedding", embedding.take()};

  BlockWriter head(a, {});
  head.head();
  std::vector<Operator> operators = head.take();
  for (std::int64_t i = 0; i < a.num_multi_token_prediction; ++i) {
    const std::int64_t last = a.num_layers - 1;
    BlockWriter module(
        a, {.experts = has_experts(a, last), .windowed = !sees_all(a, last), .auxiliary = true});
    module.multi_token_prediction();
    std::vector<Operator> more = module.take();
    operators.insert(operators.end(), more.begin(), more.end());
  }
  model.head = {"head", std::move(operators)};
  if (a.adapters) {
    for (Block* block : {&model.embedding, &model.head}) adapt(*block, *a.adapters);
    for (Block& block : model.blocks) adapt(block, *a.adapters);
  }
  return model;
}

Result<Model> with_adapters(const Model& model, const Adapters& adapters) {
  Architecture architecture = model.architecture;
  architecture.adapters = adapters;
  return build_model(architecture);
}

double parameters(const Model& model) {
  return sum(model, [](const Operator& op) { return op.auxiliary ? 0 : op.parameters; });
}

double trained_parameters(const Model& model) {
  return sum(model,
             [](const Operator& op) { return op.frozen || op.auxiliary ? 0 : op.parameters; });
}

double active_parameters(const Model& model) {
  const auto& moe = model.architecture.moe;
  const double share =
      moe ? static_cast<double>(moe->top_k) / static_cast<double>(moe->num_experts) : 1;
  return sum(model, [share](const Operator& op) {
    if (op.auxiliary) return 0.0;
    return op.parameters * (op.parameter_axis == LogicalAxis::experts ? share : 1);
  });
}

Flops model_flops_per_sequence(const Model& model, double sequence_length, AttentionCount count,
                               double source_length) {
  const Binding whole{.sequence_length = sequence_length,
                      .source_length = source_length > 0 ? source_length : sequence_length};
  return Flops(sum(model, [&](const Operator& op) {
    if (!op.counts_in_model_flops) return 0.0;
    double flops = 0;
    for (const Phase phase : {Phase::forward, Phase::input_gradient, Phase::weight_gradient}) {
      flops += model_flops(op, phase, whole).value();
    }
    if (op.kind == OperatorKind::attention && op.attention.causal &&
        count == AttentionCount::causal) {
      // The q-th query sees min(q, w) keys: w (1 - w / 2s) in the mean, half of s without a window.
      const double window = op.attention.window > 0 ? op.attention.window : sequence_length;
      flops *= 1 - std::min(window, sequence_length) / (2 * sequence_length);
    }
    return flops;
  }));
}

}  // namespace orrery
