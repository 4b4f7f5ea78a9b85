// The document of the difference of two runs.
#include <vector>

#include "report/traces/difference_report.h"
#include "report/traces/recorded_values.h"

namespace orrery {
namespace {

enum class TimesOfSide { recorded, simulated, predicted };
TimesOfSide times_of_side(RunSource source) {
  return is_simulated(source) ? TimesOfSide::simulated : TimesOfSide::recorded;
}

struct KernelOfLine {
  const std::string& name;
  std::int64_t ns;
};

struct SideOfDifference {
  const std::string& file;
  TimesOfSide times;
  const StepProfile& profile;
  Seconds step;
};

struct DifferenceDocument {
  const Difference& difference;
  const DifferenceSubject& subject;
};

std::vector<KernelOfLine> kernels_of(const ProfileLine& line) {
  std::vector<KernelOfLine> out;
  for (const auto& [name, ns] : line.kernels) out.push_back({name, ns});
  return out;
}

std::vector<InContext<ProfileLine, const StepProfile&>> lines_of(
    const StepProfile& profile, const std::vector<std::size_t>& lines) {
  std::vector<InContext<ProfileLine, const StepProfile&>> out;
  for (const std::size_t line : lines) out.push_back({profile.lines[line], profile});
  return out;
}

SideOfDifference first_side(const DifferenceDocument& d) {
  return {d.subject.first, times_of_side(d.subject.first_source), d.difference.first,
          d.difference.step_first()};
}

SideOfDifference second_side(const DifferenceDocument& d) {
  return {d.subject.second,
          d.subject.predicted ? TimesOfSide::predicted : times_of_side(d.subject.second_source),
          d.difference.second, d.difference.step_second()};
}

}  // namespace

template <>
inline constexpr auto kResults<StepParts> = table<StepParts>(
    "parts", "Parts of a step, by what owned the time; they add up to it.",
    field<&StepParts::computing>("kernels compute"),
    field<&StepParts::exposed_communication>("only communication runs"),
    field<&StepParts::copying>("only copies and fills run"),
    field<&StepParts::host>("operators of a recording without device work"),
    field<&StepParts::late>("the device idles: its next work is not launched yet"),
    field<&StepParts::latency>("the device idles: its next work is being launched"),
    field<&StepParts::end>("after the last work"));

template <>
inline constexpr auto kResults<KernelOfLine> =
    table<KernelOfLine>("kernel", "Kernels of one name.",
                        field("name", "of the kernel", [](auto& r) { return words(r.name); }),
                        field("busy_s", "it ran, in one step", [](auto& r, const StepProfile& c) {
                          return Seconds(c.per_step_s(r.ns));
                        }));

template <>
inline constexpr auto kResults<ProfileLine> = table<ProfileLine>(
    "line", "An operator of one run.",
    field("name", "operator, communication, kernel without a launch, or kind of work",
          [](auto& r) { return words(r.name); }),
    field("detail", "shapes of its inputs, or the volume of a communication",
          [](auto& r) { return words(r.detail); }),
    field("calls", "kernels, copies or operators of one step",
          [](auto& r, const StepProfile& c) {
            return static_cast<double>(r.times.calls) / static_cast<double>(c.steps);
          }),
    field("busy_s", "its work ran, in one step",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.busy_ns)); }),
    field("waiting_s", "of busy, for ranks that came later",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.waiting_ns)); }),
    field("owned_s", "its work owned the time",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.owned_ns)); }),
    field("late_s", "the device idled before it, and its launch call had not begun",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.late_ns)); }),
    field("latency_s", "the device idled from its launch call to its start",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.latency_ns)); }),
    field("kernels", "that ran for it, by name", [](auto& r) { return kernels_of(r); }));

template <>
inline constexpr auto kResults<DifferenceRow> = table<DifferenceRow>(
    "row", "Operators that stand for each other in both runs.",
    field<&DifferenceRow::alignment>("how the sides were found to belong together"),
    field<&DifferenceRow::kind>("of work"),
    field<&DifferenceRow::difference>("difference_s", "second_s - first_s"),
    field<&DifferenceRow::contribution_first>("first_s", "what it adds to a step of the first run"),
    field<&DifferenceRow::contribution_second>(
        "second_s", "what it adds to a step of the second run, or of the prediction"),
    field("causes_s", "parts of the difference, which they add up to",
          [](auto& r) {
            return ByName<DifferenceCause, kDifferenceCauses, Seconds>{
                {r.causes.begin(), r.causes.end()}};
          }),
    field("first", "its lines in the first run",
          [](auto& r, const Difference& c) { return lines_of(c.first, r.first); }),
    field("second", "its lines in the second run",
          [](auto& r, const Difference& c) { return lines_of(c.second, r.second); }));

template <>
inline constexpr auto kResults<SideOfDifference> = table<SideOfDifference>(
    "run", "One of the runs.",
    field("file", "what was given", [](auto& r) { return words(r.file); }),
    field<&SideOfDifference::times>(
        "whose the times are: simulated of .et files that say so or have no start times, of "
        "graphs, and of runs that --timeline wrote"),
    field("steps", "of all its ranks", [](auto& r) { return r.profile.steps; }),
    field<&SideOfDifference::step>("step_time_s", "on average"),
    field("parts_s", "of a step, by what owned the time; they add up to it",
          [](auto& r) { return parts(r.profile); }));

template <>
inline constexpr auto kResults<DifferenceDocument> = table<DifferenceDocument>(
    "difference",
    "Two recorded runs, or a run and its prediction, aligned: what got slower, and why.",
    schema_version<kDifferenceSchemaVersion>(),
    constant("kind", "what the document is", "trace-diff"),
    constant("steps_by",
             "a step lasts from its mark on the host to the mark's end; work "
             "of the device is clipped there",
             "host_marks"),
    field("predicted", "the second run is a prediction, and rows are kinds of work",
          [](auto& r) { return r.subject.predicted; }),
    field("first", "the first run; the recording beside a prediction",
          [](auto& r) { return first_side(r); }),
    field("second", "the second run, or the prediction", [](auto& r) { return second_side(r); }),
    field("difference_s", "of the steps: second - first",
          [](auto& r) { return r.difference.step_second() - r.difference.step_first(); }),
    field("notes", "on what is predicted, a sentence each; of two runs none",
          [](auto& r) { return words(r.subject.notes); }),
    field("rows",
          "largest difference first; with the difference of the ends they add up to difference_s",
          [](auto& r) { return r.difference.rows; }));

Value difference_json(const Difference& d, const DifferenceSubject& subject) {
  return answer(DifferenceDocument{d, subject}, d);
}
const Description& difference_document() { return description_of<DifferenceDocument>(); }

}  // namespace orrery
