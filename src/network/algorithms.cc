#include "network/algorithms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace orrery {
namespace {

using Kind = CollectiveKind;

bool one_of(Kind kind, std::initializer_list<Kind> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

Program program(Kind kind, const ProgramShape& shape, std::uint32_t parts) {
  Program out;
  out.kind = kind;
  out.ranks = shape.ranks();
  out.parts = parts;
  out.part_share = kind == Kind::all_to_all ? 1.0 / out.ranks : 1.0 / parts;
  out.node_ranks = shape.members.empty() ? 1 : shape.members.front();
  return out;
}

bool gathers(Kind kind) { return one_of(kind, {Kind::all_reduce, Kind::all_gather}); }
bool reduces(Kind kind) { return one_of(kind, {Kind::all_reduce, Kind::reduce_scatter}); }
bool is_reduction_or_gather(Kind kind) { return gathers(kind) || reduces(kind); }

// ---- rings ----

// The ranks in the order of ring `channel`. Each ring enters a node at another rank, so that all
// cards are used, and every second node is passed the other way round, so that a ring leaves a node
// and enters the next one at equal ranks, which are on the same rail.
std::vector<std::uint32_t> ring_order(const ProgramShape& shape, std::uint32_t channel) {
  const std::uint32_t p = shape.ranks();
  const std::uint32_t g = shape.members.size() > 1 ? shape.members.front() : p;
  std::vector<std::uint32_t> out;
  for (std::uint32_t node = 0; node < p / g; ++node) {
    for (std::uint32_t i = 0; i < g; ++i) {
      const std::uint32_t step = node % 2 == 0 ? i : g - 1 - i;
      out.push_back(node * g + (channel + step) % g);
    }
  }
  return out;
}

Program rings(Kind kind, const ProgramShape& shape, bool both_ways) {
  const std::uint32_t p = shape.ranks();
  const std::uint32_t entries = shape.members.size() > 1 ? shape.members.front() : 1;
  const std::uint32_t channels = both_ways ? 2 * entries : entries;
  Program out = program(kind, shape, p * channels);
  out.owners.resize(out.parts);
  std::vector<std::vector<std::uint32_t>> orders;
  for (std::uint32_t c = 0; c < channels; ++c) {
    orders.push_back(ring_order(shape, c / (channels / entries)));
    if (both_ways && c % 2 == 1) std::ranges::reverse(orders.back());
    for (std::uint32_t i = 0; i < p; ++i) out.owners[i * channels + c] = orders[c][i];
  }
  const auto round = [&](bool reducing) {
    Round r{.repeats = p - 1};
    for (std::uint32_t c = 0; c < channels; ++c) {
      for (std::uint32_t i = 0; i < p; ++i) {
        r.sends.push_back({.from = orders[c][i],
                           .to = orders[c][(i + 1) % p],
                           .part = (reducing ? (i + p - 1) % p : i) * channels + c,
                           .reduces = reducing,
                           .advance = out.parts - channels});
      }
    }
    out.rounds.push_back(std::move(r));
  };
  if (reduces(kind)) round(true);
  if (gathers(kind)) round(false);
  return out;
}

std::optional<Program> ring(Kind kind, const ProgramShape& shape) {
  if (!is_reduction_or_gather(kind)) return std::nullopt;
  return rings(kind, shape, false);
}

std::optional<Program> bidirectional_ring(Kind kind, const ProgramShape& shape) {
  if (!is_reduction_or_gather(kind)) return std::nullopt;
  return rings(kind, shape, true);
}

// ---- pipelines in lockstep ----

// A send of the first piece, in the round of that number; each later piece follows a round later.
struct Stage {
  Send send;
  std::uint32_t at = 0;
};

std::vector<Round> pipeline(const std::vector<Stage>& stages, std::uint32_t pieces) {
  std::uint32_t depth = 0;
  for (const Stage& s : stages) depth = std::max(depth, s.at + 1);
  std::vector<Round> out;
  for (std::uint32_t t = 0; t + 1 < pieces + depth;) {
    Round round;
    // While every stage is busy, all rounds are alike but for their parts.
    const bool full = t + 1 >= depth && t < pieces;
    if (full) round.repeats = pieces - t;
    for (const Stage& s : stages) {
      if (t < s.at || t - s.at >= pieces) continue;
      Send send = s.send;
      send.part += t - s.at;
      send.advance = 1;
      round.sends.push_back(send);
    }
    t += round.repeats;
    out.push_back(std::move(round));
  }
  return out;
}

// The parent of a rank in a binary tree whose odd ranks are leaves (NCCL, src/graph/trees.cc); rank
// 0 is the root.
std::uint32_t tree_parent(std::uint32_t rank, std::uint32_t ranks) {
  const std::uint32_t bit = rank & (~rank + 1);
  const std::uint32_t up = (rank ^ bit) | (bit << 1);
  return up < ranks ? up : rank ^ bit;
}

// A tree over nodes, and its mirror image.
struct NodeTree {
  explicit NodeTree(std::uint32_t count) : nodes(count), parent(count), depth(count) {
    for (std::uint32_t n = 1; n < nodes; ++n) {
      parent[n] = tree_parent(n, nodes);
      for (std::uint32_t up = n; up != 0; up = tree_parent(up, nodes)) ++depth[n];
      deepest = std::max(deepest, depth[n]);
    }
  }
  [[nodiscard]] std::uint32_t image(std::uint32_t copy, std::uint32_t node) const {
    if (copy == 0) return node;
    return nodes % 2 == 0 ? nodes - 1 - node : (node + 1) % nodes;
  }
  std::uint32_t nodes;
  std::uint32_t deepest = 0;
  std::vector<std::uint32_t> parent, depth;
};

// Trees over nodes with chains inside: for each local rank one, or two of which one is mirrored, so
// that every card sends and no rank is inside both.
std::optional<Program> trees(Kind kind, const ProgramShape& shape, std::uint32_t copies) {
  if (kind != Kind::all_reduce) return std::nullopt;
  const std::uint32_t p = shape.ranks();
  const std::uint32_t g = shape.members.size() > 1 ? shape.members.front() : 1;
  const std::uint32_t nodes = p / g;
  const std::uint32_t pieces = std::clamp(shape.pieces, 1U, kMostPieces);
  Program out = program(kind, shape, copies * g * pieces);
  const NodeTree tree(nodes);
  std::vector<Stage> stages;
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    for (std::uint32_t c = 0; c < g; ++c) {
      const std::uint32_t part = (copy * g + c) * pieces;
      const auto rank = [&](std::uint32_t node, std::uint32_t place) {
        return tree.image(copy, node) * g + (c + place) % g;
      };
      for (std::uint32_t n = 0; n < nodes; ++n) {
        const std::uint32_t turn = g - 1 + tree.deepest;  // when the root has everything
        for (std::uint32_t i = 0; i + 1 < g; ++i) {
          stages.push_back({{.from = rank(n, g - 1 - i),
                             .to = rank(n, g - 2 - i),
                             .part = part,
                             .reduces = true},
                            i});
          stages.push_back(
              {{.from = rank(n, i), .to = rank(n, i + 1), .part = part}, turn + tree.depth[n] + i});
        }
        if (n == 0) continue;
        const std::uint32_t parent = tree.parent[n];
        stages.push_back(
            {{.from = rank(n, 0), .to = rank(parent, 0), .part = part, .reduces = true},
             turn - tree.depth[n]});
        stages.push_back(
            {{.from = rank(parent, 0), .to = rank(n, 0), .part = part}, turn + tree.depth[parent]});
      }
    }
  }
  out.rounds = pipeline(stages, pieces);
  return out;
}

std::optional<Program> tree(Kind kind, const ProgramShape& shape) { return trees(kind, shape, 1); }
std::optional<Program> double_tree(Kind kind, const ProgramShape& shape) {
  return trees(kind, shape, 2);
}

std::optional<Program> chain(Kind kind, const ProgramShape& shape) {
  if (kind != Kind::broadcast) return std::nullopt;
  const std::uint32_t pieces = std::clamp(shape.pieces, 1U, kMostPieces);
  Program out = program(kind, shape, pieces);
  std::vector<Stage> stages;
  for (std::uint32_t r = 0; r + 1 < out.ranks; ++r) stages.push_back({{.from = r, .to = r + 1}, r});
  out.rounds = pipeline(stages, pieces);
  return out;
}

std::optional<Program> binomial(Kind kind, const ProgramShape& shape) {
  if (kind != Kind::broadcast) return std::nullopt;
  Program out = program(kind, shape, 1);
  for (std::uint32_t bit = 1; bit < out.ranks; bit *= 2) {
    Round round;
    for (std::uint32_t r = 0; r < bit && r + bit < out.ranks; ++r) {
      round.sends.push_back({.from = r, .to = r + bit});
    }
    out.rounds.push_back(std::move(round));
  }
  return out;
}

// ---- powers of two ----

// Ranks beyond the last power of two give their data to the first ones, and get the result back.
Round fold(const Program& program, std::uint32_t power, bool in) {
  Round round;
  for (std::uint32_t r = power; r < program.ranks; ++r) {
    round.sends.push_back({.from = in ? r : r - power,
                           .to = in ? r - power : r,
                           .count = program.parts,
                           .reduces = in});
  }
  return round;
}

std::optional<Program> recursive_doubling(Kind kind, const ProgramShape& shape) {
  const std::uint32_t p = shape.ranks();
  const std::uint32_t power = std::bit_floor(p);
  if (!gathers(kind) || (kind == Kind::all_gather && power != p)) return std::nullopt;
  const bool reducing = kind == Kind::all_reduce;
  Program out = program(kind, shape, reducing ? 1 : p);
  if (power < p) out.rounds.push_back(fold(out, power, true));
  for (std::uint32_t bit = 1; bit < power; bit *= 2) {
    Round round;
    for (std::uint32_t r = 0; r < power; ++r) {
      round.sends.push_back({.from = r,
                             .to = r ^ bit,
                             .part = reducing ? 0 : r & ~(bit - 1),
                             .count = reducing ? 1 : bit,
                             .reduces = reducing});
    }
    out.rounds.push_back(std::move(round));
  }
  if (power < p) out.rounds.push_back(fold(out, power, false));
  return out;
}

// Neighbours exchange the large halves: ranks that are `bit` apart differ in that bit of the parts
// they keep.
std::optional<Program> halving_doubling(Kind kind, const ProgramShape& shape) {
  const std::uint32_t p = shape.ranks();
  const std::uint32_t power = std::bit_floor(p);
  if (!is_reduction_or_gather(kind) || (kind != Kind::all_reduce && power != p))
    return std::nullopt;
  Program out = program(kind, shape, power);
  const auto exchange = [&](std::uint32_t bit, bool reducing) {
    Round round;
    for (std::uint32_t r = 0; r < power; ++r) {
      round.sends.push_back({.from = r,
                             .to = r ^ bit,
                             .part = (reducing ? r ^ bit : r) % (2 * bit),
                             .count = power / (2 * bit),
                             .stride = 2 * bit,
                             .reduces = reducing});
    }
    out.rounds.push_back(std::move(round));
  };
  if (power < p) out.rounds.push_back(fold(out, power, true));
  for (std::uint32_t bit = 1; reduces(kind) && bit < power; bit *= 2) exchange(bit, true);
  for (std::uint32_t bit = power / 2; gathers(kind) && bit > 0; bit /= 2) exchange(bit, false);
  if (power < p) out.rounds.push_back(fold(out, power, false));
  return out;
}

std::optional<Program> bruck(Kind kind, const ProgramShape& shape) {
  if (kind != Kind::all_gather) return std::nullopt;
  const std::uint32_t p = shape.ranks();
  Program out = program(kind, shape, p);
  for (std::uint32_t distance = 1; distance < p; distance *= 2) {
    Round round;
    for (std::uint32_t r = 0; r < p; ++r) {
      round.sends.push_back({.from = r,
                             .to = (r + p - distance) % p,
                             .part = r,
                             .count = std::min(distance, p - distance)});
    }
    out.rounds.push_back(std::move(round));
  }
  return out;
}

// Every part goes down a binomial tree that begins at its rank; a reduction takes the way back. The
// sends of a gather at one distance: parts whose owners are an even number of distances behind.
std::optional<Program> parallel_trees(Kind kind, const ProgramShape& shape) {
  if (!one_of(kind, {Kind::all_gather, Kind::reduce_scatter})) return std::nullopt;
  const std::uint32_t p = shape.ranks();
  Program out = program(kind, shape, p);
  for (std::uint32_t distance = std::bit_ceil(p) / 2; distance > 0; distance /= 2) {
    Round round;
    const std::uint32_t count = (p + distance - 1) / (2 * distance);
    for (std::uint32_t r = 0; r < p; ++r) {
      const std::uint32_t next = (r + distance) % p;
      const bool gather = kind == Kind::all_gather;
      round.sends.push_back({.from = gather ? r : next,
                             .to = gather ? next : r,
                             .part = (r + p - (count - 1) * 2 * distance) % p,
                             .count = count,
                             .stride = 2 * distance,
                             .reduces = !gather});
    }
    out.rounds.push_back(std::move(round));
  }
  if (kind == Kind::reduce_scatter) std::ranges::reverse(out.rounds);
  return out;
}

// ---- level by level ----

// Phases that follow each other for one piece of the data, while other pieces are in other phases.
// `phases_of(c)` are those of piece c, in parts of the whole. In each phase a piece waits for the one
// before it.
template <class PhasesOf>
void add_phases(Program& out, const PhasesOf& phases_of, std::uint32_t pieces) {
  std::vector<std::uint32_t> first_of_piece;
  for (std::uint32_t c = 0; c < pieces; ++c) {
    std::vector<Round> phases = phases_of(c);
    first_of_piece.push_back(static_cast<std::uint32_t>(out.rounds.size()));
    for (std::uint32_t f = 0; f < phases.size(); ++f) {
      Round& round = phases[f];
      for (Send& s : round.sends) {
        s.part = s.part * pieces + c;
        s.stride *= pieces;
        s.advance *= pieces;
      }
      if (f > 0) round.after.push_back(first_of_piece[c] + f - 1);
      if (c > 0) round.after.push_back(first_of_piece[c - 1] + f);
      out.rounds.push_back(std::move(round));
    }
  }
  out.parts *= pieces;
  out.part_share /= pieces;
}

// Without nodes of one rank, which join nothing.
ProgramShape by_level(ProgramShape shape) {
  if (!shape.members.empty() && shape.members.front() == 1) {
    shape.members.erase(shape.members.begin());
  }
  return shape;
}

// A ring among the units of one level. Part p belongs to rank p; a rank keeps the parts whose place
// in all levels so far is its own.
Round level_ring(std::uint32_t ranks, std::uint32_t inner, std::uint32_t outer, bool reducing) {
  const std::uint32_t units = outer / inner;
  Round round{.repeats = units - 1};
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t place = r % outer / inner;
    const std::uint32_t next = (place + 1) % units;
    const std::uint32_t block = reducing ? (place + units - 1) % units : place;
    round.sends.push_back({.from = r,
                           .to = r - place * inner + next * inner,
                           .part = r % inner + block * inner,
                           .count = ranks / outer,
                           .stride = outer,
                           .reduces = reducing,
                           .advance = ranks - inner});
  }
  return round;
}

std::optional<Program> exchange_by_node(const ProgramShape& shape, bool pipelined) {
  const std::uint32_t p = shape.ranks();
  const std::uint32_t g = shape.members.front();
  const std::uint32_t nodes = p / g;
  Program out = program(Kind::all_to_all, shape, p * p);
  // What a node sends to those from `first` to `last` places further, collected inside the node by
  // the local rank of the destination, and sent on.
  const auto collected = [&](std::uint32_t first, std::uint32_t last) {
    Round round;
    for (std::uint32_t r = 0; r < p; ++r) {
      for (std::uint32_t j = 0; j < g; ++j) {
        const std::uint32_t to = r / g * g + j;
        if (to == r) continue;
        if (last - first == nodes) {
          round.sends.push_back(
              {.from = r, .to = to, .part = r * p + j, .count = nodes, .stride = g});
        } else {
          round.sends.push_back(
              {.from = r, .to = to, .part = r * p + (r / g + first) % nodes * g + j});
        }
      }
    }
    return round;
  };
  const auto sent = [&](std::uint32_t first, std::uint32_t last) {
    Round round;
    for (std::uint32_t r = 0; r < p; ++r) {
      for (std::uint32_t k = std::max(1U, first); k < last; ++k) {
        const std::uint32_t to = (r / g + k) % nodes * g + r % g;
        round.sends.push_back(
            {.from = r, .to = to, .part = r / g * g * p + to, .count = g, .stride = p});
      }
    }
    return round;
  };
  if (!pipelined) {
    out.rounds = {collected(0, nodes), sent(0, nodes)};
    return out;
  }
  // Destinations far away first, those in the own node last.
  std::uint32_t before = 0;
  for (std::uint32_t k = 1; k <= nodes; ++k) {
    Round inside = collected(k % nodes, k % nodes + 1);
    if (k > 1) inside.after = {before};
    before = static_cast<std::uint32_t>(out.rounds.size());
    out.rounds.push_back(std::move(inside));
    if (k == nodes) break;
    Round outside = sent(k, k + 1);
    outside.after = {before};
    if (k > 1) outside.after.push_back(before - 1);
    out.rounds.push_back(std::move(outside));
  }
  return out;
}

std::optional<Program> hierarchical(Kind kind, const ProgramShape& stated) {
  const ProgramShape shape = by_level(stated);
  if (shape.members.size() < 2) return std::nullopt;
  if (kind == Kind::all_to_all) return exchange_by_node(shape, false);
  if (!is_reduction_or_gather(kind)) return std::nullopt;
  const std::uint32_t p = shape.ranks();
  Program out = program(kind, shape, p);
  const auto phases_of = [&](std::uint32_t) {
    std::vector<Round> phases;
    for (std::size_t l = 0; reduces(kind) && l < shape.members.size(); ++l) {
      const std::uint32_t inner = l == 0 ? 1 : shape.members[l - 1];
      phases.push_back(level_ring(p, inner, shape.members[l], true));
    }
    for (std::size_t l = shape.members.size(); gathers(kind) && l > 0; --l) {
      const std::uint32_t inner = l == 1 ? 1 : shape.members[l - 2];
      phases.push_back(level_ring(p, inner, shape.members[l - 1], false));
    }
    return phases;
  };
  add_phases(out, phases_of, std::clamp(shape.pieces, 1U, 64U));
  return out;
}

std::optional<Program> pxn(Kind kind, const ProgramShape& stated) {
  const ProgramShape shape = by_level(stated);
  if (kind != Kind::all_to_all || shape.members.size() < 2) return std::nullopt;
  return exchange_by_node(shape, true);
}

// The switch of node k is the rank behind all others by k. Every rank's part, which the switch has
// added up, goes up a tree of the nodes and down again, half of it by the mirrored tree, so that no
// node is inside both.
std::optional<Program> in_switch(Kind kind, const ProgramShape& shape) {
  const std::uint32_t p = shape.ranks();
  const std::uint32_t g = shape.members.empty() ? 1 : shape.members.front();
  if (!is_reduction_or_gather(kind) || g < 2 || (p > g && kind != Kind::all_reduce)) {
    return std::nullopt;
  }
  const NodeTree tree(p / g);
  const std::uint32_t copies = p > g ? 2 : 1;
  const std::uint32_t pieces = std::clamp(shape.pieces, 1U, kMostPieces);
  Program out = program(kind, shape, p * copies * pieces);
  out.switches = p / g;
  std::vector<Stage> stages;
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    // All parts of the ranks, or those of the ranks at one place of all nodes.
    const auto add = [&](std::uint32_t from, std::uint32_t to, std::optional<std::uint32_t> place,
                         bool reducing, std::uint32_t at) {
      stages.push_back({{.from = from,
                         .to = to,
                         .part = (place.value_or(0) * copies + copy) * pieces,
                         .count = place ? p / g : p,
                         .stride = (place ? g : 1) * copies * pieces,
                         .reduces = reducing},
                        at});
    };
    const std::uint32_t reduced = reduces(kind) ? 2 : 0;
    for (std::uint32_t r = 0; r < p; ++r) {
      const std::uint32_t its_switch = p + r / g;
      if (reduces(kind)) {
        add(r, its_switch, std::nullopt, true, 0);
        add(its_switch, r, r % g, false, 1);
      }
      for (std::uint32_t n = 0; n < p / g; ++n) {
        if (tree.image(copy, n) != r / g) continue;
        const std::uint32_t turn = reduced + tree.deepest;
        if (n > 0) {
          const std::uint32_t above = tree.image(copy, tree.parent[n]) * g + r % g;
          add(r, above, r % g, true, turn - tree.depth[n]);
          add(above, r, r % g, false, turn + tree.depth[tree.parent[n]]);
        }
        if (!gathers(kind)) continue;
        add(r, its_switch, r % g, false, turn + tree.depth[n]);
        add(its_switch, r, std::nullopt, false, turn + tree.depth[n] + 1);
      }
    }
  }
  out.rounds = pipeline(stages, pieces);
  return out;
}

// ---- all-to-all ----

std::optional<Program> direct(Kind kind, const ProgramShape& shape) {
  if (kind != Kind::all_to_all) return std::nullopt;
  const std::uint32_t p = shape.ranks();
  Program out = program(kind, shape, p * p);
  Round round;
  for (std::uint32_t r = 0; r < p; ++r) {
    for (std::uint32_t k = 1; k < p; ++k) {
      const std::uint32_t to = (r + k) % p;
      round.sends.push_back({.from = r, .to = to, .part = r * p + to});
    }
  }
  out.rounds.push_back(std::move(round));
  return out;
}

std::optional<Program> pairwise(Kind kind, const ProgramShape& shape) {
  if (kind != Kind::all_to_all) return std::nullopt;
  const std::uint32_t p = shape.ranks();
  Program out = program(kind, shape, p * p);
  for (std::uint32_t k = 1; k < p; ++k) {
    Round round;
    for (std::uint32_t r = 0; r < p; ++r) {
      const std::uint32_t to = (r + k) % p;
      round.sends.push_back({.from = r, .to = to, .part = r * p + to});
    }
    out.rounds.push_back(std::move(round));
  }
  return out;
}

}  // namespace

std::optional<Program> program_of(ProgramAlgorithm algorithm, CollectiveKind kind,
                                  const ProgramShape& shape) {
  if (shape.ranks() < 2) return std::nullopt;
  switch (algorithm) {
    case ProgramAlgorithm::ring:
      return ring(kind, shape);
    case ProgramAlgorithm::bidirectional_ring:
      return bidirectional_ring(kind, shape);
    case ProgramAlgorithm::tree:
      return tree(kind, shape);
    case ProgramAlgorithm::double_tree:
      return double_tree(kind, shape);
    case ProgramAlgorithm::recursive_doubling:
      return recursive_doubling(kind, shape);
    case ProgramAlgorithm::halving_doubling:
      return halving_doubling(kind, shape);
    case ProgramAlgorithm::bruck:
      return bruck(kind, shape);
    case ProgramAlgorithm::parallel_trees:
      return parallel_trees(kind, shape);
    case ProgramAlgorithm::chain:
      return chain(kind, shape);
    case ProgramAlgorithm::binomial:
      return binomial(kind, shape);
    case ProgramAlgorithm::hierarchical:
      return hierarchical(kind, shape);
    case ProgramAlgorithm::in_switch:
      return in_switch(kind, shape);
    case ProgramAlgorithm::direct:
      return direct(kind, shape);
    case ProgramAlgorithm::pairwise:
      return pairwise(kind, shape);
    case ProgramAlgorithm::pxn:
      return pxn(kind, shape);
    case ProgramAlgorithm::synthesized:
    case ProgramAlgorithm::imported:
      return std::nullopt;
  }
  return std::nullopt;
}

std::uint32_t best_pieces(Bytes payload, double stages, Seconds latency, BytesPerSecond rate) {
  const double at_once = latency.value() * rate.value();
  if (!(stages > 1) || !(at_once > 0)) return 1;
  const double pieces = std::sqrt(payload.value() * (stages - 1) / at_once);
  return static_cast<std::uint32_t>(std::lround(std::clamp(pieces, 1.0, double{kMostPieces})));
}

}  // namespace orrery
