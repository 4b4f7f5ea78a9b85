#include "cluster/node.h"

namespace orrery {

const Fields<NodeScaleUp>& fields_of(const NodeScaleUp*) {
  static const Fields<NodeScaleUp> table =
      Fields<NodeScaleUp>("scale-up domain")
          .optional("domain", &NodeScaleUp::domain, "accelerators that share it")
          .optional("topology", &NodeScaleUp::topology, "nvswitch, full-mesh, 3d-torus, pcie, ...")
          .optional("switches", &NodeScaleUp::switches, "in the domain")
          .optional("bandwidth", &NodeScaleUp::bandwidth, "per accelerator, one direction");
  return table;
}

const Fields<NodeScaleOut>& fields_of(const NodeScaleOut*) {
  static const Fields<NodeScaleOut> table =
      Fields<NodeScaleOut>("network cards")
          .optional("fabric", &NodeScaleOut::fabric, "name in the catalog's fabrics")
          .optional("nics", &NodeScaleOut::nics, "per node")
          .optional("nic_rate", &NodeScaleOut::nic_rate, "line rate of one card")
          .optional("bandwidth", &NodeScaleOut::bandwidth, "per accelerator, one direction");
  return table;
}

const Fields<NodeHost>& fields_of(const NodeHost*) {
  static const Fields<NodeHost> table =
      Fields<NodeHost>("host")
          .optional("cpus", &NodeHost::cpus, "sockets")
          .optional("memory", &NodeHost::memory, "per node")
          .optional("memory_bandwidth", &NodeHost::memory_bandwidth, "per node")
          .optional("local_storage", &NodeHost::local_storage, "per node");
  return table;
}

const Fields<Node>& fields_of(const Node*) {
  static const Fields<Node> table =
      Fields<Node>("node")
          .required("name", &Node::name, "identifier")
          .optional("year", &Node::year, "of announcement")
          .optional("accelerator", &Node::accelerator,
                    "name in the catalog's accelerators; any if absent")
          .required("accelerators", &Node::accelerators, "per node")
          .optional("scale_up", &Node::scale_up, "the domain its accelerators belong to")
          .optional("scale_out", &Node::scale_out, "its network cards")
          .optional("host", &Node::host, "what is around the accelerators")
          .optional("power", &Node::power, "design limit")
          .required("provenance", &Node::provenance, "where the figures come from");
  return table;
}

Result<Node> load_node(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("nodes", name));
  ORRERY_TRY(Node node, read<Node>(document));
  if (node.accelerators < 1 || node.scale_up.domain < 1) {
    return fail(ErrorCode::bad_input, "node '" + node.name + "' has no accelerators",
                document.name);
  }
  const auto negative = [](const std::optional<BytesPerSecond>& b) { return b && b->value() < 0; };
  if (negative(node.scale_up.bandwidth) || negative(node.scale_out.bandwidth)) {
    return fail(ErrorCode::bad_input, "node '" + node.name + "' has a negative bandwidth",
                document.name);
  }
  return node;
}

}  // namespace orrery
