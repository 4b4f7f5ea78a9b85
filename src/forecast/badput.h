// Where the wall-clock time of a run goes that is not training: the badput types of the goodput
// library (AI-Hypercomputer/ml-goodput-measurement, BadputType), in its names and small letters, so
// that a forecast and a recorded run can be laid side by side.
//
// Left out are the types that nothing here causes: training preparation, data loading, and "other".
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "outcome/enum_names.h"

namespace orrery {

enum class Badput {
  tpu_initialization,                       // accelerators and their communicators
  program_startup,                          // the program, its compilation, slow first steps
  unproductive_checkpoint_save_time,        // while training stands still
  unproductive_checkpoint_restore_time,     // loading the last one that survives
  wasted_progress_from_disruption,          // steps since then, done again
  infrastructure_recovery_from_disruption,  // until the accelerators can start again
  planned_interruptions,                    // while the run is down for maintenance
  fewer_replicas,                           // steps that take longer until a node is repaired
  custom_badput_events,                     // evaluation pauses
};
inline constexpr std::size_t kBadputs = 9;

// "checkpoint saves", "steps done again"
std::string_view label(Badput badput);

}  // namespace orrery
