#include "cluster/host_path.h"

namespace orrery {

const Fields<HostPath>& fields_of(const HostPath*) {
  static const Fields<HostPath> table =
      Fields<HostPath>("path through the host")
          .optional("direct_ranks", &HostPath::direct_ranks,
                    "members that reach each other directly; 0: all do")
          .optional("socket_ranks", &HostPath::socket_ranks, "members on one socket")
          .optional("socket", &HostPath::socket,
                    "of one accelerator through the memory of its socket")
          .optional("node", &HostPath::node, "of one accelerator across sockets");
  return table;
}

Result<std::monostate> check(const HostPath& path) {
  constexpr BytesPerSecond kLeast(1e3);  // as of every bandwidth of a collective
  const bool ranks = path.direct_ranks >= 0 && path.socket_ranks >= path.direct_ranks;
  const bool rates = path.socket >= kLeast && path.node >= kLeast && path.node <= path.socket;
  if (ranks && (path.direct_ranks == 0 || rates)) return std::monostate{};
  return fail(ErrorCode::bad_input,
              "a path through the host needs 0 < direct_ranks <= socket_ranks and socket >= node",
              "host_path", "direct_ranks: 0 where all reach each other directly");
}

}  // namespace orrery
