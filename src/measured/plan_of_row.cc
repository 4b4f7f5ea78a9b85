#include "measured/plan_of_row.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <utility>

#include "measured/modules_of_row.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

// Transformer layers moved off the last stage, which also makes the logits: "Redis", the baseline
// of vocabulary parallelism.
//
//   forward FLOPs of a token: layer 8 h^2 + 4 s h + 4 h f, logits 2 h V
//   layers = those that make the slowest stage fastest: of all counts k <= L/p that the last stage
//            may keep, the others sharing L - k evenly, the largest with the least
//            max(ceil((L - k) / (p - 1)) layer, k layer + logits)
//
// No layer is moved for nothing. Stages with one layer more than others come last, where the fewest
// microbatches are in flight; the source does not say where they stand. Two matrices a feed-forward
// layer. Source: arXiv 2411.05288 s.6.1, the FLOPs of its artifact.

// Beyond any pipeline; keeps the search short whatever a file says.
constexpr std::int64_t kMostLayers = 100'000;

// Skipped: cells the source does not state, or numbers beyond any model.
Expressible<std::vector<std::int64_t>> redistributed_layers(const MeasuredRow& row) {
  if (!row.num_layers || !row.hidden || !row.ffn_hidden || !row.vocab || !row.seq_len || !row.pp) {
    return skip(
        "the source does not state what redistributing layers needs: num_layers, hidden, "
        "ffn_hidden, vocab, seq_len and pp");
  }
  const std::int64_t stages = *row.pp;
  const std::int64_t layers = *row.num_layers;
  if (stages < 2 || layers < stages || layers > kMostLayers) {
    return skip(std::to_string(layers) + " layers cannot be redistributed over " +
                std::to_string(stages) + " stages");
  }
  const double h = static_cast<double>(*row.hidden);
  const double layer = 8 * h * h + 4 * static_cast<double>(*row.seq_len) * h +
                       4 * h * static_cast<double>(*row.ffn_hidden);
  const double logits = 2 * h * static_cast<double>(*row.vocab);
  const auto slowest = [&](std::int64_t last) {
    const std::int64_t others = (layers - last + stages - 2) / (stages - 1);
    return std::max(static_cast<double>(others) * layer,
                    static_cast<double>(last) * layer + logits);
  };
  std::int64_t kept = layers / stages;
  for (std::int64_t last = kept; last-- > 0;) {
    if (slowest(last) < slowest(kept)) kept = last;
  }
  const std::int64_t others = stages - 1;
  std::vector<std::int64_t> out(static_cast<std::size_t>(others), (layers - kept) / others);
  for (std::int64_t i = 0; i < (layers - kept) % others; ++i) {
    ++out[static_cast<std::size_t>(others - 1 - i)];
  }
  out.push_back(kept);
  return out;
}

std::string n(std::int64_t v) { return std::to_string(v); }

// The name here of a schedule as tables and papers write it: "interleaved-1f1b", "1F1B",
// "interleaved" (arXiv 2104.04473 s.2.2), "PipeDream-Flush" (arXiv 2006.09503, 1F1B with a flush).
std::string schedule_named(std::string name) {
  for (char& c : name) {
    c = c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (name == "interleaved" || name == "1f1b_interleaved") return "interleaved_1f1b";
  return name == "pipedream_flush" ? "1f1b" : name;
}

// "8" in "block, first 8 layers of each stage".
std::optional<std::int64_t> first_layers(const std::string& detail) {
  const auto at = detail.find("first ");
  if (at == std::string::npos || detail.find("layers of each stage") == std::string::npos) {
    return std::nullopt;
  }
  std::int64_t layers = 0;
  const auto parsed =
      std::from_chars(detail.data() + at + 6, detail.data() + detail.size(), layers);
  if (parsed.ec != std::errc() || layers < 1) return std::nullopt;
  return layers;
}

// Layers on so many virtual stages: full stages, and what is left on the last.
std::vector<std::int64_t> full_then_rest(std::int64_t layers, std::int64_t stages) {
  constexpr std::int64_t kMostStages = 64;
  if (stages < 2 || stages > kMostStages || layers < stages) return {};
  const std::int64_t full = (layers + stages - 1) / stages;
  const std::int64_t last = layers - full * (stages - 1);
  if (last < 1) return {};
  std::vector<std::int64_t> out(static_cast<std::size_t>(stages), full);
  out.back() = last;
  return out;
}

// Transformer layers of each stage where stages are filled in turn up to the least number of
// parameters that lets all fit: the embedding before the layers, the head behind them.
std::vector<std::int64_t> layers_of_equal_parameters(const MeasuredRow& row, std::int64_t stages) {
  constexpr std::int64_t kMost = 4096;
  const std::int64_t layers = row.num_layers.value_or(0);
  if (stages < 2 || layers < stages || layers > kMost) return {};
  const auto h = static_cast<double>(row.hidden.value_or(0));
  const auto f = static_cast<double>(row.ffn_hidden.value_or(0));
  const double end = h * static_cast<double>(row.vocab.value_or(0));
  const double layer = 4 * h * h + 3 * h * f;
  if (!(layer > 0)) return {};
  std::vector<std::int64_t> out;
  // Whether stages of so many parameters hold the model.
  const auto fill = [&](double most) {
    out.assign(static_cast<std::size_t>(stages), 0);
    std::int64_t left = layers;
    for (std::size_t s = 0; s < out.size(); ++s) {
      double room = most - (s == 0 ? end : 0) - (s + 1 == out.size() ? end : 0);
      for (; left > 0 && room >= layer; room -= layer, --left) ++out[s];
    }
    return left == 0;
  };
  const double all = static_cast<double>(layers) * layer + 2 * end;
  double low = 0;
  double high = all;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (fill(middle) ? high : low) = middle;
  }
  const bool fits = fill(high);
  const bool empty = std::find(out.begin(), out.end(), 0) != out.end();
  return fits && !empty ? out : std::vector<std::int64_t>{};
}

class Reader {
 public:
  Reader(const MeasuredRow& row, const RunConvention& convention)
      : row_(row), convention_(convention) {}

  Expressible<RowPlan> read() {
    for (auto step : {&Reader::known, &Reader::modelled, &Reader::degrees, &Reader::batch,
                      &Reader::pipeline, &Reader::sharding, &Reader::offloading,
                      &Reader::recomputation, &Reader::precision, &Reader::attention}) {
      if (auto because = (this->*step)(); !because.empty()) return skip(std::move(because));
    }
    overlap();
    return std::move(out_);
  }

 private:
  using Because = std::string;  // empty: go on

  void assume(std::string text) { out_.assumed.push_back(std::move(text)); }

  Because known() {
    std::string unknown;
    const auto need = [&](const char* name, const std::optional<std::int64_t>& cell) {
      if (!cell) unknown += (unknown.empty() ? "" : ", ") + std::string(name);
    };
    need("seq_len", row_.seq_len);
    need("num_gpus", row_.num_gpus);
    need("tp", row_.tp);
    need("pp", row_.pp);
    need("micro_batch", row_.micro_batch);
    need("global_batch", row_.global_batch);
    return unknown.empty() ? "" : "the source does not state: " + unknown;
  }

  // Techniques outside the model.
  Because modelled() {
    if (row_.token_drop == "yes") return "dropping tokens of full experts is not modelled";
    if (row_.vocabulary_method == "interlaced") {
      return "interlaced vocabulary layers, which stop all stages at once, are not modelled";
    }
    return "";
  }

  Because degrees() {
    Plan& p = out_.plan;
    p.tp = *row_.tp;
    p.pp = *row_.pp;
    p.cp = row_.cp.value_or(1);
    p.ep = row_.ep.value_or(1);
    p.etp = row_.etp.value_or(0);
    const auto product = [](std::int64_t a, std::int64_t b, std::int64_t c) {
      return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
    };
    const double gpus = static_cast<double>(*row_.num_gpus);
    const double replicas = gpus / product(p.tp, p.pp, p.cp);
    p.dp = row_.dp.value_or(static_cast<std::int64_t>(replicas));
    if (static_cast<double>(p.dp) != replicas) {
      // The accelerators are counted by whoever pays for them; of the degrees, the one that nothing
      // else in the row names gives way: replicas, or stages where replicas would be no number.
      const std::string published = ", where tp " + n(p.tp) + " x cp " + n(p.cp) + " x pp " +
                                    n(p.pp) + " x dp " + n(p.dp) + " as published is not the " +
                                    n(*row_.num_gpus) + " GPUs";
      const double stages = gpus / product(p.tp, p.cp, p.dp);
      if (replicas >= 1 && replicas == std::floor(replicas)) {
        p.dp = static_cast<std::int64_t>(replicas);
        assume("dp " + n(p.dp) + published);
      } else if (row_.dp && stages >= 1 && stages == std::floor(stages)) {
        p.pp = static_cast<std::int64_t>(stages);
        assume("pp " + n(p.pp) + published);
      } else {
        return "tp " + n(p.tp) + " x cp " + n(p.cp) + " x pp " + n(p.pp) + " x dp " + n(p.dp) +
               " as published is not the " + n(*row_.num_gpus) + " GPUs";
      }
    }
    if (p.tp > 1) {
      if (row_.sequence_parallel.empty()) {
        p.sequence_parallel = convention_.sequence_parallel;
        assume(std::string("sequence parallelism ") + (p.sequence_parallel ? "on" : "off"));
      } else {
        p.sequence_parallel = row_.sequence_parallel == "yes";
      }
    }
    if (p.cp > 1 && !row_.context_parallel.empty()) {
      const auto stated = parse_enum<ContextParallel>(row_.context_parallel);
      if (!stated) return "context parallelism '" + row_.context_parallel + "' is not modelled";
      p.context_parallel = *stated;
    } else if (p.cp > 1) {
      p.context_parallel = convention_.context_parallel;
      assume("context parallelism by " + std::string(to_text(p.context_parallel)));
    }
    return "";
  }

  Because batch() {
    Plan& p = out_.plan;
    p.micro_batch = *row_.micro_batch;
    out_.training.global_batch = *row_.global_batch;
    out_.training.dropout = convention_.dropout;
    if (convention_.dropout) assume("dropout");
    out_.training.sequence_length = *row_.seq_len;
    if (const std::int64_t tokens = convention_.document_tokens; tokens > 0) {
      out_.training.documents = {.lengths = {{.tokens = std::min(tokens, *row_.seq_len)}},
                                 .packing = Packing::packed};
      assume("sequences packed with documents of " + n(tokens) +
             " tokens, which attend to themselves");
    }
    const double step = static_cast<double>(p.micro_batch) * static_cast<double>(p.dp);
    const double microbatches = static_cast<double>(*row_.global_batch) / step;
    if (row_.microbatches && static_cast<double>(*row_.microbatches) != microbatches) {
      const std::string published =
          n(*row_.microbatches) + " microbatches as published are not global batch " +
          n(*row_.global_batch) + " / (micro-batch " + n(p.micro_batch) + " x dp " + n(p.dp) + ")";
      // Throughput is published of the global batch, so that it is trusted where it is possible.
      if (microbatches >= 1 && microbatches == std::floor(microbatches)) {
        assume("the global batch trusted: " + published);
      } else {
        return published;
      }
    }
    return "";
  }

  Because pipeline() {
    Plan& p = out_.plan;
    p.chunks = p.pp > 1 ? std::max<std::int64_t>(1, row_.vpp.value_or(convention_.chunks)) : 1;
    if (p.chunks > 1 && !row_.vpp) assume("vpp " + n(p.chunks) + ", that of the recipe");
    if (row_.schedule.empty()) {
      p.schedule = p.chunks > 1 ? "interleaved_1f1b" : "1f1b";
      if (p.pp > 1) assume("schedule " + p.schedule);
    } else {
      p.schedule = schedule_named(row_.schedule);
    }
    if (!find_schedule(p.schedule)) return "schedule " + row_.schedule + " is not modelled";
    if (auto because = vocabulary(); !because.empty()) return because;
    if (convention_.stage_layers == StageLayers::balanced_parameters && p.chunks == 1) {
      p.layers = layers_of_equal_parameters(row_, p.pp);
      if (!p.layers.empty()) assume("stages of as equal numbers of parameters as layers allow");
    }
    // Every zero-bubble schedule but ZB-H1 is stated with post-validation (arXiv 2401.10241 s.4).
    if (p.schedule.starts_with("zb_") && p.schedule != "zb_h1") {
      p.overlap.optimizer = true;
      assume("the optimizer step is validated afterwards");
    }
    if (p.schedule == "interleaved_1f1b" && p.chunks < 2 && p.pp > 1) {
      return "the source does not state: vpp";
    }
    if (!row_.placement.empty()) {
      p.placement.clear();
      std::istringstream axes(row_.placement);
      for (std::string axis; axes >> axis;) {
        const auto known = parse_enum<MeshAxis>(axis);
        if (!known) return "placement '" + row_.placement + "' is not modelled";
        p.placement.push_back(*known);
      }
    }
    return "";
  }

  // Where the vocabulary layers stand (arXiv 2411.05288).
  Because vocabulary() {
    Plan& p = out_.plan;
    const std::string& method = row_.vocabulary_method;
    if (method.empty() || method == "baseline") return "";
    if (p.schedule != "1f1b") {
      return "vocabulary method " + method + " over schedule " + p.schedule + " is not modelled";
    }
    if (method == "vocab-1" || method == "vocab-2") {
      p.schedule = method == "vocab-1" ? "vocab_1" : "vocab_2";
      return "";
    }
    if (method != "redis") return "vocabulary method " + method + " is not modelled";
    auto layers = redistributed_layers(row_);
    if (!layers) return layers.error().because;
    p.layers = std::move(*layers);
    assume("layers moved off the last stage until the slowest has the fewest FLOPs");
    return "";
  }

  Because sharding() {
    Plan& p = out_.plan;
    if (row_.zero_stage && *row_.zero_stage > 3) {
      return "ZeRO stage " + n(*row_.zero_stage) + " does not exist";
    }
    p.zero = row_.zero_stage.value_or(convention_.zero);
    const std::int64_t replicas = p.dp * p.cp;
    if (!row_.zero_stage && replicas > 1) assume("ZeRO stage " + n(p.zero));

    std::int64_t group = convention_.shard_group;
    if (group > 0) assume("sharded inside groups of " + n(group) + ", replicated across them");
    if (const std::string& stated = row_.optimizer_shard_group; !stated.empty()) {
      // "all" is no number and leaves it as it is.
      std::from_chars(stated.data(), stated.data() + stated.size(), group);
    }
    if (group > 0 && group < replicas) p.shard_group = group;
    return "";
  }

  // What lies in the memory of the host.
  Because offloading() {
    Plan& p = out_.plan;
    std::istringstream words(row_.offload);
    for (std::string word; words >> word;) {
      if (word == "optimizer") {
        p.offload_optimizer = Offload::cpu;
      } else if (word == "parameters") {
        p.offload_parameters = Offload::cpu;
      } else if (word == "activations") {
        p.offload_activations = Offload::cpu;
      } else if (word != "none") {
        return "offload of '" + word + "' is not modelled";
      }
    }
    return "";
  }

  Because recomputation() {
    Plan& p = out_.plan;
    const std::string& detail = row_.recompute_detail;
    if (row_.recompute == "full") {
      p.recompute = Recompute::full;
      if (const auto layers = first_layers(detail)) {
        // Of a device's layers; ours counts those of each virtual stage.
        p.recompute_layers = std::max<std::int64_t>(1, *layers / p.chunks);
        if (p.chunks > 1) {
          assume("recomputation of " + n(*layers) + " layers a stage spread over its chunks");
        }
      }
      return "";
    }
    if (row_.recompute.empty()) return "the source does not state: recompute";
    if (row_.recompute == "none") return "";
    if (row_.recompute != "selective") {
      return "recomputation '" + row_.recompute + "' is not modelled";
    }
    switch (convention_.selective) {
      case SelectiveRecomputation::share_of_layers:
        return "selective recomputation of an unstated share of the layers is not modelled";
      case SelectiveRecomputation::alternate_products:
        p.recompute = Recompute::alternate;
        assume(
            "every second matrix product computed again: selective_ac_option = op, torchtitan's");
        return "";
      case SelectiveRecomputation::norms_and_activations:
      case SelectiveRecomputation::attention:
        break;
    }
    auto modules = modules_of_row(row_, convention_);
    if (!modules) return "selective recomputation of " + detail + " is not modelled";
    p.recompute_modules = std::move(*modules);
    p.recompute = Recompute::selective;
    return "";
  }

  Because precision() {
    auto format = parse_enum<NumberFormat>(row_.precision);
    if (!format) {
      return row_.precision.empty() ? "the source does not state: precision"
                                    : "precision '" + row_.precision + "' is not modelled";
    }
    Training& t = out_.training;
    t.precision = *format;
    // Megatron-LM and DeepSpeed accumulate fp16 gradients in fp16 and bf16 ones in fp32 unless told
    // otherwise (megatron/training/arguments.py: bf16 sets accumulate_allreduce_grads_in_fp32).
    const bool half = t.precision == NumberFormat::fp16;
    const std::string& stated =
        row_.gradient_format.empty() ? convention_.gradients : row_.gradient_format;
    out_.gradients_stated = !stated.empty();
    if (stated.empty()) {
      t.gradients = half ? NumberFormat::fp16 : NumberFormat::fp32;
    } else if (stated == "as_weights") {
      t.gradients = t.precision;
    } else {
      const auto gradients = parse_enum<NumberFormat>(stated);
      if (!gradients) return "gradient format '" + stated + "' is not modelled";
      t.gradients = *gradients;
    }
    return "";
  }

  Because attention() {
    Plan& p = out_.plan;
    const std::string& kernel = row_.attention_kernel;
    if (kernel == "unfused") {
      p.attention = AttentionKernel::unfused;
    } else if (kernel == "flash-1") {
      p.attention = AttentionKernel::flash_1;
    } else if (kernel == "flash-2") {
      p.attention = AttentionKernel::flash_2;
    } else if (kernel == "flash-3") {
      p.attention = AttentionKernel::flash_3;
    } else if (kernel == "transformer-engine") {
      p.attention = convention_.transformer_engine;
      if (p.attention != AttentionKernel::library) {
        assume("attention kernel " + std::string(to_text(p.attention)) +
               " for 'transformer-engine'");
      }
    } else if (kernel == "flash" || kernel.empty()) {
      p.attention = convention_.flash;
      assume("attention kernel " + std::string(to_text(p.attention)) +
             (kernel.empty() ? "" : " for 'flash'"));
    } else {
      return "attention kernel '" + kernel + "' is not modelled";
    }
    return "";
  }

  void overlap() {
    Overlap& o = out_.plan.overlap;
    o.gradient_reduction = convention_.overlap.gradient_reduction;
    o.parameter_gather = convention_.overlap.parameter_gather;
    o.tensor_parallel = convention_.overlap.tensor_parallel;
    if (!row_.async_tp.empty()) o.tensor_parallel = row_.async_tp == "on";
    if (!row_.dp_overlap.empty()) {
      o.gradient_reduction = o.parameter_gather = row_.dp_overlap == "on";
    }
    if (!row_.pp_overlap.empty()) o.pipeline = row_.pp_overlap == "on";
    if (out_.plan.dp * out_.plan.cp > 1) assume(convention_.overlap_source);
    if (o.tensor_parallel && out_.plan.tp > 1 && convention_.overlap.tensor_parallel) {
      assume("tensor-parallel communication overlapped");
    }
    for (const std::string& text : convention_.assume) assume(text);
    if (out_.plan.ep > 1) experts();
  }

  void experts() {
    Plan& p = out_.plan;
    p.dispatch = row_.expert_dispatch == "deduplicated" ? ExpertDispatch::deduplicated
                                                        : convention_.dispatch;
    const RecomputeModuleSet modules(p.recompute_modules);
    p.overlap.expert_batches =
        (row_.expert_overlap == "on" || convention_.overlap.expert_batches) &&
        p.recompute != Recompute::full && !modules.has(RecomputeModule::moe);
    if (convention_.stage_layers != StageLayers::full_then_rest || !p.layers.empty()) return;
    p.layers = full_then_rest(row_.num_layers.value_or(0),
                              p.pp * std::max<std::int64_t>(1, row_.vpp.value_or(1)));
    if (!p.layers.empty()) {
      assume("layers as in the recipe: " + n(p.layers.front()) + " a virtual stage, " +
             n(p.layers.back()) + " on the last");
    }
  }

  const MeasuredRow& row_;
  const RunConvention& convention_;
  RowPlan out_;
};

}  // namespace

Expressible<RowPlan> plan_of_row(const MeasuredRow& row, const RunConvention& convention) {
  return Reader(row, convention).read();
}

}  // namespace orrery
