// Puts tables and pieces of tables on nodes and ranks: the one with the most to do first, each where
// there is least to do among those with room (table_placement.h).
#pragma once

#include <cstddef>
#include <vector>

#include "model/division.h"
#include "model/recommendation/table_costs.h"

namespace orrery {

struct TablePiece {
  std::size_t table = 0;
  TableLoad load;
};

struct TablePartition {
  std::vector<TableLoad> nodes;                              // of each of its ranks
  std::vector<TableLoad> ranks;                              // beside that
  std::vector<std::vector<std::size_t>> of_nodes, of_ranks;  // tables
  std::vector<double> widths;                                // of all tables of a node
  bool fits = true;
  [[nodiscard]] TableLoad rank(std::size_t i, std::size_t ranks_of_node) const {
    const std::size_t node = i / ranks_of_node;
    return (i < ranks.size() ? ranks[i] : TableLoad{}) +
           (node < nodes.size() ? nodes[node] : TableLoad{});
  }
  [[nodiscard]] std::vector<std::size_t> tables(std::size_t i, std::size_t ranks_of_node) const {
    std::vector<std::size_t> out;
    if (i < of_ranks.size()) out = of_ranks[i];
    if (const std::size_t node = i / ranks_of_node; node < of_nodes.size()) {
      out.insert(out.end(), of_nodes[node].begin(), of_nodes[node].end());
    }
    return out;
  }
};

// `of_nodes`: a piece of each table that is cut by rows within a node; under towers also of whole
// tables and of those cut by their width, whose pieces lie on the ranks of the tower that have least
// to do. `of_ranks`: pieces for any rank. `everywhere`: bytes that
// every rank holds beside them.
TablePartition table_partition(const TableCosts& costs, const Division& d,
                               std::vector<TablePiece> of_nodes, std::vector<TablePiece> of_ranks,
                               const std::vector<TableChoice>& choices, double everywhere);

}  // namespace orrery
