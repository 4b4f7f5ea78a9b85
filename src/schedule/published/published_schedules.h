// Every published schedule, one file for each family, which describes the orders and their costs,
// and cites the papers. schedule.cc lists them in the order in which they are shown.
#pragma once

#include <functional>

#include "schedule/schedule.h"

namespace orrery {

extern const Schedule kGPipe;
extern const Schedule kOneForwardOneBackward;
extern const Schedule kInterleaved1F1B;
extern const Schedule kOneForwardOneBackwardV;
extern const Schedule kBreadthFirst;
extern const Schedule kModularLga;
extern const Schedule kGis;
extern const Schedule kChimera;
extern const Schedule kHanayo;
extern const Schedule kBitPipe;
extern const Schedule kDualPipe;
extern const Schedule kDualPipeV;
extern const Schedule k2BpGPipe;
extern const Schedule k2Bp1F1B;
extern const Schedule kZeroPp;
extern const Schedule kPipeOffloadFull;
extern const Schedule kPipeOffloadHalf;
extern const Schedule kVocabulary1;
extern const Schedule kVocabulary2;
extern const Schedule kPipeDream;
extern const Schedule kPipeDream2Bw;
extern const Schedule kPipelinedBackpropagation;
extern const Schedule kSwarm;
extern const Schedule kZbH1;
extern const Schedule kZbH2;
extern const Schedule kZb1p;
extern const Schedule kZb2p;
extern const Schedule kZbV;
extern const Schedule kVMinStable;
extern const Schedule kVMin;
extern const Schedule kVHalfStable;
extern const Schedule kVHalf;
extern const Schedule kVHalfVocabulary1;
extern const Schedule kVHalfVocabulary2;
extern const Schedule kVZb;
extern const Schedule kVAuto;

// On a line, every device runs `forwards_ahead` (at most all), then one forward, one backward in
// turn, then the backwards that are left: the order of 1F1B and of what varies it.
Pipeline in_turn(const PipelineShape& shape, const std::function<int(int device)>& forwards_ahead);

}  // namespace orrery
