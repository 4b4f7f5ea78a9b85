// Whether an event of the host is the loading of training data, as PyTorch marks it:
// "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" (torch/utils/data/dataloader.py).
#pragma once

#include "trace/recorded_trace.h"

namespace orrery {

inline bool is_data_loading(const RecordedTrace& trace, std::size_t event) {
  return (trace.kind[event] == EventKind::annotation ||
          trace.kind[event] == EventKind::cpu_operator) &&
         trace.name_of(event).starts_with("enumerate(DataLoader)");
}

}  // namespace orrery
