// The network of a node from the words a source uses for it.
//
//   "8x 200 Gb/s HDR InfiniBand per node"   8 cards of 200 Gb/s, fabric infiniband-hdr
//   "1600 Gbps RoCE per node"               1600 Gb/s in all, RoCE
//   "RDMA 400 Gb/s per GPU"                 400 Gb/s for each accelerator
//   "4 Omni-Path (OPA) links per node"      4 links of the fabric's own rate
//   "Storage: 2x ... 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s"   the compute part counts
//   "1x Ethernet 100Gb/Sec, 8x ... InfiniBand (400Gb/s)"    of parts without labels the fastest
//
// Holds for the texts of validation/measured; a text that states no rate ("Ethernet") gives none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "units/quantity.h"

namespace orrery {

struct NetworkLink {
  BytesPerSecond node;         // one direction, all cards of a node; zero if given per accelerator
  BytesPerSecond accelerator;  // one direction, one accelerator; zero if given per node
  BytesPerSecond card;         // one card; zero if the text gives only a sum
  std::string fabric;          // catalog name; empty if the text names no technology

  [[nodiscard]] BytesPerSecond per_accelerator(double accelerators_per_node) const {
    return accelerator.value() > 0 ? accelerator : node / accelerators_per_node;
  }
  bool operator==(const NetworkLink&) const = default;
};

std::optional<NetworkLink> network_link(std::string_view text);

// The text means that there is no network: "single node", "single server".
bool is_single_node(std::string_view text);

}  // namespace orrery
