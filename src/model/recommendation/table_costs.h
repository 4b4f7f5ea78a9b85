// What each way of dividing an embedding table costs a rank (the equations are in
// table_placement.h), and the bound that follows for all tables.
#pragma once

#include <cstdint>
#include <vector>

#include "model/division.h"
#include "model/recommendation/recommender.h"
#include "model/recommendation/table_placement.h"

namespace orrery {

// What a table, or a piece of it, does to the rank that holds it.
struct TableLoad {
  double looked_up = 0;  // bytes of the forward, for all samples of the group
  double updated = 0;
  double fetched = 0;  // bytes over the link to the host
  double returned = 0;
  double stored = 0;  // seconds of disks
  double memory = 0;
  double weights = 0;
  double width = 0;     // of vectors that are sent
  double look_ups = 0;  // of a sample, that are received
  double seconds = 0;   // of reading and writing, and of sending vectors and receiving gradients
  TableLoad& operator+=(const TableLoad& o) {
    return each(o, [](double a, double b) { return a + b; });
  }
  friend TableLoad operator+(TableLoad a, const TableLoad& b) { return a += b; }
  // Of each amount by itself.
  TableLoad& raise_to(const TableLoad& o) {
    return each(o, [](double a, double b) { return a < b ? b : a; });
  }

 private:
  template <class Combine>
  TableLoad& each(const TableLoad& o, Combine combine) {
    for (double TableLoad::* amount :
         {&TableLoad::looked_up, &TableLoad::updated, &TableLoad::fetched, &TableLoad::returned,
          &TableLoad::stored, &TableLoad::memory, &TableLoad::weights, &TableLoad::width,
          &TableLoad::look_ups, &TableLoad::seconds}) {
      this->*amount = combine(this->*amount, o.*amount);
    }
    return *this;
  }
};

struct TableChoice {
  TableSharding sharding = TableSharding::table;
  std::int64_t shards = 1;
  bool operator==(const TableChoice&) const = default;
};

// What a codec makes of a byte of vectors.
struct VectorCoding {
  VectorCodec codec = VectorCodec::none;
  double forward = 1;  // bytes sent
  double backward = 1;
  double encode = 0;  // seconds
  double decode = 0;
};

inline constexpr double kLookUpIndex = 8;  // bytes of a look-up

class TableCosts {
 public:
  // Where the vectors of a piece travel first: in an all-to-all; as partial sums to be reduced;
  // within a tower or node, whole or as partial sums, with an all-to-all behind.
  enum class Path { all, rows, tower, tower_rows };

  // Both must outlive the object. Chooses where rows lie, of tables that leave it open.
  TableCosts(const Recommender& r, const Division& d);

  [[nodiscard]] const std::vector<EmbeddingTable>& tables() const { return tables_; }
  [[nodiscard]] const VectorCoding& coding(std::size_t table, Path path) const {
    return (path == Path::rows ? partial_codings_ : codings_)[table];
  }
  // Tables that leave it open and have room nowhere, those that are read least for their size first.
  // They stay on the accelerators, which do not hold them all.
  [[nodiscard]] const std::vector<std::size_t>& without_room() const { return without_room_; }
  // Samples of the group that shares tables, over those of one rank.
  [[nodiscard]] double group() const { return group_; }
  [[nodiscard]] double room() const { return room_; }   // bytes of a rank for tables
  [[nodiscard]] double row_memory(double width) const;  // bytes, with the optimizer's state
  [[nodiscard]] double compression() const;             // of modules of towers
  // Of dense gradients of a data-parallel table and of its dense optimizer, bytes of a rank.
  [[nodiscard]] static double replicated_memory(const EmbeddingTable& t);

  [[nodiscard]] TableLoad piece(std::size_t table, const TableChoice& c) const;
  [[nodiscard]] Path path(TableSharding sharding) const;
  [[nodiscard]] static bool stated(const EmbeddingTable& t) {
    return t.sharding != TableSharding::automatic && t.sharding != TableSharding::torchrec;
  }
  [[nodiscard]] TableChoice uniform(const EmbeddingTable& t, TableSharding kind) const;
  // Whether every rank may hold it: modules of towers need the vectors of their tables.
  [[nodiscard]] bool can_copy(const EmbeddingTable& t) const;
  // As stated; or on every rank where its dense gradient costs less than so many times the exchange
  // of its vectors; or of the kind, in pieces that a rank holds.
  [[nodiscard]] TableChoice first_choice(const EmbeddingTable& t, TableSharding kind,
                                         double exchanges = 1) const;
  // In smaller pieces: of half the width while that can be, then of its rows, in a node where that
  // makes more pieces; and what is cut in a node in all pieces of its width, or on all ranks.
  [[nodiscard]] TableChoice halved(const EmbeddingTable& t, const TableChoice& c) const;
  [[nodiscard]] bool larger_than_a_rank(const EmbeddingTable& t) const {
    return memory_of(t, t.width) > room_;
  }
  // What a placement costs, to compare it with others.
  [[nodiscard]] double seconds(const TablePlacement& p) const;
  // Below which no placement comes; of those under the memory of all ranks if `p` fits.
  [[nodiscard]] double bound(const TablePlacement& p) const;

 private:
  struct Option {  // the mean over ranks of what a choice for one table takes
    double seconds = 0;
    double memory = 0;
  };
  void choose_memory();
  [[nodiscard]] bool towers() const { return d_.towers > 1; }
  [[nodiscard]] double ways() const { return d_.trains ? 2 : 1; }
  [[nodiscard]] double kept(const EmbeddingTable& t) const;
  [[nodiscard]] double memory_of(const EmbeddingTable& t, double width) const;
  // Of an exchange, bytes a second of a rank.
  [[nodiscard]] double rate(VectorExchange::Ranks among, bool partial) const;
  // Of a byte of vectors, there and back.
  [[nodiscard]] double coded_seconds(const VectorCoding& c, double rate) const;
  // Of the dense gradient of a data-parallel table and of its optimizer, as without ZeRO.
  [[nodiscard]] double dense_seconds(double parameters) const;
  [[nodiscard]] VectorCoding coding_as(VectorCodec codec, std::size_t table) const;
  [[nodiscard]] VectorCoding chosen_coding(std::size_t table, bool partial) const;
  [[nodiscard]] double exchange_seconds(std::size_t table, double width, Path path) const;
  [[nodiscard]] double host_seconds(const TableLoad& l) const;
  [[nodiscard]] bool can_halve(const EmbeddingTable& t, std::int64_t shards) const;
  [[nodiscard]] std::int64_t finest_columns(const EmbeddingTable& t) const;
  [[nodiscard]] TableChoice by_rows() const;
  // Of a piece `width` wide with a share of the rows.
  [[nodiscard]] TableLoad load(std::size_t table, double width, double share_of_rows,
                               double samples, Path path) const;
  [[nodiscard]] Option option(std::size_t table, const TableChoice& c) const;

  const Recommender& r_;
  const Division& d_;
  std::vector<EmbeddingTable> tables_;
  std::vector<VectorCoding> codings_;          // in an all-to-all
  std::vector<VectorCoding> partial_codings_;  // of partial sums
  std::vector<std::size_t> without_room_;
  std::int64_t ranks_;
  double samples_;       // of the group in a microbatch
  double group_;         //
  double room_;          //
  std::int64_t finest_;  // pieces of a table at most
};

}  // namespace orrery
