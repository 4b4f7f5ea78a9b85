#include "report/traces/trace_contents_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "document/results.h"
#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "units/picoseconds.h"

namespace orrery {
namespace {

constexpr std::size_t kShownFiles = 8;

std::string value_text(const TraceFact& fact) {
  if (const auto* number = std::get_if<std::int64_t>(&fact.value)) return grouped(*number);
  if (const auto* time = std::get_if<Seconds>(&fact.value)) return to_text(*time);
  return printable(std::get<std::string>(fact.value));
}

Value value_json(const TraceFact& fact) {
  if (const auto* number = std::get_if<std::int64_t>(&fact.value)) return Value::number(*number);
  if (const auto* time = std::get_if<Seconds>(&fact.value)) {
    return ResultCodec<Picoseconds>::write(round_to_picoseconds(*time), nullptr);
  }
  return Value::text(std::get<std::string>(fact.value));
}

std::string work_table(const TraceContents& file, const TextStyle& style) {
  const auto has = [&](const auto& field) {
    return std::any_of(file.work.begin(), file.work.end(), field);
  };
  const bool groups = has([](const TraceWork& w) { return !w.group.empty(); });
  const bool bytes = has([](const TraceWork& w) { return w.bytes.has_value(); });
  const bool times = has([](const TraceWork& w) { return w.time && w.time->value() > 0; });
  Table table(left("work", 5), left("group", 2).shown_if(groups), right("count", 4),
              right("bytes", 3).shown_if(bytes), right("time", 3).shown_if(times));
  for (const TraceWork& w : file.work) {
    table.row(w.kind, w.group, w.count,
              w.bytes ? to_text(Bytes(static_cast<double>(*w.bytes))) : "",
              w.time ? to_text(*w.time) : "");
  }
  return table.text(style);
}

}  // namespace

std::string trace_contents_text(const std::vector<TraceContents>& files, const TextStyle& style) {
  std::string out;
  for (std::size_t i = 0; i < std::min(files.size(), kShownFiles); ++i) {
    const TraceContents& file = files[i];
    out += heading(printable(file.file.substr(file.file.rfind('/') + 1)),
                   std::string(file.format->name), style);
    Table facts(left("what", 2), left("how much", 3));
    for (const TraceFact& fact : file.facts) {
      facts.row(spaced(fact.key), value_text(fact));
    }
    out += facts.text(style);
    if (!file.work.empty()) out += "\n" + work_table(file, style);
  }
  if (files.size() > kShownFiles) {
    out += fmt::format("\n  ... and {} more files (--json has all)\n", files.size() - kShownFiles);
  }
  return out;
}

Value trace_contents_json(const std::vector<TraceContents>& files) {
  Value list = Value::list();
  for (const TraceContents& file : files) {
    Value entry = Value::map();
    entry.append_member("file", Value::text(file.file));
    entry.append_member("format", Value::text(std::string(file.format->key)));
    Value facts = Value::map();
    for (const TraceFact& fact : file.facts) {
      const bool time = std::holds_alternative<Seconds>(fact.value);
      facts.append_member(fact.key + (time ? "_s" : ""), value_json(fact));
    }
    entry.append_member("facts", std::move(facts));
    Value work = Value::list();
    for (const TraceWork& w : file.work) {
      Value row = Value::map();
      row.append_member("kind", Value::text(w.kind));
      row.append_member("group", Value::text(w.group));
      row.append_member("count", Value::number(w.count));
      row.append_member("bytes", w.bytes ? Value::number(*w.bytes) : Value::null());
      row.append_member(
          "time_s", w.time ? ResultCodec<Picoseconds>::write(round_to_picoseconds(*w.time), nullptr)
                           : Value::null());
      work.append(std::move(row));
    }
    entry.append_member("work", std::move(work));
    list.append(std::move(entry));
  }
  return list;
}

}  // namespace orrery
