// The answers of `orrery numerics`, as text, as JSON and as pages.
#pragma once

#include <string>
#include <vector>

#include "document/description.h"
#include "document/value.h"
#include "numerics/adam_statistics.h"
#include "numerics/checkpoint_difference.h"
#include "numerics/deviation.h"
#include "numerics/small_transformer.h"
#include "numerics/vector_codec.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"

namespace orrery {

// Deviations of an experiment in narrow formats: attention, gemm, allreduce and quantize.
Table deviation_table(const DeviationStudy& study);
std::string settings_of(const DeviationStudy& study);  // "format: bf16; queries: 1024"
std::string deviation_text(const DeviationStudy& study, const TextStyle& style);
Value deviation_json(const DeviationStudy& study);
const Description& deviation_document();

// How far numeric changes move the weights of a small transformer (train): the table is at a
// quarter, at half and at the end of the training.
Table training_table(const TrainingStudy& study);
std::string training_text(const TrainingStudy& study, const TextStyle& style);
Value training_json(const TrainingStudy& study);
const Description& training_document();

// The difference of two checkpoints beside those to reference runs (compare).
//
// `references`: the first checkpoint against runs that a change should stay below, such as another
// seed or a training in fp16 instead of fp32.
struct ComparedCheckpoints {
  CheckpointDifference difference;
  std::vector<CheckpointDifference> references;
};

std::string checkpoint_text(const ComparedCheckpoints& compared, const TextStyle& style);
Value checkpoint_json(const ComparedCheckpoints& compared);
const Description& checkpoint_document();

// What Adam makes of gradients (adam).
std::string adam_text(const AdamStudy& study, const TextStyle& style);
Value adam_json(const AdamStudy& study);
const Description& adam_document();

// What error-bounded compression makes of embedding tables (vectors).
std::string vector_text(const VectorStudy& study, const TextStyle& style);
Value vector_json(const VectorStudy& study);
const Description& vector_document();

// As self-contained pages: a plot of the deviations and the table of the text.
//
// Relative and largest deviation of each way to compute over what is swept; where nothing is, the
// table alone.
std::string deviation_html(const DeviationStudy& study);

// Mean and Wasserstein distance of the weights over the steps of the training, of flash attention
// and of the two references, for each seed.
std::string training_html(const TrainingStudy& study);

}  // namespace orrery
