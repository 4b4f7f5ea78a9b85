// What each training framework does where a row is silent: its software profile, how it shards,
// what it overlaps, how it pads. One entry per framework; sources refer to them by name
// (source_conventions.h), and rows of other sources by the words of their `framework` cell.
#pragma once

#include <span>
#include <string_view>

#include "validate/measured_row.h"
#include "validate/run_convention.h"

namespace orrery {

// All of them. The first, without a name, is that of an unknown framework: the defaults of `orrery
// estimate`.
std::span<const RunConvention> framework_conventions();

// The one of that name; of an unknown name, the first.
const RunConvention& framework_convention(std::string_view framework);

// Name of the entry that the words of a text mean, whatever their case ("PyTorch FSDP2",
// "NVIDIA NeMo Framework Release 24.09"); empty if none does. Megatron-LM without a release is
// "megatron-lm".
std::string_view framework_named(std::string_view text);

// The convention of a row by its framework cell alone. Releases of Megatron-LM and NeMo go by the
// year or version in the text; a Megatron-LM of no stated release is as old as its accelerator,
// unless the row names kernels or formats that came later. "ZeRO-3" in the text is its stage.
RunConvention framework_convention(const MeasuredRow& row);

}  // namespace orrery
