// Predictions of measured steps that the calibration had not seen, as a file.
//
// Columns: row_id, source_id, scheme, fold, measured_s, predicted_s. Schemes: "fitted" (no fold:
// conditions of the catalog, which have seen the row); "five-fold", where all steps of one model in
// one source share a fold; "leave-one-source-out" (the fold is the source's place), and of sources
// left out what they are held against: "prior-means", this model without any fit, and
// "constant-rate" and "nearest-steps" (validate/baselines.h), no model. Written by
// `orrery calibrate --cross-validate`, read by `orrery validate`; a test makes the file again from
// the rows.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "document/comma_separated.h"
#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

enum class Scheme {
  fitted,
  five_fold,
  leave_one_source_out,
  prior_means,
  constant_rate,
  nearest_steps
};
template <>
inline constexpr char kWordSeparator<Scheme> = '-';  // "five-fold"
inline constexpr std::array kSchemes = {
    Scheme::fitted,      Scheme::five_fold,     Scheme::leave_one_source_out,
    Scheme::prior_means, Scheme::constant_rate, Scheme::nearest_steps};

struct HeldOutStep {
  std::string row_id, source_id;
  Scheme scheme = Scheme::fitted;
  int fold = 0;
  Seconds measured;
  Seconds predicted;
};

bool is_held_out(const CommaSeparated& table);
// Errors: unknown scheme, a time that is no number above 0, a row twice in one scheme.
Result<std::vector<HeldOutStep>> read_held_out(const CommaSeparated& table);
std::string held_out_text(const std::vector<HeldOutStep>& steps);

}  // namespace orrery
