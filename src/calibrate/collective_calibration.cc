#include "calibrate/collective_calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "calibrate/collective_fit.h"
#include "calibrate/cross_validated_fit.h"
#include "calibrate/exchange_fit.h"
#include "calibrate/folds.h"
#include "cost/collective/communication_path.h"
#include "document/value.h"

namespace orrery {
namespace {

std::string regime(const CollectiveMeasurement& m) {
  constexpr double kKibibyte = 1024;
  return m.payload.value() < 64 * kKibibyte              ? "below 64 KiB"
         : m.payload.value() < 8 * kKibibyte * kKibibyte ? "64 KiB to 8 MiB"
                                                         : "8 MiB and more";
}

// Names of the parts a row belongs to.
std::vector<std::string> parts_of(const CollectiveMeasurement& m, bool switched) {
  std::string kind(to_text(m.kind));
  std::ranges::replace(kind, '_', '-');
  if (switched && m.kind == CollectiveKind::all_reduce && !m.reduces_in_switch) {
    kind += ", ring and tree only";
  }
  return {kind, regime(m), std::to_string(m.ranks) + " ranks", m.accelerator};
}

double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  return value == 0 ? 0 : std::round(value * scale) / scale;
}

CollectiveFit record_of(std::string data, const std::string& date, const CalibratedPart& part) {
  return {std::move(data),
          date,
          static_cast<int>(part.in_sample.rows),
          rounded(part.in_sample.median, 2),
          rounded(part.in_sample.p90, 2),
          part.held_out ? rounded(part.held_out->median, 2) : 0,
          part.held_out ? rounded(part.held_out->p90, 2) : 0};
}

// Twice the parameters: fewer rows determine nothing, and the errors of the catalog's parameters
// are shown instead.
constexpr std::size_t kLeastCollectives = 30;

LinkKind link_of(const CollectiveGeneration& generation) {
  return link_kind(generation.levels.front().front(), 0);
}

// Each accelerator predicted by a fit of the others of its generation or, where it is alone, by the
// published constants of the tuner with what other generations of such links have in common.
Result<std::vector<double>> predict_left_out(std::span<const CollectiveGeneration> all,
                                             const CollectiveGeneration& generation,
                                             const Catalog& catalog) {
  std::map<std::string, std::vector<std::size_t>> systems;
  for (std::size_t i = 0; i < generation.rows.size(); ++i) {
    systems[generation.rows[i].accelerator].push_back(i);
  }
  std::vector<double> out(generation.rows.size());
  for (const auto& [name, own] : systems) {
    CollectiveParameters parameters;
    if (systems.size() > 1) {
      std::vector<std::size_t> others;
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (generation.rows[i].accelerator != name) others.push_back(i);
      }
      ORRERY_TRY(FittedCollectives fitted, fit_collectives(generation, others));
      parameters = std::move(fitted.parameters);
    } else {
      std::vector<CollectiveGeneration> others;
      for (const CollectiveGeneration& other : all) {
        if (&other != &generation && link_of(other) == link_of(generation)) {
          others.push_back(other);
        }
      }
      ORRERY_TRY(const CollectiveParameters facts, load_collective_parameters(catalog, "default"));
      parameters = typical_parameters(facts, link_of(generation), generation.clock, others);
    }
    for (const std::size_t i : own) out[i] = predicted_time(generation, i, parameters).value();
  }
  return out;
}

// The report without files; `parameters` takes the result.
Result<CalibrationReport> calibrated(std::span<const CollectiveGeneration> generations,
                                     const CollectiveGeneration& generation,
                                     const CalibrationRequest& request, const std::string& data,
                                     CollectiveParameters& parameters) {
  std::vector<std::size_t> all(generation.rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const bool few = all.size() < kLeastCollectives;
  FittedCollectives fitted{generation.start, {}};
  if (!few) {
    ORRERY_TRY(fitted, fit_collectives(generation, all));
  }

  CrossValidatedFit done;
  std::vector<double> measured;
  std::vector<std::string> shapes;
  for (const std::size_t i : all) {
    measured.push_back(generation.rows[i].time.value());
    done.predicted.push_back(predicted_time(generation, i, fitted.parameters).value());
    shapes.push_back(generation.rows[i].shape());
  }
  if (request.cross_validate && !few) {
    ORRERY_TRY(done.held_out,
               predict_held_out(
                   fold_of_each(shapes, request.folds),
                   [&](std::span<const std::size_t> rows,
                       std::span<const std::size_t> others) -> Result<std::vector<double>> {
                     ORRERY_TRY(const FittedCollectives some, fit_collectives(generation, rows));
                     std::vector<double> times;
                     for (const std::size_t i : others) {
                       times.push_back(predicted_time(generation, i, some.parameters).value());
                     }
                     return times;
                   }));
    if (request.accelerator.empty()) {
      ORRERY_TRY(done.left_out, predict_left_out(generations, generation, *request.catalog));
    }
  }

  CalibratedPart& part = done.part;
  part.name = "one node";
  part.parameters = fitted.fit.parameters;
  done.judge(measured);
  const bool switched = generation.start.in_switch.efficiency > 0;
  std::vector<std::set<std::string>> names(4);
  for (const CollectiveMeasurement& m : generation.rows) {
    const std::vector<std::string> parts = parts_of(m, switched);
    for (std::size_t p = 0; p < parts.size(); ++p) names[p].insert(parts[p]);
  }
  for (std::size_t p = 0; p < names.size(); ++p) {
    for (const std::string& name : names[p]) {
      done.add_part_of_rows(name, measured, [&](std::size_t i) {
        return parts_of(generation.rows[i], switched)[p] == name;
      });
    }
  }

  parameters = fitted.parameters;
  CalibrationReport report;
  report.kind = "collectives";
  report.subject = generation.architecture;
  if (few) {
    report.notes.push_back(std::to_string(all.size()) +
                           " collectives are too few to fit: the errors are those of the "
                           "catalog's parameters.");
  } else {
    std::erase_if(parameters.fits, [&](const CollectiveFit& f) { return f.data == data; });
    parameters.fits.push_back(record_of(data, request.date, part));
    report.notes.push_back(
        "latency_overlap " + std::to_string(static_cast<int>(parameters.latency_overlap)) +
        (parameters.low_latency_until > Bytes(0)
             ? ", low-latency protocols up to " + to_text(parameters.low_latency_until) + " a rank"
             : ", low-latency protocols wherever they are fastest"));
  }
  report.parts.push_back(std::move(part));
  return report;
}

CalibratedFile file_of(const std::string& architecture, const CollectiveParameters& parameters) {
  return {"collectives/" + architecture + ".yaml",
          "# Collectives on " + architecture +
              " as measured: written by `orrery calibrate`, which keeps what it does not fit.\n" +
              to_yaml(Codec<CollectiveParameters>::write(parameters))};
}

// Fits the exchanges of one architecture into `parameters`, and adds them to the report.
Result<void> add_exchanges(std::span<const ExchangeMeasurement> rows,
                           const CalibrationRequest& request, const std::string& data,
                           const PairwiseParameters& pairs, CollectiveParameters& parameters,
                           CalibrationReport& report) {
  ORRERY_TRY(std::vector<CalibratedPart> parts,
             fit_exchanges(rows, request.cross_validate ? request.folds : 0, pairs,
                           parameters.token_exchange));
  std::erase_if(parameters.fits, [&](const CollectiveFit& f) { return f.data.starts_with(data); });
  for (CalibratedPart& part : parts) {
    parameters.fits.push_back(record_of(data + ": " + part.name, request.date, part));
    report.parts.push_back(std::move(part));
  }
  return {};
}

Result<Calibration> calibrate_collectives(std::span<const CommaSeparated> tables,
                                          const CalibrationRequest& request) {
  Calibration out;
  std::string data;
  std::vector<CommaSeparated> collectives;
  std::vector<ExchangeMeasurement> exchanges;
  for (const CommaSeparated& table : tables) {
    out.rows += table.records.size() + table.refused.size();
    if (holds_exchange_measurements(table)) {
      for (ExchangeMeasurement& m : exchange_measurements(table, *request.catalog, out.problems)) {
        if (request.accelerator.empty() || request.accelerator == m.accelerator) {
          exchanges.push_back(std::move(m));
        }
      }
      continue;
    }
    const std::string file = table.name.substr(table.name.rfind('/') + 1);
    data += (data.empty() ? "" : ", ") + file;
    collectives.push_back(table);
  }
  std::vector<CollectiveMeasurement> rows =
      collective_measurements(collectives, *request.catalog, out.problems);
  if (!request.accelerator.empty()) {
    std::erase_if(
        rows, [&](const CollectiveMeasurement& m) { return m.accelerator != request.accelerator; });
  }
  ORRERY_TRY(const std::vector<CollectiveGeneration> generations,
             collective_generations(std::move(rows), *request.catalog, out.problems));
  std::map<std::string, std::pair<CollectiveParameters, CalibrationReport>> made;
  for (const CollectiveGeneration& generation : generations) {
    out.used += generation.rows.size();
    CollectiveParameters parameters;
    ORRERY_TRY(CalibrationReport report,
               calibrated(generations, generation, request, data, parameters));
    made.emplace(generation.architecture, std::pair(std::move(parameters), std::move(report)));
  }
  std::map<std::string, std::vector<ExchangeMeasurement>> by_architecture;
  for (ExchangeMeasurement& m : exchanges) by_architecture[m.architecture].push_back(std::move(m));
  for (const auto& [architecture, own] : by_architecture) {
    std::set<std::string_view> rows_used;  // a row may hold both ways
    for (const ExchangeMeasurement& m : own) rows_used.insert(m.where);
    out.used += rows_used.size();
    auto at = made.find(architecture);
    if (at == made.end()) {
      ORRERY_TRY(CollectiveParameters start,
                 load_collective_parameters(*request.catalog, architecture));
      CalibrationReport report;
      report.kind = "collectives";
      report.subject = architecture;
      at = made.emplace(architecture, std::pair(std::move(start), std::move(report))).first;
    }
    ORRERY_TRY(const CollectiveParameters known,
               load_collective_parameters(*request.catalog, architecture));
    ORRERY_RETURN_IF_ERROR(add_exchanges(own, request, "token exchange", known.pairwise,
                                         at->second.first, at->second.second));
  }
  for (auto& [architecture, result] : made) {
    const std::vector<CalibratedPart>& parts = result.second.parts;
    if (std::ranges::any_of(parts, [](const CalibratedPart& p) { return !p.parameters.empty(); })) {
      result.second.files.push_back(file_of(architecture, result.first));
    }
    out.reports.push_back(std::move(result.second));
  }
  return out;
}

}  // namespace

MeasurementKind collective_measurement_kind() {
  return {"collectives",
          "accelerator, collective, dtype, num_gpus, bytes, latency_us | accelerator, num_gpus, "
          "hidden, num_tokens, top_k, num_experts, num_sms, dispatch_us, combine_us | accelerator, "
          "phase, kernel, dtype, num_tokens, hidden, top_k, num_experts, ep_size, latency_us",
          [](const CommaSeparated& table) {
            return holds_collective_measurements(table) || holds_exchange_measurements(table);
          },
          calibrate_collectives};
}

}  // namespace orrery
