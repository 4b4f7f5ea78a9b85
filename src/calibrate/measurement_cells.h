// Reads the cells of one row of measurements by column name.
//
// If a required number is missing or impossible, the row is marked as unusable and its first
// problem is kept, with file and line.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/calibration.h"
#include "units/quantity.h"

namespace orrery {

// Larger values are taken to be in another unit.
inline constexpr double kMostSize = 1e8;          // of one dimension of a kernel
inline constexpr double kMostMicroseconds = 1e8;  // of a kernel: 100 s
inline constexpr double kMostBytes = 1e13;        // of a collective
inline constexpr double kLongest = 1e9;           // of a collective, in us
inline constexpr double kMostRanks = 1024;        // of a node

bool has_columns(const CommaSeparated& table, std::span<const std::string_view> columns);

class MeasurementCells {
 public:
  // Keeps references to all three.
  MeasurementCells(const CommaSeparated& table, const CommaSeparated::Record& record,
                   std::vector<RowProblem>& problems)
      : table_(table), record_(record), problems_(problems) {}

  [[nodiscard]] std::string_view text(std::string_view column) const;  // absent: empty
  // A number above `above` and at most `most`; otherwise a problem and 0.
  double number(std::string_view column, double above, double most);
  // A time of a kernel above 0, in microseconds.
  Seconds microseconds(std::string_view column);
  // A whole number from `least` to `most`.
  double count(std::string_view column, double least, double most);

  // Whether a time is at least `least`, the shortest possible one with its launch; otherwise it
  // must be in another unit, and the row is marked as unusable.
  bool not_too_slow(Seconds time, Seconds least);

  void complain(std::string what);  // marks the row as unusable
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] std::string where() const;

 private:
  const CommaSeparated& table_;
  const CommaSeparated::Record& record_;
  std::vector<RowProblem>& problems_;
  bool usable_ = true;
};

// Adds a problem for each record that has more or fewer fields than its header.
void add_refused_records(const CommaSeparated& table, std::vector<RowProblem>& problems);

// Calls read(cells) for each other record of the tables.
template <class Read>
void for_each_record(std::span<const CommaSeparated> tables, std::vector<RowProblem>& problems,
                     Read read) {
  for (const CommaSeparated& table : tables) {
    add_refused_records(table, problems);
    for (const CommaSeparated::Record& record : table.records) {
      read(MeasurementCells(table, record, problems));
    }
  }
}

// Finds repeated measurements: the second one is reported together with the first and left out.
class SeenRows {
 public:
  // True if `key` is new; otherwise the row is marked as unusable.
  bool add(const std::string& key, MeasurementCells& row);

 private:
  std::map<std::string, std::string> first_;
};

}  // namespace orrery
