#include "model/transformer/transformer.h"

#include <algorithm>

#include "model/model_name.h"
#include "model/model_problems.h"
#include "model/transformer/adapted_block.h"
#include "model/transformer/blocks.h"
#include "model/transformer/division_rules.h"

namespace orrery {
namespace {

std::string block_name(const Architecture& a, const LayerKind& kind) {
  std::string name = kind.final_norm ? "last " : "";
  if (kind.encoder) name += "encoder ";
  if (a.kind == ModelKind::encoder_decoder && !kind.encoder) name += "decoder ";
  const bool alone = kind.feed_forward == FeedForwardPart::none;
  if (alone && kind.mixer == Mixer::none) return "layer computed with the one before";
  switch (kind.mixer) {
    case Mixer::attention:
      if (alone) name += "attention ";
      break;
    case Mixer::local_attention:
      name += alone ? "local attention " : "local ";
      break;
    case Mixer::state_space:
      name += "state-space ";
      break;
    case Mixer::gated_delta:
      name += "gated-delta ";
      break;
    case Mixer::none:
      name += "feed-forward ";
      break;
  }
  if (alone) return name + "layer";
  return name + (kind.feed_forward == FeedForwardPart::experts  ? "expert layer"
                 : kind.feed_forward == FeedForwardPart::memory ? "memory layer"
                                                                : "dense layer");
}

// What tensor parallelism divides: heads, or channels where no layer has heads.
std::int64_t tensor_parts(const Architecture& a) {
  if (has_attention(a)) return a.num_heads;
  if (a.state_space) return a.state_space->heads > 0 ? a.state_space->heads : a.state_space->inner;
  return a.gated_delta ? a.gated_delta->key_heads : 1;
}

// A layer of the decoder. Experts that read what attention of the layer before has made begin
// before its feed-forward part, which therefore is the begin of their layer. Experts that read its
// input begin before all of it: both layers, whose mixers are the same, are then computed in the
// place of the first, and nothing is left for that of the second.
LayerKind decoder_layer(const Architecture& a, std::int64_t i) {
  const ShortcutSource source = a.moe ? a.moe->shortcut_source : ShortcutSource::layer;
  const auto has_experts = [&](std::int64_t layer) {
    return layer < a.num_layers && feed_forward_of(a, layer) == FeedForwardPart::experts;
  };
  LayerKind out{.cross = a.kind == ModelKind::encoder_decoder,
                .mixer = mixer_of(a, i),
                .feed_forward = feed_forward_of(a, i)};
  if (source == ShortcutSource::attention) {
    if (has_experts(i)) out.begin = LayerKind::Begin::feed_forward;
    if (has_experts(i + 1)) out.feed_forward = FeedForwardPart::none;
  } else if (source == ShortcutSource::input) {
    if (has_experts(i + 1)) {
      out.begin = LayerKind::Begin::layer;
      out.feed_forward = FeedForwardPart::experts;
    }
    if (has_experts(i)) out = {.mixer = Mixer::none, .feed_forward = FeedForwardPart::none};
  }
  return out;
}

void add_layer(Model& model, const Architecture& a, std::vector<LayerKind>& kinds, LayerKind kind) {
  const auto known = std::ranges::find(kinds, kind);
  const auto index = static_cast<std::uint16_t>(known - kinds.begin());
  if (known == kinds.end()) {
    BlockWriter writer(a, kind);
    writer.layer();
    kinds.push_back(kind);
    model.blocks.push_back({block_name(a, kind), writer.take()});
  }
  model.layers.push_back(index);
}

}  // namespace

Result<Model> build_model(const Architecture& architecture) {
  const Architecture a = completed(architecture);
  ORRERY_RETURN_IF_ERROR(without_problems(a.name, architecture_problems(a)));
  Model model;
  model.family = &transformers();
  model.name = a.name;
  model.width = static_cast<double>(a.hidden);
  model.assumed = a.assumed;
  if (a.state_space || a.gated_delta) {
    model.assumed.emplace_back(
        "layers that carry a state are priced by their products and bytes; no measured step has "
        "them");
  }
  if (a.memory) {
    model.assumed.emplace_back(
        "memory layers are priced by their products and the bytes of look-ups; no measured step "
        "has them");
  }
  model.tensor_parts = tensor_parts(a);
  model.experts = a.moe ? a.moe->num_experts : 0;
  model.experts_of_a_token = a.moe ? a.moe->top_k : 0;
  model.ties_ends = a.tie_embeddings;
  model.published = {a.training.sequence_length, a.training.global_batch_tokens};
  if (a.kind == ModelKind::vision_encoder && model.published.sequence_length == 0) {
    model.published.sequence_length = a.max_position;  // patches and the class token
  }
  std::vector<LayerKind> kinds;
  if (a.kind == ModelKind::encoder_decoder) {
    for (std::int64_t i = 0; i < a.num_encoder_layers; ++i) {
      add_layer(model, a, kinds,
                {.encoder = true,
                 .mixer = mixer_of(a, i),
                 .feed_forward = feed_forward_of(a, i),
                 .final_norm = i + 1 == a.num_encoder_layers});
    }
  }
  for (std::int64_t i = 0; i < a.num_layers; ++i) add_layer(model, a, kinds, decoder_layer(a, i));

  for (Block& block : model.blocks) block.residual = a.residual;

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
        a,
        {.mixer = mixer_of(a, last), .feed_forward = feed_forward_of(a, last), .auxiliary = true});
    module.multi_token_prediction();
    std::vector<Operator> more = module.take();
    operators.insert(operators.end(), more.begin(), more.end());
  }
  model.head = {"head", std::move(operators)};
  if (a.adapters) {
    for (Block* block : {&model.embedding, &model.head}) adapt(*block, *a.adapters);
    for (Block& block : model.blocks) adapt(block, *a.adapters);
  }
  model.fields = a;
  return model;
}

const Architecture* architecture_of(const Model& model) {
  return std::any_cast<Architecture>(&model.fields);
}

Result<Model> with_adapters(const Model& model, const Adapters& adapters) {
  if (architecture_of(model) == nullptr) {
    return unsupported("adapters are for transformers; " + model.name +
                       " is another kind of model");
  }
  Architecture architecture = *architecture_of(model);
  architecture.adapters = adapters;
  return build_model(architecture);
}

Result<Model> read_transformer(const Document& document) {
  ORRERY_TRY(Architecture architecture, read_architecture(document));
  const Value* type = document.root.find("model_type");
  const bool only_type = type != nullptr && architecture.name == type->scalar_text();
  if (architecture.name.empty() || architecture.name == "unnamed" || only_type) {
    architecture.name = model_name_of_file(document.name);
  }
  return at(document.name, build_model(architecture));
}

Value write_transformer(const Model& model) {
  return Codec<Architecture>::write(*architecture_of(model));
}

const ModelFamily& transformers() {
  static constexpr ModelFamily kTransformers = {"",
                                                read_transformer,
                                                write_transformer,
                                                transformer_division_problems,
                                                with_copied_heads,
                                                copied_heads};
  return kTransformers;
}

}  // namespace orrery
