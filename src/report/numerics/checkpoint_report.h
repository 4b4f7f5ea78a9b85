// The difference of two checkpoints beside those to reference runs, as text and as the JSON of
// `orrery numerics compare`.
#pragma once

#include <string>
#include <vector>

#include "document/description.h"
#include "document/value.h"
#include "numerics/checkpoint_difference.h"
#include "report/drawing/text_style.h"

namespace orrery {

// `references`: the first checkpoint against runs that a change should stay below, such as another
// seed or a training in fp16 instead of fp32.
struct ComparedCheckpoints {
  CheckpointDifference difference;
  std::vector<CheckpointDifference> references;
};

std::string checkpoint_text(const ComparedCheckpoints& compared, const TextStyle& style);
Value checkpoint_json(const ComparedCheckpoints& compared);
const Description& checkpoint_document();

}  // namespace orrery
