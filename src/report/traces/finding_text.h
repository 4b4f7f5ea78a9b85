// The findings of a recorded run (analyze/findings.h) in words: what costs the time, where, and
// what could be done about it. The same words stand in the terminal, in HTML and in JSON.
#pragma once

#include <string>

#include "analyze/findings.h"
#include "trace/recorded_run.h"

namespace orrery {

struct FindingText {
  std::string title;        // "Ranks wait for each other"
  std::string detail = {};  // sentences
  std::string advice = {};  // a sentence
};

// `finding` is of `analysis`, which is of `run`.
FindingText finding_text(const RecordedRun& run, const RunAnalysis& analysis,
                         const Finding& finding);

// "Exposed communication, 32.2 ms" and "66.1 %"; without a cost the title alone and "note".
std::string finding_title(const Finding& finding, const FindingText& text);
std::string finding_label(const Finding& finding);

// "8 ranks, 3 steps of 396 ms on average: 21.5 % computing, ...".
std::string headline_text(const RunAnalysis& analysis);

}  // namespace orrery
