// What a calibration found, for a terminal, as Markdown tables and as a JSON document.
#pragma once

#include <span>
#include <string>

#include "calibrate/calibration.h"
#include "document/value.h"
#include "report/drawing/text_style.h"

namespace orrery {

// Parameters with standard errors and errors within the fit and held out, for each subject; then
// what was wrong with which rows.
std::string calibration_text(std::span<const Calibration> calibrations, const TextStyle& style);

// The tables of errors alone, one for each kind. Deterministic.
std::string calibration_markdown(std::span<const Calibration> calibrations);

// A document of kind "calibration"; described in docs/calibrate.md.
Value calibration_json(std::span<const Calibration> calibrations);

}  // namespace orrery
