#include "cluster/node.h"

#include "catalog/entry.h"

namespace orrery {

Fields<NodeScaleUp> fields_of(const NodeScaleUp*) {
  return Fields<NodeScaleUp>("scale-up domain")
      .optional<&NodeScaleUp::domain>("accelerators that share it")
      .optional<&NodeScaleUp::topology>("nvswitch, full-mesh, 3d-torus, pcie, ...")
      .optional<&NodeScaleUp::switches>("in the domain")
      .optional<&NodeScaleUp::bandwidth>("per accelerator, one direction");
}

Fields<NodeScaleOut> fields_of(const NodeScaleOut*) {
  return Fields<NodeScaleOut>("network cards")
      .optional<&NodeScaleOut::fabric>("name in the catalog's fabrics")
      .optional<&NodeScaleOut::nics>("per node")
      .optional<&NodeScaleOut::nic_rate>("line rate of one card")
      .optional<&NodeScaleOut::bandwidth>("per accelerator, one direction");
}

Fields<NodeHost> fields_of(const NodeHost*) {
  return Fields<NodeHost>("host")
      .optional<&NodeHost::cpus>("sockets")
      .optional<&NodeHost::memory>("per node")
      .optional<&NodeHost::memory_bandwidth>("per node")
      .optional<&NodeHost::local_storage>("per node")
      .optional<&NodeHost::storage_read>("per node")
      .optional<&NodeHost::storage_write>("per node")
      .optional<&NodeHost::links>(
          "to all accelerators of a node at once, one "
          "direction; absent: each link alone");
}

NodeHost stated_over(const NodeHost& host, const NodeHost& stated) {
  const auto either = [](const auto& own, const auto& more) { return more ? more : own; };
  return {.cpus = either(host.cpus, stated.cpus),
          .memory = either(host.memory, stated.memory),
          .memory_bandwidth = either(host.memory_bandwidth, stated.memory_bandwidth),
          .local_storage = either(host.local_storage, stated.local_storage),
          .storage_read = either(host.storage_read, stated.storage_read),
          .storage_write = either(host.storage_write, stated.storage_write),
          .links = either(host.links, stated.links)};
}

Result<void> check(const NodeHost& host) {
  const auto bad = [](const auto& figure) { return figure && !(figure->value() > 0); };
  if (bad(host.memory) || bad(host.local_storage)) {
    return bad_input("a size of the host is not above 0", "host", "bytes, such as 1 TB");
  }
  if (bad(host.memory_bandwidth) || bad(host.storage_read) || bad(host.storage_write) ||
      bad(host.links)) {
    return bad_input("a rate of the host is not above 0", "host", "a rate, such as 200 GB/s");
  }
  return {};
}

Fields<Node> fields_of(const Node*) {
  return Fields<Node>("node")
      .required<&Node::name>("identifier")
      .optional<&Node::year>("of announcement")
      .optional<&Node::accelerator>("name in the catalog's accelerators; any if absent")
      .required<&Node::accelerators>("per node")
      .optional<&Node::scale_up>("the domain its accelerators belong to")
      .optional<&Node::scale_out>("its network cards")
      .optional<&Node::host>("what is around the accelerators")
      .optional<&Node::power>("design limit")
      .required<&Node::provenance>("where the figures come from");
}

Result<void> check(const Node& node) {
  if (node.accelerators < 1 || node.scale_up.domain < 1) {
    return bad_input("node '" + node.name + "' has no accelerators");
  }
  const auto negative = [](const std::optional<BytesPerSecond>& b) { return b && b->value() < 0; };
  if (negative(node.scale_up.bandwidth) || negative(node.scale_out.bandwidth)) {
    return bad_input("node '" + node.name + "' has a negative bandwidth");
  }
  return {};
}

Result<Node> load_node(const Catalog& catalog, std::string_view name) {
  return load_entry<Node>(catalog, "nodes", name);
}

}  // namespace orrery
