#include "calibrate/calibration.h"

#include <algorithm>

#include "outcome/invariant.h"

namespace orrery {

namespace {

void append(std::vector<double>& to, const std::vector<double>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// The rows of all reports whose systems are told apart as one part; nullopt if fewer than two parts
// have such rows. A row that times two ways of an exchange counts as two.
std::optional<CalibrationReport> all_systems(std::span<const Calibration> calibrations) {
  CalibratedPart all;
  std::string kinds;
  int parts = 0;
  for (const Calibration& c : calibrations) {
    for (const CalibrationReport& report : c.reports) {
      for (const CalibratedPart& part : report.parts) {
        if (part.errors.left_out.empty()) continue;
        ++parts;
        if (kinds.find(report.kind) == std::string::npos)
          kinds += (kinds.empty() ? "" : " and ") + report.kind;
        append(all.errors.in_sample, part.errors.in_sample);
        append(all.errors.held_out, part.errors.held_out);
        append(all.errors.left_out, part.errors.left_out);
      }
    }
  }
  if (parts < 2) return std::nullopt;
  all.name = "all measured times";
  all.in_sample = error_summary(all.errors.in_sample);
  all.held_out = error_summary(all.errors.held_out);
  all.left_out = error_summary(all.errors.left_out);
  return CalibrationReport{std::move(kinds), "all systems", {std::move(all)}, {}, {}};
}

}  // namespace

std::vector<double> relative_errors(std::span<const double> predicted,
                                    std::span<const double> measured) {
  ORRERY_INVARIANT(predicted.size() == measured.size());
  std::vector<double> errors;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    errors.push_back(predicted[i] / measured[i] - 1);
  }
  return errors;
}

ErrorSummary fit_errors(std::span<const double> predicted, std::span<const double> measured) {
  return error_summary(relative_errors(predicted, measured));
}

Result<std::vector<Calibration>> calibrate(std::span<const CommaSeparated> tables,
                                           std::span<const MeasurementKind> kinds,
                                           const CalibrationRequest& request) {
  ORRERY_INVARIANT(request.catalog != nullptr);
  std::vector<std::vector<CommaSeparated>> of_kind(kinds.size());
  for (const CommaSeparated& table : tables) {
    const auto kind =
        std::ranges::find_if(kinds, [&](const MeasurementKind& k) { return k.recognises(table); });
    if (kind == kinds.end()) {
      std::string known;
      for (const MeasurementKind& k : kinds) {
        known += (known.empty() ? "" : "; ") + k.name + ": " + k.columns;
      }
      return bad_input("the columns are those of no known kind of measurement", table.name, known);
    }
    of_kind[static_cast<std::size_t>(kind - kinds.begin())].push_back(table);
  }
  std::vector<Calibration> out;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (of_kind[k].empty()) continue;
    ORRERY_TRY(Calibration done, kinds[k].calibrate(of_kind[k], request));
    out.push_back(std::move(done));
  }
  const auto usable = [](const Calibration& c) { return c.used > 0; };
  if (!tables.empty() && std::ranges::none_of(out, usable)) {
    std::string why;
    for (const Calibration& c : out) {
      if (why.empty() && !c.problems.empty()) {
        why = "the first problem is " + c.problems.front().where + ": " + c.problems.front().what;
      }
    }
    return bad_input("no row can be used", tables.front().name, why);
  }
  const auto says_nothing = [](const CalibrationReport& report) { return report.parts.empty(); };
  const bool nothing = std::ranges::all_of(
      out, [&](const Calibration& c) { return std::ranges::all_of(c.reports, says_nothing); });
  if (!tables.empty() && nothing) {
    std::size_t used = 0;
    for (const Calibration& c : out) used += c.used;
    return bad_input(std::to_string(used) + (used == 1 ? " usable row is" : " usable rows are") +
                         " too few to fit anything",
                     tables.front().name, "docs/calibrate.md says how many a fit needs");
  }
  if (std::optional<CalibrationReport> all = all_systems(out)) {
    Calibration together;
    together.reports.push_back(*std::move(all));
    out.push_back(std::move(together));
  }
  return out;
}

}  // namespace orrery
