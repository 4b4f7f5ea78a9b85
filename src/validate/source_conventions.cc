#include "validate/source_conventions.h"

#include <algorithm>
#include <array>

#include "validate/framework_conventions.h"

namespace orrery {
namespace {

using enum Transfers;
constexpr std::string_view kReadme =
    "gradient reduction and parameter gather overlapped: validation/measured/README.md";

constexpr void network(RunConvention& c, std::string_view link, std::string_view fabric) {
  c.link = link;
  c.fabric = fabric;
}

// The network of NVIDIA's own systems; racks of GB200 and GB300 count nodes of four.
constexpr void nvidia_nodes(RunConvention& c) {
  network(c, "8 x 400 Gb/s", "infiniband-ndr");
  c.overlap_source = kReadme;
}
constexpr void nvidia_racks(RunConvention& c) {
  network(c, "4 x 400 Gb/s", "infiniband-ndr");
  c.overlap_source = kReadme;
}

// Eight HDR cards, as in DGX A100.
constexpr void hdr_nodes(RunConvention& c) { network(c, "8 x 200 Gb/s", "infiniband-hdr"); }

// Jean Zay.
constexpr void omni_path(RunConvention& c) { network(c, "4 x 100 Gb/s", "omni-path-100g"); }

constexpr std::array kConventions = {
    SourceConvention{"aleph-alpha-layouts", "", "aleph-alpha", hdr_nodes},
    SourceConvention{"bigscience-a100", "", "megatron-deepspeed", omni_path},
    SourceConvention{"bigscience-v100", "", "megatron-deepspeed",
                     [](RunConvention& c) {
                       omni_path(c);
                       c.dropout = true;
                     }},
    // BLOOM and other models trained with Megatron and DeepSpeed.
    SourceConvention{"misc-papers", "a100", "megatron-deepspeed", omni_path},
    // Tensor-parallel overlap: ub_tp_comm_overlap of nemo_megatron/gpt3_175b_hydra.yaml and
    // nemotron/nemotron4-15b-synth.yaml in NVIDIA/dgxc-benchmarking, tp_comm_overlap of NeMo's
    // recipe llama31_405b in performance mode.
    SourceConvention{"dgxc", "gb", "nemo",
                     [](RunConvention& c) {
                       nvidia_racks(c);
                       c.tensor_parallel = overlapped;
                     }},
    SourceConvention{"dgxc", "", "nemo",
                     [](RunConvention& c) {
                       nvidia_nodes(c);
                       c.tensor_parallel = overlapped;
                     }},
    SourceConvention{"nemo", "", "nemo",
                     [](RunConvention& c) {
                       nvidia_nodes(c);
                       // ub_tp_comm_overlap is on in conf/training/gpt3/175b.yaml of
                       // NeMo-Framework-Launcher and off in conf/training/llama/llama2_70b.yaml.
                       c.tensor_parallel_models = "GPT3-175B";
                       // NeMo's manual until its pull request 9188 of May 2024; afterwards
                       // Transformer Engine prefers cuDNN on Hopper.
                       c.transformer_engine = AttentionKernel::flash_2;
                     }},
    SourceConvention{"megatron-bridge", "gb", "megatron-bridge", nvidia_racks},
    SourceConvention{"megatron-bridge", "", "megatron-bridge", nvidia_nodes},
    SourceConvention{"megatron-moe-modelzoo", "gb", "megatron-core", nvidia_racks},
    SourceConvention{"megatron-moe-modelzoo", "", "megatron-core", nvidia_nodes},
    SourceConvention{"mlperf", "gb", "megatron-core",
                     [](RunConvention& c) {
                       nvidia_racks(c);
                       c.tensor_parallel = overlapped;
                     }},
    SourceConvention{"mlperf", "", "megatron-core",
                     [](RunConvention& c) {
                       nvidia_nodes(c);
                       c.tensor_parallel = overlapped;
                     }},
    SourceConvention{"megatron-sc21", "", "megatron-lm-2021", hdr_nodes},
    SourceConvention{"korthikanti", "", "megatron-lm-2022", hdr_nodes},
    SourceConvention{"megatron-2020", "", "megatron-lm-2021", hdr_nodes},
    SourceConvention{"llm-foundry", "a100", "llm-foundry",
                     [](RunConvention& c) { network(c, "8 x 200 Gb/s", "roce-200g"); }},
    SourceConvention{"llm-foundry", "", "llm-foundry",
                     [](RunConvention& c) { network(c, "8 x 400 Gb/s", "infiniband-ndr"); }},
    // The notes say HSDP for its first model; its default group is one node.
    SourceConvention{"fms-fsdp", "", "fms-fsdp",
                     [](RunConvention& c) { network(c, "4 x 100 Gb/s", "roce-100g"); }},
    SourceConvention{"torchtitan", "", "torchtitan",
                     [](RunConvention& c) { network(c, "8 x 400 Gb/s", "roce-400g"); }},
    // The notes of its rows: FSDP inside a node of 8, data parallel across nodes. Google A3 (High):
    // catalog/nodes/gcp-a3-high.yaml.
    SourceConvention{"maxtext-a3", "", "maxtext",
                     [](RunConvention& c) {
                       network(c, "4 x 200 Gb/s", "tcpx-200g");
                       c.shard_group = 8;
                     }},
    // Its table first stood in InternLM/InternLM, whose doc/en/install.md installs flash-attention
    // 1.0.5; later versions of the framework ask for 2.2.1.
    SourceConvention{"internevo", "", "internevo",
                     [](RunConvention& c) {
                       network(c, "4 x 100 Gb/s", "roce-100g");
                       c.flash = AttentionKernel::flash_1;
                     }},
    SourceConvention{"zero-bubble", "", "megatron-lm-2022",
                     [](RunConvention& c) {
                       network(c, "4 x 200 Gb/s", "roce-200g");
                       c.dropout = false;
                       c.vocab = 50304;
                     }},
    SourceConvention{"vocabulary-parallelism", "", "megatron-lm-2022",
                     [](RunConvention& c) {
                       network(c, "4 x 200 Gb/s", "roce-200g");
                       c.dropout = false;
                     }},
    SourceConvention{"simumax-b200", "", "megatron-core",
                     [](RunConvention& c) {
                       network(c, "8 x 400 Gb/s", "infiniband-ndr");
                       c.gradients = exposed;
                       c.parameters = exposed;
                       c.padding = VocabularyPadding::none;
                       c.overlap_source = "overlap off: notes of the rows";
                     }},
    SourceConvention{"llama3-paper", "", "",
                     [](RunConvention& c) {
                       network(c, "8 x 400 Gb/s", "roce-400g");
                       c.zero = 2;
                       // arXiv 2407.21783 s.3.3.2.
                       c.context_parallel = ContextParallel::all_gather;
                       c.flash = AttentionKernel::library;
                       c.overlap_source = kReadme;
                     }},
};

}  // namespace

std::span<const SourceConvention> source_conventions() { return kConventions; }

RunConvention convention_of(const MeasuredRow& row, std::string_view software) {
  const auto* const source =
      std::find_if(kConventions.begin(), kConventions.end(), [&](const SourceConvention& s) {
        return s.source_id == row.source_id && row.accelerator.starts_with(s.accelerator);
      });
  if (source != kConventions.end()) {
    RunConvention out = framework_convention(source->framework);
    source->add(out);
    // The rows of arXiv 2104.04473 Table 2 that run DeepSpeed below Megatron's layers.
    const bool below = row.framework.starts_with("DeepSpeed ZeRO-3");
    if (below && row.source_id == "megatron-sc21") out.software = "megatron-deepspeed";
    return out;
  }
  RunConvention out = framework_convention(row);
  if (!out.framework.empty()) return out;
  // With its profile come the other habits of a framework.
  const auto all = framework_conventions();
  const auto known = std::find_if(all.begin(), all.end(), [&](const RunConvention& c) {
    return !c.framework.empty() && c.software == software;
  });
  if (software != kUsualSoftware && known != all.end()) return *known;
  out.software = software;
  return out;
}

}  // namespace orrery
