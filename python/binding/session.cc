#include "session.h"

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <cstdlib>  // __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "estimate/estimate.h"
#include "estimate/sensitivity.h"
#include "estimate/spec.h"
#include "estimate/traffic.h"
#include "failure.h"
#include "forecast/run_costs.h"
#include "forecast/run_search.h"
#include "long_call.h"
#include "outcome/nearest_name.h"
#include "record.h"
#include "report/forecasts/forecast_reports.h"
#include "report/plans/plan_reports.h"
#include "report/plans/python_functions.h"
#include "report/schedules/schedule_report.h"
#include "schedule/comparison.h"
#include "schedule/measured_schedule.h"
#include "schedule/schedule.h"
#include "search/default_step.h"
#include "search/stated_space.h"

namespace py = pybind11;

namespace orrery::python {
namespace {

constexpr std::size_t kQuestions = 4096;  // that are remembered
constexpr int kUsualTop = 10;
constexpr double kShortestLimit = 0.001;  // seconds: those of the command
constexpr double kLongestLimit = 1e6;

// Which file a path names, and which state of it; empty if there is none.
std::string state_of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return "";
  return fmt::format("{}: {} {} {} {}.{:09}\n", path, found.st_dev, found.st_ino, found.st_size,
                     found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

// The states of all files that the model and the cluster of a specification may be read from: a
// file, a folder with a checkpoint, a file and a count.
std::string states_of_files(const Value& specification) {
  std::string out;
  if (const Value* model = specification.find("model"); model != nullptr && model->is_scalar()) {
    const std::string& path = model->scalar_text();
    const std::string state = state_of(path);
    if (!state.empty()) {
      out += state + state_of(path + "/config.json") +
             state_of(path + "/model.safetensors.index.json");
    }
  }
  const Value* cluster = specification.find("cluster");
  if (cluster != nullptr && cluster->kind() == Value::Kind::map) cluster = cluster->find("name");
  if (cluster != nullptr && cluster->is_scalar()) {
    const std::string& path = cluster->scalar_text();
    const std::size_t colon = path.rfind(':');
    out += state_of(path);
    if (colon != std::string::npos) out += state_of(path.substr(0, colon));
  }
  return out;
}

// An estimate and what its report needs; the step is predicted again for the page alone.
struct Answered {
  std::shared_ptr<const Understood> question;
  Estimate figures;
  EstimateExtras extras;
};

Result<PredictedStep> predicted(const Understood& question) {
  ORRERY_TRY(PredictedStep step, predict(question.priced, question.plan));
  step.defaults = question.defaults;
  return step;
}

SharedValue shared(std::optional<Value> value) {
  return value ? std::make_shared<const Value>(*std::move(value)) : nullptr;
}

Record record_of(const std::shared_ptr<const Answered>& answer) {
  Record out;
  out.description = &estimate_document();
  out.key = [answer](std::string_view key) {
    return shared(
        estimate_json_key(answer->figures, answer->question->subject, answer->extras, key));
  };
  out.all = [answer] {
    return shared(estimate_json(answer->figures, answer->question->subject, answer->extras));
  };
  out.html = [answer] {
    const PredictedStep step = value_or_throw(predicted(*answer->question));
    return step_html(step, answer->figures);
  };
  return out;
}

// A function of this interpreter, which is called by one thread at a time.
Judge judge_here(const py::object& function, const Subject& subject) {
  return [function, subject](const Estimate& figures) -> Result<std::optional<double>> {
    const py::gil_scoped_acquire mine;
    try {
      const auto kept = std::make_shared<const Estimate>(figures);
      Record step;
      step.description = &estimate_document();
      step.key = [kept, subject](std::string_view key) {
        return shared(estimate_json_key(*kept, subject, EstimateExtras(), key));
      };
      step.all = [kept, subject] { return shared(estimate_json(*kept, subject)); };
      const py::object value = function(to_python(std::move(step)));
      if (value.is_none()) return std::optional<double>();
      const double number = value.cast<double>();
      if (!std::isfinite(number)) return bad_input("is not a finite number", "objective");
      return std::optional(number);
    } catch (const std::exception& e) {
      return bad_input(e.what(), "objective");
    }
  };
}

// The function that kernels= names: itself, or kernel_time of a file, which runs in this interpreter.
py::object kernel_function(const py::object& kernels, std::string& source) {
  if (PyCallable_Check(kernels.ptr()) != 0) {
    source = "the function of kernels=";
    return kernels;
  }
  if (!py::isinstance<py::str>(kernels) && !py::hasattr(kernels, "__fspath__")) {
    throw_error({ErrorCode::bad_input, "is neither the path of a file nor a function", "kernels",
                 "write kernels=lambda kernel: kernel.predicted_s"});
  }
  source = py::str(py::module_::import("os").attr("fspath")(kernels)).cast<std::string>();
  py::dict defined;
  try {
    defined = py::module_::import("runpy").attr("run_path")(source);
  } catch (py::error_already_set& e) {
    if (!e.matches(PyExc_Exception)) throw;
    throw_error({ErrorCode::bad_input, e.what(), source, ""});
  }
  if (!defined.contains("kernel_time")) {
    throw_error({ErrorCode::bad_input, "does not define kernel_time", source,
                 "write def kernel_time(kernel): return kernel.predicted_s"});
  }
  return defined["kernel_time"];
}

std::shared_ptr<KernelTimes> kernel_times_of(const py::object& kernels) {
  if (!kernels) return nullptr;
  std::string source;
  // Let go of with the lock of the interpreter, wherever the last prediction is.
  const std::shared_ptr<const py::object> function(new py::object(kernel_function(kernels, source)),
                                                   [](const py::object* mine) {
                                                     const py::gil_scoped_acquire lock;
                                                     delete mine;
                                                   });
  return kernel_times(
      [function, source](const AskedKernel& asked) -> Result<double> {
        if (is_interrupted_here()) return bad_input("interrupted", source);
        const py::gil_scoped_acquire mine;
        try {
          const py::object value =
              (*function)(to_python(record(kernel_json(asked), nullptr, "Kernel")));
          if (PyFloat_Check(value.ptr()) == 0 && PyLong_Check(value.ptr()) == 0) {
            return bad_input("kernel_time returned " +
                                 py::str(py::type::of(value).attr("__name__")).cast<std::string>() +
                                 ", not a number",
                             source);
          }
          const auto seconds = value.cast<double>();
          if (!std::isfinite(seconds)) {
            return bad_input("kernel_time returned a number that is not finite", source);
          }
          return seconds;
        } catch (const std::exception& e) {
          return bad_input(e.what(), source);
        }
      },
      source);
}

Error no_longer_than_asked(const std::string& function, const py::dict& arguments,
                           const std::vector<std::string>& known) {
  const auto first = py::str((*arguments.begin()).first).cast<std::string>();
  return {ErrorCode::bad_input, "unknown argument '" + first + "'", function,
          name_hint(first, known)};
}

// A prediction needs some megabytes for a moment. Giving them back to the system every time takes
// as long as predicting: up to 64 MiB stay with the process.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
}

}  // namespace

Session::Session(const std::string& folder, int threads)
    : catalog_(folder.empty() ? Catalog::built_in()
                              : value_or_throw(Catalog::from_directory(folder))),
      threads_(threads) {
  keep_freed_memory();
}

Result<Spec> Session::specified(const Asked& asked) const {
  ORRERY_TRY(Spec spec, read_spec(asked.document, "", catalog_));
  if (asked.plan.kind() != Value::Kind::null) {
    ORRERY_RETURN_IF_ERROR(state_plan(spec, asked.plan, asked.document.name));
  }
  ORRERY_RETURN_IF_ERROR(complete(spec, asked.settings, catalog_));
  spec.scenario.kernel_times = kernel_times_of(asked.kernels);
  return spec;
}

Result<const Uncertainty*> Session::errors() {
  const std::lock_guard lock(mutex_);
  if (!errors_) {
    ORRERY_TRY(errors_, load_uncertainty(catalog_));
  }
  return &*errors_;
}

std::shared_ptr<const Understood> Session::understood(const Asked& asked) {
  if (asked.kernels) {  // a function may give other times whenever it is asked
    const Spec spec = value_or_throw(specified(asked));
    const PredictedStep step = value_or_throw(long_call([&](LongCall&) {
      KeptPrices of_this_question(catalog_);
      return default_step(spec, catalog_, of_this_question, threads_);
    }));
    return std::make_shared<const Understood>(
        Understood{step.priced, step.plan(), step.defaults, subject_of(step.priced->scenario)});
  }
  std::string question = to_json(asked.document.root) + to_json(asked.plan);
  for (const std::string& setting : asked.settings) question += setting + "\n";
  question += states_of_files(asked.document.root);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_question_.find(question); found != by_question_.end()) {
      last_.splice(last_.begin(), last_, found->second);
      const Remembered& known = last_.front().second;
      if (auto priced = known.priced.lock()) {
        auto out = std::make_shared<Understood>(known.without_prices);
        out->priced = std::move(priced);
        return out;
      }
    }
  }
  const Spec spec = value_or_throw(specified(asked));
  const PredictedStep step = value_or_throw(
      long_call([&](LongCall&) { return default_step(spec, catalog_, prices_, threads_); }));
  auto made = std::make_shared<const Understood>(
      Understood{step.priced, step.plan(), step.defaults, subject_of(step.priced->scenario)});
  Remembered kept{*made, made->priced};
  kept.without_prices.priced = nullptr;
  const std::lock_guard lock(mutex_);
  if (const auto found = by_question_.find(question); found != by_question_.end()) {
    found->second->second = std::move(kept);
    return made;
  }
  last_.emplace_front(std::move(question), std::move(kept));
  by_question_.emplace(last_.front().first, last_.begin());
  if (last_.size() > kQuestions) {
    by_question_.erase(last_.back().first);
    last_.pop_back();
  }
  return made;
}

py::object Session::estimate(py::handle model, py::dict arguments) {
  const bool explained = take(arguments, "explain", false);
  const bool sensitivity = take(arguments, "sensitivity", false);
  const bool traffic_too = take(arguments, "traffic", false);
  const std::optional<RunQuestion> run = taken_run(arguments);
  const auto question = understood(asked("orrery.estimate", model, std::move(arguments)));
  const auto work = [&]() -> Result<std::shared_ptr<Answered>> {
    ORRERY_TRY(const Uncertainty* uncertainty, errors());
    ORRERY_TRY(const PredictedStep step, predicted(*question));
    auto out = std::make_shared<Answered>(
        Answered{question, orrery::estimate(step, *uncertainty), EstimateExtras()});
    if (explained) out->extras.explained = explain(step, out->figures);
    if (sensitivity) {
      ORRERY_TRY(out->extras.sensitivity, sensitivities(step, catalog_));
    }
    if (traffic_too) {
      ORRERY_TRY(out->extras.traffic, traffic(step));
    }
    if (run) {
      ORRERY_TRY(out->extras.run,
                 healthy_run(out->figures, question->priced->scenario.cluster, *run, catalog_));
    }
    return out;
  };
  Result<std::shared_ptr<Answered>> answer = bad_input("");
  {
    const py::gil_scoped_release others_run;
    answer = work();
  }
  return to_python(record_of(value_or_throw(std::move(answer))));
}

py::object Session::search(py::handle model, py::dict arguments) {
  SearchOptions options;
  options.top = take(arguments, "top", 0);
  options.threads = take(arguments, "threads", threads_);
  options.all_axes = take(arguments, "all_axes", false);
  const py::object judged_by = take(arguments, "objective", py::object(py::none()));
  const auto objective =
      py::isinstance<py::str>(judged_by) ? judged_by.cast<std::string>() : std::string();
  const auto python = take(arguments, "python", std::string());
  const bool isolate = take(arguments, "isolate", false);
  const auto limit = take(arguments, "time_limit", std::optional<double>());
  if (limit && !(*limit >= kShortestLimit && *limit <= kLongestLimit)) {
    throw_error({ErrorCode::bad_input, fmt::format("{} is not between 0.001 and 1e6 s", *limit),
                 "time_limit", "leave it out to search to the end"});
  }
  const auto schedules = take(arguments, "schedules", std::vector<std::string>());
  const auto axes = take(arguments, "axes", std::vector<std::string>());
  const auto sizes = take(arguments, "gpus", std::vector<std::int64_t>());
  const bool of_run = !objective.empty() && objective != "step-time";
  const Spec spec =
      value_or_throw(specified(asked("orrery.search", model, std::move(arguments),
                                     of_run ? ForecastFields::accepted : ForecastFields::refused)));
  RunSearchQuestion question;
  question.space = value_or_throw(at("schedules", stated_space(spec, schedules)));
  value_or_throw(at("axes", add_axes(question.space, axes)));
  if (!of_run && !sizes.empty()) {
    throw_error({ErrorCode::bad_input, "sizes of a run, and the shortest step is searched", "gpus",
                 "write objective=\"goodput\", \"time-to-train\" or \"cost\" as well"});
  }
  if (of_run) {
    question.objective = value_or_throw(at("objective", parse_enum<RunObjective>(objective)));
    const Value fields = spec.forecast.kind() == Value::Kind::null ? Value::map() : spec.forecast;
    question.run = value_or_throw(at("forecast", Codec<RunQuestion>::read(fields)));
    question.sizes = sizes;
  }
  const auto begin = std::chrono::steady_clock::now();
  if (limit) {
    options.deadline = begin + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::duration<double>(*limit));
  }
  const Subject subject = subject_of(spec.scenario);
  const auto elapsed = [&] {
    return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  };
  if (of_run) {
    if (options.top <= 0) options.top = sizes.size() > 1 ? 1 : 3;
    const RunSearchResult found = value_or_throw(long_call([&](LongCall& call) {
      options.interrupted = &call.interrupted;
      return search_runs(spec.scenario, question, options, catalog_);
    }));
    return to_python(
        record(run_search_json(found, subject, elapsed()), &run_search_document(), ""));
  }
  if (options.top <= 0) options.top = kUsualTop;
  if (!python.empty()) {
    options.judge = value_or_throw(long_call([&](LongCall&) {
      return python_judge(python, threads_to_use(options.threads),
                          isolate ? Interpreters::in_processes : Interpreters::in_threads, {},
                          subject);
    }));
  } else if (!judged_by.is_none() && objective.empty()) {
    options.judge = judge_here(judged_by, subject);
  }
  const auto found =
      std::make_shared<const SearchResult>(value_or_throw(long_call([&](LongCall& call) {
        options.interrupted = &call.interrupted;
        return orrery::search(spec.scenario, question.space, options, catalog_);
      })));
  const Seconds took = elapsed();
  Record out = record(search_json(*found, subject, took), &search_document(), "");
  if (found->winner) {
    out.html = [found, took] {
      return step_html(*found->winner, found->plans.front(), {found.get(), took});
    };
  }
  return to_python(std::move(out));
}

py::object Session::forecast(py::handle model, py::dict arguments) {
  const Asked question =
      asked("orrery.forecast", model, std::move(arguments), ForecastFields::accepted);
  const Spec spec = value_or_throw(specified(question));
  const Value fields = spec.forecast.kind() == Value::Kind::null ? Value::map() : spec.forecast;
  const RunQuestion run = value_or_throw(at("forecast", Codec<RunQuestion>::read(fields)));
  const auto understood_step = understood(question);
  const Subject& subject = understood_step->subject;
  const Uncertainty* uncertainty = value_or_throw(errors());
  const PredictedStep step = value_or_throw(predicted(*understood_step));
  const Estimate figures = orrery::estimate(step, *uncertainty);
  if (figures.verdict == Verdict::does_not_fit) {
    throw_error({ErrorCode::bad_input, "the plan does not fit in memory", "plan",
                 "orrery.search finds plans that fit"});
  }
  const bool of_run = has_length(run) || !run.phases.empty() || run.batch_ramp || run.planned ||
                      run.elastic.has_value();
  if (!of_run) {
    const auto times =
        std::make_shared<const StepDistribution>(value_or_throw(long_call([&](LongCall& call) {
          return step_distribution(step, figures, run.step, catalog_, threads_, call.progressed());
        })));
    Record out = record(step_distribution_json(*times, subject), &step_distribution_document(), "");
    out.html = [times, subject] { return step_distribution_html(*times, subject); };
    return to_python(std::move(out));
  }
  const auto made =
      std::make_shared<const RunForecast>(value_or_throw(long_call([&](LongCall& call) {
        return orrery::forecast(step, figures, run, std::nullopt, catalog_,
                                {.threads = threads_, .progressed = call.progressed()});
      })));
  Record out = record(forecast_json(*made, subject), &forecast_document(), "");
  out.html = [made, subject] { return forecast_html(*made, subject); };
  return to_python(std::move(out));
}

py::object Session::schedule(const std::string& name, py::dict arguments) {
  ScheduleQuestion question;
  question.name = name;
  question.stages = take(arguments, "stages", 0);
  question.microbatches = take(arguments, "microbatches", 0);
  question.chunks = take(arguments, "chunks", 0);
  question.group = take(arguments, "group", 0);
  question.memory_limit = take(arguments, "memory_limit", question.memory_limit);
  question.blocking = take(arguments, "blocking", false);
  const py::object times = take(arguments, "times", py::object(py::none()));
  if (py::isinstance<py::str>(times)) {
    question.times = value_or_throw(at("times", parse_stated_times(times.cast<std::string>())));
  } else if (!times.is_none()) {
    question.times = value_or_throw(read_stated_times(Document{"times", to_value(times, "times")}));
  }
  if (!arguments.empty()) {
    throw_error(no_longer_than_asked(
        "orrery.schedule", arguments,
        {"stages", "microbatches", "chunks", "group", "times", "memory_limit", "blocking"}));
  }
  if (question.stages < 1 || question.microbatches < 1) {
    throw_error({ErrorCode::bad_input, "is not given",
                 question.stages < 1 ? "stages" : "microbatches",
                 "write stages=8, microbatches=32"});
  }
  if (!(question.memory_limit > 0)) {
    throw_error({ErrorCode::bad_input, "is not a number above 0", "memory_limit", ""});
  }
  if (name == "compare") {
    ComparisonRequest request;
    request.devices = question.stages;
    request.microbatches = question.microbatches;
    request.chunks = question.chunks;
    request.times = question.times;
    request.memory_limit = question.memory_limit;
    request.sends = question.blocking ? Sends::blocking : Sends::asynchronous;
    const Comparison compared = value_or_throw(long_call([&](LongCall& call) {
      request.progress = [&](double, std::string_view) { return !call.interrupted; };
      return compare_schedules(request);
    }));
    return to_python(record(comparison_json(compared), &comparison_document(), ""));
  }
  const Schedule* registered = value_or_throw(find_schedule(name));
  const MeasuredSchedule made =
      value_or_throw(long_call([&](LongCall&) { return asked_schedule(question); }));
  const double limit = std::isfinite(question.memory_limit) ? question.memory_limit : 0;
  const Document document = value_or_throw(
      parse_json(schedule_json(made, {registered, question.group, limit, Value()}), name));
  return to_python(record(document.root, nullptr, "Schedule"));
}

py::object Session::catalog(const std::optional<std::string>& kind,
                            const std::optional<std::string>& name) {
  if (!kind) {
    py::dict out;
    for (const std::string& k : catalog_.kinds()) out[py::str(k)] = catalog_.names(k).size();
    return out;
  }
  if (catalog_.names(*kind).empty()) {
    throw_error({ErrorCode::not_found, "unknown kind '" + *kind + "'", "orrery.catalog",
                 name_hint(*kind, catalog_.kinds())});
  }
  if (!name) return py::cast(catalog_.names(*kind));
  return to_python(record(value_or_throw(catalog_.find(*kind, *name)).root, nullptr, "Entry"));
}

void define_session(py::module_& module) {
  const auto called = [](auto method) {
    return [method](Session& s, const py::object& model, const py::kwargs& arguments) {
      return (s.*method)(model, py::reinterpret_borrow<py::dict>(arguments));
    };
  };
  py::class_<Session, std::shared_ptr<Session>>(
      module, "Session",
      "Calls that share a catalog and its prices. The functions of the module are "
      "those of one session.")
      .def(py::init<const std::string&, int>(), py::arg("catalog") = "", py::arg("threads") = 0)
      .def("estimate", called(&Session::estimate), py::arg("model"))
      .def("compare", called(&Session::compare), py::arg("model"))
      .def("search", called(&Session::search), py::arg("model"))
      .def("forecast", called(&Session::forecast), py::arg("model"))
      .def(
          "schedule",
          [](Session& s, const std::string& name, const py::kwargs& arguments) {
            return s.schedule(name, py::reinterpret_borrow<py::dict>(arguments));
          },
          py::arg("name"))
      .def("catalog", &Session::catalog, py::arg("kind") = py::none(),
           py::arg("name") = py::none());
}

}  // namespace orrery::python
