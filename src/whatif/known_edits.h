// Every verb of the language of what-ifs; the files of their names say what each does, with the
// equations. edit_verb.cc lists them in the order people see.
#pragma once

#include "whatif/edit_verb.h"

namespace orrery {

extern const EditVerb kScaleEdit;         // duration_edits.cc
extern const EditVerb kSetEdit;           // duration_edits.cc
extern const EditVerb kRemoveEdit;        // duration_edits.cc
extern const EditVerb kFuseEdit;          // duration_edits.cc
extern const EditVerb kCaptureEdit;       // duration_edits.cc
extern const EditVerb kBandwidthEdit;     // network_edits.cc
extern const EditVerb kLatencyEdit;       // network_edits.cc
extern const EditVerb kBucketEdit;        // network_edits.cc
extern const EditVerb kOverlapEdit;       // network_edits.cc
extern const EditVerb kEvenEdit;          // even_edit.cc
extern const EditVerb kDataRanksEdit;     // network_edits.cc
extern const EditVerb kTensorRanksEdit;   // network_edits.cc
extern const EditVerb kPipelineEdit;      // pipeline_edit.cc
extern const EditVerb kResizeEdit;        // kernel_edits.cc
extern const EditVerb kRepeatEdit;        // repeat_edit.cc
extern const EditVerb kMicrobatchesEdit;  // microbatch_edit.cc
extern const EditVerb kAcceleratorEdit;   // kernel_edits.cc
extern const EditVerb kPriceEdit;         // kernel_edits.cc

}  // namespace orrery
