#include "cluster/host_path.h"

namespace orrery {

Fields<HostPath> fields_of(const HostPath*) {
  return Fields<HostPath>("path through the host")
      .optional<&HostPath::direct_ranks>("members that reach each other directly; 0: all do")
      .optional<&HostPath::socket_ranks>("members on one socket")
      .optional<&HostPath::socket>("of one accelerator through the memory of its socket")
      .optional<&HostPath::node>("of one accelerator across sockets");
}

Result<void> check(const HostPath& path) {
  constexpr BytesPerSecond kLeast(1e3);  // as of every bandwidth of a collective
  const auto wrong = [](const char* message, const char* expected) {
    return bad_input(message, "host_path", expected);
  };
  if (path.direct_ranks < 0 || path.socket_ranks < path.direct_ranks) {
    return wrong("a path through the host needs 0 < direct_ranks <= socket_ranks",
                 "direct_ranks: 0 where all reach each other directly");
  }
  if (path.direct_ranks == 0) return {};
  if (path.socket < kLeast || path.node < kLeast) {
    return wrong("a path through the host needs its rates", "socket: 6.57 GB/s, node: 1.65 GB/s");
  }
  if (path.node > path.socket) {
    return wrong("across sockets no path is faster than on one", "node at most socket");
  }
  return {};
}

}  // namespace orrery
