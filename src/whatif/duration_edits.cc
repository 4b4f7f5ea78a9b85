// Edits that change how long work takes or how it is launched.
//
//   scale    t' = f t
//   set      t' = the given time
//   remove   neither work nor launch take time; what depends on it stays in its place
//   fuse     each run of selected works that follow each other on a stream: the first takes
//            f times their sum, the others and their launches are removed
//   capture  calls and operators of the host take no time, except what loads data and what waits
//            for a device: an upper bound of what launching by graphs can gain
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "whatif/edited_run.h"
#include "whatif/known_edits.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

// Data is loaded whatever launches the kernels.
bool loads_data(const RecordedTrace& trace, std::uint32_t event) {
  if (event == kNoEvent) return false;
  const std::string_view text = trace.name_of(event);
  return text.find("DataLoader") != std::string_view::npos;
}

Result<void> change_durations(EditedRun& run, AppliedEdit& edit,
                              std::int64_t (*change)(std::int64_t, const Edit&)) {
  for (const std::uint32_t w : run.selected(edit.edit.where)) {
    run.set_duration_ns(w, change(run.duration_ns(w), edit.edit));
    ++edit.changed;
  }
  for (std::uint32_t n = 0; edit.edit.where.host && n < run.graph().nodes.size(); ++n) {
    RunNode& node = run.graph().nodes[n];
    if (!run.selects_host(edit.edit.where, node) || run.begins_recording(n)) continue;
    node.duration_ns = change(node.duration_ns, edit.edit);
    ++edit.changed;
  }
  if (edit.changed > 0) {
    edit.assumed.emplace_back(
        "order, launches and dependencies stay; nothing else changes its time");
  }
  return changed_something(edit);
}

Result<void> apply_scale(EditedRun& run, AppliedEdit& edit, EditContext&) {
  return change_durations(run, edit,
                          [](std::int64_t ns, const Edit& e) { return scaled_ns(ns, *e.factor); });
}

Result<void> apply_set(EditedRun& run, AppliedEdit& edit, EditContext&) {
  return change_durations(run, edit, [](std::int64_t, const Edit& e) {
    return static_cast<std::int64_t>(std::llround(e.time->value() * 1e9));
  });
}

Result<void> apply_remove(EditedRun& run, AppliedEdit& edit, EditContext&) {
  const std::vector<std::uint32_t> works = run.selected(edit.edit.where);
  run.remove(works);
  edit.changed = works.size();
  if (edit.edit.where.host) {
    for (std::uint32_t n = 0; n < run.graph().nodes.size(); ++n) {
      RunNode& node = run.graph().nodes[n];
      if (!run.selects_host(edit.edit.where, node) || run.begins_recording(n)) continue;
      node.duration_ns = 0;
      ++edit.changed;
    }
  }
  if (edit.changed > 0) {
    edit.assumed.emplace_back(
        "its launches take no time either; what waited for it waits for what it waited for");
  }
  return changed_something(edit);
}

Result<void> apply_fuse(EditedRun& run, AppliedEdit& edit, EditContext&) {
  const double factor = edit.edit.factor.value_or(1);
  std::vector<bool> is_selected(run.graph().nodes.size(), false);
  const std::vector<std::uint32_t> work_of = run.graph().works_of_nodes();
  const std::vector<std::uint32_t> selected = run.selected(edit.edit.where);
  if (selected.empty()) return changed_something(edit);
  for (const std::uint32_t w : selected) {
    if (!run.communicates(run.graph().works[w])) is_selected[run.graph().works[w].last] = true;
  }
  std::vector<std::uint32_t> absorbed;
  std::size_t runs = 0;
  for (const RunLane& lane : run.graph().lanes) {
    if (!lane.device) continue;
    std::vector<std::uint32_t> together;
    const auto finish = [&] {
      if (together.size() > 1) {
        std::int64_t sum = 0;
        for (const std::uint32_t w : together) sum += run.duration_ns(w);
        run.set_duration_ns(together.front(), scaled_ns(sum, factor));
        absorbed.insert(absorbed.end(), together.begin() + 1, together.end());
        ++runs;
      }
      together.clear();
    };
    for (const std::uint32_t node : lane.nodes) {
      if (run.graph().nodes[node].kind == RunNodeKind::dispatch) continue;
      const std::uint32_t work = work_of[node];
      if (work != kNoEvent && is_selected[run.graph().works[work].last]) {
        if (together.empty() || together.back() != work) together.push_back(work);
      } else {
        finish();
      }
    }
    finish();
  }
  run.remove(absorbed);
  edit.changed = absorbed.size() + runs;
  if (runs == 0) {
    edit.assumed.emplace_back("no two of them follow each other on a stream: none is fused");
    return {};
  }
  const std::string taking = factor < 1   ? fmt::format("{:.3g} % of", 100 * factor)
                             : factor > 1 ? fmt::format("{:g} times", factor)
                                          : "as long as";
  edit.assumed.push_back(fmt::format(
      "{} works become {}, each taking {} {} and starting when its first part would have",
      absorbed.size() + runs, runs, taking,
      factor == 1 ? "its parts together" : "the sum of its parts"));
  return {};
}

Result<void> apply_capture(EditedRun& run, AppliedEdit& edit, EditContext&) {
  const std::vector<std::uint32_t> calls = run.launching_nodes();
  if (std::ranges::all_of(calls, [](std::uint32_t n) { return n == kNoEvent; })) {
    return unsupported("no launch of a kernel is recorded: graphs have nothing to do", edit.text);
  }
  Selection where = edit.edit.where;
  where.host = true;
  bool selected = false;
  for (std::uint32_t n = 0; n < run.graph().nodes.size(); ++n) {
    RunNode& node = run.graph().nodes[n];
    if (!run.selects_host(where, node)) continue;
    selected = true;
    if (node.duration_ns == 0 || run.begins_recording(n)) continue;
    if (loads_data(run.traces()[node.trace], node.event)) continue;
    node.duration_ns = 0;
    ++edit.changed;
  }
  if (!selected) return changed_something(edit);
  edit.assumed.emplace_back(
      "the host takes no time but to load data and to wait for devices, the most that graphs can "
      "gain; kernels keep their own times, order and dependencies");
  return {};
}

}  // namespace

const EditVerb kScaleEdit{.verb = "scale",
                          .form = "scale WHERE by FACTOR",
                          .reach = EditReach::durations,
                          .where = EditPart::must,
                          .factor = EditPart::must,
                          .apply = apply_scale};

const EditVerb kSetEdit{.verb = "set",
                        .form = "set WHERE to TIME",
                        .reach = EditReach::durations,
                        .where = EditPart::must,
                        .time = EditPart::must,
                        .apply = apply_set};

const EditVerb kRemoveEdit{.verb = "remove",
                           .form = "remove WHERE",
                           .reach = EditReach::durations,
                           .where = EditPart::must,
                           .apply = apply_remove};

const EditVerb kFuseEdit{.verb = "fuse",
                         .form = "fuse WHERE [by FACTOR]",
                         .where = EditPart::must,
                         .factor = EditPart::may,
                         .apply = apply_fuse};

const EditVerb kCaptureEdit{
    .verb = "capture", .form = "capture [WHERE]", .where = EditPart::may, .apply = apply_capture};

}  // namespace orrery
