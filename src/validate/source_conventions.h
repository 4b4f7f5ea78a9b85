// What a source most likely did where its tables are silent.
//
// A known source refers to its framework (framework_conventions.h) and adds what is peculiar to it:
// its cluster, facts it states elsewhere, other defaults. One entry per source (and accelerator
// where that matters), from the table "What an empty cell most likely means" of
// validation/measured/README.md. A row of any other source goes by its framework alone. Every use
// of a convention is shown with the row it was used for.
#pragma once

#include <span>
#include <string_view>

#include "validate/measured_row.h"
#include "validate/run_convention.h"

namespace orrery {

struct SourceConvention {
  std::string_view source_id;
  std::string_view accelerator = "";  // the row's accelerator begins so; empty: any
  std::string_view framework = "";    // of framework_conventions()
  void (*add)(RunConvention& c) = [](RunConvention&) {};
};

std::span<const SourceConvention> source_conventions();

// Of the first source that fits; without one, of the row's framework; without that, the defaults of
// `orrery estimate` with the `software`.
RunConvention convention_of(const MeasuredRow& row, std::string_view software = kUsualSoftware);

}  // namespace orrery
