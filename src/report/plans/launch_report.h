// An imported launch, as text and as the JSON of `orrery import`.
#pragma once

#include <string>

#include "document/description.h"
#include "launch/launch.h"
#include "report/drawing/text_style.h"

namespace orrery {

std::string launch_text(const ImportedLaunch& launch, const TextStyle& style);
Value launch_json(const ImportedLaunch& launch);
const Description& launch_document();

// The specification as a file for orrery estimate, with a comment about what was not understood.
std::string launch_yaml(const ImportedLaunch& launch);

}  // namespace orrery
