#include "validate/held_out.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "outcome/parsed_number.h"

namespace orrery {
namespace {

const std::vector<std::string> kColumns = {"row_id", "source_id",  "scheme",
                                           "fold",   "measured_s", "predicted_s"};
constexpr double kLongest = 1e9;

}  // namespace

bool is_held_out(const CommaSeparated& table) { return table.columns == kColumns; }

Result<std::vector<HeldOutStep>> read_held_out(const CommaSeparated& table) {
  ORRERY_RETURN_IF_ERROR(table.complete());
  std::vector<HeldOutStep> out;
  std::set<std::pair<std::string, Scheme>> seen;
  for (const CommaSeparated::Record& record : table.records) {
    const auto wrong = [&](const std::string& what, std::string right) {
      return bad_input(what, table.name + ":" + std::to_string(record.line), std::move(right));
    };
    HeldOutStep step;
    step.row_id = record.fields[0];
    step.source_id = record.fields[1];
    const auto scheme = std::find_if(kSchemes.begin(), kSchemes.end(),
                                     [&](Scheme s) { return to_text(s) == record.fields[2]; });
    if (scheme == kSchemes.end()) {
      return wrong(
          "unknown scheme '" + record.fields[2].substr(0, 40) + "'",
          "fitted, five-fold, leave-one-source-out, prior-means, constant-rate or nearest-steps");
    }
    step.scheme = *scheme;
    const auto fold = parsed_number<int>(record.fields[3]);
    const double measured = parsed_number<double>(record.fields[4]).value_or(0);
    const double predicted = parsed_number<double>(record.fields[5]).value_or(0);
    if (fold.value_or(-1) < 0 ||
        !(measured > 0 && measured < kLongest && predicted > 0 && predicted < kLongest)) {
      return wrong("a fold or time is not a number above 0", "seconds, as calibrate writes them");
    }
    step.fold = *fold;
    step.measured = Seconds(measured);
    step.predicted = Seconds(predicted);
    if (!seen.insert({step.row_id, step.scheme}).second) {
      return wrong("row '" + step.row_id + "' stands twice under one scheme", "once");
    }
    out.push_back(std::move(step));
  }
  return out;
}

std::string held_out_text(const std::vector<HeldOutStep>& steps) {
  std::string out;
  for (const std::string& column : kColumns) out += (out.empty() ? "" : ",") + column;
  out += "\n";
  for (const HeldOutStep& s : steps) {
    out += fmt::format("{},{},{},{},{:.6g},{:.6g}\n", s.row_id, s.source_id, to_text(s.scheme),
                       s.fold, s.measured.value(), s.predicted.value());
  }
  return out;
}

}  // namespace orrery
