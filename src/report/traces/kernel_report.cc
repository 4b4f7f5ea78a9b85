#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

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
  Table table(left("", 9), right("rows", 5), right("calls", 4), right("all ranks", 9),
              right("recorded", 9), right("predicted", 9), right("", 8), right("median error", 9),
              right("p90", 6));
  for (const ComparedClass& k : c.classes) {
    const bool predicted = k.predicted > Seconds(0);
    table.row(k.name, k.rows, k.calls, k.total, k.recorded, predicted ? to_text(k.predicted) : "-",
              k.errors ? signed_percent(k.predicted / k.recorded - 1) : "",
              k.errors ? percent(k.errors->median) : (predicted ? "with waiting" : ""),
              k.errors ? percent(k.errors->p90) : "");
  }
  if (c.waiting > Seconds(0)) table.row("waiting", "", "", c.waiting, "", "", "", "", "");
  return table;
}

}  // namespace

std::string kernel_text(const KernelComparison& c, std::size_t top, const TextStyle& style) {
  const Seconds work = c.total - c.waiting;
  const double covered = work > Seconds(0) ? c.covered / work : 0;
  std::string sentence = fmt::format("{} of {} of device time is compared with the model of {}",
                                     percent(covered), to_text(work), c.accelerator);
  if (c.waiting > Seconds(0)) {
    sentence += fmt::format(
        "; for another {} communications wait for other ranks, which no model of kernels has",
        to_text(c.waiting));
  }
  if (c.errors.rows > 0) {
    const TimeWeighted by_time = weighted(c);
    sentence += fmt::format(
        ". Weighted by time the error is {} and the sum {}; each of {} rows counted once, the "
        "median error is {}, the 90th percentile {}, the bias {}",
        percent(by_time.error()), signed_percent(by_time.bias()), c.errors.rows,
        percent(c.errors.median), percent(c.errors.p90), signed_percent(c.errors.bias));
  }
  std::string out = paragraph(style, sentence + ".");
  out += heading("By class",
                 "all ranks: as it was; recorded: calls at their median; errors: each row once",
                 style) +
         class_table(c).text(style);

  std::vector<const ComparedKernel*> rows;
  for (const ComparedKernel& k : c.kernels) {
    if (has_error(k)) rows.push_back(&k);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const ComparedKernel* k) { return difference(*k); });
  Table table(left("", 9), right("calls", 5), right("recorded", 9), right("predicted", 9),
              right("error", 9), left("shapes", 3));
  for (const ComparedKernel* k : first(rows, top)) {
    const RecordedKernel& r = k->recorded;
    table.row(r.name, r.calls, r.time, *k->predicted, signed_percent(k->error()),
              r.kind == RecordedKernelKind::communication
                  ? fmt::format("{} B over {} ranks", compact(r.moved.value()), r.ranks)
                  : r.shapes);
  }
  out += section("Kernels that are off most", "one call", table, style);
  bool any = false;
  for (const ComparedClass& k : c.classes) {
    if (k.predicted > Seconds(0) || k.why.empty()) continue;
    if (!any) out += heading("Not compared", "", style);
    any = true;
    out += paragraph(style, "{}, {}: {}", k.name, to_text(k.recorded), k.why);
  }
  for (const std::string& text : c.assumed) out += paragraph(style, "Assumed: " + text);
  return out;
}

template <>
inline constexpr auto kResults<ErrorSummary> = table<ErrorSummary>(
    "errors", "Relative errors: 0.1 is 10 %.", field<&ErrorSummary::rows>("rows with an error"),
    field<&ErrorSummary::median>("of |predicted / recorded - 1|"),
    field<&ErrorSummary::mean>("the same"), field<&ErrorSummary::p90>("the same, 90th percentile"),
    field<&ErrorSummary::bias>("mean of predicted / recorded - 1"));

template <>
inline constexpr auto kResults<TimeWeighted> = table<TimeWeighted>(
    "errors_by_time", "Errors of all kernels together, by their time.",
    field("recorded_s", "all calls", [](auto& r) { return Seconds(r.recorded_s); }),
    field("predicted_s", "all calls", [](auto& r) { return Seconds(r.predicted_s); }),
    field<&TimeWeighted::error>("sum of |predicted - recorded| over recorded"),
    field<&TimeWeighted::bias>("predicted over recorded, minus 1"));

template <>
inline constexpr auto kResults<ComparedClass> = table<ComparedClass>(
    "class", "Kernels of one class.",
    field("name", "\"product bf16\", \"attention forward\", \"elementwise\"",
          [](auto& r) { return words(r.name); }),
    field<&ComparedClass::rows>("operators, shapes and types"),
    field<&ComparedClass::calls>("of all rows"),
    field<&ComparedClass::total>("total_s",
                                 "all calls of all ranks as they were, without waiting; with "
                                 "waiting_s of the run all classes add up to its total_s"),
    field<&ComparedClass::recorded>("recorded_s",
                                    "all calls at their median; without a prediction as they were"),
    field("predicted_s", "all calls; null: no cost model",
          [](auto& r) {
            return r.predicted > Seconds(0) ? std::optional(r.predicted) : std::nullopt;
          }),
    field<&ComparedClass::errors>("null: nothing is compared"),
    field("not_compared_because", "of the first row without a prediction",
          [](auto& r) { return r.why.empty() ? std::nullopt : std::optional(r.why); }));

template <>
inline constexpr auto kResults<ComparedKernel> = table<ComparedKernel>(
    "kernel", "Kernels of one name and shape.",
    field("name", "of the operator or collective", [](auto& r) { return words(r.recorded.name); }),
    field("class", "\"product\", \"normalization\"",
          [](auto& r) { return words(r.recorded.of_class); }),
    field("shapes", "of its inputs as recorded", [](auto& r) { return words(r.recorded.shapes); }),
    field("kernel", "that took most of the time of a call",
          [](auto& r) { return words(r.recorded.kernel); }),
    field("format", "of a product or attention",
          [](auto& r) {
            return r.recorded.format ? std::optional(name_of(*r.recorded.format)) : std::nullopt;
          }),
    field("bytes", "read and written; of a communication the message",
          [](auto& r) {
            return r.recorded.moved > Bytes(0) ? std::optional(r.recorded.moved) : std::nullopt;
          }),
    field<&ComparedKernel::recorded, &RecordedKernel::ranks>(
        "ranks", "of the group; 1 of what does not communicate"),
    field<&ComparedKernel::recorded, &RecordedKernel::calls>(
        "calls", "of all recorded ranks; of a communication instances"),
    field<&ComparedKernel::recorded, &RecordedKernel::time>("recorded_s", "one call: the median"),
    field<&ComparedKernel::recorded, &RecordedKernel::total>(
        "total_s", "all calls of all ranks, with waiting"),
    field<&ComparedKernel::recorded, &RecordedKernel::waiting>(
        "waiting_s", "of it, a communication waits for ranks that came later"),
    field<&ComparedKernel::recorded, &RecordedKernel::waiting_included>(
        "waiting_included", "a communication whose ranks are not all recorded"),
    field<&ComparedKernel::predicted>("predicted_s", "one call; null: no cost model"));

template <>
inline constexpr auto kResults<KernelComparison> = table<KernelComparison>(
    "kernel_comparison", "Our cost model beside the kernels of a recorded run.",
    schema_version<kKernelSchemaVersion>(),
    constant("kind", "what the document is", "trace-kernels"),
    field<&KernelComparison::accelerator>("of the catalog, whose model is compared"),
    field<&KernelComparison::total>("total_s", "all device work of all recorded ranks"),
    field<&KernelComparison::waiting>("waiting_s",
                                      "of it, communications wait for ranks that came later"),
    field<&KernelComparison::covered>("covered_s", "of it, work that is compared, without waiting"),
    field<&KernelComparison::errors>("of all rows that are compared"),
    field("errors_by_time", "the same rows, weighted by the time of all their calls",
          [](auto& r) { return weighted(r); }),
    field<&KernelComparison::classes>("most time first"),
    field<&KernelComparison::kernels>(
        "one operator with its shapes and types each; most time first"),
    field<&KernelComparison::assumed>("what the model defaulted, a sentence each"));

Value kernel_json(const KernelComparison& c) { return answer(c); }
const Description& kernel_document() { return description_of<KernelComparison>(); }

}  // namespace orrery
