#include "search/further_axes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "outcome/nearest_name.h"
#include "search/candidate.h"

namespace orrery {
namespace {

using Degree = std::int64_t Plan::*;

// A field, its usual values (none: they have to be given), the degree that has to be above 1 for it to
// mean anything (none: it may always), and how it is copied and compared.
struct Field {
  std::string_view name;
  std::string_view usual;
  Degree degree;
  void (*copy)(const Plan& from, Plan& to);
  bool (*equal)(const Plan& a, const Plan& b);
};

template <auto kMember>
constexpr Field field(std::string_view usual, Degree degree = nullptr) {
  return {spelling<kMember>(), usual, degree,
          [](const Plan& from, Plan& to) { to.*kMember = from.*kMember; },
          [](const Plan& a, const Plan& b) { return a.*kMember == b.*kMember; }};
}

template <auto kMember>
constexpr Field overlap(std::string_view name, Degree degree = nullptr) {
  return {name, "false,true", degree,
          [](const Plan& from, Plan& to) { to.overlap.*kMember = from.overlap.*kMember; },
          [](const Plan& a, const Plan& b) { return a.overlap.*kMember == b.overlap.*kMember; }};
}

constexpr auto kFields = std::to_array<Field>({
    field<&Plan::offload_optimizer>("none,cpu,nvme"),
    field<&Plan::offload_parameters>("none,cpu,nvme"),
    field<&Plan::offload_activations>("none,cpu,nvme"),
    field<&Plan::offload_share>("0.5,0.75,1"),
    field<&Plan::gradients_in_place>("false,true"),
    field<&Plan::state_division>("even,by-memory"),
    field<&Plan::quantized_weights>("false,true"),
    field<&Plan::quantized_gradients>("false,true"),
    field<&Plan::secondary_shard>(""),
    field<&Plan::shard_group>(""),
    field<&Plan::local_steps>(""),
    field<&Plan::averaging>("all,ring,one-peer,by-bandwidth"),
    field<&Plan::gradient_code>("none,eight-bit,ternary"),
    field<&Plan::gradient_bucket_mib>("0,25,100"),
    field<&Plan::halves>("none,batch,sequence"),
    field<&Plan::dispatch>("all-to-all,deduplicated,two-level", &Plan::ep),
    field<&Plan::dispatch_format>("bf16,fp8", &Plan::ep),
    field<&Plan::expert_products>("grouped,scattered"),
    field<&Plan::sequence_parallel>("true,false", &Plan::tp),
    field<&Plan::etp>("", &Plan::tp),
    field<&Plan::group>(""),
    field<&Plan::ulysses>("", &Plan::cp),
    field<&Plan::context_placement>("head-first,context-first"),
    field<&Plan::context_balance>("zigzag,striped,contiguous"),
    field<&Plan::attention>("library,unfused"),
    overlap<&Overlap::gradient_reduction>("overlap.gradient_reduction"),
    overlap<&Overlap::parameter_gather>("overlap.parameter_gather"),
    overlap<&Overlap::tensor_parallel>("overlap.tensor_parallel", &Plan::tp),
    overlap<&Overlap::tensor_tiles>("overlap.tensor_tiles", &Plan::tp),
    overlap<&Overlap::pipeline>("overlap.pipeline", &Plan::pp),
    overlap<&Overlap::optimizer>("overlap.optimizer"),
    overlap<&Overlap::outer>("overlap.outer"),
    overlap<&Overlap::expert>("overlap.expert", &Plan::ep),
    overlap<&Overlap::expert_batches>("overlap.expert_batches", &Plan::ep),
    overlap<&Overlap::host_update>("overlap.host_update"),
});

// What every search varies.
constexpr std::array<std::string_view, 17> kSearched = {"tp",
                                                        "cp",
                                                        "context_parallel",
                                                        "pp",
                                                        "dp",
                                                        "ep",
                                                        "table_sharding",
                                                        "towers",
                                                        "codec",
                                                        "chunks",
                                                        "schedule",
                                                        "micro_batch",
                                                        "recompute",
                                                        "recompute_modules",
                                                        "zero",
                                                        "placement",
                                                        "recompute_layers"};

Result<const Field*> find(std::string_view name) {
  const auto found = std::ranges::find(kFields, name, &Field::name);
  if (found != kFields.end()) return &*found;
  const std::string quoted = "'" + std::string(name) + "'";
  if (std::ranges::find(kSearched, name) != kSearched.end()) {
    return bad_input(quoted + " is searched anyway; state it in the plan to keep it fixed", "");
  }
  if (std::ranges::find(kAxesOutsideTheSpace, name) != kAxesOutsideTheSpace.end()) {
    return bad_input(quoted + " is varied when all axes are searched", "");
  }
  std::vector<std::string> names;
  for (const Field& f : kFields) names.emplace_back(f.name);
  return bad_input(quoted + " is no field that a search can be asked to vary", "",
                   name_hint(name, names));
}

}  // namespace

std::vector<std::string> fields_with_usual_values() {
  std::vector<std::string> out;
  for (const Field& f : kFields) {
    if (!f.usual.empty()) out.emplace_back(f.name);
  }
  return out;
}

Result<FurtherAxis> further_axis(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  ORRERY_TRY(const Field* known, find(text.substr(0, equals)));
  std::string_view values = equals == text.size() ? known->usual : text.substr(equals + 1);
  FurtherAxis out{.field = std::string(known->name), .names = {}, .values = {}};
  if (values.empty()) {
    return bad_input("needs values", out.field, "write for example " + out.field + "=1,8");
  }
  while (true) {
    const std::size_t comma = std::min(values.find(','), values.size());
    const std::string name(values.substr(0, comma));
    ORRERY_TRY(Plan plan, parse_plan(out.field + "=" + name));
    const auto same = [&](const Plan& other) { return known->equal(plan, other); };
    if (std::ranges::any_of(out.values, same)) {
      return bad_input("has the value " + name + " twice", out.field);
    }
    out.names.push_back(name);
    out.values.push_back(std::move(plan));
    if (comma == values.size()) return out;
    values.remove_prefix(comma + 1);
  }
}

std::size_t combinations(const std::vector<FurtherAxis>& axes) {
  std::size_t product = 1;
  for (const FurtherAxis& axis : axes) product *= axis.values.size();
  return product;
}

void set_combination(const std::vector<FurtherAxis>& axes, std::size_t index, Plan& plan) {
  for (const FurtherAxis& axis : axes) {
    const Plan& from = axis.values[index % axis.values.size()];
    std::ranges::find(kFields, axis.field, &Field::name)->copy(from, plan);
    index /= axis.values.size();
  }
}

bool repeats(const std::vector<FurtherAxis>& axes, std::size_t index, const Plan& degrees) {
  for (const FurtherAxis& axis : axes) {
    const Degree degree = std::ranges::find(kFields, axis.field, &Field::name)->degree;
    if (degree != nullptr && degrees.*degree == 1 && index % axis.values.size() > 0) return true;
    index /= axis.values.size();
  }
  return false;
}

std::string value_on(const FurtherAxis& axis, const Plan& plan) {
  const Field& field = *std::ranges::find(kFields, axis.field, &Field::name);
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    if (field.equal(axis.values[i], plan)) return axis.names[i];
  }
  return "";
}

}  // namespace orrery
