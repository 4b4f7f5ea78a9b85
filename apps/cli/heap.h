// How the heap treats memory that is given back.
#pragma once

namespace orrery::cli {

// Keeps it for what is asked for next instead of returning it to the system: for commands that make
// and drop the graphs of thousands of plans, which would spend a quarter of their time on pages
// that come and go. Of other C libraries than glibc nothing is changed.
void keep_freed_memory();

}  // namespace orrery::cli
