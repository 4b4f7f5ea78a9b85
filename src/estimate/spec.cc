#include "estimate/spec.h"

#include <algorithm>

#include "model/family.h"
#include "model/transformer/hugging_face.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

bool looks_like_a_path(const std::string& text) {
  return text == "-" || text.find('/') != std::string::npos || text.ends_with(".json") ||
         text.ends_with(".yaml") || text.ends_with(".yml");
}

std::string place(const Document& document, const Value& value, const std::string& key) {
  return document.name + ": line " + std::to_string(value.line()) + ", " + key;
}

// "zero-2", "fsdp", "none" -> ZeRO stage.
Result<std::int64_t> sharding(const std::string& text) {
  static const std::vector<std::pair<std::string, std::int64_t>> kNames = {
      {"none", 0}, {"zero-0", 0}, {"zero-1", 1}, {"zero-2", 2}, {"zero-3", 3}, {"fsdp", 3}};
  std::vector<std::string> known;
  for (const auto& [name, zero] : kNames) {
    if (name == text) return zero;
    known.push_back(name);
  }
  return bad_input("unknown sharding '" + text + "'", "", name_hint(text, known));
}

// The nested forms `pp: {degree, schedule, chunks}` and `dp: {degree, sharding, shard_group}` as
// flat fields of a plan.
Result<Value> flat_plan(const Value& plan) {
  if (plan.kind() != Value::Kind::map) return plan;
  Value out = Value::map();
  out.set_line(plan.line());
  for (const auto& [key, value] : plan.members()) {
    if (value.kind() != Value::Kind::map || (key != "pp" && key != "dp")) {
      out.set(key, value);
      continue;
    }
    for (const auto& [inner, v] : value.members()) {
      const std::string where = "line " + std::to_string(v.line()) + ", plan." + key + "." + inner;
      const bool flat = key == "pp" ? inner == "schedule" || inner == "chunks" ||
                                          inner == "group" || inner == "layers"
                                    : inner == "shard_group";
      if (inner == "degree" || flat) {
        out.set(flat ? inner : key, v);
      } else if (key == "dp" && inner == "sharding") {
        auto zero = sharding(v.scalar_text());
        if (!zero) return fail(at(where, zero.error()));
        out.set("zero", Value::number(*zero));
      } else {
        return bad_input("unknown field '" + inner + "'", where,
                         key == "pp" ? "known: degree, schedule, chunks, group, layers"
                                     : "known: degree, sharding, shard_group");
      }
    }
  }
  return out;
}

Result<Cluster> cluster_of(const Document& document, const Value& value, const Catalog& catalog) {
  const std::string where = place(document, value, "cluster");
  if (value.is_scalar()) {
    return at(where, parse_cluster(value.scalar_text(), catalog));
  }
  const Value* name = value.find("name");
  const Value* gpus = value.find("gpus");
  if (name != nullptr && value.members().size() == (gpus != nullptr ? 2U : 1U)) {
    const std::string text =
        name->scalar_text() + (gpus != nullptr ? ":" + gpus->scalar_text() : std::string());
    return at(where, parse_cluster(text, catalog));
  }
  return read_cluster(Document{document.name, value}, catalog);
}

}  // namespace

Result<Model> load_model(const std::string& name_or_path, const Catalog& catalog) {
  if (looks_like_a_path(name_or_path)) {
    auto document = read_document(name_or_path);
    if (!document) {
      Error error = document.error();
      if (error.message.starts_with("cannot be read") && !name_or_path.ends_with(".json")) {
        error.hint = "of a model on Hugging Face, give the file config.json";
      }
      return fail(std::move(error));
    }
    return read_model(*document);
  }
  ORRERY_TRY(const Document document, catalog.find("models", name_or_path));
  return read_model(document);
}

bool is_spec(const Document& document) {
  return document.root.kind() == Value::Kind::map && document.root.find("model") != nullptr &&
         !is_hugging_face_config(document.root);
}

Result<Spec> read_spec(const Document& document, std::string_view cluster, const Catalog& catalog) {
  static const std::vector<std::string> kKnown = {"model",    "cluster",  "training", "plan",
                                                  "software", "adapters", "workload", "forecast"};
  for (const auto& [key, value] : document.root.members()) {
    if (std::ranges::find(kKnown, key) == kKnown.end()) {
      return bad_input("unknown field '" + key + "'",
                       document.name + ": line " + std::to_string(value.line()),
                       name_hint(key, kKnown));
    }
  }
  Spec out;
  const Value& model = *document.root.find("model");
  if (model.is_scalar()) {
    ORRERY_TRY(out.scenario.model,
               at(place(document, model, "model"), load_model(model.scalar_text(), catalog)));
  } else {
    ORRERY_TRY(out.scenario.model, read_model(Document{document.name, model}));
  }

  if (const Value* adapters = document.root.find("adapters")) {
    ORRERY_TRY(const Adapters stated,
               read<Adapters>(Document{document.name + ": adapters", *adapters}));
    ORRERY_TRY(out.scenario.model, at(place(document, *adapters, "adapters"),
                                      with_adapters(out.scenario.model, stated)));
  }

  if (!cluster.empty()) {
    ORRERY_TRY(out.scenario.cluster, parse_cluster(cluster, catalog));
  } else if (const Value* c = document.root.find("cluster")) {
    ORRERY_TRY(out.scenario.cluster, cluster_of(document, *c, catalog));
  } else {
    return bad_input("missing field 'cluster'", document.name,
                     "write cluster: h100-sxm:1024, or give --on");
  }

  if (const Value* forecast = document.root.find("forecast")) out.forecast = *forecast;
  if (const Value* training = document.root.find("training")) {
    ORRERY_TRY(out.scenario.training,
               read<Training>(Document{document.name + ": training", *training}));
  }
  if (const Value* workload = document.root.find("workload")) {
    ORRERY_TRY(out.scenario.training.workload,
               at(place(document, *workload, "workload"), Codec<Workload>::read(*workload)));
  }
  if (const Value* plan = document.root.find("plan")) {
    auto flat = flat_plan(*plan);
    if (!flat) return fail(at(document.name, flat.error()));
    ORRERY_TRY(out.scenario.plan, read<Plan>(Document{document.name + ": plan", *flat}));
    for (const auto& [key, value] : flat->members()) out.stated.push_back(key);
  }
  if (const Value* software = document.root.find("software")) {
    if (software->is_scalar()) {
      auto profile = load_software(catalog, software->scalar_text());
      if (!profile) return fail(at(place(document, *software, "software"), profile.error()));
      choose_software(out, std::move(*profile));
    } else {
      ORRERY_TRY(SoftwareProfile profile,
                 read_software(Document{document.name + ": software", *software}));
      choose_software(out, std::move(profile));
    }
  }
  return out;
}

Value specification(const Scenario& scenario, const Catalog& catalog) {
  Value out = Value::map();
  out.set("model", scenario.model.family->write(scenario.model));
  out.set("cluster", Codec<Cluster>::write(scenario.cluster));
  const auto published = load_software(catalog, scenario.software.name);
  const Value own = Codec<SoftwareProfile>::write(scenario.software);
  const bool as_published =
      published && to_json(Codec<SoftwareProfile>::write(*published)) == to_json(own);
  out.set("software", as_published ? Value::text(scenario.software.name) : own);
  if (scenario.training.workload != Workload::training) {
    out.set("workload", Codec<Workload>::write(scenario.training.workload));
  }
  out.set("training", Codec<Training>::write(scenario.training));
  Value plan = Codec<Plan>::write(scenario.plan);
  if (scenario.software.zero != Plan{}.zero) {
    plan.set("zero", Value::number(static_cast<double>(scenario.plan.zero)));
  }
  out.set("plan", std::move(plan));
  return out;
}

void choose_software(Spec& spec, SoftwareProfile software) {
  const bool overlap_stated = std::ranges::any_of(
      spec.stated, [](const std::string& field) { return field.starts_with("overlap"); });
  if (software.transfers == PipelineTransfers::blocking && !overlap_stated) {
    spec.scenario.plan.overlap.pipeline = false;
  }
  spec.scenario.software = std::move(software);
  spec.scenario.software_stated = true;
  complete_zero(spec);
}

void complete_zero(Spec& spec) {
  spec.scenario.zero_stated = std::ranges::find(spec.stated, "zero") != spec.stated.end();
  if (!spec.scenario.zero_stated) spec.scenario.plan.zero = spec.scenario.software.zero;
}

}  // namespace orrery
