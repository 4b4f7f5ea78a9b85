// How accelerators on PCIe reach each other if no switch joins them all: through the memory of the
// host, whose bandwidth they share. The figures belong to a server: those of one server are fitted
// (catalog/collectives), those of another may be stated in a cluster file (docs/clusters.md). The
// path of a group depends on its number of ranks, which are assumed to be neighbours: a group of
// every fourth card is priced as if it were on one socket.
#pragma once

#include "document/fields.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

// Rates are per accelerator, in one direction, while all accelerators use the path.
struct HostPath {
  int direct_ranks = 0;   // largest group that communicates directly; 0: every group does
  int socket_ranks = 0;   // members on one socket
  BytesPerSecond socket;  // through the memory of one socket
  BytesPerSecond node;    // across sockets
  bool operator==(const HostPath&) const = default;
};
Fields<HostPath> fields_of(const HostPath*);

// Error: ranks or rates that are impossible, with the values that are allowed.
Result<void> check(const HostPath& path);

}  // namespace orrery
