// The kind of measurement "collectives": one report and one file of catalog/collectives/ for each
// accelerator generation that was measured.
//
// Cross-validated by shape (kind, ranks and payload) within a generation: a shape measured on two
// accelerators or with two element types is held out on both. Errors are shown for all rows and by
// kind, by payload and by number of ranks.
#pragma once

#include "calibrate/calibration.h"

namespace orrery {

MeasurementKind collective_measurement_kind();

}  // namespace orrery
