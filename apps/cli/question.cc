#include "question.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "model/diffusion/diffusion.h"
#include "model/family.h"
#include "model/transformer/transformer.h"
#include "outcome/parsed_number.h"
#include "plan/completed_plan.h"
#include "report/plans/python_functions.h"

namespace orrery::cli {
namespace {

Result<Spec> subject(const Question& q, const Catalog& catalog) {
  Spec spec;
  const bool file = q.model == "-" || q.model.ends_with(".yaml") || q.model.ends_with(".yml") ||
                    q.model.ends_with(".json");
  if (file) {
    ORRERY_TRY(const Document document, read_document(q.model));
    if (is_spec(document)) return read_spec(document, q.cluster, catalog);
    if (document.root.find("jobs") != nullptr) {
      return bad_input("a file of jobs on a fabric, not a model", document.name,
                       "write orrery cluster " + q.model);
    }
    ORRERY_TRY(spec.scenario.model, read_based_model(document, catalog));
  } else {
    ORRERY_TRY(spec.scenario.model, load_model(q.model, catalog));
  }
  if (q.cluster.empty()) {
    return bad_input(
        "no cluster is given", "--on",
        "write --on h100-sxm:1024, a cluster's name or a YAML file; see orrery catalog clusters");
  }
  ORRERY_TRY(spec.scenario.cluster, parse_cluster(q.cluster, catalog));
  return spec;
}

struct TokenCount {
  std::int64_t value;
  bool has_prefix;
};

// "8192", "8k", "4M", "8Ki": where tokens are counted, k is 1024 and M is 1024 k, as in the names
// of models and of their context lengths.
Result<TokenCount> token_count(std::string text, const char* option, const char* hint) {
  constexpr std::int64_t kMost = 1'000'000'000;
  if (text.ends_with("ki") || text.ends_with("Ki") || text.ends_with("Mi")) text.pop_back();
  std::int64_t scale = 1;
  if (!text.empty() && (text.back() == 'k' || text.back() == 'K')) scale = 1 << 10;
  if (!text.empty() && text.back() == 'M') scale = 1 << 20;
  const auto number = parsed_number<std::int64_t>(
      std::string_view(text).substr(0, text.size() - (scale > 1 ? 1 : 0)));
  if (!number || *number < 1 || *number > kMost / scale) {
    return bad_input("'" + text + "' is not a whole number from 1 to 1000000000", option, hint);
  }
  return TokenCount{*number * scale, scale > 1};
}

// The sequences of a step. A number with a prefix counts tokens, as papers state a batch.
Result<std::int64_t> sequences_of(const std::string& text, const Training& training,
                                  const Model& model) {
  ORRERY_TRY(const TokenCount count, token_count(text, "--global-batch",
                                                 "write sequences, such as 2048, or their tokens, "
                                                 "such as 512k or 4M"));
  if (!count.has_prefix) return count.value;
  const std::int64_t length =
      training.sequence_length != 0 ? training.sequence_length : usual_sequence_length(model);
  if (count.value % length != 0) {
    return bad_input(text + " tokens are " + std::to_string(count.value) +
                         ", not a multiple of the " + std::to_string(length) +
                         " tokens of a sequence",
                     "--global-batch", "a number without k or M counts sequences");
  }
  return count.value / length;
}

// The model for another size of image.
Result<Model> sized(const Model& model, const Question& q) {
  const ImageModel* image = image_model_of(model);
  if (image == nullptr) return with_image(model, {});
  ImageSize size = image->image;
  if (!q.resolution.empty()) {
    const std::size_t x = q.resolution.find('x');
    const std::string_view text = q.resolution;
    const auto width = parsed_number<std::int64_t>(text.substr(0, x));
    const auto height = parsed_number<std::int64_t>(x == std::string::npos ? std::string_view()
                                                                           : text.substr(x + 1));
    if (!width || !height) {
      return bad_input("'" + q.resolution + "' is no size of an image", "",
                       "write width x height: 1280x720");
    }
    size.width = *width;
    size.height = *height;
  }
  if (q.frames != 0) size.frames = q.frames;
  return with_image(model, size);
}

}  // namespace

void add_question(CLI::App* app, Question& q) {
  app->add_option("model", q.model,
                  "a catalog name, a Hugging Face config.json, a model or specification in YAML or "
                  "JSON, or - for standard input")
      ->required();
  app->add_option("--on", q.cluster,
                  "the cluster: h100-sxm:1024, a name from the catalog, or a YAML file");
  app->add_option("--plan", q.plan, "the plan: tp=8,pp=16,micro_batch=1,...");
  app->add_option("--seq", q.sequence_length, "tokens of a sequence: 8192, 8k");
  app->add_option("--global-batch", q.global_batch,
                  "sequences of a step: 2048; or, with k or M, its tokens: 4M");
  app->add_option("--precision", q.precision,
                  "of matrix products: bf16, fp16, fp8, mxfp8, nvfp4, tf32, fp32");
  app->add_option("--software", q.software,
                  "the training framework, of orrery catalog software: megatron-core-0.12, ...");
  app->add_option("--workload", q.workload, "what is run: training, forward (evaluation)");
  app->add_option("--resolution", q.resolution, "of an image model, width x height: 1280x720");
  app->add_option("--frames", q.frames, "of a video")->check(CLI::Range(1, 100'000));
  app->add_option("--adapter-rank", q.adapter_rank,
                  "train low-rank adapters (LoRA) of this rank beside the frozen model")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  app->add_option("--adapted-products", q.adapt, "which products have adapters: attention, all");
  app->add_option("--set", q.settings,
                  "change one setting: network=2x, hbm=1.5x, cluster.levels.0.latency=1us; also "
                  "compute, memory, scale-up, latency")
      ->allow_extra_args(false);
  app->add_option("--kernels", q.kernels,
                  "a file of Python that defines kernel_time(kernel), the seconds of a kernel in "
                  "place of the cost model's, kernel.predicted_s");
  app->add_flag("--isolate", q.isolate,
                "call functions of Python in processes of python3, where a crash is an error and "
                "every module can be imported, instead of interpreters within this one");
  app->add_option("--html", q.html, "write a report with charts to this file");
  app->add_option("--timeline", q.timeline, "write a Chrome/Perfetto timeline to this file");
  app->add_flag("--expanded", q.expanded, "timeline: every operation instead of whole blocks");
  show_under(app, "Further inputs",
             {"--workload", "--resolution", "--frames", "--adapter-rank", "--adapted-products",
              "--set", "--kernels", "--isolate"});
  show_under(app, "Files", {"--html", "--timeline", "--expanded"});
}

Result<Spec> ask(const Question& q, const Catalog& catalog) {
  ORRERY_TRY(Spec spec, subject(q, catalog));
  if (!q.plan.empty()) {
    ORRERY_TRY(spec.scenario.plan, parse_plan(q.plan, spec.scenario.plan));
    for (std::string& key : stated_fields(q.plan)) spec.stated.push_back(std::move(key));
  }
  if (!q.resolution.empty() || q.frames != 0) {
    ORRERY_TRY(spec.scenario.model, at(q.resolution.empty() ? "--frames" : "--resolution",
                                       sized(spec.scenario.model, q)));
  }
  const Architecture* transformer = architecture_of(spec.scenario.model);
  const auto stated = transformer != nullptr ? transformer->adapters : std::nullopt;
  if (q.adapter_rank != 0 || (stated && !q.adapt.empty())) {
    Adapters adapters = stated.value_or(Adapters{});
    if (q.adapter_rank != 0) adapters.rank = q.adapter_rank;
    if (!q.adapt.empty()) {
      ORRERY_TRY(adapters.products, at("--adapted-products", parse_enum<AdaptedProducts>(q.adapt)));
    }
    ORRERY_TRY(spec.scenario.model,
               at("--adapter-rank", with_adapters(spec.scenario.model, adapters)));
  } else if (!q.adapt.empty()) {
    return bad_input("there are no adapters to place", "--adapted-products",
                     "give --adapter-rank as well, or adapters in the specification");
  }
  Training& training = spec.scenario.training;
  if (!q.sequence_length.empty()) {
    ORRERY_TRY(const TokenCount length,
               token_count(q.sequence_length, "--seq", "write 8192 or 8k"));
    training.sequence_length = length.value;
  }
  if (!q.global_batch.empty()) {
    ORRERY_TRY(training.global_batch, sequences_of(q.global_batch, training, spec.scenario.model));
  }
  if (!q.workload.empty()) {
    ORRERY_TRY(training.workload, at("--workload", parse_enum<Workload>(q.workload)));
  }
  if (!q.precision.empty()) {
    ORRERY_TRY(training.precision, at("--precision", parse_enum<NumberFormat>(q.precision)));
  }
  if (!q.software.empty()) {
    auto software = load_software(catalog, q.software);
    if (!software) return fail(at("--software", software.error()));
    choose_software(spec, std::move(*software));
  }
  ORRERY_RETURN_IF_ERROR(complete(spec, q.settings, catalog));
  if (q.isolate && q.kernels.empty() && q.python.empty()) {
    return bad_input("there are no functions of Python to call", "--isolate",
                     "give their file: --kernels FILE or, to search, --python FILE");
  }
  if (!q.kernels.empty()) {
    ORRERY_TRY(spec.scenario.kernel_times, python_kernel_times(q.kernels, interpreters(q), {}));
  }
  return spec;
}

namespace {

constexpr auto kRunOptions = std::to_array<FieldOption>({
    {"tokens", "of the run: 15.6T, 300B"},
    {"steps", "of the run, in place of tokens"},
    {"failures", "failure rates, of orrery catalog failures; none: nothing fails"},
    {"restart", "restart times, of orrery catalog restarts"},
    {"checkpoint",
     "interval=30min,mode=asynchronous,bandwidth=2TB/s,...; what is left out is "
     "computed, the interval is then the best one",
     Field::other},
    {"spares", "nodes that stand ready (default: always another)"},
    {"price", "of orrery catalog prices, or 2.95$/h (default: the median)"},
});

// "interval=30min,mode=asynchronous" as the fields of a checkpoint, over those of a specification,
// where these are a map.
Result<Value> with_fields(Value fields, const std::string& text, const char* option,
                          const char* example) {
  if (fields.kind() != Value::Kind::map) return fields;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string setting = text.substr(at, end - at);
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return fail(ErrorCode::bad_input, "'" + setting + "' is not key=value", option,
                  std::string("write settings such as \"") + example + "\"");
    }
    fields.set(setting.substr(0, equals), scalar(setting.substr(equals + 1)));
    at = end + 1;
  }
  return fields;
}

// The options that are about the step, in the field `step`.
Result<void> set_step(const FieldOptions& options, Value& fields) {
  const Value* before = fields.find("step");
  Value step = before != nullptr ? *before : Value::map();
  if (step.kind() != Value::Kind::map) return {};
  options.write(Field::step, step);
  if (const std::string* seed = options.find("seed")) step.set("seed", scalar(*seed));
  if (const std::string* text = options.find("slow")) {
    ORRERY_TRY(Value slow, with_fields(Value::map(), *text, "--slow", "stage=3,time=1.3"));
    Value all = Value::list();
    all.append(std::move(slow));
    step.set("slow", std::move(all));
  }
  fields.set("step", std::move(step));
  return {};
}

}  // namespace

void add_run(CLI::App* app, FieldOptions& options) { options.add(app, kRunOptions); }

Result<RunQuestion> run_question(const FieldOptions& options, const Value& stated) {
  Value fields = stated.kind() == Value::Kind::null ? Value::map() : stated;
  const auto given = [&](std::string_view name) { return options.find(name) != nullptr; };
  if (fields.kind() == Value::Kind::map) {
    const Value* before = fields.find("checkpoint");
    Value checkpoint = before != nullptr ? *before : Value::map();
    // The one given here replaces the other one of the specification.
    if (given("tokens") || given("steps") || given("loss")) {
      for (const char* length : {"tokens", "steps", "loss"}) fields.set(length, Value::null());
    }
    if (given("within") || given("by")) {
      for (const char* end : {"within", "by"}) fields.set(end, Value::null());
    }
    options.write(Field::top, fields);
    if (const std::string* text = options.find("checkpoint")) {
      ORRERY_TRY(checkpoint, with_fields(std::move(checkpoint), *text, "--checkpoint",
                                         "interval=30min,mode=asynchronous"));
      fields.set("checkpoint", std::move(checkpoint));
    }
    ORRERY_RETURN_IF_ERROR(set_step(options, fields));
    const bool varies = given("slow") || given("spread") || given("variability");
    if (varies && fields.find("step_at") == nullptr) fields.set("step_at", scalar("mean"));
  }
  auto question = Codec<RunQuestion>::read(fields);
  if (!question) return fail(at("forecast", question.error()));
  return question;
}

void add_healthy_run(CLI::App* app, FieldOptions& options) {
  options.add(app, std::to_array<FieldOption>(
                       {{"tokens",
                         "of a run, 15T, 300B: its days, GPU-hours, dollars and energy if nothing "
                         "fails"},
                        {"price", "of orrery catalog prices, or 2.95$/h (default: the median)"}}));
}

Result<std::optional<HealthyRun>> run_of(const FieldOptions& options, const Spec& spec,
                                         const Estimate& estimate, const Catalog& catalog) {
  if (options["tokens"].empty()) {
    if (options["price"].empty()) return std::nullopt;
    return bad_input("needs the length of the run", "--price", "write --tokens 15T");
  }
  ORRERY_TRY(const RunQuestion question, run_question(options, spec.forecast));
  return healthy_run(estimate, spec.scenario.cluster, question, catalog);
}

}  // namespace orrery::cli
