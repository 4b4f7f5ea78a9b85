#include "run_options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace orrery::cli {
namespace {

constexpr auto kRunOptions = std::to_array<FieldOption>({
    {"tokens", "of the run: 15.6T, 300B"},
    {"steps", "of the run, in place of tokens"},
    {"failures", "failure rates, of orrery catalog failures"},
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

}  // namespace orrery::cli
