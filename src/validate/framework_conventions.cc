#include "validate/framework_conventions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

namespace orrery {
namespace {

using enum Transfers;
constexpr auto kNoSequence = SequenceParallelism::never;
constexpr auto kMegatron = VocabularyPadding::megatron;
constexpr auto kLibrary = AttentionKernel::library;

// Megatron-LM reduces gradients after the last microbatch unless --overlap-grad-reduce is given,
// which did not exist before 2023; arXiv 2205.05198 s.6.3 says so of its runs. DeepSpeed with a
// pipeline reduces after it too (PipelineEngine, ReduceGrads).
constexpr std::string_view kAfterStep =
    "gradients are reduced after the last microbatch: default of Megatron-LM and of DeepSpeed "
    "pipelines (arXiv 2205.05198 s.6.3)";
constexpr std::string_view kFullySharded =
    "gathers and reductions overlapped: default of PyTorch FSDP (arXiv 2304.11277 s.3.3)";

// A framework of before Megatron-Core, with the software profile of its name.
constexpr RunConvention after_step(std::string_view name, VocabularyPadding padding) {
  return RunConvention{.framework = name,
                       .software = name,
                       .sequence_parallel = kNoSequence,
                       .gradients = exposed,
                       .parameters = exposed,
                       .padding = padding,
                       .overlap_source = kAfterStep};
}

constexpr RunConvention megatron_before_core(std::string_view name) {
  RunConvention c = after_step(name, kMegatron);
  c.dropout = true;
  c.zero = 0;
  return c;
}

// Its papers state no partition; of the two of Aleph-Alpha/scaling,
// core/nn/parallel_module/pipeline_partitioning.py, the balanced one (that of DeepSpeed,
// partition_method parameters) agrees with the grid of arXiv 2311.05610.
constexpr RunConvention aleph_alpha() {
  RunConvention c = after_step("aleph-alpha", VocabularyPadding::none);
  c.balances_parameters = true;
  return c;
}

constexpr std::array kFrameworks = {
    RunConvention{},
    RunConvention{.framework = "megatron-core", .flash = kLibrary, .padding = kMegatron},
    // CommOverlapConfig(tp_comm_overlap = tp > 1) of its performance recipes.
    RunConvention{.framework = "megatron-bridge",
                  .tensor_parallel = overlapped,
                  .flash = kLibrary,
                  .padding = kMegatron},
    // ub_tp_comm_overlap is off in examples/nlp/language_modeling/conf/megatron_gpt_config.yaml.
    RunConvention{
        .framework = "nemo", .software = "nemo-24", .flash = kLibrary, .padding = kMegatron},
    megatron_before_core("megatron-lm-2021"),
    megatron_before_core("megatron-lm-2022"),
    after_step("megatron-deepspeed", kMegatron),
    aleph_alpha(),
    RunConvention{.framework = "internevo",
                  .software = "internevo",
                  .sequence_parallel = kNoSequence,
                  .parameters = exposed,
                  .overlap_source = "overlap_sync_grad on, overlap_sync_param off: InternEvo "
                                    "configs/7B_sft.py"},
    RunConvention{.framework = "torchtitan",
                  .software = "torchtitan",
                  .zero = 3,
                  .sequence_parallel = kNoSequence,
                  // torchtitan context_parallel_rotate_method = allgather (its config manager).
                  .context_parallel = ContextParallel::all_gather,
                  .selective = SelectiveRecomputation::alternate_products,
                  .overlap_source = kFullySharded},
    // reduce_dtype of fms_fsdp/policies/mixed_precision.py.
    RunConvention{.framework = "fms-fsdp",
                  .software = "torchtitan",
                  .zero = 3,
                  .sequence_parallel = kNoSequence,
                  .selective = SelectiveRecomputation::share_of_layers,
                  .narrow_gradients = true,
                  .overlap_source = kFullySharded},
    // Its attention is the Triton kernel (attn_impl triton, the default of
    // scripts/train/benchmarking/submit_benchmarks.py then), which runs like flash-1: arXiv
    // 2307.08691, figures 4 and 5.
    RunConvention{.framework = "llm-foundry",
                  .software = "llm-foundry",
                  .zero = 3,
                  .sequence_parallel = kNoSequence,
                  .flash = AttentionKernel::flash_1,
                  .overlap_source = kFullySharded},
    RunConvention{.framework = "pytorch-fsdp",
                  .software = "pytorch-fsdp",
                  .zero = 3,
                  .sequence_parallel = kNoSequence,
                  .overlap_source = kFullySharded},
    RunConvention{.framework = "transformers",
                  .software = "transformers",
                  .zero = 0,
                  .sequence_parallel = kNoSequence},
    RunConvention{.framework = "deepspeed",
                  .software = "deepspeed",
                  .zero = 3,
                  .sequence_parallel = kNoSequence},
    RunConvention{.framework = "maxtext",
                  .software = "maxtext",
                  .zero = 3,
                  .sequence_parallel = kNoSequence,
                  .flash = kLibrary,
                  .overlap_source = "gathers and reductions overlapped: XLA's latency-hiding "
                                    "scheduler, on in the recipes of MaxText"},
};

struct Words {
  std::string_view phrase;  // lower case, one space between words
  std::string_view framework;
};

// The first that occurs counts: frameworks built on another stand before it.
constexpr std::array kWords = {
    Words{"megatron bridge", "megatron-bridge"},
    Words{"torchtitan", "torchtitan"},
    Words{"torch titan", "torchtitan"},
    Words{"fms", "fms-fsdp"},
    Words{"llm foundry", "llm-foundry"},
    Words{"llmfoundry", "llm-foundry"},
    Words{"composer", "llm-foundry"},
    Words{"maxtext", "maxtext"},
    Words{"paxml", "maxtext"},
    Words{"jax", "maxtext"},
    Words{"aleph alpha", "aleph-alpha"},
    Words{"aa scaling", "aleph-alpha"},
    Words{"internevo", "internevo"},
    Words{"internlm", "internevo"},
    Words{"nemo", "nemo"},
    Words{"megatron deepspeed", "megatron-deepspeed"},
    Words{"gpt neox", "megatron-deepspeed"},
    Words{"megatron core", "megatron-core"},
    Words{"mcore", "megatron-core"},
    Words{"primus", "megatron-core"},
    Words{"megatron lm", "megatron-lm"},
    Words{"deepspeed", "deepspeed"},
    Words{"transformers", "transformers"},
    Words{"hugging face", "transformers"},
    Words{"huggingface", "transformers"},
    Words{"litgpt", "pytorch-fsdp"},
    Words{"lit gpt", "pytorch-fsdp"},
    Words{"fsdp", "pytorch-fsdp"},
    Words{"fsdp2", "pytorch-fsdp"},
    Words{"megatron", "megatron-lm"},
};

// Lower case, with one space before, between and behind words.
std::string words_of(std::string_view text) {
  std::string out = " ";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += static_cast<char>(std::tolower(byte));
    } else if (out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.back() != ' ') out += ' ';
  return out;
}

bool says(const std::string& words, std::string_view phrase) {
  return words.find(" " + std::string(phrase) + " ") != std::string::npos;
}

// The first whole number among the words, from `least` to `most`.
std::optional<int> number_between(const std::string& words, int least, int most) {
  for (std::size_t at = 0; at < words.size(); at = words.find(' ', at)) {
    while (at < words.size() && words[at] == ' ') ++at;
    const std::size_t end = std::min(words.find(' ', at), words.size());
    int number = 0;
    const auto parsed = std::from_chars(words.data() + at, words.data() + end, number);
    const bool whole = parsed.ec == std::errc() && parsed.ptr == words.data() + end;
    if (whole && number >= least && number <= most) return number;
  }
  return std::nullopt;
}

// Which Megatron-LM a text without "core" means.
std::string_view megatron_release(const MeasuredRow& row, const std::string& words) {
  constexpr int kFirstYear = 2019;
  constexpr int kLastYear = 2099;
  constexpr int kLastOf2x = 2021;
  constexpr int kLastOf3x = 2023;  // Megatron-Core 0.2 and later were not in use before
  if (const auto year = number_between(words, kFirstYear, kLastYear)) {
    return *year <= kLastOf2x   ? "megatron-lm-2021"
           : *year <= kLastOf3x ? "megatron-lm-2022"
                                : "megatron-core";
  }
  if (says(words, "v2")) return "megatron-lm-2021";
  if (says(words, "v3")) return "megatron-lm-2022";
  // Transformer Engine, FlashAttention 2 and 8-bit formats came with Megatron-Core.
  const std::string& kernel = row.attention_kernel;
  const bool later = says(words, "te") || kernel == "transformer-engine" || kernel == "flash-2" ||
                     kernel == "flash-3" || row.precision.find("fp8") != std::string::npos ||
                     row.precision.find("fp4") != std::string::npos;
  if (later) return "megatron-core";
  if (row.accelerator.starts_with("v100")) return "megatron-lm-2021";
  const bool ampere = row.accelerator.starts_with("a100") || row.accelerator.starts_with("a800");
  return ampere ? "megatron-lm-2022" : "megatron-core";
}

// NeMo's releases count years: 24.09. From 25 on they stand on Megatron-Core 0.10 and later.
std::string_view nemo_release(const std::string& words) {
  constexpr int kOnMegatronCore = 25;
  constexpr int kLast = 99;
  return number_between(words, kOnMegatronCore, kLast) ? "megatron-core" : "nemo";
}

}  // namespace

std::span<const RunConvention> framework_conventions() { return kFrameworks; }

const RunConvention& framework_convention(std::string_view framework) {
  const auto* const found =
      std::find_if(kFrameworks.begin(), kFrameworks.end(),
                   [&](const RunConvention& c) { return c.framework == framework; });
  return found == kFrameworks.end() ? kFrameworks.front() : *found;
}

std::string_view framework_named(std::string_view text) {
  const std::string words = words_of(text);
  const auto* const found = std::find_if(kWords.begin(), kWords.end(),
                                         [&](const Words& w) { return says(words, w.phrase); });
  return found == kWords.end() ? "" : found->framework;
}

RunConvention framework_convention(const MeasuredRow& row) {
  const std::string words = words_of(row.framework);
  std::string_view framework = framework_named(row.framework);
  if (framework == "megatron-lm") framework = megatron_release(row, words);
  if (framework == "nemo") framework = nemo_release(words);
  RunConvention out = framework_convention(framework);
  if (framework == "transformers" && (says(words, "fsdp") || says(words, "fsdp2"))) out.zero = 3;
  for (const auto& [phrase, stage] : {std::pair{"zero 1", 1}, {"zero 2", 2}, {"zero 3", 3}}) {
    if (says(words, phrase)) out.zero = stage;
  }
  return out;
}

}  // namespace orrery
