#include "infer/inferred_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyze/recorded_accelerator.h"
#include "infer/operator_uses.h"
#include "infer/recorded_parallelism.h"
#include "infer/recorded_software.h"
#include "trace/has.h"
#include "trace/marked_steps.h"

namespace orrery {
namespace {

struct Product {
  GemmShape shape;
  const OperatorUse* use = nullptr;
};

struct Attention {
  const OperatorUse* use = nullptr;
  std::int64_t heads = 0;     // of this rank
  std::int64_t kv_heads = 0;  // of this rank
  std::int64_t head_dim = 0;
  bool fused = false;
};

// Reads one recording.
class Inference {
 public:
  Inference(const RecordedTrace& trace, const MarkedStep& step, std::int64_t ranks)
      : trace_(trace),
        ranks_(ranks),
        uses_(operator_uses(trace, step)),
        parallelism_(recorded_parallelism(trace, step)) {}

  Result<InferredSpec> read(const Catalog& catalog) {
    const bool shapes =
        std::ranges::any_of(uses_, [](const OperatorUse& u) { return elements_of(u.shapes) > 0; });
    bool known = shapes || lacks("shapes of operators", "record with record_shapes=True");
    known = known && read_embedding() && read_attention() && read_products();
    if (known) {
      read_degrees();
      known = spec_.architecture.vocab > 0 || spec_.architecture.vision ||
              lacks("the vocabulary", "neither its table nor its product is found");
    }
    if (shapes) read_experts();
    read_named_degrees();
    read_exchanges();
    const bool told = !spec_.facts.empty();
    read_software();
    read_backward();
    known = read_accelerator(catalog) && known;
    if (!told) {
      std::string all;
      for (const std::string& one : spec_.not_inferred) all += (all.empty() ? "" : "; ") + one;
      return unsupported("the model and its parallelism cannot be inferred", trace_.file, all);
    }
    spec_.complete = known && !experts_;
    return std::move(spec_);
  }

 private:
  // Notes what cannot be told, and gives false.
  bool lacks(const std::string& what, const std::string& why) {
    spec_.not_inferred.push_back(fmt::format("{}: {}", what, why));
    return false;
  }
  void add(const char* name, std::int64_t value, std::string from) {
    spec_.facts.push_back({name, std::to_string(value), std::move(from)});
  }
  void add(const char* name, std::string value, std::string from) {
    spec_.facts.push_back({name, std::move(value), std::move(from)});
  }

  // Products of groups of tokens, one matrix an expert of this rank.
  void read_experts() {
    for (const OperatorUse& use : uses_) {
      if (!has(use.name, "grouped_mm") || use.shapes.size() < 2 || use.shapes[1].size() != 3) {
        continue;
      }
      if (!experts_) add("experts of a rank", use.shapes[1][0], text_of(use));
      experts_ = true;
      add("product of experts", fmt::format("{} to {}", use.shapes[1][1], use.shapes[1][2]),
          text_of(use));
    }
    if (!experts_) return;
    lacks("a model of experts",
          "router, experts a token and shared experts do not follow from the products");
  }

  void read_named_degrees() {
    const auto add_degree = [&](const char* name, const RecordedDegree& degree) {
      if (degree.size > 1) add(name, degree.size, degree.from);
    };
    if (spec_.architecture.num_layers == 0) add_degree("tp", parallelism_.tp);
    add_degree("cp", parallelism_.cp);
    add_degree("pp", parallelism_.pp);
    add_degree("ep", parallelism_.ep);
    if (parallelism_.sends && parallelism_.pp.size < 2) {
      lacks("stages of a pipeline", "ranks send and receive, but no group names the stages");
    }
    if (parallelism_.exchanges_all && parallelism_.ep.size < 2) {
      lacks("how experts or sequences are divided",
            "ranks exchange all-to-all, but no group names the division");
    }
  }

  // The five that ran most often.
  void read_exchanges() {
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(kShown, parallelism_.exchanges.size()); ++i) {
      const RecordedExchange& e = parallelism_.exchanges[i];
      std::string from = e.collective;
      if (e.elements > 0) from += fmt::format(" of {} elements", e.elements);
      if (e.group_size > 0) from += fmt::format(", groups of {}", e.group_size);
      if (!e.group.empty() && e.group != "undefined") from += fmt::format(" ({})", e.group);
      add("communications", e.calls, std::move(from));
    }
  }

  void read_software() {
    const RecordedSoftware software =
        recorded_software(trace_, uses_, spec_.architecture.num_layers * spec_.microbatches);
    if (software.profile.empty()) return;
    spec_.software = software.profile;
    add("software", software.profile, software.from);
  }

  void read_backward() {
    spec_.backward = std::ranges::any_of(uses_, [](const OperatorUse& use) {
      return has(use.name, "Backward") || has(use.name, "_backward");
    });
    spec_.loss = spec_.backward || std::ranges::any_of(uses_, [](const auto& use) {
                   return has(use.name, "cross_entropy") || has(use.name, "CrossEntropy") ||
                          has(use.name, "nll_loss") || has(use.name, "log_softmax");
                 });
    if (!uses_.empty()) add("backward", spec_.backward ? "yes" : "no", "operators of the step");
  }

  // Whether a product starts from rows of this width: what is looked up feeds the first layer.
  [[nodiscard]] bool is_continued(std::int64_t hidden) const {
    return std::ranges::any_of(uses_, [&](const OperatorUse& use) {
      const auto product = product_shape(use.name, use.shapes);
      return product && product->groups == 1 && product->k == static_cast<double>(hidden);
    });
  }

  // Of a recording whose backward pass is marked, those of the forward one.
  static std::int64_t forward_calls(const OperatorUse& use) {
    return use.forward_calls() > 0 ? use.forward_calls() : use.calls;
  }

  // A convolution whose kernels lie side by side on the image makes a token of each patch.
  void read_patches() {
    for (const OperatorUse& use : uses_) {
      if (!has(use.name, "conv") || use.shapes.size() < 2 || use.shapes[0].size() != 4 ||
          use.shapes[1].size() != 4) {
        continue;
      }
      const Shape& image = use.shapes[0];
      const Shape& kernel = use.shapes[1];
      const std::int64_t side = kernel[2];
      if (side < 2 || kernel[3] != side || kernel[0] != spec_.architecture.hidden ||
          image[2] < side || image[3] < side) {
        continue;
      }
      const std::int64_t patches = (image[2] / side) * (image[3] / side);
      // Beside the patches there are a class token and a few registers.
      constexpr std::int64_t kMostOthers = 16;
      const std::int64_t others = spec_.training.sequence_length - patches;
      if (others < 0 || others > kMostOthers) continue;
      VisionInput vision;
      vision.patch = side;
      vision.image = image[2];
      vision.tokens = patches;
      spec_.architecture.vision = vision;
      spec_.architecture.kind = ModelKind::vision_encoder;
      add("patches", fmt::format("{0} x {0} pixels", side), text_of(use));
      return;
    }
  }

  // The lookup by the most tokens; of several tables the largest, which is the vocabulary's.
  bool read_embedding() {
    const OperatorUse* best = nullptr;
    for (const OperatorUse& use : uses_) {
      if (use.name != "aten::embedding" || use.shapes.size() < 2 || use.shapes[0].size() != 2 ||
          use.shapes[1].size() != 2 || !is_continued(use.shapes[0][1])) {
        continue;
      }
      const auto tokens = [](const OperatorUse& u) { return u.shapes[1][0] * u.shapes[1][1]; };
      if (best == nullptr || tokens(use) > tokens(*best) ||
          (tokens(use) == tokens(*best) && use.shapes[0][0] > best->shapes[0][0])) {
        best = &use;
      }
    }
    if (best == nullptr || best->shapes[0][1] < 1 || best->shapes[1][0] < 1 ||
        best->shapes[1][1] < 1) {
      return lacks("the model", "no embedding of [batch, sequence] leads into a product");
    }
    spec_.architecture.hidden = best->shapes[0][1];
    spec_.plan.micro_batch = best->shapes[1][0];
    spec_.training.sequence_length = best->shapes[1][1];
    spec_.microbatches = forward_calls(*best);
    // Without a product over all tokens. A table as long as the sequence holds positions.
    if (best->shapes[0][0] != spec_.training.sequence_length) {
      table_ = best->shapes[0][0];
      table_from_ = text_of(*best);
    }
    add("hidden", spec_.architecture.hidden, text_of(*best));
    add("micro-batch", spec_.plan.micro_batch, text_of(*best));
    add("sequence", spec_.training.sequence_length, text_of(*best));
    add("microbatches", spec_.microbatches, text_of(*best));
    if (table_ == 0) read_patches();
    return true;
  }

  [[nodiscard]] std::optional<Attention> attention_of(const OperatorUse& use) const {
    const std::int64_t b = spec_.plan.micro_batch;
    const std::int64_t s = spec_.training.sequence_length;
    if (use.name == "aten::scaled_dot_product_attention" && use.shapes.size() >= 3 &&
        use.shapes[0].size() == 4 && use.shapes[1].size() == 4) {
      const Shape& q = use.shapes[0];
      if (q[0] != b || q[2] != s) return std::nullopt;
      return Attention{&use, q[1], use.shapes[1][1], q[3], true};
    }
    const auto product = product_shape(use.name, use.shapes);
    if (!product || product->groups <= 1) return std::nullopt;
    // Queries by keys: s by s, over the size of a head.
    const auto rows = static_cast<std::int64_t>(product->m);
    const auto heads = static_cast<std::int64_t>(product->groups);
    if (rows != s || static_cast<std::int64_t>(product->n) != s || heads % b != 0) {
      return std::nullopt;
    }
    return Attention{&use, heads / b, heads / b, static_cast<std::int64_t>(product->k), false};
  }

  bool read_attention() {
    for (const OperatorUse& use : uses_) {
      const auto found = attention_of(use);
      if (found && (attention_.use == nullptr ||
                    forward_calls(*found->use) > forward_calls(*attention_.use))) {
        attention_ = *found;
      }
    }
    if (attention_.use == nullptr || attention_.heads < 1 || attention_.head_dim < 1) {
      return lacks("heads and layers", "no attention over the whole sequence is found");
    }
    std::int64_t backward = 0;
    for (const OperatorUse& use : uses_) {
      if (has(use.name, "ttention") && has(use.name, "ackward")) {
        backward = std::max(backward, use.calls);
      }
    }
    // What is computed again runs its attention a second time.
    const std::int64_t forward = forward_calls(*attention_.use);
    const bool recomputes = attention_.use->again_calls >= forward ||
                            (backward > 0 && attention_.use->calls >= 2 * backward);
    const bool marked = attention_.use->forward_calls() > 0 && forward < attention_.use->calls;
    spec_.architecture.num_layers =
        (recomputes && !marked ? std::max<std::int64_t>(backward, 1) : forward) /
        spec_.microbatches;
    spec_.plan.recompute = recomputes ? Recompute::full : Recompute::none;
    if (recomputes) add("recomputation", "full", text_of(*attention_.use));
    spec_.architecture.head_dim = attention_.head_dim;
    spec_.plan.attention = attention_.fused ? AttentionKernel::flash_2 : AttentionKernel::unfused;
    add("layers", spec_.architecture.num_layers, text_of(*attention_.use));
    add("head size", attention_.head_dim, text_of(*attention_.use));
    add("attention", attention_.fused ? "fused" : "unfused", text_of(*attention_.use));
    if (spec_.architecture.num_layers < 1) {
      return lacks("layers", "less than one attention a microbatch is found");
    }
    return true;
  }

  // Whether operators below those of autograd are known to be so.
  [[nodiscard]] bool marks_backward() const {
    return std::ranges::any_of(uses_,
                               [](const OperatorUse& use) { return use.backward_calls > 0; });
  }

  // Products of all tokens of a microbatch, of the forward pass.
  [[nodiscard]] std::vector<Product> token_products() const {
    const auto tokens =
        static_cast<double>(spec_.plan.micro_batch * spec_.training.sequence_length);
    std::vector<Product> out;
    for (const OperatorUse& use : uses_) {
      if (use.name != "aten::mm" && use.name != "aten::addmm") continue;
      const auto shape = product_shape(use.name, use.shapes);
      if (shape && shape->m == tokens && (use.forward_calls() > 0 || !marks_backward())) {
        out.push_back({*shape, &use});
      }
    }
    return out;
  }

  bool read_products() {
    const auto hidden = static_cast<double>(spec_.architecture.hidden);
    const auto attention_width = static_cast<double>(attention_.heads * attention_.head_dim);
    const std::int64_t each_layer = spec_.architecture.num_layers * spec_.microbatches;
    const std::vector<Product> products = token_products();
    const Product* down = nullptr;
    const Product* logits = nullptr;
    for (const Product& p : products) {
      if (p.shape.n == hidden && p.shape.k != attention_width &&
          forward_calls(*p.use) >= each_layer && (down == nullptr || p.shape.k > down->shape.k)) {
        down = &p;
      }
      if (p.shape.k == hidden && forward_calls(*p.use) == spec_.microbatches &&
          (logits == nullptr || p.shape.n > logits->shape.n)) {
        logits = &p;
      }
    }
    if (down == nullptr) {
      return lacks("the feed-forward size", "no product of every layer leads back to the hidden");
    }
    local_ffn_ = static_cast<std::int64_t>(down->shape.k);
    std::int64_t up_calls = 0;
    for (const Product& p : products) {
      if (p.shape.k != hidden) continue;
      if (p.shape.n == down->shape.k) up_calls += forward_calls(*p.use);
      if (p.shape.n == 2 * down->shape.k && forward_calls(*p.use) >= each_layer) {
        up_calls = 2 * each_layer;
      }
    }
    const bool gated = up_calls >= 2 * each_layer;
    spec_.architecture.ffn = gated ? FeedForwardKind::swiglu : FeedForwardKind::gelu;
    spec_.architecture.norm = gated ? NormKind::rmsnorm : NormKind::layernorm;
    spec_.architecture.linear_bias = down->use->name == "aten::addmm";
    spec_.training.precision = has(down->use->types, "BFloat16") ? NumberFormat::bf16
                               : has(down->use->types, "Half")   ? NumberFormat::fp16
                                                                 : NumberFormat::fp32;
    ffn_from_ = text_of(*down->use);
    read_positions(gated);
    if (logits != nullptr) {
      spec_.logits = true;
      local_vocab_ = static_cast<std::int64_t>(logits->shape.n);
      vocab_from_ = text_of(*logits->use);
    }
    return true;
  }

  // Rotated halves are negated, in operators of a framework or in a kernel that says so. Without
  // either, gated models rotate (in a fused kernel) and others learn their positions.
  void read_positions(bool gated) {
    const std::int64_t layers = spec_.architecture.num_layers * spec_.microbatches;
    std::int64_t rotations = 0;
    for (const OperatorUse& use : uses_) {
      if (use.name == "aten::neg" || has(use.name, "otary") || has(use.name, "rope") ||
          has(use.name, "RoPE")) {
        rotations += forward_calls(use);
      }
    }
    const bool learned =
        spec_.architecture.kind == ModelKind::vision_encoder || (rotations < layers && !gated);
    if (!learned) return;
    spec_.architecture.position_encoding = PositionEncoding::learned;
    spec_.architecture.max_position = spec_.training.sequence_length;
  }

  // Layers whose activations are reduced, or the size a framework gives its group.
  void read_tensor_parallelism() {
    const std::int64_t width = attention_.heads * attention_.head_dim;
    const std::int64_t hidden = spec_.architecture.hidden;
    const auto carried =
        parallelism_.carrying(spec_.plan.micro_batch * spec_.training.sequence_length * hidden);
    const std::int64_t layers = spec_.architecture.num_layers * spec_.microbatches;
    // Work runs behind its launch: the last of a step may lie past its window.
    const bool every_layer = carried.calls + 2 >= 2 * layers && carried.group_size > 1;
    spec_.plan.tp = 1;
    spec_.plan.sequence_parallel = every_layer && carried.scattered;
    std::string from = "layers are whole";
    if (parallelism_.tp.size > 1) {
      spec_.plan.tp = parallelism_.tp.size;
      from = parallelism_.tp.from;
    } else if (every_layer && ranks_ % carried.group_size == 0) {
      spec_.plan.tp = carried.group_size;
      from = fmt::format("{} times a step the activations of {} ranks are reduced", carried.calls,
                         carried.group_size);
    } else if (width > 0 && width < hidden && hidden % width == 0 &&
               ranks_ % (hidden / width) == 0) {
      std::int64_t unnamed = 0;
      for (const RecordedExchange& e : parallelism_.exchanges) unnamed += e.calls;
      if (unnamed + 2 >= 2 * layers) {
        spec_.plan.tp = hidden / width;
        from = fmt::format("{} of {} hidden are heads of this rank, and every layer communicates",
                           width, hidden);
      }
    }
    add("tp", spec_.plan.tp, std::move(from));
  }

  // Parameters that are gathered in every layer are sharded; where only gradients are scattered,
  // optimizer states are.
  void read_sharding() {
    std::int64_t gathers = 0;
    std::int64_t scatters = 0;
    const std::int64_t activations =
        spec_.plan.micro_batch * spec_.training.sequence_length * spec_.architecture.hidden;
    for (const RecordedExchange& e : parallelism_.exchanges) {
      if (e.elements == activations) continue;
      if (has(e.collective, "gather")) gathers += e.calls;
      if (has(e.collective, "reduce_scatter")) scatters += e.calls;
    }
    spec_.plan.zero = 0;
    if (spec_.plan.dp < 2) return;
    if (gathers >= spec_.architecture.num_layers) {
      spec_.plan.zero = 3;
    } else if (scatters > 0) {
      spec_.plan.zero = 1;
    }
    add("sharding",
        spec_.plan.zero == 3   ? "parameters"
        : spec_.plan.zero == 1 ? "optimizer states"
                               : "none",
        fmt::format("{} gathers and {} scatters of what are not activations", gathers, scatters));
  }

  void read_degrees() {
    read_tensor_parallelism();
    const std::int64_t tp = spec_.plan.tp;
    const auto divides = [&](std::int64_t n) { return n > 1 && ranks_ % (tp * n) == 0; };
    if (divides(parallelism_.pp.size)) spec_.plan.pp = parallelism_.pp.size;
    if (divides(parallelism_.cp.size * spec_.plan.pp) && parallelism_.cp.size > 1) {
      spec_.plan.cp = parallelism_.cp.size;
    }
    // This rank's stage and part of a sequence.
    spec_.architecture.num_layers *= spec_.plan.pp;
    spec_.training.sequence_length *= spec_.plan.cp;
    spec_.plan.dp = std::max<std::int64_t>(1, ranks_ / (tp * spec_.plan.pp * spec_.plan.cp));
    read_sharding();
    spec_.architecture.num_heads = attention_.heads * tp;
    spec_.architecture.num_kv_heads = attention_.kv_heads * tp;
    spec_.architecture.ffn_hidden = local_ffn_ * tp;
    spec_.architecture.vocab = local_vocab_ > 0 ? local_vocab_ * tp : table_;
    spec_.architecture.name = "inferred";
    spec_.training.global_batch = spec_.plan.micro_batch * spec_.microbatches * spec_.plan.dp;
    const std::string by_tp = tp > 1 ? fmt::format(", times tp {}", tp) : "";
    add("dp", spec_.plan.dp, fmt::format("{} ranks", ranks_));
    add("heads", spec_.architecture.num_heads, text_of(*attention_.use) + by_tp);
    add("feed-forward", spec_.architecture.ffn_hidden, ffn_from_ + by_tp);
    add("gated", spec_.architecture.ffn == FeedForwardKind::swiglu ? "yes" : "no", ffn_from_);
    if (local_vocab_ > 0) {
      add("vocabulary", spec_.architecture.vocab, vocab_from_ + by_tp);
    } else if (table_ > 0) {
      add("vocabulary", spec_.architecture.vocab, table_from_);
    }
  }

  bool read_accelerator(const Catalog& catalog) {
    const RecordedDevice* device = recorded_device(trace_);
    if (device == nullptr) return lacks("the accelerator", "the recording does not name it");
    const auto found = recorded_accelerator(catalog, *device);
    if (!found) {
      return lacks("the accelerator", fmt::format("the catalog has no '{}'", device->name));
    }
    spec_.cluster = fmt::format("{}:{}", found->name, ranks_);
    add("cluster", spec_.cluster, device->name);
    return true;
  }

  const RecordedTrace& trace_;
  std::int64_t ranks_;
  std::vector<OperatorUse> uses_;
  RecordedParallelism parallelism_;
  bool experts_ = false;
  InferredSpec spec_;
  Attention attention_;
  std::int64_t local_ffn_ = 0;
  std::int64_t local_vocab_ = 0;
  std::int64_t table_ = 0;
  std::string table_from_;
  std::string ffn_from_;
  std::string vocab_from_;
};

}  // namespace

Result<InferredSpec> inferred_spec(std::span<const RecordedTrace> run, const Catalog& catalog) {
  if (run.empty()) return bad_input("nothing is recorded");
  const RecordedTrace& trace = run.front();
  const std::vector<MarkedStep> steps = marked_steps(trace);
  if (steps.empty()) return bad_input("nothing is recorded", trace.file);
  // The first step of several often warms up.
  const MarkedStep& step = steps[steps.size() > 1 ? 1 : 0];
  const std::int64_t ranks = trace.world_size != kNotRecorded && trace.world_size > 0
                                 ? trace.world_size
                                 : static_cast<std::int64_t>(run.size());
  return Inference(trace, step, ranks).read(catalog);
}

}  // namespace orrery
