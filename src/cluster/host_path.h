// How accelerators on PCIe reach each other where no switch joins them all: through the memory of
// the host, whose bandwidth they share. A fact of the server: of one server it is fitted
// (catalog/collectives), of another a cluster file may state it (docs/clusters.md). Which path a
// group takes follows from how many it has, taken as neighbours: a group of every fourth card is
// priced as if it stood on one socket.
#pragma once

#include "document/fields.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

// Rates are those of one accelerator, in one direction, while all use the path.
struct HostPath {
  int direct_ranks = 0;   // members that still reach each other directly; 0: all do
  int socket_ranks = 0;   // members on one socket
  BytesPerSecond socket;  // through the memory of one socket
  BytesPerSecond node;    // across sockets
  bool operator==(const HostPath&) const = default;
};
const Fields<HostPath>& fields_of(const HostPath*);

// Error: ranks or rates that no server has, with what would be right.
Result<std::monostate> check(const HostPath& path);

}  // namespace orrery
