// What lies between a failure and the next step: the stages of a restart, one after the other.
//
//   restart = sum over stages of (share of restarts that have the stage) x time,
//
// plus the loading of the checkpoint (checkpoint.h). Times that grow with the job are given at
// numbers of accelerators and are linear in their logarithm between and above them; below the least
// number, its time is taken.
// Facts of catalog/restarts. Left out: stages that overlap.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "document/provenance.h"
#include "forecast/badput.h"
#include "forecast/time_law.h"

namespace orrery {

struct TimeAtScale {
  std::int64_t accelerators = 0;
  Seconds time;
  bool operator==(const TimeAtScale&) const = default;
};
Fields<TimeAtScale> fields_of(const TimeAtScale*);

struct RestartStage {
  std::string name;
  Badput badput = Badput::infrastructure_recovery_from_disruption;
  TimeLaw time;
  std::vector<TimeAtScale> at_scale = {};  // in place of `time`
  double share = 1;                        // of the restarts that have it
  bool first_start = false;                // the first start of a run has it as well
  bool operator==(const RestartStage&) const = default;
};
Fields<RestartStage> fields_of(const RestartStage*);
// Errors: a share outside [0, 1], impossible times, scales that do not ascend.
Result<void> check(const RestartStage& stage);

struct RestartTimes {
  std::string name;
  std::string title;
  std::vector<RestartStage> stages;
  bool includes_restore = false;  // the loading of the checkpoint is in them
  Provenance provenance;
  bool operator==(const RestartTimes&) const = default;
};
Fields<RestartTimes> fields_of(const RestartTimes*);
Result<void> check(const RestartTimes& times);

// From the catalog. Errors: unknown name; a stage that breaks check().
Result<RestartTimes> load_restart_times(const Catalog& catalog, std::string_view name);

// The stages of a job of that many accelerators; `at_scale` has become `time`.
std::vector<RestartStage> stages_at(const RestartTimes& times, std::int64_t accelerators);
Seconds mean_of(const std::vector<RestartStage>& stages);

}  // namespace orrery
