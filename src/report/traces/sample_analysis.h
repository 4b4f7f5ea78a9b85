// The document of an analyzed recording, for tests that must not see the analysis's own headers.
// Defined in analysis_report_test.cc.
#pragma once

#include <string>

#include "document/value.h"

namespace orrery {

// `files` stand in validation/traces.
Value sample_analysis_json(const std::string& files);

}  // namespace orrery
