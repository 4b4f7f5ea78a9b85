#include "forecast/badput.h"

namespace orrery {
namespace {

constexpr std::array kBadputNames = std::to_array<EnumName<Badput>>({
    {Badput::tpu_initialization, "tpu_initialization"},
    {Badput::program_startup, "program_startup"},
    {Badput::unproductive_checkpoint_save_time, "unproductive_checkpoint_save_time"},
    {Badput::unproductive_checkpoint_restore_time, "unproductive_checkpoint_restore_time"},
    {Badput::wasted_progress_from_disruption, "wasted_progress_from_disruption"},
    {Badput::infrastructure_recovery_from_disruption, "infrastructure_recovery_from_disruption"},
    {Badput::planned_interruptions, "planned_interruptions"},
    {Badput::fewer_replicas, "fewer_replicas"},
    {Badput::custom_badput_events, "custom_badput_events"},
});

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

std::span<const EnumName<Badput>> names_of(Badput) { return kBadputNames; }

std::string_view label(Badput badput) { return kBadputLabels[static_cast<std::size_t>(badput)]; }

}  // namespace orrery
