// Classes of device work that differ in how they are launched.
#pragma once

#include <cstdint>

#include "trace/recorded_trace.h"

namespace orrery {

enum class WorkClass : std::uint8_t { kernel, communication, copy, fill };
inline constexpr std::size_t kWorkClasses = 4;

// Of a kernel, copy or fill. Looks at the name: DeviceWork keeps it for every event.
WorkClass work_class(const RecordedTrace& trace, std::size_t event);

}  // namespace orrery
