#include "measured/scenario_of_row.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>

#include "cluster/accelerator.h"
#include "cluster/cluster.h"
#include "cluster/cluster_description.h"
#include "cluster/node.h"
#include "measured/derived_cells.h"
#include "measured/modules_of_row.h"
#include "measured/network_link.h"
#include "measured/plan_of_row.h"
#include "model/transformer/architecture.h"
#include "model/transformer/transformer.h"
#include "plan/plan.h"
#include "plan/software.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

// The model of a measured row.
//
// Starts from the catalog entry the row names, or else from the family its feed-forward suggests
// (two matrices with GELU: GPT-2 and Megatron; SwiGLU: LLaMA; squared ReLU: Nemotron-4), and lets
// the row's own dimensions win. What the row leaves open and was assumed goes to `assumed`.

struct RowArchitecture {
  Architecture architecture;
  std::vector<std::string> assumed;
};

void apply_blocks(const MeasuredRow& row, const BlockConvention& blocks, RowArchitecture& out) {
  Architecture& a = out.architecture;
  a.family = blocks.family;
  a.norm = blocks.norm;
  a.position_encoding = blocks.position_encoding;
  // Learned positions are as many as the sequence has tokens (--max-position-embeddings).
  if (a.position_encoding == PositionEncoding::learned) a.max_position = row.seq_len.value_or(0);
  a.linear_bias = blocks.linear_bias;
  a.tie_embeddings = blocks.tie_embeddings && row.tie_embeddings != "no";
  out.assumed.push_back(blocks.words + (a.tie_embeddings ? ", tied embeddings" : ""));
}

// The vocabulary as Megatron-LM pads it (--make-vocab-size-divisible-by, times tp).
void pad_vocabulary(const MeasuredRow& row, std::int64_t multiple, RowArchitecture& out) {
  constexpr std::int64_t kLargestSize = 1'000'000'000;
  const std::int64_t tp = row.tp.value_or(1);
  std::int64_t& vocab = out.architecture.vocab;
  if (tp > kLargestSize || vocab > kLargestSize || vocab % (multiple * tp) == 0) return;
  const std::int64_t padded = (vocab + multiple * tp - 1) / (multiple * tp) * (multiple * tp);
  out.assumed.push_back("vocabulary " + std::to_string(vocab) + " padded to " +
                        std::to_string(padded) + ", a multiple of " + std::to_string(multiple) +
                        " x tp, as Megatron-LM does");
  vocab = padded;
}

Expressible<RowArchitecture> base_of(const MeasuredRow& row, const BlockConvention& blocks,
                                     const Catalog& catalog) {
  RowArchitecture out;
  if (!row.catalog_model.empty()) {
    auto document = catalog.find("models", row.catalog_model);
    if (!document) return skip("the model: " + document.error().text());
    auto architecture = read_architecture(*document);
    if (!architecture) return skip("the model: " + architecture.error().text());
    out.architecture = std::move(*architecture);
    return out;
  }
  std::string kind = row.ffn_kind;
  std::replace(kind.begin(), kind.end(), '-', '_');
  auto ffn = parse_enum<FeedForwardKind>(kind);
  if (!ffn) return skip("feed-forward kind '" + row.ffn_kind + "' is not modelled");
  out.architecture.ffn = *ffn;
  apply_blocks(row, blocks, out);
  if (row.num_experts) {
    if (!row.top_k || !row.expert_ffn) {
      return skip(std::string("the source does not state: ") + (row.top_k ? "" : "top_k") +
                  (row.top_k || row.expert_ffn ? "" : ", ") + (row.expert_ffn ? "" : "expert_ffn"));
    }
    MixtureOfExperts& moe = out.architecture.moe.emplace();
    moe.first_dense_layers = row.dense_layers.value_or(0);
    out.assumed.push_back("experts without a shared one, in " +
                          (row.dense_layers ? "the other layers" : std::string("every layer")) +
                          ": the columns of a mixture say no more");
  }
  return out;
}

// Skipped: a dimension that is unknown, a kind of feed-forward or mixture that cannot be expressed.
Expressible<RowArchitecture> architecture_of_row(const MeasuredRow& row,
                                                 const RunConvention& convention,
                                                 const Catalog& catalog) {
  auto base = base_of(row, convention.blocks, catalog);
  if (!base) return skip(base.error().because);
  RowArchitecture out = std::move(*base);
  Architecture& a = out.architecture;
  a.name = row.model.empty() ? row.row_id : row.model;

  const auto take = [](std::int64_t& member, const std::optional<std::int64_t>& cell) {
    if (cell) member = *cell;
  };
  const bool cut_down = row.num_layers.value_or(a.num_layers) < a.num_layers;
  take(a.num_layers, row.num_layers);
  take(a.hidden, row.hidden);
  take(a.ffn_hidden, row.ffn_hidden);
  take(a.vocab, row.vocab);
  // Latent attention has head sizes of its own.
  if (!a.latent_attention) {
    if (row.num_heads && *row.num_heads != a.num_heads) {
      // Another head count at the same width: another head size.
      a.head_dim = 0;
      a.attention.reset();
    }
    take(a.num_heads, row.num_heads);
    take(a.num_kv_heads, row.num_kv_heads);
    take(a.head_dim, row.head_dim);
  }
  if (a.moe) {
    take(a.moe->num_experts, row.num_experts);
    take(a.moe->top_k, row.top_k);
    take(a.moe->expert_ffn, row.expert_ffn);
    take(a.moe->first_dense_layers, row.dense_layers);
    a.moe->first_dense_layers = std::min(a.moe->first_dense_layers, a.num_layers);
  }
  if (a.num_multi_token_prediction > 0) {
    const std::string& heads = row.mtp;
    if (heads == "off" || cut_down) {
      a.num_multi_token_prediction = 0;
      if (heads.empty()) out.assumed.push_back("no multi-token prediction in a cut-down model");
    } else {
      out.assumed.push_back("multi-token prediction trained, as in the published model");
    }
  }
  if (a.vocab == 0 && convention.vocab > 0) {
    a.vocab = convention.vocab;
    out.assumed.push_back("vocabulary " + std::to_string(a.vocab) +
                          ": validation/measured/README.md");
  }
  if (convention.vocab_multiple > 0) pad_vocabulary(row, convention.vocab_multiple, out);

  std::string unknown;
  for (const auto& [name, value] : {std::pair{"num_layers", a.num_layers},
                                    {"hidden", a.hidden},
                                    {"num_heads", a.num_heads},
                                    {"ffn_hidden", a.ffn_hidden},
                                    {"vocab", a.vocab}}) {
    if (value == 0 && a.moe && std::string_view(name) == "ffn_hidden") continue;
    if (value == 0) unknown += (unknown.empty() ? "" : ", ") + std::string(name);
  }
  if (!unknown.empty()) return skip("the source does not state: " + unknown);
  if (row.norm_kernel == "unfused") {
    out.assumed.push_back("norms modelled as fused kernels, though the source ran unfused ones");
  }
  if (row.compile == "off") {
    out.assumed.push_back(
        "element-wise kernels modelled as fused, though the source did not "
        "compile");
  }
  a = completed(std::move(a));
  return out;
}

// The cluster of a measured row: its accelerators in nodes of `gpus_per_node`, their network from
// `inter_node_link` or, where that gives no rate, from the convention of the source.
//
// Memory and memory bandwidth the source states for its own parts win over the catalog's:
// `accelerator_memory_gb` counts GiB where it differs from the marketed size of the catalog entry
// (memory stacks have binary sizes), and "2.4 TB/s" in `accelerator_note` is a bandwidth. Not
// modelled: power limits of the note.

struct RowCluster {
  Cluster cluster;
  std::vector<std::string> assumed;
};

// Accelerators of the generic servers that stand in where an accelerator has no usual one.
constexpr std::int64_t kServer = 8;
constexpr double kGigabyte = 1e9;

// "... 2.4 TB/s ..." in a note.
std::optional<BytesPerSecond> bandwidth_in(const std::string& note) {
  const auto unit = note.find(" TB/s");
  if (unit == std::string::npos) return std::nullopt;
  auto begin = unit;
  while (begin > 0 && note[begin - 1] != ' ') --begin;
  auto parsed = parse_bytes_per_second(note.substr(begin, unit + 5 - begin));
  if (!parsed) return std::nullopt;
  return *parsed;
}

// "... 500 W power limit ..." in a note.
std::optional<Watts> power_limit_in(const std::string& note) {
  const auto end = note.find(" W power limit");
  if (end == std::string::npos) return std::nullopt;
  auto begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(note[begin - 1])) != 0) --begin;
  if (begin == end || end - begin > 5) return std::nullopt;
  return Watts(std::stod(note.substr(begin, end - begin)));
}

// Under a power cap the clock settles where dynamic power, which goes with the clock and the square
// of a voltage that goes with the clock, meets it: rates go with the cube root of the limit
// (Rabaey, Digital Integrated Circuits, s.5.5). Products and attention run into the cap; memory
// has a clock of its own.
void limit_power(Accelerator& accelerator, Watts limit) {
  if (!accelerator.power || limit >= *accelerator.power) return;
  const double share = std::cbrt(limit / *accelerator.power);
  PeakRates& p = accelerator.peaks;
  for (auto* rate : {&p.fp16, &p.bf16, &p.fp8, &p.mxfp8, &p.fp6, &p.fp4, &p.nvfp4, &p.int8}) {
    if (*rate) *rate = **rate * share;
  }
}

void apply_own_parts(const MeasuredRow& row, RowCluster& out) {
  Accelerator& accelerator = out.cluster.accelerator;
  const Bytes marketed = accelerator.memory.marketed.value_or(accelerator.memory.capacity);
  if (row.accelerator_memory_gb && *row.accelerator_memory_gb * kGigabyte != marketed.value()) {
    accelerator.memory.capacity = Bytes(*row.accelerator_memory_gb * kGibibyte);
    out.assumed.push_back("accelerator memory " + to_text(accelerator.memory.capacity) +
                          ": the source's own, not the catalog's");
  }
  if (auto bandwidth = bandwidth_in(row.accelerator_note)) {
    accelerator.memory.bandwidth = *bandwidth;
    out.assumed.push_back("memory bandwidth " + to_text(*bandwidth) +
                          ": the source's own, not the catalog's");
  }
  if (const auto limit = power_limit_in(row.accelerator_note)) {
    limit_power(accelerator, *limit);
    out.assumed.push_back("power limit " + to_exact_text(*limit) +
                          ": matrix rates with the cube root of the power");
  }
}

// Bandwidth and fabric between nodes, with the assumption if it is one.
struct Between {
  BytesPerSecond per_accelerator;
  std::string fabric;
};

std::optional<Between> between_nodes(const MeasuredRow& row, const RunConvention& convention,
                                     double per_node, std::vector<std::string>& assumed) {
  const auto stated = network_link(row.inter_node_link);
  const auto usual = network_link(convention.link);
  const auto& link = stated ? stated : usual;
  if (!link) return std::nullopt;
  Between out{link->per_accelerator(per_node), link->fabric};
  const bool fabric_assumed = out.fabric.empty();
  if (fabric_assumed) out.fabric = convention.fabric;
  if (!stated) {
    assumed.push_back("network: " + convention.link + " per node, " + out.fabric +
                      (row.inter_node_link.empty()
                           ? ", since the source states none"
                           : ", since '" + row.inter_node_link + "' gives no rate"));
  } else if (fabric_assumed && !out.fabric.empty()) {
    assumed.push_back("network: " + out.fabric + " for '" + row.inter_node_link + "'");
  }
  return out;
}

// Skipped: an accelerator that is not in the catalog; a count that does not fill its nodes.
Expressible<RowCluster> cluster_of_row(const MeasuredRow& row, const RunConvention& convention,
                                       const Catalog& catalog) {
  if (row.accelerator.empty()) return skip("the source does not state: accelerator");
  if (!row.num_gpus) return skip("the source does not state: num_gpus");
  const std::int64_t gpus = *row.num_gpus;
  if (gpus > kMaxAccelerators) {
    return skip(std::to_string(gpus) + " GPUs are more than can be described");
  }
  // The accelerator in its usual server, of which the row may fill only a part.
  ClusterDescription description;
  description.name = row.accelerator + ":" + std::to_string(gpus);
  description.accelerator = row.accelerator;
  description.accelerators = 1;
  const auto accelerator = load_accelerator(catalog, row.accelerator);
  if (!accelerator) return skip("the cluster: " + accelerator.error().text());
  std::int64_t usual = kServer;
  std::int64_t domain = kServer;
  if (!accelerator->default_node.empty()) {
    const auto node = load_node(catalog, accelerator->default_node);
    if (!node) return skip("the cluster: " + node.error().text());
    usual = node->accelerators;
    domain = node->scale_up.domain;
  }
  const std::int64_t stated = row.gpus_per_node.value_or(usual);
  const std::int64_t per_node = std::min(stated, gpus);
  if (gpus % per_node != 0) {
    return skip(std::to_string(gpus) + " GPUs do not fill nodes of " + std::to_string(per_node));
  }
  if (stated > std::max(usual, domain)) {
    return skip("nodes of " + std::to_string(stated) + " " + row.accelerator +
                " are not in the catalog, only of " + std::to_string(usual));
  }

  RowCluster out;
  const bool rack = domain > usual;  // the scale-up domain spans nodes, whatever the row says
  // Only whole usual servers can be described; the row's own counts are set below.
  description.accelerators = gpus <= usual ? gpus : (gpus + usual - 1) / usual * usual;
  if (!rack) {
    LevelDescription inside;
    inside.name = "node";
    inside.accelerators = per_node;
    description.levels.push_back(std::move(inside));
  }
  if (gpus > (rack ? domain : per_node)) {
    if (is_single_node(row.inter_node_link)) {
      return skip("'" + row.inter_node_link + "', but " + std::to_string(gpus) +
                  " GPUs are more than a node of " + std::to_string(per_node));
    }
    if (const auto between =
            between_nodes(row, convention, static_cast<double>(stated), out.assumed)) {
      LevelDescription network;
      network.name = between->fabric.empty() ? "network" : between->fabric;
      network.accelerators = description.accelerators;
      if (!between->fabric.empty()) network.fabric = between->fabric;
      network.bandwidth = between->per_accelerator;
      network.oversubscription = 1;
      description.levels.push_back(std::move(network));
    } else if (!rack) {
      LevelDescription network;
      network.name = "network";
      network.accelerators = description.accelerators;
      network.oversubscription = 1;
      description.levels.push_back(std::move(network));
      out.assumed.push_back("network: the usual one of " + row.accelerator);
    }
  }
  auto built = build_cluster(description, catalog);
  if (!built) return skip("the cluster: " + built.error().text());
  out.cluster = std::move(*built);
  out.cluster.accelerators = gpus;
  out.cluster.accelerators_per_node = per_node;
  out.cluster.levels.back().accelerators = gpus;
  out.assumed.insert(out.assumed.end(), out.cluster.assumed.begin(), out.cluster.assumed.end());
  apply_own_parts(row, out);
  if (auto checked = check(out.cluster); !checked) {
    return skip("the cluster: " + checked.error().text());
  }
  return out;
}

// Which software profile a measured row ran on: its convention's (run_convention.h), with what the
// row itself states.

struct RowSoftware {
  SoftwareProfile software;
  std::vector<std::string> assumed;
};

// What Megatron-LM's cuda_graph_scope captures: the whole step, or modules of a layer of experts.
Expressible<void> capture_graphs(const std::string& scopes, HostCosts& host) {
  host.graph_modules.clear();
  std::istringstream words(scopes);
  for (std::string word; words >> word;) {
    if (word == "attn") {
      host.graph_modules.push_back(GraphModule::attention);
    } else if (word == "moe_router") {
      host.graph_modules.push_back(GraphModule::router);
    } else if (word == "moe_preprocess") {
      host.graph_modules.push_back(GraphModule::counting);
    } else if (word == "full_iteration") {
      host.launches = LaunchPath::graphs;
    } else if (word != "None") {
      return skip("cuda_graphs '" + word + "' is not modelled");
    }
  }
  return {};
}

Expressible<RowSoftware> software_of_row(const MeasuredRow& row, const RunConvention& convention,
                                         const Catalog& catalog) {
  auto profile = load_software(catalog, convention.software);
  if (!profile) return skip("the software profile: " + profile.error().text());
  RowSoftware out{std::move(*profile), {}};
  SoftwareProfile& software = out.software;
  out.assumed.push_back(software_assumption(software));
  if (row.norm_kernel == "fused") software.norm = Kernels::fused;
  if (row.norm_kernel == "unfused") software.norm = Kernels::eager;
  if (row.softmax_kernel == "unfused") software.softmax = Kernels::eager;
  software.host.launches = convention.launches.value_or(software.host.launches);
  if (row.compile == "off") software.host.launches = LaunchPath::each;
  if (row.compile == "on") software.host.launches = LaunchPath::compiled;
  if (!row.cuda_graphs.empty()) {
    if (auto captured = capture_graphs(row.cuda_graphs, software.host); !captured) {
      return skip(captured.error().because);
    }
  }
  software.cross_entropy = convention.cross_entropy.value_or(software.cross_entropy);
  if (row.cross_entropy == "fused") software.cross_entropy = Kernels::fused;
  software.router = convention.router.value_or(software.router);
  software.fp8_scaling = convention.fp8_scaling.value_or(software.fp8_scaling);
  return out;
}

// Why the whole row is no training step of the kind that is modelled; empty if it is one.
std::string not_a_step(const MeasuredRow& row, const RunConvention& convention) {
  if (row.phase == "layer") return "one transformer layer timed alone, not a training step";
  if ((row.phase == "sft" || row.phase == "lora") && !convention.packed) {
    return "fine-tuning: how full its sequences are is not stated";
  }
  if (!row.phase.empty() && row.phase != "pre-training" && row.phase != "sft" &&
      row.phase != "lora") {
    return "phase '" + row.phase + "' is not modelled";
  }
  if (!row.status.empty() && row.status != "ok" && row.status != "oom") {
    return "the run failed: " + row.status;
  }
  // Without a step time the memory can still be compared.
  const bool vocabulary_assumed = row.missing == "vocab" && convention.vocab > 0;
  if (!row.missing.empty() && !vocabulary_assumed && row.missing != "step_time_s") {
    return "the source does not state: " + row.missing;
  }
  return "";
}

// What of the framework's memory the row itself states.
MemoryFacts memory_of_row(const MeasuredRow& row, MemoryFacts facts) {
  if (row.norm_kernel == "unfused") facts = with_unfused_norms(facts);
  if (row.cross_entropy == "fused") facts = with_fused_cross_entropy(facts);
  if (row.phase == "lora") facts = with_narrow_adapted_layers(facts);
  return facts;
}

// Gradients the row says nothing of have the width of the framework's, where its profile knows one.
std::string unstated_gradients(Training& training, const MemoryFacts& facts) {
  constexpr double kHalf = 2;
  if (facts.gradient_bytes == kHalf && training.gradients == NumberFormat::fp32) {
    training.gradients = NumberFormat::bf16;
  }
  return "gradients accumulated and reduced in " + std::string(name_of(training.gradients));
}

}  // namespace

Expressible<RowScenario> scenario_of_row(const MeasuredRow& stated, const Catalog& catalog,
                                         std::string_view software_of_others) {
  std::vector<std::string> derived;
  if (!stated.unread.empty()) {
    derived.push_back("of variant not read, for no column has that name: " + stated.unread);
  }
  const MeasuredRow row = with_derived_cells(stated, derived);
  const RunConvention convention = convention_of(row, software_of_others);
  if (std::string because = not_a_step(row, convention); !because.empty()) return skip(because);

  auto plan = plan_of_row(row, convention);
  if (!plan) return skip(plan.error().because);
  auto cluster = cluster_of_row(row, convention, catalog);
  if (!cluster) return skip(cluster.error().because);
  auto architecture = architecture_of_row(row, convention, catalog);
  if (!architecture) return skip(architecture.error().because);
  if (row.phase == "lora") {
    architecture->architecture.adapters =
        Adapters{convention.adapter_rank, AdaptedProducts::attention};
    architecture->assumed.push_back("adapters of rank " + std::to_string(convention.adapter_rank) +
                                    " on the products of attention; frozen weights and inputs of "
                                    "the gate kept in the format of the products");
  }
  auto model = build_model(architecture->architecture);
  if (!model) return skip_wrong("the model: " + model.error().text());

  // Some tables print an expert-tensor degree for dense models too; it divides nothing there.
  if (model->experts == 0) plan->plan.etp = 0;
  drop_absent_modules(plan->plan, *model, plan->assumed);

  auto software = software_of_row(row, convention, catalog);
  if (!software) return skip(software.error().because);
  blocking_transfers(plan->plan, software->software);
  if (!plan->gradients_stated) {
    plan->assumed.push_back(unstated_gradients(plan->training, software->software.memory));
  }
  software->software.memory = memory_of_row(row, software->software.memory);
  RowScenario out{{std::move(*model), std::move(cluster->cluster), plan->training, plan->plan,
                   std::move(software->software), true},
                  {}};
  for (auto* assumed :
       {&derived, &architecture->assumed, &cluster->assumed, &plan->assumed, &software->assumed}) {
    out.assumed.insert(out.assumed.end(), assumed->begin(), assumed->end());
  }
  return out;
}

}  // namespace orrery
