#include "plan/sharding_rules.h"

#include <fmt/core.h>

#include <algorithm>

#include "model/model.h"
#include "schedule/schedule.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

using Reasons = std::vector<std::string>;

// Parameters times their copies that all ranks of a node hold together. Layers are taken to be
// divided evenly.
double held_by_node(const JudgedPlan& judged, double parameters, double of_experts) {
  const Plan& plan = judged.plan;
  const std::int64_t etp =
      plan.ep > 1 || plan.etp > 0 ? std::max<std::int64_t>(1, plan.etp) : plan.tp;
  const auto copies = [&](std::int64_t replicas) {
    if (plan.zero == 0) return static_cast<double>(replicas);
    if (plan.shard_group == 0) return 1.0;
    return std::max(1.0, static_cast<double>(replicas) / static_cast<double>(plan.shard_group));
  };
  const double dense = copies(plan.dp * plan.cp);
  const double expert =
      copies(std::max<std::int64_t>(1, plan.tp * plan.dp * plan.cp / (etp * plan.ep)));
  const auto ranks = static_cast<double>(judged.cluster.accelerators);
  const auto in_node = std::min(ranks, static_cast<double>(judged.cluster.accelerators_per_node));
  return ((parameters - of_experts) * dense + of_experts * expert) * in_node / ranks;
}

// Of what is said of updates outside, and of weights that are fetched ahead.
Reasons update_problems(const Plan& plan) {
  Reasons out;
  const auto needs_states = [&](bool stated, std::string_view field) {
    if (!stated || plan.offload_optimizer != Offload::none) return;
    out.push_back(
        fmt::format("{} needs states outside the device: add offload_optimizer=cpu", field));
  };
  if (!(plan.offload_share > 0 && plan.offload_share <= 1)) {
    out.push_back(
        fmt::format("offload_share {} must be above 0 and at most 1; to keep all states on the "
                    "device write offload_optimizer=none",
                    plan.offload_share));
  }
  needs_states(plan.offload_share != 1, "offload_share");
  needs_states(plan.update_stride > 0, "update_stride");
  needs_states(plan.overlap.host_update, "overlap.host_update");
  if (plan.update_stride > 0 && plan.offload_optimizer == Offload::nvme) {
    out.emplace_back(
        "update_stride fetches states from host memory: use offload_optimizer=cpu, or "
        "update_stride=0 with nvme");
  }
  if (plan.update_stride > 0 && plan.overlap.host_update) {
    out.emplace_back(
        "update_stride and overlap.host_update exclude each other: the device updates with the "
        "memory that activations leave, after the backward; use one of them");
  }
  if (plan.prefetch != Plan{}.prefetch &&
      (plan.zero != 3 || !plan.overlap.parameter_gather || (plan.pp > 1 && plan.chunks > 1))) {
    out.push_back(
        fmt::format("prefetch {} needs weights that are gathered block by block beside "
                    "computing: zero=3 and overlap.parameter_gather, with one chunk a "
                    "device",
                    plan.prefetch));
  }
  return out;
}

}  // namespace

Reasons offload_problems(const JudgedPlan& judged) {
  const auto& [model, cluster, training, plan] = judged;
  const bool states = plan.offload_optimizer != Offload::none;
  const bool weights = plan.offload_parameters != Offload::none;
  const bool activations = plan.offload_activations != Offload::none;
  Reasons out = update_problems(plan);
  if (!states && !weights && !activations) return out;
  if (!passes_of(training.workload).optimizer) {
    return {"offloading needs an optimizer step; workload " +
            std::string(to_text(training.workload)) + " has none"};
  }
  if (weights && plan.zero != 3) {
    out.push_back(
        fmt::format("offload_parameters={} needs zero=3, which keeps shards between uses; "
                    "with zero {} offload_optimizer={} works",
                    to_text(plan.offload_parameters), plan.zero, to_text(plan.offload_parameters)));
  }
  if (weights && !states) {
    out.push_back(
        fmt::format("offload_parameters={} needs the optimizer states outside as well: add "
                    "offload_optimizer={}",
                    to_text(plan.offload_parameters), to_text(plan.offload_parameters)));
  }
  if ((weights || activations) && plan.pp > 1) {
    out.push_back(fmt::format(
        "{} and pp {} are not modelled together; pp=1, or offload_optimizer alone, works",
        weights ? "offload_parameters" : "offload_activations", plan.pp));
  }
  if (states && plan.overlap.optimizer) {
    out.emplace_back(
        "overlap.optimizer and offload_optimizer exclude each other: the host has no copy of the "
        "weights to go back to");
  }
  if (judged.model.tables > 0) {
    out.push_back("offloading of embedding tables is not modelled; " + model.name + " has some");
  }
  if (!cluster.further_sites.empty()) {
    out.emplace_back("offloading is not modelled where sites differ: use sites that are alike");
  }
  if (trains_copies_apart(plan)) {
    out.emplace_back("offloading and local_steps are not modelled together: use one of them");
  }
  const auto schedule = find_schedule(plan.schedule.empty() ? "1f1b" : plan.schedule);
  if (activations && schedule && ((*schedule)->pairs_passes || (*schedule)->splits_backward)) {
    out.push_back(fmt::format(
        "offload_activations needs whole passes, which {} divides or pairs: use schedule=1f1b",
        (*schedule)->name));
  }
  const NodeHost& host = cluster.host;
  const auto unknown = [&](std::string_view what, std::string_view field, std::string_view value) {
    out.push_back(
        fmt::format("offloading needs the {} of a node, which {} does not state: write "
                    "host: {{{}: {}}} in the cluster",
                    what, cluster.name, field, value));
  };
  if (!cluster.accelerator.host_link.bandwidth && !host.links) {
    unknown("links between host and accelerators", "links", "200 GB/s");
  }
  if (states && !host.memory_bandwidth) {
    unknown("host memory bandwidth", "memory_bandwidth", "400 GB/s");
  }
  const bool storage = plan.offload_optimizer == Offload::nvme ||
                       plan.offload_parameters == Offload::nvme ||
                       plan.offload_activations == Offload::nvme;
  if (storage && (!host.local_storage || !host.storage_read || !host.storage_write)) {
    out.push_back(fmt::format(
        "nvme needs storage in the nodes, of which {} states no {}: write host: {{local_storage: "
        "30 TB, storage_read: 50 GB/s, storage_write: 25 GB/s}} in the cluster, or use cpu",
        cluster.name, host.local_storage ? "rates" : "size"));
  }
  if (!out.empty()) return out;
  // 16-bit weights and gradients stay beside the states that the processor works on.
  const Bytes narrow = tensor_element_size(training.precision);
  // Adapters are of products that experts do not divide.
  const double trained_experts =
      trained_parameters(model) < parameters(model) ? 0 : expert_parameters(model);
  const auto held = [&](Offload where) {
    Bytes of_trained;
    if (plan.offload_optimizer == where) of_trained += optimizer_state(training);
    const bool in_place = plan.gradients_in_place && plan.offload_parameters == Offload::cpu;
    if (where == Offload::cpu && states && !in_place) {
      of_trained += element_size(training.gradients);
    }
    Bytes sum = plan.offload_share * of_trained *
                held_by_node(judged, trained_parameters(model), trained_experts);
    if (plan.offload_parameters == where) {
      sum += narrow * held_by_node(judged, parameters(model), expert_parameters(model));
    }
    return sum;
  };
  const Bytes in_memory = held(Offload::cpu);
  if (host.memory && in_memory > *host.memory) {
    const char* rather = plan.offload_optimizer == Offload::cpu
                             ? "offload_optimizer=nvme if the nodes have storage, or "
                         : plan.offload_parameters == Offload::cpu ? "offload_parameters=nvme or "
                         : plan.zero == 0                          ? "zero=3 or "
                                                                   : "";
    out.push_back(fmt::format(
        "a node's {} of host memory does not hold the {} of its ranks; use {}more nodes",
        to_text(*host.memory), to_text(in_memory), rather));
  }
  const Bytes on_storage = held(Offload::nvme);
  if (storage && on_storage > *host.local_storage) {
    out.push_back(
        fmt::format("a node's {} of storage does not hold the {} of its ranks; use more nodes",
                    to_text(*host.local_storage), to_text(on_storage)));
  }
  return out;
}

Reasons gradient_place_problems(const JudgedPlan& judged) {
  const auto& [model, cluster, training, plan] = judged;
  Reasons out;
  if (!plan.gradients_in_place) return out;
  if (!passes_of(training.workload).optimizer) {
    return {"gradients_in_place needs an optimizer step; workload " +
            std::string(to_text(training.workload)) + " has none"};
  }
  const Bytes weight = tensor_element_size(training.precision);
  if (weight != Bytes(2)) {
    out.push_back(
        fmt::format("gradients_in_place needs 16-bit weights; with precision {} the weights are "
                    "their own master: leave it out",
                    to_text(training.precision)));
  } else if (element_size(training.gradients) != weight) {
    const bool narrow = element_size(training.precision) == weight;
    out.push_back(fmt::format(
        "gradients_in_place needs gradients as wide as the weights whose place they "
        "take; they are {}: write gradients: {} in training",
        to_text(training.gradients), to_text(narrow ? training.precision : NumberFormat::bf16)));
  }
  const std::int64_t replicas = std::max<std::int64_t>(1, plan.dp) * plan.micro_batch;
  if (!plan.site_micro_batch.empty()) {
    out.emplace_back(
        "gradients_in_place and site_micro_batch are not modelled together: write micro_batch");
  } else if (training.global_batch > replicas) {
    out.push_back(fmt::format(
        "gradients_in_place leaves no weights for a second microbatch, and a replica "
        "has {}: write micro_batch={}, or use more replicas",
        training.global_batch / replicas, training.global_batch / (replicas / plan.micro_batch)));
  }
  if (plan.secondary_shard > 0) {
    out.emplace_back(
        "gradients_in_place and secondary_shard exclude each other: the second copy of the weights "
        "would stay; use one of them");
  }
  if (plan.gradient_shard > 0 || plan.weight_shard > 0) {
    out.emplace_back(
        "gradients_in_place needs gradients that are shared as their weights are: leave out "
        "gradient_shard and weight_shard");
  }
  return out;
}

Reasons compression_problems(const JudgedPlan& judged) {
  const auto& [model, cluster, training, plan] = judged;
  Reasons out;
  const auto sharded = [&](bool stated, std::string_view field) {
    if (!stated || (plan.zero == 3 && plan.pp == 1)) return;
    out.push_back(fmt::format("{} needs zero=3 without a pipeline; this is zero {}, pp {}", field,
                              plan.zero, plan.pp));
  };
  sharded(plan.quantized_weights, "quantized_weights");
  sharded(plan.quantized_gradients, "quantized_gradients");
  sharded(plan.secondary_shard > 0, "secondary_shard");
  const std::int64_t shard = state_shard(plan);
  if (plan.secondary_shard > 0 &&
      (shard % plan.secondary_shard != 0 || !nests(plan, Axes::replicas, plan.secondary_shard))) {
    out.push_back(
        fmt::format("secondary_shard {} does not divide the {} ranks that share the "
                    "weights; a node's {} usually do",
                    plan.secondary_shard, shard, cluster.accelerators_per_node));
  }
  if (plan.gradient_code != GradientCode::none && (plan.zero == 3 || plan.quantized_gradients)) {
    out.push_back(
        fmt::format("gradient_code={} needs zero 0, 1 or 2 and excludes quantized_gradients; with "
                    "zero=3 use quantized_gradients=on alone",
                    to_text(plan.gradient_code)));
  }
  if (plan.gradient_code != GradientCode::none && !plan.overlap.gradient_reduction &&
      plan.zero < 2) {
    out.push_back(fmt::format("gradient_code={} needs overlap.gradient_reduction",
                              to_text(plan.gradient_code)));
  }
  const NumberFormat sent = plan.dispatch_format;
  if (sent != NumberFormat::bf16) {
    if (sent != NumberFormat::fp8) {
      out.push_back(fmt::format("dispatch_format {} is none that kernels send; bf16 and fp8 are",
                                to_text(sent)));
    } else if (model.experts == 0) {
      out.push_back("dispatch_format=fp8 needs experts; " + model.name + " has none");
    } else if (element_size(training.precision) > Bytes(1.1)) {
      out.push_back(
          fmt::format("dispatch_format=fp8 needs products of 8 bits, whose operands are "
                      "sent; with precision {} tokens travel in 16",
                      to_text(training.precision)));
    }
  }
  switch (training.moments) {
    case NumberFormat::fp32:
    case NumberFormat::bf16:
    case NumberFormat::fp16:
    case NumberFormat::fp8:
      break;
    default:
      out.push_back(
          fmt::format("moments {} are none that an optimizer keeps; fp32, bf16, fp16 and "
                      "fp8 are",
                      to_text(training.moments)));
  }
  return out;
}

Reasons shard_problems(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  Reasons out;
  const auto check = [&](std::string_view field, std::int64_t ranks, std::int64_t least_zero) {
    if (ranks == 0) return;
    const std::int64_t states = state_shard(plan);
    if (plan.zero < least_zero) {
      out.push_back(fmt::format("{} {} needs zero={}{}; this is zero {}", field, ranks, least_zero,
                                least_zero < 3 ? " or 3" : "", plan.zero));
    } else if (states % ranks != 0 || !nests(plan, Axes::replicas, ranks)) {
      out.push_back(
          fmt::format("{} {} does not divide the {} ranks that share the optimizer's "
                      "states; a node's {} usually do",
                      field, ranks, states, judged.cluster.accelerators_per_node));
    }
  };
  check("gradient_shard", plan.gradient_shard, 2);
  check("weight_shard", plan.weight_shard, 3);
  if (plan.gradient_shard == 0 && plan.weight_shard == 0) return out;
  if (judged.model.experts > 0 || judged.model.tables > 0) {
    out.push_back("weight_shard and gradient_shard are modelled for dense models only; " +
                  judged.model.name + " has experts or tables; use shard_group");
  }
  if (trains_copies_apart(plan) || plan.quantized_weights || plan.quantized_gradients ||
      plan.gradient_code != GradientCode::none || plan.secondary_shard > 0 ||
      plan.offload_optimizer != Offload::none || plan.offload_parameters != Offload::none) {
    out.emplace_back(
        "weight_shard and gradient_shard exclude local_steps, averaging with neighbours, quantized "
        "exchanges, gradient_code, secondary_shard and offloading: no system combines them; use "
        "shard_group");
  }
  return out;
}

Reasons local_step_problems(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  Reasons out;
  if (plan.overlap.outer && !trains_copies_apart(plan)) {
    out.emplace_back("overlap.outer needs local_steps above 1: there is nothing to average");
  }
  const QuadraticRule& rule = plan.quadratic;
  const QuadraticRule none;
  if (rule != none && !(rule.steps > 0 && rule.alpha > 0 && rule.learning_rate > 0)) {
    out.push_back(fmt::format(
        "quadratic needs alpha, learning_rate and steps above 0; they are {}, {} and {}",
        rule.alpha, rule.learning_rate, rule.steps));
  }
  if (!trains_copies_apart(plan)) return out;
  if (plan.shard_group == 0 || plan.shard_group >= plan.dp * plan.cp) {
    out.push_back(fmt::format(
        "{} needs several copies of the model: state shard_group, the ranks of one, as "
        "a part of the {} replicas (dp x cp)",
        averages_with_neighbours(plan) ? fmt::format("averaging={}", to_text(plan.averaging))
        : rule.steps > 0               ? std::string("quadratic")
                                       : fmt::format("local_steps {}", plan.local_steps),
        plan.dp * plan.cp));
  } else if (plan.ep * std::max<std::int64_t>(1, plan.etp) > plan.tp * plan.shard_group) {
    out.push_back(
        fmt::format("local_steps {}: ep {} reaches beyond the {} ranks of one copy (tp x "
                    "shard_group), which send "
                    "each other tokens in every step",
                    plan.local_steps, plan.ep, plan.tp * plan.shard_group));
  }
  if (plan.overlap.optimizer) {
    out.emplace_back("overlap.optimizer and local_steps exclude each other");
  }
  if (!passes_of(judged.training.workload).optimizer) {
    out.emplace_back("local_steps need an optimizer step");
  }
  return out;
}

}  // namespace orrery
