#include "lower/step_stream.h"

#include <array>

#include "schedule/pipeline_wiring.h"

namespace orrery {
namespace {

struct Label {
  std::string_view name;
  StreamRole role;
};
constexpr std::array<Label, kStepStreams> kLabels = {{
    {"compute", StreamRole::compute},
    {"tensor-parallel communication", StreamRole::communication},
    {"context-parallel communication", StreamRole::communication},
    {"expert-parallel communication", StreamRole::communication},
    {kForwardSends, StreamRole::communication},
    {kBackwardSends, StreamRole::communication},
    {"data-parallel communication", StreamRole::communication},
    {"host", StreamRole::host},
    {kOffloads, StreamRole::copy},
    {kReloads, StreamRole::copy},
    {"storage", StreamRole::copy},
    {"averaging of copies", StreamRole::communication},
}};

}  // namespace

std::string_view label(StepStream stream) { return kLabels[static_cast<std::size_t>(stream)].name; }

void add_streams(GraphBuilder& builder, std::uint32_t rank_class, std::size_t count) {
  for (std::size_t s = 0; s < count; ++s) {
    builder.add_stream({rank_class, kLabels[s].role, builder.intern(kLabels[s].name),
                        static_cast<std::uint32_t>(s)});
  }
}

}  // namespace orrery
