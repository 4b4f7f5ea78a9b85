#include "report/traces/kernel_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/drawing/time_axis.h"

namespace orrery {
namespace {

std::string time(Seconds t) { return tick_text(t, {}); }

// Time of all calls by which a row is off.
double difference(const ComparedKernel& k) {
  return k.predicted ? std::abs((*k.predicted - k.recorded.time).value()) *
                           static_cast<double>(k.recorded.calls)
                     : 0;
}

// Rows that count in errors: predicted, and without waiting.
bool has_error(const ComparedKernel& k) {
  return k.predicted && !k.recorded.waiting_included && k.recorded.time > Seconds(0);
}

// Of the time of all calls: how much is predicted too short or too long, and what is left of that
// in the sum.
struct TimeWeighted {
  double recorded_s = 0;
  double predicted_s = 0;
  double off_s = 0;

  void add(const ComparedKernel& k) {
    const auto calls = static_cast<double>(k.recorded.calls);
    recorded_s += k.recorded.time.value() * calls;
    predicted_s += k.predicted->value() * calls;
    off_s += difference(k);
  }
  [[nodiscard]] double error() const { return recorded_s > 0 ? off_s / recorded_s : 0; }
  [[nodiscard]] double bias() const { return recorded_s > 0 ? predicted_s / recorded_s - 1 : 0; }
};

TimeWeighted weighted(const KernelComparison& c) {
  TimeWeighted sum;
  for (const ComparedKernel& k : c.kernels) {
    if (has_error(k)) sum.add(k);
  }
  return sum;
}

Table class_table(const KernelComparison& c) {
  Table table({{"", Align::left, 9},
               {"rows", Align::right, 5},
               {"calls", Align::right, 4},
               {"all ranks", Align::right, 9},
               {"recorded", Align::right, 9},
               {"predicted", Align::right, 9},
               {"", Align::right, 8},
               {"median error", Align::right, 9},
               {"p90", Align::right, 6}});
  for (const ComparedClass& k : c.classes) {
    const bool predicted = k.predicted > Seconds(0);
    table.add_row({{printable(k.name)},
                   {grouped(static_cast<std::int64_t>(k.rows))},
                   {grouped(k.calls)},
                   {time(k.total)},
                   {time(k.recorded)},
                   {predicted ? time(k.predicted) : "-"},
                   {k.errors ? signed_percent(k.predicted / k.recorded - 1) : ""},
                   {k.errors ? percent(k.errors->median) : (predicted ? "with waiting" : "")},
                   {k.errors ? percent(k.errors->p90) : ""}});
  }
  if (c.waiting > Seconds(0)) {
    table.add_row({{"waiting"}, {""}, {""}, {time(c.waiting)}, {""}, {""}, {""}, {""}, {""}});
  }
  return table;
}

}  // namespace

std::string kernel_text(const KernelComparison& c, std::size_t top, const TextStyle& style) {
  const Seconds work = c.total - c.waiting;
  const double covered = work > Seconds(0) ? c.covered / work : 0;
  std::string sentence = fmt::format("{} of {} of device time is compared with the model of {}",
                                     percent(covered), time(work), c.accelerator);
  if (c.waiting > Seconds(0)) {
    sentence += fmt::format(
        "; for another {} communications wait for other ranks, which no model of kernels has",
        time(c.waiting));
  }
  if (c.errors.rows > 0) {
    const TimeWeighted by_time = weighted(c);
    sentence += fmt::format(
        ". Weighted by time the error is {} and the sum {}; each of {} rows counted once, the "
        "median error is {}, the 90th percentile {}, the bias {}",
        percent(by_time.error()), signed_percent(by_time.bias()), c.errors.rows,
        percent(c.errors.median), percent(c.errors.p90), signed_percent(c.errors.bias));
  }
  std::string out = wrapped(sentence + ".", 2, style);
  out += heading("By class",
                 "all ranks: as it was; recorded: calls at their median; errors: each row once",
                 style);
  out += class_table(c).text(style);

  std::vector<const ComparedKernel*> rows;
  for (const ComparedKernel& k : c.kernels) {
    if (has_error(k)) rows.push_back(&k);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ComparedKernel* a, const ComparedKernel* b) {
    return difference(*a) > difference(*b);
  });
  if (rows.size() > top) rows.resize(top);
  if (!rows.empty()) {
    out += heading("Kernels that are off most", "one call", style);
    Table table({{"", Align::left, 9},
                 {"calls", Align::right, 5},
                 {"recorded", Align::right, 9},
                 {"predicted", Align::right, 9},
                 {"error", Align::right, 9},
                 {"shapes", Align::left, 3}});
    for (const ComparedKernel* k : rows) {
      const RecordedKernel& r = k->recorded;
      table.add_row({{printable(r.name)},
                     {grouped(r.calls)},
                     {time(r.time)},
                     {time(*k->predicted)},
                     {signed_percent(k->error())},
                     {r.kind == RecordedKernelKind::communication
                          ? fmt::format("{} B over {} ranks", compact(r.moved.value()), r.ranks)
                          : printable(r.shapes)}});
    }
    out += table.text(style);
  }
  bool any = false;
  for (const ComparedClass& k : c.classes) {
    if (k.predicted > Seconds(0) || k.why.empty()) continue;
    if (!any) out += heading("Not compared", "", style);
    any = true;
    out += wrapped(fmt::format("{}, {}: {}", k.name, time(k.recorded), k.why), 2, style);
  }
  for (const std::string& text : c.assumed) out += wrapped("Assumed: " + text, 2, style);
  return out;
}

Value kernel_json(const KernelComparison& c) {
  Value out = Value::map();
  out.set("schema_version", Value::number(std::int64_t{kKernelSchemaVersion}));
  out.set("kind", Value::text("trace-kernels"));
  out.set("accelerator", Value::text(c.accelerator));
  out.set("total_s", Value::number(c.total.value()));
  out.set("waiting_s", Value::number(c.waiting.value()));
  out.set("covered_s", Value::number(c.covered.value()));
  out.set("errors", value_of(c.errors, ErrorKeys::brief));
  const TimeWeighted by_time = weighted(c);
  Value time_weighted = Value::map();
  time_weighted.set("recorded_s", Value::number(by_time.recorded_s));
  time_weighted.set("predicted_s", Value::number(by_time.predicted_s));
  time_weighted.set("error", Value::number(by_time.error()));
  time_weighted.set("bias", Value::number(by_time.bias()));
  out.set("errors_by_time", std::move(time_weighted));
  Value classes = Value::list();
  for (const ComparedClass& k : c.classes) {
    Value one = Value::map();
    one.set("name", Value::text(printable(k.name)));
    one.set("rows", Value::number(static_cast<std::int64_t>(k.rows)));
    one.set("calls", Value::number(k.calls));
    one.set("total_s", Value::number(k.total.value()));
    one.set("recorded_s", Value::number(k.recorded.value()));
    const bool predicted = k.predicted > Seconds(0);
    one.set("predicted_s", predicted ? Value::number(k.predicted.value()) : Value::null());
    one.set("errors", k.errors ? value_of(*k.errors, ErrorKeys::brief) : Value::null());
    one.set("not_compared_because", k.why.empty() ? Value::null() : Value::text(k.why));
    classes.append(std::move(one));
  }
  out.set("classes", std::move(classes));
  Value kernels = Value::list();
  for (const ComparedKernel& k : c.kernels) {
    const RecordedKernel& r = k.recorded;
    Value one = Value::map();
    one.set("name", Value::text(printable(r.name)));
    one.set("class", Value::text(printable(r.of_class)));
    one.set("shapes", Value::text(printable(r.shapes)));
    one.set("kernel", Value::text(printable(r.kernel)));
    one.set("format", r.format ? Value::text(std::string(name_of(*r.format))) : Value::null());
    one.set("bytes", r.moved > Bytes(0) ? Value::number(r.moved.value()) : Value::null());
    one.set("ranks", Value::number(r.ranks));
    one.set("calls", Value::number(r.calls));
    one.set("recorded_s", Value::number(r.time.value()));
    one.set("total_s", Value::number(r.total.value()));
    one.set("waiting_s", Value::number(r.waiting.value()));
    one.set("waiting_included", Value::boolean(r.waiting_included));
    one.set("predicted_s", k.predicted ? Value::number(k.predicted->value()) : Value::null());
    kernels.append(std::move(one));
  }
  out.set("kernels", std::move(kernels));
  Value assumed = Value::list();
  for (const std::string& text : c.assumed) assumed.append(Value::text(text));
  out.set("assumed", std::move(assumed));
  return out;
}

}  // namespace orrery
