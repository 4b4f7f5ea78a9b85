// Device time by what the user marked: annotations (record_function) and, where the recording has
// Python stacks, modules of the model (nn.Module).
//
// Device work belongs to the innermost section around its launch call, on the thread of the call.
// Work of the backward pass is launched by a thread of its own: it belongs to the section of the
// forward operator that autograd derived it from, as `backward`, if the recording has arrows from
// forward to backward; otherwise to the innermost section that is open at that moment on the thread
// with most sections. Modules are taken together by class: Linear_0 and Linear_1 are
// instances of Linear. A section's device time includes that of the sections in it; its own
// time does not. Marks of the profiler's steps and of autograd's internals are not sections.
//
// Source: facebookresearch/HolisticTraceAnalysis f4d0062 (user annotation breakdown); AMD-AGI/
// TraceLens 171dd747 (module view). O(events x nesting).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/spread.h"
#include "outcome/enum_names.h"
#include "trace/launch_links.h"

namespace orrery {

enum class SectionKind : std::uint8_t { annotation, module };

struct SectionRow {
  SectionKind kind = SectionKind::annotation;
  std::string name;            // of an annotation; the class of a module
  std::int64_t instances = 1;  // of a class, by name
  std::uint32_t depth = 0;     // sections around the first of them
  Spread host = {};
  std::int64_t device_ns = 0;    // with the sections in it, forward and backward
  std::int64_t backward_ns = 0;  // of device_ns: by arrows from forward operators
  std::int64_t own_ns = 0;       // of device_ns: not in a section in it
  std::int64_t launched = 0;     // pieces of device work
};

// By name and kind; most device time first, then most host time, then by name.
std::vector<SectionRow> section_table(const RecordedTrace& trace, const LaunchLinks& links);

}  // namespace orrery
