#include "measured/specification_of_row.h"

#include <algorithm>

#include "estimate/spec.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

// A comment ends with its line, so line ends inside a cell become spaces.
std::string comment(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return "# " + text + "\n";
}

}  // namespace

std::string specification_of_row(const MeasuredRow& row, const RowScenario& scenario,
                                 const Catalog& catalog) {
  std::string out = comment("row " + row.row_id + " of " + row.place());
  if (!row.source.empty()) out += comment("published in " + row.source);
  if (row.step_time) out += comment("measured step time " + to_text(*row.step_time));
  if (!scenario.assumed.empty()) out += comment("assumed where the row states nothing:");
  for (const std::string& text : scenario.assumed) out += comment("  " + text);
  return out + to_yaml(specification(scenario.scenario, catalog));
}

}  // namespace orrery
