// Deviations of an experiment in narrow formats, as text and as the JSON of `orrery numerics`
// attention, gemm, allreduce and quantize.
#pragma once

#include <string>

#include "document/description.h"
#include "document/value.h"
#include "numerics/deviation.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"

namespace orrery {

Table deviation_table(const DeviationStudy& study);
std::string deviation_text(const DeviationStudy& study, const TextStyle& style);
Value deviation_json(const DeviationStudy& study);
const Description& deviation_document();

}  // namespace orrery
