#include "cluster/node.h"

namespace orrery {

const Fields<NodeScaleUp>& fields_of(const NodeScaleUp*) {
  static const Fields<NodeScaleUp> table =
      Fields<NodeScaleUp>("scale-up domain")
          .optional<&NodeScaleUp::domain>("accelerators that share it")
          .optional<&NodeScaleUp::topology>("nvswitch, full-mesh, 3d-torus, pcie, ...")
          .optional<&NodeScaleUp::switches>("in the domain")
          .optional<&NodeScaleUp::bandwidth>("per accelerator, one direction");
  return table;
}

const Fields<NodeScaleOut>& fields_of(const NodeScaleOut*) {
  static const Fields<NodeScaleOut> table =
      Fields<NodeScaleOut>("network cards")
          .optional<&NodeScaleOut::fabric>("name in the catalog's fabrics")
          .optional<&NodeScaleOut::nics>("per node")
          .optional<&NodeScaleOut::nic_rate>("line rate of one card")
          .optional<&NodeScaleOut::bandwidth>("per accelerator, one direction");
  return table;
}

const Fields<NodeHost>& fields_of(const NodeHost*) {
  static const Fields<NodeHost> table = Fields<NodeHost>("host")
                                            .optional<&NodeHost::cpus>("sockets")
                                            .optional<&NodeHost::memory>("per node")
                                            .optional<&NodeHost::memory_bandwidth>("per node")
                                            .optional<&NodeHost::local_storage>("per node");
  return table;
}

const Fields<Node>& fields_of(const Node*) {
  static const Fields<Node> table =
      Fields<Node>("node")
          .required<&Node::name>("identifier")
          .optional<&Node::year>("of announcement")
          .optional<&Node::accelerator>("name in the catalog's accelerators; any if absent")
          .required<&Node::accelerators>("per node")
          .optional<&Node::scale_up>("the domain its accelerators belong to")
          .optional<&Node::scale_out>("its network cards")
          .optional<&Node::host>("what is around the accelerators")
          .optional<&Node::power>("design limit")
          .required<&Node::provenance>("where the figures come from");
  return table;
}

Result<Node> load_node(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("nodes", name));
  ORRERY_TRY(Node node, read<Node>(document));
  if (node.accelerators < 1 || node.scale_up.domain < 1) {
    return bad_input("node '" + node.name + "' has no accelerators", document.name);
  }
  const auto negative = [](const std::optional<BytesPerSecond>& b) { return b && b->value() < 0; };
  if (negative(node.scale_up.bandwidth) || negative(node.scale_out.bandwidth)) {
    return bad_input("node '" + node.name + "' has a negative bandwidth", document.name);
  }
  return node;
}

}  // namespace orrery
