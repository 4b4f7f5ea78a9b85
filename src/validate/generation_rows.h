// Measured times of images, videos and sampler steps beside their predictions.
//
// A table has the columns source, model, accelerator, gpus, images, resolution ("1280x720"),
// frames, steps, guidance (on, off), plan (text form), software, precision, of (image: everything
// that `orrery generate` counts; step: one step of the denoiser), measured_s, and not_modelled, the
// reason why a row is left out. The error of a row is predicted / measured - 1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "document/comma_separated.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

struct GenerationRow {
  std::string where;  // "xdit.csv:3"
  std::string what;   // "flux.1-dev 1024x1024 on h100-sxm:4, diffusers"
  std::string plan;
  Seconds measured;
  std::optional<Seconds> predicted;
  std::string left_out;  // why there is no prediction
  [[nodiscard]] double error() const { return predicted ? *predicted / measured - 1 : 0; }
};

struct GenerationErrors {
  std::vector<GenerationRow> rows;  // in the order of the files
  std::int64_t predicted = 0;
  double median = 0;  // of absolute errors
  double p90 = 0;
};

// Errors: a column that is missing, a record that cannot be read. A row that cannot be predicted
// says why.
Result<GenerationErrors> generation_errors(const std::vector<CommaSeparated>& tables,
                                           const Catalog& catalog);

}  // namespace orrery
