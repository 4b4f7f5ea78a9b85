#include "lower/price.h"

#include <algorithm>

namespace orrery {
namespace {

class ActivityPrice {
 public:
  ActivityPrice(std::span<const Group> groups, const CostContext& context)
      : groups_(groups), context_(context) {}

  Seconds operator()(const Kernel& kernel) const { return price(kernel, context_); }
  Seconds operator()(const Communication& c) const {
    return price(c, groups_[c.group.value()].shape, context_);
  }
  Seconds operator()(const Message& message) const {
    return point_to_point(message.bytes, context_.pairwise[message.level], context_.collectives,
                          message.crossing);
  }
  Seconds operator()(const HostCopy& copy) const {
    const auto rate = host_rate(context_.cluster, copy.over);
    return rate ? copy.bytes / *rate : Seconds(0);
  }
  Seconds operator()(const StatedTime& stated) const { return stated.time; }

 private:
  std::span<const Group> groups_;
  const CostContext& context_;
};

}  // namespace

Kernel product(const GemmShape& shape, NumberFormat format) {
  return Kernel{.shape = shape,
                .format = format,
                .flops = Flops(2 * shape.m * shape.n * shape.k * shape.groups)};
}

Kernel attention(const AttentionShape& shape, AttentionKernel kernel, Direction direction,
                 NumberFormat format) {
  return Kernel{.shape = shape,
                .format = format,
                .attention = kernel,
                .direction = direction,
                .flops = KernelModel::attention_flops(shape, direction, kernel)};
}

std::optional<BytesPerSecond> host_rate(const Cluster& cluster, HostResource resource) {
  const NodeHost& host = cluster.host;
  const auto sharing =
      static_cast<double>(std::min(cluster.accelerators, cluster.accelerators_per_node));
  const auto part = [&](const std::optional<BytesPerSecond>& whole) {
    return whole ? std::optional(*whole / sharing) : std::nullopt;
  };
  switch (resource) {
    case HostResource::memory:
      return part(host.memory_bandwidth);
    case HostResource::storage_read:
      return part(host.storage_read);
    case HostResource::storage_write:
      return part(host.storage_write);
    case HostResource::link:
      break;
  }
  const auto& own = cluster.accelerator.host_link.bandwidth;
  const auto together = part(host.links);
  return own && together ? std::min(own, together) : own ? own : together;
}

Seconds price(const Kernel& kernel, const CostContext& context) {
  const KernelModel& model = context.kernels;
  const auto known = [&](Seconds predicted) {
    return context.kernel_times == nullptr
               ? predicted
               : context.kernel_times->time(kernel, predicted, context.cluster.accelerator.name);
  };
  if (const auto* shape = std::get_if<GemmShape>(&kernel.shape)) {
    const Seconds time = known(model.gemm(*shape, kernel.format)) / kernel.pieces;
    return kernel.bytes > Bytes(0) ? time + kernel.bytes / model.parameters().memory_bandwidth
                                   : time;
  }
  if (const auto* shape = std::get_if<AttentionShape>(&kernel.shape)) {
    return known(model.attention(*shape, kernel.attention, kernel.direction, kernel.format)) /
           kernel.pieces;
  }
  return known(model.memory_bound(kernel.bytes / kernel.launches)) * kernel.launches;
}

Seconds price(const Communication& c, const GroupShape& group, const CostContext& context) {
  const auto* tokens = std::get_if<TokenExchange>(&c.tokens);
  const Seconds whole = tokens != nullptr ? context.exchange(*tokens, group)
                                          : context.communicate(c.collective, c.payload, group);
  return whole / c.pieces * c.times * c.exposed;
}

Seconds price(const Activity& activity, std::span<const Group> groups, const CostContext& context) {
  return std::visit(ActivityPrice(groups, context), activity);
}

Picoseconds price(const OperationParts& parts, std::span<const Group> groups,
                  const CostContext& context) {
  return sum_of_parts(parts, context,
                      [&](const Activity& what) { return price(what, groups, context); });
}

std::vector<double> priced_durations(const Graph& graph, const CostContext& context) {
  std::vector<double> of_operation;
  of_operation.reserve(graph.operations().size());
  for (const Operation& operation : graph.operations()) {
    of_operation.push_back(price(operation.parts, graph.groups(), context).count());
  }
  std::vector<double> durations(graph.durations().begin(), graph.durations().end());
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const std::uint32_t operation = graph.operation_index(NodeIndex(i)).value();
    if (!graph.operations()[operation].parts.empty()) durations[i] = of_operation[operation];
  }
  return durations;
}

}  // namespace orrery
