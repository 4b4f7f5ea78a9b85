// The calibration of a relative, carried to an accelerator of which no kernel was measured.
//
// What a kernel spends beside the matrix units (exponentials, loads from shared memory, prologues)
// takes the same clocks on every processor of an architecture, while matrix units differ: those of
// L20 and RTX 4090 have half the rate of L40S, those of H20 a quarter of H100's. With r FLOPs a
// clock and processor at peak, q = r'/r, and T = 1/f the time over that at peak,
//
//   T' = M + q (T - M)        1/M share of the peak within reach of the instructions, mostly 1
//
// for attention and for products of every tile width (so that w0 changes as well), and times of
// prologues, which are kept in units of the main loop, change with them. Attention kernels that the
// relative lacks are those of the architecture's next relative in catalog/kernels/default.yaml,
// whose instructions they use. A product loses as much as the relative's once it runs for long, or
// less where its power suffices for the energy of the relative's FLOPs.
//
// Kernels with synchronous instructions (mma.sync: flash generations 1 and 2) reach 62.9 % of the
// peak of Hopper: Luo et al., arXiv 2402.13499 s.4. Measured attention that the equation meets:
// validation/kernels/attention-elsewhere-published.csv.
//
// Processors whose matrix units have the same rate, within a tenth, take the relative's figures as
// they are. Not carried: memory fractions, the path of a processor to memory, fixed times, and
// anything from one architecture to another.
#pragma once

#include <vector>

#include "catalog/catalog.h"
#include "cluster/accelerator.h"
#include "cost/kernel/kernel_parameters.h"

namespace orrery {

// Errors: those of reading the calibrations and accelerators that `relative` names.
Result<KernelCalibration> carried_calibration(const Catalog& catalog,
                                              const KernelRelative& relative,
                                              const Accelerator& accelerator);

// Adds the attention kernels that a calibration lacks, of its own accelerator or of a relative, from
// the other relatives of the accelerator's architecture, carried. Returns what is thereby assumed.
Result<std::vector<KernelAssumption>> add_missing_kernels(KernelCalibration& calibration,
                                                          const Catalog& catalog,
                                                          const Accelerator& accelerator);

}  // namespace orrery
