#include "forecast/fault_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "document/comma_separated.h"
#include "document/fields.h"
#include "document/value.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr Seconds kLogDay{86400};
constexpr double kLastDay = 36525;  // a century
constexpr std::size_t kRowsNamed = 3;

// Rows that cannot be, in the order in which they were met.
class Impossible {
 public:
  void add(std::string row, std::string_view why) {
    if (++count_ <= kRowsNamed) {
      rows_ += (rows_.empty() ? "" : "; ") + std::move(row) + " " + std::string(why);
    }
  }
  [[nodiscard]] bool none() const { return count_ == 0; }
  [[nodiscard]] Failure failure(const std::string& name) const {
    return fail(
        ErrorCode::bad_input,
        fmt::format("{} {} impossible times: {}{}", count_, count_ == 1 ? "row has" : "rows have",
                    rows_, count_ > kRowsNamed ? "; ..." : ""),
        name, "times are days since the start of the log, as numbers");
  }

 private:
  std::size_t count_ = 0;
  std::string rows_;
};

std::optional<double> day(std::string_view text) {
  const auto value = parsed_number<double>(text);
  return value && *value >= 0 && *value <= kLastDay ? value : std::nullopt;
}

constexpr std::string_view kNoTime = "has no time from 0 to 36525 days";

std::string text_of(const Value& event, std::string_view key) {
  const Value* v = event.find(key);
  return v != nullptr ? v->scalar_text() : "";
}

Result<FaultLog> log_of_events(const Document& document) {
  if (document.root.kind() != Value::Kind::list) {
    return bad_input(
        "expected a list of events", document.name,
        "write [{\"node_id\": ..., \"event_time\": ..., \"event_type\": \"fault_start\"}, "
        "...]");
  }
  FaultLog out{document.name, {}};
  std::map<std::tuple<std::string, std::string, std::string>, std::deque<std::size_t>> open;
  Impossible impossible;
  double last = 0;
  std::size_t number = 0;
  for (const Value& event : document.root.items()) {
    const std::string row = fmt::format("event {} (line {})", ++number, event.line());
    const std::string node = text_of(event, "node_id");
    const std::string type = text_of(event, "event_type");
    if (node.empty() || (type != "fault_start" && type != "fault_end")) {
      return bad_input(row + " needs a node_id and an event_type, fault_start or fault_end",
                       document.name);
    }
    const std::optional<double> time = day(text_of(event, "event_time"));
    if (!time) {
      impossible.add(row, kNoTime);
      continue;
    }
    if (*time < last) {
      impossible.add(row, fmt::format("comes after day {}, on day {}", last, *time));
      continue;
    }
    last = *time;
    const Value* of = event.find("fault_type");
    const std::string kind = of != nullptr ? text_of(*of, "Class") : "";
    auto& faults = open[{node, kind, of != nullptr ? text_of(*of, "Desc") : ""}];
    if (type == "fault_start") {
      faults.push_back(out.faults.size());
      out.faults.push_back({node, kind, *time * kLogDay, std::nullopt});
    } else if (faults.empty()) {
      impossible.add(row, fmt::format("ends on day {} what has not started", *time));
    } else {
      out.faults[faults.front()].end = *time * kLogDay;
      faults.pop_front();
    }
  }
  if (!impossible.none()) return impossible.failure(document.name);
  return out;
}

Result<FaultLog> log_of_table(const CommaSeparated& table) {
  ORRERY_RETURN_IF_ERROR(table.complete());
  const auto column = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto it = std::ranges::find(table.columns, name);
    if (it == table.columns.end()) return std::nullopt;
    return static_cast<std::size_t>(it - table.columns.begin());
  };
  const auto node = column("node");
  const auto start = column("start");
  const auto end = column("end");
  const auto kind = column("class");
  if (!node || !start || !end) {
    return bad_input("a log of faults needs the columns node, start and end", table.name,
                     "write node,start,end,class with times in days");
  }
  FaultLog out{table.name, {}};
  Impossible impossible;
  for (const CommaSeparated::Record& record : table.records) {
    const std::string row = fmt::format("line {}", record.line);
    const std::optional<double> from = day(record.fields[*start]);
    const std::string& ended = record.fields[*end];
    const std::optional<double> to = day(ended);
    if (!from || (!to && !ended.empty())) {
      impossible.add(row, kNoTime);
    } else if (to && *to < *from) {
      impossible.add(row, fmt::format("ends on day {} and starts on day {}", *to, *from));
    } else {
      out.faults.push_back({record.fields[*node], kind ? record.fields[*kind] : "", *from * kLogDay,
                            to ? std::optional(*to * kLogDay) : std::nullopt});
    }
  }
  if (!impossible.none()) return impossible.failure(table.name);
  std::ranges::stable_sort(out.faults, {}, &Fault::start);
  return out;
}

}  // namespace

Result<FaultLog> parse_fault_log(std::string_view text, std::string name) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '[' || text[first] == '{');
  Result<FaultLog> log = bad_input("");
  if (json) {
    ORRERY_TRY(const Document document, parse_json(text, std::move(name)));
    log = log_of_events(document);
  } else {
    ORRERY_TRY(const CommaSeparated table, parse_comma_separated(text, std::move(name)));
    log = log_of_table(table);
  }
  if (log && log->faults.empty()) {
    return bad_input("a log without faults", log->name);
  }
  return log;
}

Result<FaultLog> read_fault_log(const std::string& path) {
  ORRERY_TRY(const std::string text, read_file(path));
  return parse_fault_log(text, path == "-" ? "standard input" : path);
}

}  // namespace orrery
