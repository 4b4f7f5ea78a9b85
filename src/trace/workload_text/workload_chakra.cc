#include "trace/workload_text/workload_chakra.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "trace/chakra/process_groups.h"

namespace orrery {
namespace {

constexpr std::uint64_t kNothing = 0;  // identifiers begin at 1

class Writer {
 public:
  Writer(const TextWorkload& workload, std::int64_t rank) : workload_(workload) {
    if (workload.accelerators > 0) {
      find_groups(rank);
    } else {
      groups_.fill({"1", {}});
    }
  }

  ChakraTrace write() {
    trace_.version = "0.0.4";
    std::uint64_t last = kNothing;
    for (const WorkloadLayer& layer : workload_.layers) {
      last = pass(layer.name + " forward", layer.forward, last);
    }
    for (auto layer = workload_.layers.rbegin(); layer != workload_.layers.rend(); ++layer) {
      last = pass(layer->name + " input gradient", layer->input_gradient, last);
      const std::uint64_t reduced =
          pass(layer->name + " weight gradient", layer->weight_gradient, last);
      if (layer->update_ns > 0) compute(layer->name + " update", layer->update_ns, reduced);
    }
    define_groups(trace_, used_);
    return std::move(trace_);
  }

 private:
  ChakraNode& add(const std::string& name, ChakraNodeType type, std::uint64_t after) {
    ChakraNode& node = trace_.nodes.emplace_back();
    node.id = trace_.nodes.size();
    node.name = name;
    node.type = type;
    if (after != kNothing) node.data_dependencies = {after};
    node.attributes = {chakra_boolean("is_cpu_op", false)};
    return node;
  }

  std::uint64_t compute(const std::string& name, std::int64_t ns, std::uint64_t after) {
    ChakraNode& node = add(name, ChakraNodeType::compute, after);
    node.duration_micros =
        static_cast<std::uint64_t>((ns + kNsPerMicrosecond / 2) / kNsPerMicrosecond);
    return node.id;
  }

  // What others wait for.
  std::uint64_t pass(const std::string& name, const WorkloadPart& part, std::uint64_t after) {
    if (part.time_ns > 0) after = compute(name, part.time_ns, after);
    if (!part.collective) return after;
    const NamedGroup& group = groups_[static_cast<std::size_t>(part.group)];
    if (!is_group(group)) return after;
    if (std::ranges::find(used_, group) == used_.end()) used_.push_back(group);
    ChakraNode& node =
        add(name + " " + std::string(to_text(*part.collective)), ChakraNodeType::collective, after);
    node.attributes.push_back(
        chakra_int64("comm_type", static_cast<std::int64_t>(*part.collective)));
    node.attributes.push_back(chakra_int64("comm_size", part.bytes));
    node.attributes.push_back(chakra_text("pg_name", group.name));
    return node.id;
  }

  // The group of each kind that the rank is in, numbered kind by kind (chakra/communicators.h).
  void find_groups(std::int64_t rank) {
    const std::int64_t tensor = std::max(workload_.tensor, std::int64_t{1});
    const std::int64_t pipeline = std::max(workload_.pipeline, std::int64_t{1});
    const std::int64_t data =
        std::max(workload_.accelerators / (tensor * pipeline), std::int64_t{1});
    const std::int64_t expert =
        std::clamp(std::max(workload_.expert, std::int64_t{1}), std::int64_t{1}, data);
    const auto parts = [](std::int64_t n, std::int64_t of) { return (n + of - 1) / of; };
    const std::int64_t stages = parts(workload_.accelerators, tensor * data);
    const std::int64_t stage = rank / (tensor * data);
    const std::int64_t first = stage * tensor * data;
    const std::int64_t t = rank % tensor;
    const std::int64_t d = rank % (tensor * data) / tensor;
    std::int64_t numbered = 0;
    // The group `index` of as many as there are of its kind in a stage.
    const auto group = [&](WorkloadGroup kind, std::int64_t index, std::int64_t in_a_stage,
                           std::int64_t begin, std::int64_t step, std::int64_t size) {
      NamedGroup& out = groups_[static_cast<std::size_t>(kind)];
      out.name = std::to_string(1 + numbered + stage * in_a_stage + index);
      for (std::int64_t i = 0; i < size; ++i) out.ranks.push_back(begin + i * step);
      numbered += stages * in_a_stage;
    };
    group(WorkloadGroup::tensor, d, data, first + d * tensor, 1, tensor);
    group(WorkloadGroup::data, t, tensor, first + t, tensor, data);
    const std::int64_t shares = parts(data, expert);
    group(WorkloadGroup::expert, t * shares + d / expert, tensor * shares,
          first + t + d / expert * expert * tensor, tensor, expert);
    group(WorkloadGroup::expert_data, t * expert + d % expert, tensor * expert,
          first + t + d % expert * tensor, tensor * expert, data / expert);
    groups_[static_cast<std::size_t>(WorkloadGroup::all)].name = std::to_string(1 + numbered);
  }

  // Not of one rank, which has nobody to communicate with; without ranks it is all of the job.
  [[nodiscard]] bool is_group(const NamedGroup& group) const {
    return group.ranks.empty() ? workload_.accelerators != 1 : group.ranks.size() > 1;
  }

  const TextWorkload& workload_;
  std::array<NamedGroup, 5>
      groups_;  // by WorkloadGroup; all the same if nobody says how many ranks
  std::vector<NamedGroup> used_;
  ChakraTrace trace_;
};

}  // namespace

ChakraTrace chakra_from(const TextWorkload& workload, std::int64_t rank) {
  return Writer(workload, rank).write();
}

}  // namespace orrery
