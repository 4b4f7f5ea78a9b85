// Our cost model beside the kernels of a recorded run, as text and as the JSON of `orrery trace
// kernels`.
#pragma once

#include <string>

#include "document/description.h"
#include "infer/kernel_comparison.h"
#include "report/drawing/text_style.h"

namespace orrery {

inline constexpr int kKernelSchemaVersion = 1;

// `top`: rows of the table of kernels, those of the greatest difference first.
std::string kernel_text(const KernelComparison& comparison, std::size_t top,
                        const TextStyle& style);
Value kernel_json(const KernelComparison& comparison);
const Description& kernel_document();

}  // namespace orrery
