#include "calibrate/measurement_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outcome/parsed_number.h"

namespace orrery {
namespace {

std::optional<std::size_t> index_of(const CommaSeparated& table, std::string_view column) {
  const auto it = std::ranges::find(table.columns, column);
  if (it == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(it - table.columns.begin());
}

// Of the 59,600 published rows with a time the slowest takes 47 times its roofline and a launch
// (attention of separate kernels on H100, 18 of 989 TFLOP/s), behind it collectives through the
// memory of a PCIe server (43) and expert layers (27); a matrix product takes at most 5. A time in
// the next smaller unit is a thousand times too long.
constexpr double kSlowest = 100;

}  // namespace

bool has_columns(const CommaSeparated& table, std::span<const std::string_view> columns) {
  return std::ranges::all_of(columns,
                             [&](std::string_view c) { return index_of(table, c).has_value(); });
}

std::string_view MeasurementCells::text(std::string_view column) const {
  const auto i = index_of(table_, column);
  return i ? std::string_view(record_.fields[*i]) : std::string_view();
}

double MeasurementCells::number(std::string_view column, double above, double most) {
  const std::string_view cell = text(column);
  if (cell.empty()) {
    complain(std::string(column) + " is empty");
    return 0;
  }
  const auto value = parsed_number<double>(cell);
  if (!value || !std::isfinite(*value)) {
    complain(fmt::format("{} '{}' is not a number", column, cell));
    return 0;
  }
  if (!(*value > above && *value <= most)) {
    complain(fmt::format("{} {} is not above {} and at most {}", column, cell, above, most));
    return 0;
  }
  return *value;
}

Seconds MeasurementCells::microseconds(std::string_view column) {
  return Seconds(number(column, 0, kMostMicroseconds) * 1e-6);
}

double MeasurementCells::count(std::string_view column, double least, double most) {
  const double value = number(column, std::nextafter(least, -HUGE_VAL), most);
  if (usable_ && value != std::floor(value)) {
    complain(fmt::format("{} {} is not a whole number", column, value));
  }
  return value;
}

std::string MeasurementCells::where() const {
  return table_.name + ":" + std::to_string(record_.line);
}

bool MeasurementCells::not_too_slow(Seconds time, Seconds least) {
  if (time <= least * kSlowest) return true;
  complain(
      fmt::format("{:.4g} us are {:.3g} times the {:.4g} us at peak rates, launch included: "
                  "wrong unit?",
                  time.value() * 1e6, time / least, least.value() * 1e6));
  return false;
}

void MeasurementCells::complain(std::string what) {
  if (usable_) problems_.push_back({where(), std::move(what)});
  usable_ = false;
}

bool SeenRows::add(const std::string& key, MeasurementCells& row) {
  const auto [it, is_new] = first_.emplace(key, row.where());
  if (!is_new) row.complain("measures the same as " + it->second);
  return is_new;
}

void add_refused_records(const CommaSeparated& table, std::vector<RowProblem>& problems) {
  for (const CommaSeparated::Refused& record : table.refused) {
    problems.push_back({table.name + ":" + std::to_string(record.line), record.why});
  }
}

}  // namespace orrery
