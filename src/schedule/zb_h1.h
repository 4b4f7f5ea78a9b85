// ZB-H1 (arXiv 2401.10241), and the rule it shares with ZB-H2.
#pragma once

#include "schedule/schedule.h"

namespace orrery {

// Device i runs `ahead(i)` forwards; then, again and again, one B, one W if `cap` microbatches are
// between F and W, and one F; when there are no forwards left, one B and as many W as fit before
// the next B. What fits is told by unit times.
struct HandcraftedRule {
  int (*ahead)(int devices, int device);
  int cap;
};
Pipeline handcrafted_order(const PipelineShape& shape, const HandcraftedRule& rule);

extern const Schedule kZbH1;

}  // namespace orrery
