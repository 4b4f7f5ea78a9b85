#include "infer/inferred_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "compare/step_profile.h"
#include "trace/marked_steps.h"
#include "whatif/recorded_accelerator.h"
#include "whatif/tensor_shapes.h"

namespace orrery {
namespace {

// Operators of one step that differ in name, shapes or types, with how often they ran.
struct OperatorUse {
  std::string_view name;
  std::string_view shapes_text;
  std::string_view types;
  std::vector<TensorShape> shapes;
  std::int64_t calls = 0;
};

struct Product {
  ProductShape shape;
  const OperatorUse* use = nullptr;
};

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

std::string text_of(const OperatorUse& use) {
  return fmt::format("{} {}, {} {}", use.name, use.shapes_text, use.calls,
                     use.calls == 1 ? "call" : "calls");
}

std::vector<OperatorUse> uses_of(const RecordedTrace& trace, const MarkedStep& step) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index;
  std::vector<OperatorUse> out;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::cpu_operator || trace.details[e] == kNoDetails ||
        trace.start_ns[e] < step.start_ns || trace.start_ns[e] >= step.end_ns) {
      continue;
    }
    const OperatorDetails& details = trace.operators[trace.details[e]];
    const auto [it, is_new] =
        index.emplace(std::pair(trace.name[e], details.input_shapes), out.size());
    if (is_new) {
      const std::string_view text = trace.texts[details.input_shapes];
      out.push_back(
          {trace.name_of(e), text, trace.texts[details.input_types], tensor_shapes(text), 0});
    }
    ++out[it->second].calls;
  }
  return out;
}

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
      : trace_(trace), step_(step), ranks_(ranks), uses_(uses_of(trace, step)) {}

  Result<InferredSpec> read(const Catalog& catalog) {
    if (std::none_of(uses_.begin(), uses_.end(),
                     [](const OperatorUse& u) { return elements_of(u.shapes) > 0; })) {
      return missing("shapes of operators", "record with record_shapes=True");
    }
    if (auto known = refuse_unknown_parallelism(); !known) return fail(known.error());
    if (auto found = read_embedding(); !found) return fail(found.error());
    if (auto found = read_attention(); !found) return fail(found.error());
    if (auto found = read_products(); !found) return fail(found.error());
    read_degrees();
    if (spec_.architecture.vocab < 1) {
      return missing("the vocabulary", "neither its table nor its product is found");
    }
    if (auto found = read_accelerator(catalog); !found) return fail(found.error());
    return std::move(spec_);
  }

 private:
  [[nodiscard]] Failure missing(const std::string& what, const std::string& hint) const {
    return fail(ErrorCode::unsupported, "cannot be told: " + what, trace_.file, hint);
  }
  void add(const char* name, std::int64_t value, std::string from) {
    spec_.facts.push_back({name, std::to_string(value), std::move(from)});
  }
  void add(const char* name, std::string value, std::string from) {
    spec_.facts.push_back({name, std::move(value), std::move(from)});
  }

  Result<std::monostate> refuse_unknown_parallelism() const {
    for (const CommunicationDetails& c : trace_.communications) {
      const std::string_view collective = trace_.texts[c.collective];
      if (collective == "send" || collective == "recv") {
        return missing("a pipeline's stages from one of them", "the ranks send and receive");
      }
      if (has(collective, "all_to_all")) {
        return missing("how experts are divided", "the ranks exchange all-to-all");
      }
    }
    return std::monostate();
  }

  // The lookup by the most tokens; of several tables the largest, which is the vocabulary's.
  Result<std::monostate> read_embedding() {
    const OperatorUse* best = nullptr;
    for (const OperatorUse& use : uses_) {
      if (use.name != "aten::embedding" || use.shapes.size() < 2 || use.shapes[0].size() != 2 ||
          use.shapes[1].size() != 2) {
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
      return missing("the hidden size", "no embedding of [batch, sequence] is looked up");
    }
    spec_.architecture.hidden = best->shapes[0][1];
    spec_.plan.micro_batch = best->shapes[1][0];
    spec_.training.sequence_length = best->shapes[1][1];
    spec_.microbatches = best->calls;
    // Without a product over all tokens. A table as long as the sequence holds positions.
    if (best->shapes[0][0] != spec_.training.sequence_length) {
      table_ = best->shapes[0][0];
      table_from_ = text_of(*best);
    }
    add("hidden", spec_.architecture.hidden, text_of(*best));
    add("micro-batch", spec_.plan.micro_batch, text_of(*best));
    add("sequence", spec_.training.sequence_length, text_of(*best));
    add("microbatches", spec_.microbatches, text_of(*best));
    return std::monostate();
  }

  [[nodiscard]] std::optional<Attention> attention_of(const OperatorUse& use) const {
    const std::int64_t b = spec_.plan.micro_batch;
    const std::int64_t s = spec_.training.sequence_length;
    if (use.name == "aten::scaled_dot_product_attention" && use.shapes.size() >= 3 &&
        use.shapes[0].size() == 4 && use.shapes[1].size() == 4) {
      const TensorShape& q = use.shapes[0];
      if (q[0] != b || q[2] != s) return std::nullopt;
      return Attention{&use, q[1], use.shapes[1][1], q[3], true};
    }
    const auto product = product_shape(use.name, use.shapes);
    if (!product || product->batch <= 1) return std::nullopt;
    // Queries by keys: s by s, over the size of a head.
    const auto rows = static_cast<std::int64_t>(product->m);
    const auto heads = static_cast<std::int64_t>(product->batch);
    if (rows != s || static_cast<std::int64_t>(product->n) != s || heads % b != 0) {
      return std::nullopt;
    }
    return Attention{&use, heads / b, heads / b, static_cast<std::int64_t>(product->k), false};
  }

  Result<std::monostate> read_attention() {
    for (const OperatorUse& use : uses_) {
      const auto found = attention_of(use);
      if (found && (attention_.use == nullptr || found->use->calls > attention_.use->calls)) {
        attention_ = *found;
      }
    }
    if (attention_.use == nullptr || attention_.heads < 1 || attention_.head_dim < 1) {
      return missing("heads and layers", "no attention over the whole sequence is found");
    }
    spec_.architecture.num_layers = attention_.use->calls / spec_.microbatches;
    spec_.architecture.head_dim = attention_.head_dim;
    spec_.plan.attention = attention_.fused ? AttentionKernel::flash_2 : AttentionKernel::unfused;
    add("layers", spec_.architecture.num_layers, text_of(*attention_.use));
    add("head size", attention_.head_dim, text_of(*attention_.use));
    add("attention", attention_.fused ? "fused" : "unfused", text_of(*attention_.use));
    if (spec_.architecture.num_layers < 1) {
      return missing("layers", "less than one attention a microbatch is found");
    }
    return std::monostate();
  }

  // Products of all tokens of a microbatch.
  [[nodiscard]] std::vector<Product> token_products() const {
    const auto tokens =
        static_cast<double>(spec_.plan.micro_batch * spec_.training.sequence_length);
    std::vector<Product> out;
    for (const OperatorUse& use : uses_) {
      if (use.name != "aten::mm" && use.name != "aten::addmm") continue;
      const auto shape = product_shape(use.name, use.shapes);
      if (shape && shape->m == tokens) out.push_back({*shape, &use});
    }
    return out;
  }

  Result<std::monostate> read_products() {
    const auto hidden = static_cast<double>(spec_.architecture.hidden);
    const auto attention_width = static_cast<double>(attention_.heads * attention_.head_dim);
    const std::int64_t each_layer = spec_.architecture.num_layers * spec_.microbatches;
    const std::vector<Product> products = token_products();
    const Product* down = nullptr;
    const Product* logits = nullptr;
    for (const Product& p : products) {
      if (p.shape.n == hidden && p.shape.k != attention_width && p.use->calls >= each_layer &&
          (down == nullptr || p.shape.k > down->shape.k)) {
        down = &p;
      }
      if (p.shape.k == hidden && p.use->calls == spec_.microbatches &&
          (logits == nullptr || p.shape.n > logits->shape.n)) {
        logits = &p;
      }
    }
    if (down == nullptr) {
      return missing("the feed-forward size", "no product of every layer leads back to the hidden");
    }
    local_ffn_ = static_cast<std::int64_t>(down->shape.k);
    std::int64_t up_calls = 0;
    for (const Product& p : products) {
      if (p.shape.k != hidden) continue;
      if (p.shape.n == down->shape.k) up_calls += p.use->calls;
      if (p.shape.n == 2 * down->shape.k && p.use->calls >= each_layer) up_calls = 2 * each_layer;
    }
    const bool gated = up_calls >= 2 * each_layer;
    spec_.architecture.ffn = gated ? FeedForwardKind::swiglu : FeedForwardKind::gelu;
    spec_.architecture.norm = gated ? NormKind::rmsnorm : NormKind::layernorm;
    spec_.architecture.linear_bias = down->use->name == "aten::addmm";
    spec_.training.precision = has(down->use->types, "BFloat16") ? NumberFormat::bf16
                               : has(down->use->types, "Half")   ? NumberFormat::fp16
                                                                 : NumberFormat::fp32;
    ffn_from_ = text_of(*down->use);
    if (logits != nullptr) {
      local_vocab_ = static_cast<std::int64_t>(logits->shape.n);
      vocab_from_ = text_of(*logits->use);
    }
    spec_.backward = std::any_of(uses_.begin(), uses_.end(), [](const OperatorUse& use) {
      return has(use.name, "Backward") || has(use.name, "_backward");
    });
    return std::monostate();
  }

  // Whether every layer communicates.
  [[nodiscard]] bool layers_communicate() const {
    std::int64_t kernels = 0;
    for (std::size_t e = 0; e < trace_.size(); ++e) {
      if (trace_.kind[e] == EventKind::kernel && trace_.start_ns[e] >= step_.start_ns &&
          trace_.start_ns[e] < step_.end_ns && is_communication_kernel(trace_.name_of(e))) {
        ++kernels;
      }
    }
    // Work runs behind its launch: the last of a step may lie past its window.
    return kernels + 2 >= 2 * spec_.architecture.num_layers * spec_.microbatches;
  }

  void read_degrees() {
    const std::int64_t width = attention_.heads * attention_.head_dim;
    const bool divides = width > 0 && spec_.architecture.hidden % width == 0;
    const std::int64_t share = divides ? spec_.architecture.hidden / width : 1;
    const bool divided = share > 1 && ranks_ % share == 0 && layers_communicate();
    const std::int64_t tp = divided ? share : 1;
    spec_.plan.tp = tp;
    spec_.plan.sequence_parallel = false;
    spec_.plan.dp = ranks_ / tp;
    spec_.architecture.num_heads = attention_.heads * tp;
    spec_.architecture.num_kv_heads = attention_.kv_heads * tp;
    spec_.architecture.ffn_hidden = local_ffn_ * tp;
    spec_.architecture.vocab = local_vocab_ > 0 ? local_vocab_ * tp : table_;
    spec_.architecture.name = "inferred";
    spec_.training.global_batch = spec_.plan.micro_batch * spec_.microbatches * spec_.plan.dp;
    const std::string by_tp = tp > 1 ? fmt::format(", times tp {}", tp) : "";
    add("tp", tp,
        tp > 1 ? fmt::format("{} of {} hidden are heads of this rank, and every layer communicates",
                             width, spec_.architecture.hidden)
               : "layers are whole");
    add("dp", spec_.plan.dp, fmt::format("{} ranks", ranks_));
    add("heads", spec_.architecture.num_heads, text_of(*attention_.use) + by_tp);
    add("feed-forward", spec_.architecture.ffn_hidden, ffn_from_ + by_tp);
    add("gated", spec_.architecture.ffn == FeedForwardKind::swiglu ? "yes" : "no", ffn_from_);
    if (local_vocab_ > 0) {
      add("vocabulary", spec_.architecture.vocab, vocab_from_ + by_tp);
    } else if (table_ > 0) {
      add("vocabulary", spec_.architecture.vocab, table_from_);
    }
    add("backward", spec_.backward ? "yes" : "no", "operators of the step");
  }

  Result<std::monostate> read_accelerator(const Catalog& catalog) {
    if (trace_.devices.empty()) return missing("the accelerator", "the recording does not name it");
    const auto found = recorded_accelerator(catalog, trace_.devices.front());
    if (!found) {
      return fail(ErrorCode::not_found,
                  fmt::format("the catalog has no '{}'", trace_.devices.front().name), trace_.file,
                  "orrery catalog accelerators lists them");
    }
    spec_.cluster = fmt::format("{}:{}", found->name, ranks_);
    add("cluster", spec_.cluster, trace_.devices.front().name);
    return std::monostate();
  }

  const RecordedTrace& trace_;
  MarkedStep step_;
  std::int64_t ranks_;
  std::vector<OperatorUse> uses_;
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
  if (run.empty()) return fail(ErrorCode::bad_input, "nothing is recorded");
  const RecordedTrace& trace = run.front();
  const std::vector<MarkedStep> steps = marked_steps(trace);
  if (steps.empty()) return fail(ErrorCode::bad_input, "nothing is recorded", trace.file);
  // The first step of several often warms up.
  const MarkedStep& step = steps[steps.size() > 1 ? 1 : 0];
  const std::int64_t ranks = trace.world_size != kNotRecorded && trace.world_size > 0
                                 ? trace.world_size
                                 : static_cast<std::int64_t>(run.size());
  return Inference(trace, step, ranks).read(catalog);
}

Result<InferredComparison> inferred_comparison(std::span<const RecordedTrace> run,
                                               const Catalog& catalog) {
  InferredComparison out;
  ORRERY_TRY(out.spec, inferred_spec(run, catalog));
  Scenario scenario;
  ORRERY_TRY(scenario.model, build_model(out.spec.architecture));
  ORRERY_TRY(scenario.cluster, parse_cluster_name(out.spec.cluster, catalog));
  scenario.training = out.spec.training;
  scenario.plan = out.spec.plan;
  ORRERY_TRY(out.estimate, estimate(scenario, catalog));
  ORRERY_TRY(const StepProfile profile, step_profile(run));
  out.recorded_step = Seconds(profile.per_step_s(profile.step_ns));
  if (out.spec.backward) {
    out.predicted = out.estimate.step_time;
    out.recorded = out.recorded_step;
    return out;
  }
  for (const StageReport& stage : out.estimate.stages) {
    out.predicted += (stage.forward * out.estimate.microbatches).seconds();
  }
  std::int64_t waiting = 0;
  for (const ProfileLine& line : profile.lines) waiting += line.times.waiting_ns;
  const StepParts p = parts(profile);
  out.recorded = p.computing + p.exposed_communication - Seconds(profile.per_step_s(waiting));
  return out;
}

}  // namespace orrery
