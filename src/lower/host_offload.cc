#include "lower/host_offload.h"

#include "lower/step_category.h"
#include "lower/step_stream.h"

namespace orrery {

double owned(const StepCosts& step, const RankParameters& parameters) {
  return step.plan.zero == 0
             ? parameters.all()
             : parameters.sharded(step.layout->dense_shard.size, step.layout->expert_shard.size);
}

HostCopy host_update(const StepCosts& step, int device) {
  return {Bytes(owned(step, step.held(device).trained) * step.optimizer_bytes),
          HostResource::memory};
}

NodeIndex HostOffload::copy(std::uint32_t device, StepStream stream, Category category,
                            std::string_view name, HostCopy what, std::optional<NodeIndex> after,
                            std::uint32_t instance) {
  const Operation operation{
      .kind = what.over == HostResource::memory ? NodeKind::host : NodeKind::copy,
      .category = index(category),
      .name = builder_.intern(name),
      .parts = {{.what = what}}};
  const Picoseconds time = step_.at(static_cast<int>(device)).price(operation.parts);
  const NodeSpec spec{builder_.intern(operation), orrery::stream(device, stream), time, instance};
  return after ? builder_.add(spec, {*after}) : builder_.add(spec);
}

std::optional<NodeIndex> HostOffload::fetch_weights(std::uint32_t device, const BlockCost& block,
                                                    std::optional<NodeIndex> after,
                                                    std::uint32_t instance) {
  if (step_.plan.offload_parameters == Offload::none) return after;
  const Bytes shard = tensor_element_size(step_.cache->training().precision) *
                      owned(step_, block.trained + block.frozen);
  if (step_.plan.offload_parameters == Offload::nvme) {
    after = copy(device, StepStream::storage, Category::host, "read weights from storage",
                 {shard, HostResource::storage_read}, after, instance);
  }
  return copy(device, StepStream::reload, Category::host, "fetch weights from the host",
              {shard, HostResource::link}, after, instance);
}

NodeIndex HostOffload::send_gradients(std::uint32_t device, const RankParameters& trained,
                                      NodeIndex after, std::uint32_t instance) {
  if (step_.plan.offload_optimizer == Offload::none) return after;
  return copy(device, StepStream::offload, Category::host, "send gradients to the host",
              {Bytes(step_.gradient_bytes * owned(step_, trained)), HostResource::link}, after,
              instance);
}

void HostOffload::send_activations(std::uint32_t device, const BlockCost& block, NodeIndex after,
                                   std::uint32_t instance) {
  if (block.memory.saved <= Bytes(0)) return;
  copy(device, StepStream::offload, Category::host, "send activations to the host",
       {block.memory.saved, HostResource::link}, after, instance);
}

std::optional<NodeIndex> HostOffload::fetch_activations(std::uint32_t device,
                                                        const BlockCost& block,
                                                        std::optional<NodeIndex> after,
                                                        std::uint32_t instance) {
  if (block.memory.saved <= Bytes(0)) return std::nullopt;
  return copy(device, StepStream::reload, Category::host, "fetch activations from the host",
              {block.memory.saved, HostResource::link}, after, instance);
}

NodeIndex HostOffload::update(std::uint32_t device, NodeIndex after, std::uint32_t instance) {
  const double parameters = owned(step_, step_.held(static_cast<int>(device)).trained);
  std::vector<NodeIndex> done;
  done.push_back(copy(device, StepStream::host, Category::host, "update on the host",
                      host_update(step_, static_cast<int>(device)), after, instance));
  const Bytes weight = tensor_element_size(step_.cache->training().precision);
  if (step_.plan.offload_parameters == Offload::none) {
    done.push_back(copy(device, StepStream::reload, Category::host, "return weights",
                        {weight * parameters, HostResource::link}, after, instance));
  }
  if (step_.plan.offload_optimizer == Offload::nvme) {
    const Bytes states = optimizer_state(step_.cache->training()) * parameters;
    const NodeIndex read =
        copy(device, StepStream::storage, Category::host, "read optimizer states",
             {states, HostResource::storage_read}, after, instance);
    done.push_back(copy(device, StepStream::storage, Category::host, "write optimizer states",
                        {states, HostResource::storage_write}, read, instance));
  }
  if (step_.plan.offload_parameters == Offload::nvme) {
    done.push_back(copy(device, StepStream::storage, Category::host, "write weights",
                        {weight * parameters, HostResource::storage_write}, after, instance));
  }
  const OperationIndex end = builder_.intern(Operation{.kind = NodeKind::barrier,
                                                       .category = index(Category::bubble),
                                                       .name = builder_.intern("end of step")});
  return builder_.add({end, stream(device, StepStream::compute), Picoseconds(0), instance},
                      std::span<const NodeIndex>(done));
}

}  // namespace orrery
