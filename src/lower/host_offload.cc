#include "lower/host_offload.h"

#include "lower/price.h"
#include "lower/step_category.h"
#include "lower/step_stream.h"

namespace orrery {

double owned(const StepCosts& step, const RankParameters& parameters) {
  return step.plan.zero == 0
             ? parameters.all()
             : step.state_share * parameters.sharded(step.layout->dense_shard.size,
                                                     step.layout->expert_shard.size);
}

double updated_on_device(const Plan& plan) {
  const double fetched =
      plan.update_stride > 0 ? plan.offload_share / static_cast<double>(plan.update_stride) : 0;
  return 1 - plan.offload_share + fetched;
}

HostCopy host_update(const StepCosts& step, const RankParameters& trained) {
  return {Bytes((1 - updated_on_device(step.plan)) * owned(step, trained) * step.optimizer_bytes),
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
              {Bytes(step_.plan.offload_share * step_.gradient_bytes * owned(step_, trained)),
               HostResource::link},
              after, instance);
}

void HostOffload::send_activations(std::uint32_t device, const BlockCost& block, NodeIndex after,
                                   std::uint32_t instance) {
  if (block.memory.saved <= Bytes(0)) return;
  const NodeIndex sent =
      copy(device, StepStream::offload, Category::host, "send activations to the host",
           {block.memory.saved, HostResource::link}, after, instance);
  if (step_.plan.offload_activations != Offload::nvme) return;
  copy(device, StepStream::storage, Category::host, "write activations to storage",
       {block.memory.saved, HostResource::storage_write}, sent, instance);
}

std::optional<NodeIndex> HostOffload::fetch_activations(std::uint32_t device,
                                                        const BlockCost& block,
                                                        std::optional<NodeIndex> after,
                                                        std::uint32_t instance) {
  if (block.memory.saved <= Bytes(0)) return std::nullopt;
  if (step_.plan.offload_activations == Offload::nvme) {
    after = copy(device, StepStream::storage, Category::host, "read activations from storage",
                 {block.memory.saved, HostResource::storage_read}, after, instance);
  }
  return copy(device, StepStream::reload, Category::host, "fetch activations from the host",
              {block.memory.saved, HostResource::link}, after, instance);
}

void HostOffload::update(std::uint32_t device, const RankParameters& trained, NodeIndex after,
                         std::uint32_t instance) {
  const Plan& plan = step_.plan;
  const double all = owned(step_, trained);
  const double outside = all * plan.offload_share;
  const double fetched =
      plan.update_stride > 0 ? outside / static_cast<double>(plan.update_stride) : 0;
  const double on_device = all - outside + fetched;
  std::vector<NodeIndex>& done = updates_[device];
  const auto add = [&](StepStream stream, std::string_view name, HostCopy what, NodeIndex behind) {
    done.push_back(copy(device, stream, Category::host, name, what, behind, instance));
  };
  add(StepStream::host, "update on the host", host_update(step_, trained), after);
  const Bytes weight = tensor_element_size(step_.cache->training().precision);
  const Bytes state = optimizer_state(step_.cache->training());
  if (fetched > 0) {
    add(StepStream::reload, "fetch optimizer states", {state * fetched, HostResource::link}, after);
    add(StepStream::offload, "send optimizer states", {state * fetched, HostResource::link}, after);
  }
  if (on_device > 0) {
    const OperationParts parts = {{.what = memory_bound(Bytes(on_device * step_.optimizer_bytes))}};
    const Operation operation{.kind = NodeKind::kernel,
                              .category = index(Category::optimizer),
                              .name = builder_.intern("optimizer"),
                              .parts = parts};
    done.push_back(builder_.add({builder_.intern(operation), stream(device, StepStream::compute),
                                 step_.at(static_cast<int>(device)).price(parts), instance},
                                {after}));
  }
  if (plan.offload_parameters == Offload::none) {
    add(StepStream::reload, "return weights", {weight * (outside - fetched), HostResource::link},
        after);
  }
  if (plan.offload_optimizer == Offload::nvme) {
    add(StepStream::storage, "read optimizer states", {state * outside, HostResource::storage_read},
        after);
    add(StepStream::storage, "write optimizer states",
        {state * outside, HostResource::storage_write}, done.back());
  }
  if (plan.offload_parameters == Offload::nvme) {
    add(StepStream::storage, "write weights", {weight * all, HostResource::storage_write}, after);
  }
}

NodeIndex HostOffload::updated(std::uint32_t device, std::uint32_t instance) {
  const OperationIndex end = builder_.intern(Operation{.kind = NodeKind::barrier,
                                                       .category = index(Category::bubble),
                                                       .name = builder_.intern("end of step")});
  return builder_.add({end, stream(device, StepStream::compute), Picoseconds(0), instance},
                      std::span<const NodeIndex>(updates_[device]));
}

}  // namespace orrery
