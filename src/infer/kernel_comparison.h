// Our cost model beside the kernels of a recorded run: each row priced by the model that `orrery
// estimate` uses, and the errors by class.
//
//   product        KernelModel::gemm, sustained and uncached, as inside a step; a batch is groups
//   attention      KernelModel::attention of the kernel that ran
//   memory-bound   KernelModel::memory_bound of the bytes, and a floor for each further kernel
//   communication  collective() or point_to_point() over the accelerator's usual servers, the
//                  group's ranks next to each other
//
// Errors are predicted / measured - 1, each row once whatever its calls; totals are over all calls.
// Rows whose measurement still holds waiting have a prediction but are no part of the errors. What
// is known to be waiting is no part of the rows' times: with it the classes add up to the total.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/error_summary.h"
#include "catalog/catalog.h"
#include "infer/recorded_kernels.h"
#include "outcome/result.h"

namespace orrery {

struct ComparedKernel {
  RecordedKernel recorded;
  std::optional<Seconds> predicted;  // of one call
  [[nodiscard]] double error() const { return predicted ? *predicted / recorded.time - 1 : 0; }
};

struct ComparedClass {
  std::string name;  // "product bf16", "attention forward", "elementwise", "all-reduce"
  std::size_t rows = 0;
  std::int64_t calls = 0;
  Seconds total;                       // of all ranks, as it was, without waiting
  Seconds recorded;                    // all calls, the median call standing for each
  Seconds predicted;                   // all calls; without a model zero
  std::optional<ErrorSummary> errors;  // of rows that are predicted and hold no waiting
  std::string why;                     // without a prediction: the first row's reason
};

struct KernelComparison {
  std::string accelerator;
  std::vector<ComparedKernel> kernels;  // most total time first
  std::vector<ComparedClass> classes;   // most time first
  ErrorSummary errors;                  // of all rows with one
  Seconds total;                        // of all device work of all ranks
  Seconds waiting;                      // of it, communications wait for other ranks
  Seconds covered;                      // of it, rows that are compared, without waiting
  std::vector<std::string> assumed;     // what was defaulted, a sentence each
};

// `accelerator`: a catalog name; empty: the recorded device. Errors: no such entry, the recording
// names no device the catalog has, no work of a device.
Result<KernelComparison> kernel_comparison(std::span<const RecordedTrace> run,
                                           const Catalog& catalog,
                                           const std::string& accelerator = "");

}  // namespace orrery
