// orrery calibrate: cost parameters from measurements.
#include <filesystem>
#include <system_error>

#include "calibrate/collective_calibration.h"
#include "calibrate/expert_layer_fit.h"
#include "calibrate/kernel_calibration.h"
#include "calibrate/network_fit.h"
#include "command.h"
#include "document/comma_separated.h"
#include "document/value.h"
#include "report/validation/calibration_report.h"
#include "validate/step_calibration.h"

namespace orrery::cli {
namespace {

// Every kind of measurement, recognised in this order.
std::vector<MeasurementKind> measurement_kinds(int threads) {
  return {kernel_measurements(), collective_measurement_kind(), network_measurement_kind(),
          expert_layer_measurement_kind(), step_measurements(threads)};
}

Result<void> write_files(const std::vector<Calibration>& calibrations,
                         const std::string& directory) {
  for (const Calibration& c : calibrations) {
    for (const CalibrationReport& report : c.reports) {
      for (const CalibratedFile& file : report.files) {
        const std::filesystem::path path = std::filesystem::path(directory) / file.path;
        std::error_code failed;
        std::filesystem::create_directories(path.parent_path(), failed);
        if (failed) return fail(ErrorCode::io, failed.message(), path.parent_path().string());
        ORRERY_RETURN_IF_ERROR(write_file(path.string(), file.text));
      }
    }
  }
  return {};
}

}  // namespace

Result<int> calibrate_command(const CalibrateOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  std::vector<CommaSeparated> tables;
  for (const std::string& path : options.files) {
    ORRERY_TRY(const auto text, read_file(path));
    ORRERY_TRY(auto table, parse_comma_separated(text, path == "-" ? "standard input" : path));
    tables.push_back(std::move(table));
  }
  if (!options.out.empty() && options.date.empty()) {
    return bad_input("the date of the fit is missing", "--out",
                     "--date YYYY-MM-DD, which is written into the files");
  }
  CalibrationRequest request;
  request.catalog = &catalog;
  request.accelerator = options.accelerator;
  request.cross_validate = options.cross_validate;
  request.date = options.date;
  ORRERY_TRY(const auto done, calibrate(tables, measurement_kinds(common.threads), request));
  if (!options.out.empty()) {
    ORRERY_RETURN_IF_ERROR(write_files(done, options.out));
  }
  if (!options.markdown.empty()) {
    ORRERY_RETURN_IF_ERROR(write_file(options.markdown, calibration_markdown(done)));
  }
  if (common.json) return print(to_json(calibration_json(done)));
  return print(calibration_text(done, text_style()));
}

}  // namespace orrery::cli
