#include "whatif/edit_verb.h"

#include <array>

#include "whatif/known_edits.h"
#include "whatif/whatif.h"

namespace orrery {

std::span<const EditVerb* const> edit_verbs() {
  static constexpr std::array kVerbs = {
      &kScaleEdit,  //
      &kSetEdit,         &kRemoveEdit,   &kFuseEdit,    &kCaptureEdit, &kBandwidthEdit,
      &kLatencyEdit,     &kBucketEdit,   &kOverlapEdit, &kEvenEdit,    &kDataRanksEdit,
      &kTensorRanksEdit, &kPipelineEdit, &kResizeEdit,  &kRepeatEdit,  &kMicrobatchesEdit,
      &kAcceleratorEdit, &kPriceEdit,
  };
  return kVerbs;
}

std::optional<EditConflict> counted_twice(const Edit& before, const Edit& edit) {
  if (before.verb != edit.verb || before.where != edit.where) return std::nullopt;
  return EditConflict{": both count from what is recorded", "write one of them"};
}

std::string latency_without_link(const Edit& edit) {
  return edit.time && !edit.rate ? "'latency' needs 'link RATE'" : "";
}

Result<void> changed_something(const AppliedEdit& edit) {
  if (edit.changed > 0 || !edit.assumed.empty()) return {};
  return bad_input("nothing is selected", edit.text,
                   "orrery trace analyze lists kernels, operators and communications");
}

}  // namespace orrery
