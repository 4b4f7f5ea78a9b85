// orrery.trace: recorded runs.
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compare/difference.h"
#include "failure.h"
#include "infer/recorded_division.h"
#include "long_call.h"
#include "outcome/nearest_name.h"
#include "record.h"
#include "replay/graph_from_run.h"
#include "replay/graph_replay.h"
#include "replay/graph_run.h"
#include "replay/replay.h"
#include "replay/seen_run.h"
#include "report/traces/trace_reports.h"
#include "session.h"
#include "whatif/analyzed_run.h"
#include "whatif/edit_language.h"
#include "whatif/edit_verb.h"
#include "whatif/stragglers.h"
#include "whatif/whatif.h"

namespace py = pybind11;

namespace orrery::python {
namespace {

class Recording {
 public:
  Recording(std::shared_ptr<Session> session, std::vector<std::string> files, RunOptions how)
      : session_(std::move(session)), incomplete_(how.kineto.incomplete) {
    name_ = files.size() == 1 ? files[0]
                              : files[0] + " and " + std::to_string(files.size() - 1) + " more";
    seen_ = value_or_throw(long_call([&](LongCall& call) {
      how.kineto.interrupted = &call.interrupted;
      return read_seen_run(files, how);
    }));
  }

  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  [[nodiscard]] const RecordedRun& run() const { return seen_.run; }
  [[nodiscard]] const std::string& name() const { return name_; }

  py::object analyze(const std::string& preset, const std::string& group,
                     const std::string& accelerator) const {
    AnalysisOptions options;
    options.preset = value_or_throw(at("preset", parse_enum<BreakdownPreset>(preset)));
    options.grouping = value_or_throw(at("group", parse_enum<OperatorGrouping>(group)));
    options.accelerator = accelerator;
    options.threads = threads_to_use(session_->threads());
    const auto made = std::make_shared<const AnalyzedRun>(value_or_throw(long_call([&](LongCall&) {
      return analyzed_run(seen_, options, incomplete_, session_->entries());
    })));
    Record out =
        record(analysis_json(run(), made->analysis, made->paths), &analysis_document(), "");
    const SeenRun* const seen = &seen_;
    const py::object self =
        py::cast(this, py::return_value_policy::reference);  // the page reads the recording
    out.html = [made, seen, self] {
      return analysis_html(seen->run, made->analysis, {.rows = 25, .paths = made->paths});
    };
    return to_python(std::move(out));
  }

  [[nodiscard]] py::object replay() const {
    if (const auto* graph = std::get_if<GraphFile>(&seen_.made_of)) {
      return to_python(
          record(graph_replay_json(orrery::replay(*graph), *graph), &graph_replay_document(), ""));
    }
    if (const auto* traces = std::get_if<ChakraRun>(&seen_.made_of)) {
      const ChakraGraph graph = value_or_throw(
          long_call([&](LongCall&) { return chakra_graph(*traces, chakra_options(incomplete_)); }));
      return to_python(record(chakra_replay_json(orrery::replay(*traces, graph), graph, *traces),
                              &chakra_replay_document(), ""));
    }
    const GraphFromRun graph =
        value_or_throw(long_call([&](LongCall&) { return graph_from_run(run().ranks); }));
    const Replay result =
        long_call([&](LongCall&) { return orrery::replay(run().ranks, graph.graph); });
    return to_python(record(replay_json(result, graph, run().ranks), &replay_document(), ""));
  }

  // `edits` in the language of orrery trace whatif, one a line or with ; between.
  [[nodiscard]] py::object whatif(const std::string& edits) const {
    const std::vector<Edit> parsed = value_or_throw(parse_edits(edits, "edits"));
    const bool divides =
        std::ranges::any_of(parsed, [](const Edit& e) { return e.verb->asks_division; });
    const Catalog& catalog = session_->entries();
    return of_graph([&](std::span<const RecordedTrace> ranks, const RunGraph& graph,
                        const PredictedOperations* operations) {
      if (operations != nullptr) value_or_throw(check_graph_edits(parsed));
      const WhatIf answer = value_or_throw(long_call([&](LongCall&) {
        const KnownDivision known = divides ? recorded_division(ranks, catalog) : KnownDivision{};
        return what_if(ranks, graph, parsed, catalog, known, operations);
      }));
      return to_python(record(whatif_json(answer), &whatif_document(), ""));
    });
  }

  // What each slow rank and kind of work costs.
  [[nodiscard]] py::object stragglers() const {
    return of_graph([&](std::span<const RecordedTrace> ranks, const RunGraph& graph,
                        const PredictedOperations*) {
      const Stragglers found =
          value_or_throw(long_call([&](LongCall&) { return orrery::stragglers(ranks, graph); }));
      return to_python(record(stragglers_json(found), &stragglers_document(), ""));
    });
  }

  [[nodiscard]] py::object diff(const Recording& other) const {
    StepProfile before = value_or_throw(step_profile(run().ranks));
    StepProfile after = value_or_throw(step_profile(other.run().ranks));
    const DifferenceSubject subject{.first = name(),
                                    .second = other.name(),
                                    .first_source = run().source,
                                    .second_source = other.run().source};
    const auto found =
        std::make_shared<const Difference>(difference(std::move(before), std::move(after)));
    Record out = record(difference_json(*found, subject), &difference_document(), "");
    out.html = [found, subject] { return difference_html(*found, subject); };
    return to_python(std::move(out));
  }

 private:
  // What is edited: a recording as its graph, or a graph file as it stands.
  template <class F>
  py::object of_graph(const F& f) const {
    if (const auto* file = std::get_if<GraphFile>(&seen_.made_of)) {
      const GraphRun made = value_or_throw(graph_run(*file, name_));
      return f(made.seen.ranks, made.graph, &*made.operations);
    }
    const GraphFromRun made =
        value_or_throw(long_call([&](LongCall&) { return graph_from_run(run().ranks); }));
    return f(run().ranks, made.graph, nullptr);
  }

  std::shared_ptr<Session> session_;
  Incomplete incomplete_;
  std::string name_;
  SeenRun seen_;
};

}  // namespace

void define_recording(py::module_& module) {
  py::class_<Recording>(module, "Recording", "A recorded run: what trace.load() read.")
      .def("analyze", &Recording::analyze, py::arg("preset") = "orrery",
           py::arg("group") = "shapes", py::arg("accelerator") = "",
           "Where the time of the run went: the document of `orrery trace analyze`.")
      .def("replay", &Recording::replay,
           "The run simulated from its durations and dependencies: `orrery trace replay`.")
      .def("whatif", &Recording::whatif, py::arg("edits"),
           "The run edited and simulated again: `orrery trace whatif --edit`.")
      .def("stragglers", &Recording::stragglers,
           "What each slow rank costs: `orrery trace whatif --attribute`.")
      .def("diff", &Recording::diff, py::arg("other"),
           "What got slower in another run, and why: `orrery trace diff`.")
      .def_property_readonly("ranks",
                             [](const Recording& r) {
                               std::vector<std::int64_t> out;
                               for (const RecordedTrace& t : r.run().ranks) out.push_back(t.rank);
                               return out;
                             })
      .def("__repr__", [](const Recording& r) {
        return "<orrery.Recording of " + r.name() + ", " + std::to_string(r.run().ranks.size()) +
               (r.run().ranks.size() == 1 ? " rank>" : " ranks>");
      });
  module.def(
      "_load",
      [](const std::shared_ptr<Session>& session, std::vector<std::string> files, bool partial,
         bool stacks, bool recorded_clocks) {
        if (files.empty()) {
          throw_error({ErrorCode::bad_input, "no file is given", "orrery.trace.load",
                       "give the traces of a run, one a rank, or their folder"});
        }
        RunOptions how;
        how.threads = session->threads();
        if (partial) how.kineto.incomplete = Incomplete::use_what_is_whole;
        how.kineto.python_functions = stacks ? PythonFunctions::keep : PythonFunctions::modules;
        if (recorded_clocks) how.clocks = Clocks::as_recorded;
        return std::make_unique<Recording>(session, std::move(files), how);
      },
      py::arg("session"), py::arg("files"), py::arg("partial"), py::arg("stacks"),
      py::arg("recorded_clocks"));
}

}  // namespace orrery::python
