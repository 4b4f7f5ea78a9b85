// One server or compute tray: accelerators, the scale-up domain they belong to (which may span
// several nodes, as in an NVL72 rack or a TPU pod), network cards, host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "document/fields.h"
#include "document/provenance.h"
#include "units/quantity.h"

namespace orrery {

struct NodeScaleUp {
  std::int64_t domain = 1;  // accelerators that share it; 1: none, they are joined by PCIe only
  std::string topology;     // "nvswitch", "nvswitch-rack", "full-mesh", "3d-torus", "pcie", ...
  std::optional<std::int64_t> switches;
  std::optional<BytesPerSecond> bandwidth;  // per accelerator, one direction
  bool operator==(const NodeScaleUp&) const = default;
};
Fields<NodeScaleUp> fields_of(const NodeScaleUp*);

struct NodeScaleOut {
  std::string fabric;                       // of the cards; empty: unknown
  std::optional<std::int64_t> nics;         // per node
  std::optional<BytesPerSecond> nic_rate;   // line rate of one card
  std::optional<BytesPerSecond> bandwidth;  // per accelerator, one direction
  bool operator==(const NodeScaleOut&) const = default;
};
Fields<NodeScaleOut> fields_of(const NodeScaleOut*);

struct NodeHost {
  std::optional<std::int64_t> cpus;  // sockets
  std::optional<Bytes> memory;
  std::optional<BytesPerSecond> memory_bandwidth;
  std::optional<Bytes> local_storage;
  std::optional<BytesPerSecond> storage_read, storage_write;  // of all of it together
  std::optional<BytesPerSecond>
      links;  // one direction, all accelerators at once; absent: each its own
  bool operator==(const NodeHost&) const = default;
};
Fields<NodeHost> fields_of(const NodeHost*);
// The second where it states anything, else the first.
NodeHost stated_over(const NodeHost& host, const NodeHost& stated);
// Error: a figure that is not above 0.
Result<void> check(const NodeHost& host);

struct Node {
  std::string name;
  std::optional<std::int64_t> year;
  std::string accelerator;  // catalog name; empty: any
  std::int64_t accelerators = 0;
  NodeScaleUp scale_up;
  NodeScaleOut scale_out;
  NodeHost host;
  std::optional<Watts> power;
  Provenance provenance;
  bool operator==(const Node&) const = default;
};
Fields<Node> fields_of(const Node*);

// Errors: no accelerators; negative figures.
Result<void> check(const Node& node);
// From the catalog. Errors: unknown name; an entry that breaks check().
Result<Node> load_node(const Catalog& catalog, std::string_view name);

}  // namespace orrery
