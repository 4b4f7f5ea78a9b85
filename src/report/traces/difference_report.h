// The difference of two runs as a table for a terminal, as a page and as the JSON of
// `orrery trace diff`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/difference.h"
#include "document/description.h"
#include "report/drawing/text_style.h"
#include "trace/recorded_run.h"

namespace orrery {

inline constexpr int kDifferenceSchemaVersion = 1;

struct DifferenceSubject {
  std::string first;  // what the runs are called: their file
  std::string second;
  int rows = 20;           // that the table shows
  bool predicted = false;  // the second is a prediction: lines are kinds of work
  RunSource first_source = RunSource::profiler;
  RunSource second_source = RunSource::profiler;
  std::vector<std::string> notes = {};  // on what is predicted, a sentence each
};

// " (simulated)" behind the name of a run whose times nobody recorded.
std::string_view simulated_mark(RunSource source);

std::string difference_text(const Difference& difference, const DifferenceSubject& subject,
                            const TextStyle& style);
// The page of `orrery trace diff --html`.
std::string difference_html(const Difference& difference, const DifferenceSubject& subject);

// Every row, with its causes in seconds, which add up to its difference.
Value difference_json(const Difference& difference, const DifferenceSubject& subject);
const Description& difference_document();

}  // namespace orrery
