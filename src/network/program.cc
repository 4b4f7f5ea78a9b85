#include "network/program.h"

#include <algorithm>

#include "network/contributions.h"

namespace orrery {
namespace {

class Execution {
 public:
  explicit Execution(const Program& program)
      : program_(program),
        held_(program.ranks + program.switches,
              std::vector<Contributions>(program.parts, Contributions(program.ranks))) {
    for (std::uint32_t r = 0; r < program_.ranks; ++r) {
      for (std::uint32_t p = 0; p < program_.parts; ++p) {
        if (holds_at_first(r, p)) held_[r][p].add(r);
      }
    }
  }

  Result<void> run() {
    for (std::size_t i = 0; i < program_.rounds.size(); ++i) {
      const Round& round = program_.rounds[i];
      for (std::uint32_t k = 0; k < round.repeats; ++k) {
        ORRERY_RETURN_IF_ERROR(at("round " + std::to_string(i), step(round, k)));
      }
    }
    return {};
  }

  Result<void> judge() const {
    for (std::uint32_t r = 0; r < program_.ranks; ++r) {
      for (std::uint32_t p = 0; p < program_.parts; ++p) {
        if (!wants(r, p)) continue;
        if (held_[r][p] != promised(p)) {
          return bad_input("rank " + std::to_string(r) + " ends without all of part " +
                           std::to_string(p));
        }
      }
    }
    return {};
  }

 private:
  // Of all-gather and reduce-scatter, the rank that begins or ends with a part.
  [[nodiscard]] std::uint32_t owner(std::uint32_t part) const {
    if (!program_.owners.empty()) return program_.owners[part];
    return part / std::max(1U, program_.parts / program_.ranks);
  }
  [[nodiscard]] bool holds_at_first(std::uint32_t rank, std::uint32_t part) const {
    switch (program_.kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce_scatter:
        return true;
      case CollectiveKind::all_gather:
        return owner(part) == rank;
      case CollectiveKind::all_to_all:
        return part / program_.ranks == rank;
      case CollectiveKind::broadcast:
        return rank == program_.root;
    }
    return false;
  }
  [[nodiscard]] bool wants(std::uint32_t rank, std::uint32_t part) const {
    if (program_.kind == CollectiveKind::reduce_scatter) return owner(part) == rank;
    if (program_.kind == CollectiveKind::all_to_all) return part % program_.ranks == rank;
    return true;
  }
  [[nodiscard]] Contributions promised(std::uint32_t part) const {
    Contributions out(program_.ranks);
    switch (program_.kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce_scatter:
        for (std::uint32_t r = 0; r < program_.ranks; ++r) out.add(r);
        break;
      case CollectiveKind::all_gather:
        out.add(owner(part));
        break;
      case CollectiveKind::all_to_all:
        out.add(part / program_.ranks);
        break;
      case CollectiveKind::broadcast:
        out.add(program_.root);
        break;
    }
    return out;
  }

  Result<void> step(const Round& round, std::uint64_t repeat) {
    struct Arrival {
      std::uint32_t to, part;
      Contributions what;
      bool reduces;
    };
    std::vector<Arrival> arrivals;
    for (const Send& send : round.sends) {
      if (send.from >= held_.size() || send.to >= held_.size() || send.from == send.to) {
        return bad_input("a send from " + std::to_string(send.from) + " to " +
                         std::to_string(send.to));
      }
      for (std::uint32_t i = 0; i < send.count; ++i) {
        const auto part = static_cast<std::uint32_t>(
            (send.part + repeat * send.advance + std::uint64_t{i} * send.stride) % program_.parts);
        const Contributions& what = held_[send.from][part];
        if (what.empty()) {
          return bad_input("rank " + std::to_string(send.from) + " has nothing of part " +
                           std::to_string(part) + " to send");
        }
        arrivals.push_back({send.to, part, what, send.reduces});
      }
    }
    for (Arrival& a : arrivals) {
      Contributions& mine = held_[a.to][a.part];
      if (!a.reduces) {
        mine = std::move(a.what);
        continue;
      }
      if (mine.overlaps(a.what)) {
        return bad_input("rank " + std::to_string(a.to) + " adds part " + std::to_string(a.part) +
                         " twice");
      }
      mine.add(a.what);
    }
    return {};
  }

  const Program& program_;
  std::vector<std::vector<Contributions>> held_;  // by rank and part
};

}  // namespace

Result<void> verify(const Program& program) {
  if (program.ranks > kMostVerifiedRanks) {
    return unsupported("programs of more than " + std::to_string(kMostVerifiedRanks) +
                       " ranks are not verified");
  }
  Execution execution(program);
  ORRERY_RETURN_IF_ERROR(execution.run());
  return execution.judge();
}

}  // namespace orrery
