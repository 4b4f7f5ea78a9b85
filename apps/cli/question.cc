#include "question.h"

#include "model/family.h"
#include "model/transformer/transformer.h"

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
    return fail(
        ErrorCode::bad_input, "no cluster is given", "--on",
        "write --on h100-sxm:1024, a cluster's name or a YAML file; see orrery catalog clusters");
  }
  ORRERY_TRY(spec.scenario.cluster, parse_cluster(q.cluster, catalog));
  return spec;
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
      auto products = parse_enum<AdaptedProducts>(q.adapt);
      if (!products) return fail(at("--adapted-products", products.error()));
      adapters.products = *products;
    }
    auto adapted = with_adapters(spec.scenario.model, adapters);
    if (!adapted) return fail(at("--adapter-rank", adapted.error()));
    spec.scenario.model = std::move(*adapted);
  } else if (!q.adapt.empty()) {
    return fail(ErrorCode::bad_input, "there are no adapters to place", "--adapted-products",
                "give --adapter-rank as well, or adapters in the specification");
  }
  if (q.sequence_length != 0) spec.scenario.training.sequence_length = q.sequence_length;
  if (q.global_batch != 0) spec.scenario.training.global_batch = q.global_batch;
  if (!q.precision.empty()) {
    auto precision = parse_enum<NumberFormat>(q.precision);
    if (!precision) return fail(at("--precision", precision.error()));
    spec.scenario.training.precision = *precision;
  }
  if (!q.software.empty()) {
    auto software = load_software(catalog, q.software);
    if (!software) return fail(at("--software", software.error()));
    choose_software(spec, std::move(*software));
  }
  return spec;
}

}  // namespace orrery::cli
