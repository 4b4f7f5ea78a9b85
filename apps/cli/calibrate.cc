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

struct CalibrateOptions {
  std::vector<std::string> files;
  std::string accelerator;
  std::string out;
  std::string markdown;
  std::string date;
  bool cross_validate = false;
};

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

Result<int> calibrate_files(const CalibrateOptions& options, const Common& common) {
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
  keep_freed_memory();
  ORRERY_TRY(const auto done, calibrate(tables, measurement_kinds(common.threads), request));
  if (!options.out.empty()) ORRERY_RETURN_IF_ERROR(write_files(done, options.out));
  if (!options.markdown.empty()) {
    ORRERY_RETURN_IF_ERROR(write_file(options.markdown, calibration_markdown(done)));
  }
  if (common.json) return print(to_json(calibration_json(done)));
  return print(calibration_text(done, text_style()));
}

}  // namespace

Command calibrate_command(CLI::App& orrery) {
  auto [app, o] =
      subcommand<CalibrateOptions>(orrery, "calibrate", "cost parameters from measurements");
  app->add_option("files", o->files, "CSV files, or - for standard input")->required();
  app->add_option("--accelerator", o->accelerator, "only this one");
  app->add_flag("--cross-validate", o->cross_validate,
                "errors on folds that were not fitted as well");
  app->add_option("--out", o->out, "write catalog files below this directory: a catalog");
  app->add_option("--markdown", o->markdown, "write the error tables to this file");
  app->add_option("--date", o->date, "of the fit, YYYY-MM-DD, for the files");
  app->footer(
      "Example:\n  orrery calibrate validation/kernels/gemm-measured.csv --accelerator h100-sxm "
      "--cross-validate");

  return command(app, o, calibrate_files);
}

}  // namespace orrery::cli
