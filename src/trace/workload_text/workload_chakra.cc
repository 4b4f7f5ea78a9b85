#include "trace/workload_text/workload_chakra.h"

#include <algorithm>
#include <array>
#include <string>

namespace orrery {
namespace {

constexpr std::uint64_t kNothing = 0;  // identifiers begin at 1

// "1" to "4": ASTRA-sim's groups have numbers for names; 0 is all ranks.
std::string group_name(WorkloadGroup group) {
  return group == WorkloadGroup::all ? "" : std::to_string(static_cast<int>(group));
}

class Writer {
 public:
  Writer(const TextWorkload& workload, std::int64_t rank) : workload_(workload), rank_(rank) {}

  ChakraTrace write() {
    trace_.version = "0.0.4";
    if (workload_.accelerators > 0) groups();
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
    ChakraNode& node =
        add(name + " " + std::string(to_text(*part.collective)), ChakraNodeType::collective, after);
    node.attributes.push_back(
        chakra_int64("comm_type", static_cast<std::int64_t>(*part.collective)));
    node.attributes.push_back(chakra_int64("comm_size", part.bytes));
    if (part.group != WorkloadGroup::all && workload_.accelerators > 0) {
      node.attributes.push_back(chakra_text("pg_name", group_name(part.group)));
    }
    return node.id;
  }

  // The groups this rank belongs to, one of each kind.
  void groups() {
    const std::int64_t tensor = std::max(workload_.tensor, std::int64_t{1});
    const std::int64_t stages = std::max(workload_.pipeline, std::int64_t{1});
    const std::int64_t data = std::max(workload_.accelerators / (tensor * stages), std::int64_t{1});
    const std::int64_t expert =
        std::clamp(std::max(workload_.expert, std::int64_t{1}), std::int64_t{1}, data);
    const std::int64_t stage = rank_ / (tensor * data);
    const std::int64_t first = stage * tensor * data;
    const std::int64_t t = rank_ % tensor;
    const std::int64_t d = rank_ % (tensor * data) / tensor;
    std::string text = "['[";
    const auto group = [&](WorkloadGroup kind, std::int64_t begin, std::int64_t step,
                           std::int64_t count) {
      if (text.size() > 3) text += ", ";
      text += R"({"pg_name": ")" + group_name(kind) + R"(", "ranks": [)";
      for (std::int64_t i = 0; i < count; ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(begin + i * step);
      }
      text += R"(], "group_size": )" + std::to_string(count) + "}";
    };
    group(WorkloadGroup::tensor, first + d * tensor, 1, tensor);
    group(WorkloadGroup::data, first + t, tensor, data);
    group(WorkloadGroup::expert, first + t + d / expert * expert * tensor, tensor, expert);
    group(WorkloadGroup::expert_data, first + t + d % expert * tensor, tensor * expert,
          data / expert);
    text += "]']";
    ChakraNode& node = add("## process_group:init ##", ChakraNodeType::metadata, kNothing);
    node.inputs = ChakraValues{std::move(text), "[[]]", "['String']"};
    node.outputs = ChakraValues{"[]", "[]", "[]"};
    node.attributes = {chakra_boolean("is_cpu_op", true)};
  }

  const TextWorkload& workload_;
  std::int64_t rank_;
  ChakraTrace trace_;
};

}  // namespace

ChakraTrace chakra_from(const TextWorkload& workload, std::int64_t rank) {
  return Writer(workload, rank).write();
}

}  // namespace orrery
