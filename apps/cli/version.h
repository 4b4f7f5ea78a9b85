// Which program this is.
#pragma once

namespace orrery::cli {

// "orrery 0.1.0 (commit 1a2b3c4d5e, 2026-11-25)"; a build of sources without their repository names no
// commit. Written by cmake/version.cmake.
const char* version_text();

}  // namespace orrery::cli
