#include "question.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "estimate/estimate.h"
#include "estimate/setting.h"
#include "model/family.h"
#include "model/transformer/transformer.h"
#include "outcome/parsed_number.h"
#include "plan/completed_plan.h"
#include "report/plans/plan_text.h"
#include "search/search.h"

namespace orrery::cli {
namespace {

Result<Spec> subject(const Question& q, const Catalog& catalog) {
  Spec spec;
  const bool file = q.model == "-" || q.model.ends_with(".yaml") || q.model.ends_with(".yml");
  if (file) {
    ORRERY_TRY(const Document document, read_document(q.model));
    if (is_spec(document)) return read_spec(document, q.cluster, catalog);
    ORRERY_TRY(spec.scenario.model, read_model(document));
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
Result<TokenCount> token_count(std::string text, std::string_view option) {
  constexpr std::int64_t kMost = 1'000'000'000;
  if (text.ends_with("ki") || text.ends_with("Ki") || text.ends_with("Mi")) text.pop_back();
  std::int64_t scale = 1;
  if (!text.empty() && (text.back() == 'k' || text.back() == 'K')) scale = 1 << 10;
  if (!text.empty() && text.back() == 'M') scale = 1 << 20;
  const auto number = parsed_number<std::int64_t>(
      std::string_view(text).substr(0, text.size() - (scale > 1 ? 1 : 0)));
  if (!number || *number < 1 || *number > kMost / scale) {
    return bad_input("'" + text + "' is not a whole number from 1 to 1000000000",
                     std::string(option), "write 8192 or 8k");
  }
  return TokenCount{*number * scale, scale > 1};
}

// The sequences of a step. A number with a prefix counts tokens, as papers state a batch.
Result<std::int64_t> sequences_of(const std::string& text, const Training& training,
                                  const Model& model) {
  ORRERY_TRY(const TokenCount count, token_count(text, "--global-batch"));
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

// Where no part of a plan is stated and the default is too large for memory: the step of the fastest
// plan that differs from the default in tp, pp, ep and recomputation. Nothing where none is found.
std::optional<PredictedStep> split_to_fit(const Spec& spec, const Plan& plan,
                                          const Catalog& catalog, int threads) {
  SearchSpace space;
  space.cp = space.chunks = space.micro_batch = {1};
  space.zero = {plan.zero};
  space.recompute_layers = {0};
  space.modules.emplace_back();
  space.dispatch = {plan.dispatch};
  space.context_parallel = {plan.context_parallel};
  space.schedules = {plan.schedule};
  space.placements = {plan.placement};
  SearchOptions options;
  options.top = 1;
  options.threads = threads;
  const auto found = search(spec.scenario, space, options, catalog);
  if (!found || !found->winner) return std::nullopt;
  Scenario split = spec.scenario;
  split.plan = found->winner->plan();
  auto step = predict(std::move(split), catalog);
  if (!step) return std::nullopt;
  step->defaults.insert(
      step->defaults.begin(),
      fmt::format("plan {}: no plan was stated, and data parallelism alone does not fit; the "
                  "fastest of {} plans that vary tp, pp, ep and recomputation",
                  plan_settings(step->plan()), found->considered));
  return *std::move(step);
}

}  // namespace

Result<Spec> ask(const Question& q, const Catalog& catalog) {
  ORRERY_TRY(Spec spec, subject(q, catalog));
  if (!q.plan.empty()) {
    ORRERY_TRY(spec.scenario.plan, parse_plan(q.plan, spec.scenario.plan));
    for (std::string& key : stated_fields(q.plan)) spec.stated.push_back(std::move(key));
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
    ORRERY_TRY(const TokenCount length, token_count(q.sequence_length, "--seq"));
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
  const std::string& usual = spec.scenario.cluster.accelerator.usual_software;
  if (!spec.scenario.software_stated && !usual.empty()) {
    ORRERY_TRY(SoftwareProfile software, load_software(catalog, usual));
    choose_software(spec, std::move(software));
    spec.scenario.software_stated = false;
  }
  for (const std::string& setting : q.settings) {
    ORRERY_RETURN_IF_ERROR(change(spec.scenario, setting));
    if (setting.starts_with("plan."))
      spec.stated.push_back(setting.substr(5, setting.find_first_of(".=", 5) - 5));
  }
  complete_zero(spec);
  return spec;
}

Result<PredictedStep> predicted(const Spec& spec, const Catalog& catalog, int threads) {
  ORRERY_TRY(PredictedStep step, predict(spec.scenario, catalog));
  if (spec.stated.empty() && estimate(step).verdict == Verdict::does_not_fit) {
    if (auto split = split_to_fit(spec, step.plan(), catalog, threads)) return *std::move(split);
  }
  return step;
}

}  // namespace orrery::cli
