// What all kinds of measurements have in common when parameters are fitted to them.
//
// A kind of measurement (kernels, collectives, training steps) is recognised by the columns of its
// files. It turns tables into one report per subject (an accelerator, a fabric): fitted parameters
// with standard errors, errors within the fit and on folds that were held out, and the catalog
// files that hold the result. Rows that cannot be used are reported one by one and left out; only
// a table without usable rows is an error.
//
// The caller passes the list of kinds, because a kind may belong to a folder above this one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/error_summary.h"
#include "calibrate/fit.h"
#include "catalog/catalog.h"
#include "document/comma_separated.h"
#include "outcome/result.h"

namespace orrery {

// predicted / measured - 1, of each row.
std::vector<double> relative_errors(std::span<const double> predicted,
                                    std::span<const double> measured);
// What they come to.
ErrorSummary fit_errors(std::span<const double> predicted, std::span<const double> measured);

// The same for some of the rows: "m >= 1024".
struct PartOfRows {
  std::string name;
  ErrorSummary in_sample;
  std::optional<ErrorSummary> held_out;
  std::optional<ErrorSummary> left_out = std::nullopt;
};

// One fit: "gemm bf16".
struct CalibratedPart {
  std::string name;
  std::vector<FittedParameter> parameters;
  ErrorSummary in_sample;
  std::optional<ErrorSummary> held_out;  // with cross-validation
  std::vector<PartOfRows> of_which;
  // With it, where systems are told apart: each predicted from its datasheet and other systems.
  std::optional<ErrorSummary> left_out = std::nullopt;
  // Of each row; empty in a part that repeats the rows of others.
  struct {
    std::vector<double> in_sample, held_out, left_out;
  } errors = {};
};

// A row that was left out, or that is odd: "file.csv:12", "latency_us is -3: not above 0".
struct RowProblem {
  std::string where;
  std::string what;
};

struct CalibratedFile {
  std::string path;  // below the directory of results: "kernels/h100-sxm.yaml"
  std::string text;
};

struct CalibrationReport {
  std::string kind;     // "kernels"
  std::string subject;  // "h100-sxm"
  std::vector<CalibratedPart> parts;
  std::vector<CalibratedFile> files;
  std::vector<std::string> notes;  // what was assumed or kept, a sentence each
};

// The result of one kind for its tables.
struct Calibration {
  std::vector<CalibrationReport> reports;
  std::vector<RowProblem> problems;
  std::size_t rows = 0;
  std::size_t used = 0;
};

struct CalibrationRequest {
  const Catalog* catalog = nullptr;  // never null
  std::string accelerator;           // only this one; empty: every one measured
  bool cross_validate = false;
  std::string date;  // of the fit, YYYY-MM-DD, written into the files
  int folds = 5;
};

struct MeasurementKind {
  std::string name;
  std::string columns;  // by which it is recognized, for messages
  std::function<bool(const CommaSeparated&)> recognises;
  std::function<Result<Calibration>(std::span<const CommaSeparated>, const CalibrationRequest&)>
      calibrate;
};

// Gives each table to the first kind that recognises it, all tables of a kind together; results in
// the order of `kinds`. Errors: a table that no kind recognises, with the columns of each kind; the
// first error of a kind; no usable row in any table, or too few rows of every kind. Where systems
// are told apart in several reports, one more has the errors of all their rows together.
Result<std::vector<Calibration>> calibrate(std::span<const CommaSeparated> tables,
                                           std::span<const MeasurementKind> kinds,
                                           const CalibrationRequest& request);

}  // namespace orrery
