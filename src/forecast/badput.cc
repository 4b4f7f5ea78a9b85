#include "forecast/badput.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, kBadputs> kBadputLabels = {"initialization of accelerators",
                                                                  "program start-up",
                                                                  "checkpoint saves",
                                                                  "checkpoint restores",
                                                                  "steps done again",
                                                                  "recovery",
                                                                  "planned interruptions",
                                                                  "fewer replicas",
                                                                  "evaluation"};

}  // namespace

std::string_view label(Badput badput) { return kBadputLabels[static_cast<std::size_t>(badput)]; }

}  // namespace orrery
