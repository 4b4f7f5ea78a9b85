// The page of `orrery trace whatif --html`: the run before and after, with charts.
#pragma once

#include <span>
#include <string>

#include "whatif/whatif.h"

namespace orrery {

// `graph` is the run before the edits. One simulation, for what its devices did.
std::string whatif_html(std::span<const RecordedTrace> traces, const RunGraph& graph,
                        const WhatIf& whatif);

}  // namespace orrery
