#include "validate/source_conventions.h"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

using enum Transfers;
constexpr auto kNoSequence = SequenceParallelism::never;
constexpr auto kMegatron = VocabularyPadding::megatron;

// Megatron-LM reduces gradients after the last microbatch unless --overlap-grad-reduce is given,
// which did not exist before 2023; arXiv 2205.05198 s.6.3 says so of its runs. DeepSpeed with a
// pipeline reduces after it too (PipelineEngine, ReduceGrads).
constexpr std::string_view kAfterStep =
    "gradients are reduced after the last microbatch: default of Megatron-LM and of DeepSpeed "
    "pipelines (arXiv 2205.05198 s.6.3)";
constexpr std::string_view kReadme =
    "gradient reduction and parameter gather overlapped: validation/measured/README.md";
constexpr std::string_view kFullySharded =
    "gathers and reductions overlapped: default of PyTorch FSDP (arXiv 2304.11277 s.3.3)";

constexpr std::array kConventions = {
    SourceConvention{.source_id = "aleph-alpha-layouts",
                     .software = "aleph-alpha",
                     .sequence_parallel = kNoSequence,
                     .link = "8 x 200 Gb/s",
                     .fabric = "infiniband-hdr",
                     .gradients = exposed,
                     .parameters = exposed,
                     // The paper states no partition; of the two of Aleph-Alpha/scaling,
                     // core/nn/parallel_module/pipeline_partitioning.py, the balanced one (that of
                     // DeepSpeed, partition_method parameters) agrees with its grid.
                     .balances_parameters = true,
                     .overlap_source = kAfterStep},
    SourceConvention{.source_id = "bigscience-a100",
                     .software = "megatron-deepspeed",
                     .sequence_parallel = kNoSequence,
                     .link = "4 x 100 Gb/s",
                     .fabric = "omni-path-100g",
                     .gradients = exposed,
                     .parameters = exposed,
                     .padding = kMegatron,
                     .overlap_source = kAfterStep},
    SourceConvention{.source_id = "bigscience-v100",
                     .software = "megatron-deepspeed",
                     .dropout = true,
                     .sequence_parallel = kNoSequence,
                     .link = "4 x 100 Gb/s",
                     .fabric = "omni-path-100g",
                     .gradients = exposed,
                     .parameters = exposed,
                     .padding = kMegatron,
                     .overlap_source = kAfterStep},
    // BLOOM and other models trained with Megatron and DeepSpeed.
    SourceConvention{.source_id = "misc-papers",
                     .software = "megatron-deepspeed",
                     .accelerator = "a100",
                     .sequence_parallel = kNoSequence,
                     .link = "4 x 100 Gb/s",
                     .fabric = "omni-path-100g",
                     .gradients = exposed,
                     .parameters = exposed,
                     .padding = kMegatron,
                     .overlap_source = kAfterStep},
    // Tensor-parallel overlap: ub_tp_comm_overlap of nemo_megatron/gpt3_175b_hydra.yaml and
    // nemotron/nemotron4-15b-synth.yaml in NVIDIA/dgxc-benchmarking, tp_comm_overlap of NeMo's
    // recipe llama31_405b in performance mode.
    SourceConvention{.source_id = "dgxc",
                     .software = "nemo-24",
                     .accelerator = "gb",
                     .link = "4 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .tensor_parallel = overlapped,
                     .flash = AttentionKernel::library,
                     .padding = kMegatron,
                     .overlap_source = kReadme},
    SourceConvention{.source_id = "dgxc",
                     .software = "nemo-24",
                     .link = "8 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .tensor_parallel = overlapped,
                     .flash = AttentionKernel::library,
                     .padding = kMegatron,
                     .overlap_source = kReadme},
    SourceConvention{.source_id = "nemo",
                     .software = "nemo-24",
                     .link = "8 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     // ub_tp_comm_overlap is on in conf/training/gpt3/175b.yaml of
                     // NeMo-Framework-Launcher and off in conf/training/llama/llama2_70b.yaml.
                     .tensor_parallel_models = "GPT3-175B",
                     .flash = AttentionKernel::library,
                     // NeMo's manual until its pull request 9188 of May 2024; afterwards
                     // Transformer Engine prefers cuDNN on Hopper.
                     .transformer_engine = AttentionKernel::flash_2,
                     .padding = kMegatron,
                     .overlap_source = kReadme},
    // Tensor-parallel overlap: CommOverlapConfig(tp_comm_overlap = tp > 1) of its performance
    // recipes.
    SourceConvention{.source_id = "megatron-bridge",
                     .accelerator = "gb",
                     .link = "4 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .tensor_parallel = overlapped,
                     .flash = AttentionKernel::library,
                     .padding = kMegatron,
                     .overlap_source = kReadme},
    SourceConvention{.source_id = "megatron-bridge",
                     .link = "8 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .tensor_parallel = overlapped,
                     .flash = AttentionKernel::library,
                     .padding = kMegatron,
                     .overlap_source = kReadme},
    SourceConvention{.source_id = "megatron-moe-modelzoo",
                     .accelerator = "gb",
                     .link = "4 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .flash = AttentionKernel::library,
                     .padding = kMegatron,
                     .overlap_source = kReadme},
    SourceConvention{.source_id = "megatron-moe-modelzoo",
                     .link = "8 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .flash = AttentionKernel::library,
                     .padding = kMegatron,
                     .overlap_source = kReadme},
    SourceConvention{.source_id = "mlperf",
                     .accelerator = "gb",
                     .link = "4 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .tensor_parallel = overlapped,
                     .flash = AttentionKernel::library,
                     .padding = kMegatron,
                     .overlap_source = kReadme},
    SourceConvention{.source_id = "mlperf",
                     .link = "8 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .tensor_parallel = overlapped,
                     .flash = AttentionKernel::library,
                     .padding = kMegatron,
                     .overlap_source = kReadme},
    SourceConvention{.source_id = "megatron-sc21",
                     .software = "megatron-lm-2021",
                     .dropout = true,
                     .zero = 0,
                     .sequence_parallel = kNoSequence,
                     .link = "8 x 200 Gb/s",
                     .fabric = "infiniband-hdr",
                     .gradients = exposed,
                     .parameters = exposed,
                     .padding = kMegatron,
                     .overlap_source = kAfterStep},
    SourceConvention{.source_id = "korthikanti",
                     .software = "megatron-lm-2022",
                     .dropout = true,
                     .zero = 0,
                     .sequence_parallel = kNoSequence,
                     .link = "8 x 200 Gb/s",
                     .fabric = "infiniband-hdr",
                     .gradients = exposed,
                     .parameters = exposed,
                     .padding = kMegatron,
                     .overlap_source = kAfterStep},
    SourceConvention{.source_id = "megatron-2020",
                     .software = "megatron-lm-2021",
                     .dropout = true,
                     .zero = 0,
                     .sequence_parallel = kNoSequence,
                     .link = "8 x 200 Gb/s",
                     .fabric = "infiniband-hdr",
                     .gradients = exposed,
                     .parameters = exposed,
                     .padding = kMegatron,
                     .overlap_source = kAfterStep},
    // Its attention is the Triton kernel (attn_impl triton, the default of
    // scripts/train/benchmarking/submit_benchmarks.py then), which runs like flash-1: arXiv
    // 2307.08691, figures 4 and 5.
    SourceConvention{.source_id = "llm-foundry",
                     .software = "llm-foundry",
                     .accelerator = "a100",
                     .zero = 3,
                     .sequence_parallel = kNoSequence,
                     .link = "8 x 200 Gb/s",
                     .fabric = "roce-200g",
                     .flash = AttentionKernel::flash_1,
                     .overlap_source = kFullySharded},
    SourceConvention{.source_id = "llm-foundry",
                     .software = "llm-foundry",
                     .zero = 3,
                     .sequence_parallel = kNoSequence,
                     .link = "8 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .flash = AttentionKernel::flash_1,
                     .overlap_source = kFullySharded},
    // The notes say HSDP for its first model; its default group is one node.
    SourceConvention{.source_id = "fms-fsdp",
                     .software = "torchtitan",
                     .zero = 3,
                     .sequence_parallel = kNoSequence,
                     .link = "4 x 100 Gb/s",
                     .fabric = "roce-100g",
                     // reduce_dtype of fms_fsdp/policies/mixed_precision.py.
                     .narrow_gradients = true,
                     .overlap_source = kFullySharded},
    SourceConvention{.source_id = "torchtitan",
                     .software = "torchtitan",
                     .zero = 3,
                     .sequence_parallel = kNoSequence,
                     .link = "8 x 400 Gb/s",
                     .fabric = "roce-400g",
                     // torchtitan context_parallel_rotate_method = allgather (its config manager).
                     .context_parallel = ContextParallel::all_gather,
                     .overlap_source = kFullySharded},
    // The notes of its rows: FSDP inside a node of 8, data parallel across nodes. Google A3 (High):
    // catalog/nodes/gcp-a3-high.yaml.
    SourceConvention{.source_id = "maxtext-a3",
                     .software = "maxtext",
                     .zero = 3,
                     .sequence_parallel = kNoSequence,
                     .link = "4 x 200 Gb/s",
                     .fabric = "tcpx-200g",
                     .flash = AttentionKernel::library,
                     .shard_group = 8,
                     .overlap_source = "gathers and reductions overlapped: XLA's latency-hiding "
                                       "scheduler, on in the recipes of MaxText"},
    SourceConvention{.source_id = "internevo",
                     .software = "internevo",
                     .sequence_parallel = kNoSequence,
                     .link = "4 x 100 Gb/s",
                     .fabric = "roce-100g",
                     .parameters = exposed,
                     .overlap_source = "overlap_sync_grad on, overlap_sync_param off: InternEvo "
                                       "configs/7B_sft.py"},
    SourceConvention{.source_id = "zero-bubble",
                     .software = "megatron-lm-2022",
                     .zero = 0,
                     .sequence_parallel = kNoSequence,
                     .link = "4 x 200 Gb/s",
                     .fabric = "roce-200g",
                     .gradients = exposed,
                     .parameters = exposed,
                     .padding = kMegatron,
                     .vocab = 50304,
                     .overlap_source = kAfterStep},
    SourceConvention{.source_id = "vocabulary-parallelism",
                     .software = "megatron-lm-2022",
                     .zero = 0,
                     .sequence_parallel = kNoSequence,
                     .link = "4 x 200 Gb/s",
                     .fabric = "roce-200g",
                     .gradients = exposed,
                     .parameters = exposed,
                     .padding = kMegatron,
                     .overlap_source = kAfterStep},
    SourceConvention{.source_id = "simumax-b200",
                     .link = "8 x 400 Gb/s",
                     .fabric = "infiniband-ndr",
                     .gradients = exposed,
                     .parameters = exposed,
                     .flash = AttentionKernel::library,
                     .overlap_source = "overlap off: notes of the rows"},
    SourceConvention{.source_id = "llama3-paper",
                     .zero = 2,
                     .link = "8 x 400 Gb/s",
                     .fabric = "roce-400g",
                     // arXiv 2407.21783 s.3.3.2.
                     .context_parallel = ContextParallel::all_gather,
                     .flash = AttentionKernel::library,
                     .overlap_source = kReadme},
    // Everyone else: the defaults of `orrery estimate`, and the accelerator's usual network.
    SourceConvention{.overlap_source = "gradient reduction and parameter gather overlapped: the "
                                       "default of a plan"},
};

}  // namespace

std::span<const SourceConvention> source_conventions() { return kConventions; }

const SourceConvention& convention_of(std::string_view source_id, std::string_view accelerator) {
  return *std::find_if(kConventions.begin(), kConventions.end(), [&](const SourceConvention& c) {
    return (c.source_id.empty() || c.source_id == source_id) &&
           accelerator.starts_with(c.accelerator);
  });
}

}  // namespace orrery
