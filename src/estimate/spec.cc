#include "estimate/spec.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "estimate/setting.h"
#include "model/checkpoint.h"
#include "model/diffusion/diffusion.h"
#include "model/family.h"
#include "model/transformer/hugging_face.h"
#include "model/transformer/transformer.h"
#include "outcome/nearest_name.h"

namespace orrery {
namespace {

// Kinds of catalog entries that are models, in the order in which a name is looked up.
constexpr std::array kModelKinds = {"models", "generation", "recommendation"};

// The first kind with an entry of that name or alias; the first of all where none has.
const char* kind_of_model(const std::string& name, const Catalog& catalog) {
  const auto has = [&](const char* kind) { return catalog.find(kind, name).has_value(); };
  const auto kind = std::ranges::find_if(kModelKinds, has);
  return kind == kModelKinds.end() ? kModelKinds.front() : *kind;
}

// Errors: no entry, with a near name of any kind, or what else has that name.
Result<Document> find_model(const std::string& name, const Catalog& catalog) {
  auto found = catalog.find(kind_of_model(name, catalog), name);
  if (found || found.error().code != ErrorCode::not_found) return found;
  if (!found.error().where.empty()) return found;  // the base of an entry
  Error error = found.error();
  std::vector<std::string> names;
  for (const char* kind : kModelKinds)
    std::ranges::move(catalog.names(kind), std::back_inserter(names));
  const auto near = nearest_name(name, names);
  error.hint = near ? "did you mean '" + *near + "'?"
                    : "see orrery catalog models, orrery catalog generation or orrery catalog "
                      "recommendation";
  std::error_code none;
  if (std::filesystem::is_directory(name, none)) {
    error.hint = "the folder of that name has no config.json";
  } else if (std::filesystem::exists(name, none)) {
    error.hint = "the name of a file that describes a model ends in .yaml, .yml or .json";
  }
  return fail(std::move(error));
}

bool looks_like_a_path(const std::string& text) {
  return text == "-" || text.find('/') != std::string::npos || text.ends_with(".json") ||
         text.ends_with(".yaml") || text.ends_with(".yml");
}

// "line 3, plan.tp"; of a document that was no text the key alone.
std::string line_and_key(const Value& value, const std::string& key) {
  return value.line() > 0 ? "line " + std::to_string(value.line()) + ", " + key : key;
}

std::string place(const Document& document, const Value& value, const std::string& key) {
  return document.name + ": " + line_and_key(value, key);
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
      const std::string where = line_and_key(v, "plan." + key + "." + inner);
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

// Replaces the file of documents by what is in it.
Result<void> read_documents(Training& training) {
  Documents& documents = training.documents;
  if (documents.file.empty()) return {};
  if (!documents.lengths.empty()) {
    return bad_input("both lengths and a file of them are given", "", "one of the two");
  }
  const bool whole = documents.packing != Packing::concatenated && training.sequence_length > 0;
  ORRERY_TRY(const std::string text, read_file(documents.file));
  ORRERY_TRY(
      documents.lengths,
      read_document_lengths(text, documents.file, whole ? training.sequence_length : kMaxDocument));
  documents.file.clear();
  return {};
}

// Likewise the file of the tokens of experts.
Result<void> read_expert_load(ExpertLoad& load) {
  if (load.file.empty()) return {};
  if (!load.tokens.empty()) {
    return bad_input("both tokens of experts and a file of them are given", "", "one of the two");
  }
  ORRERY_TRY(const std::string text, read_file(load.file));
  ORRERY_TRY(load.tokens, read_expert_tokens(text, load.file));
  load.file.clear();
  return {};
}

}  // namespace

Result<Model> read_based_model(Document document, const Catalog& catalog) {
  const Value* base = document.root.find("base");
  const char* kind = base != nullptr && base->is_scalar()
                         ? kind_of_model(base->scalar_text(), catalog)
                         : kModelKinds.front();
  ORRERY_TRY(const Document whole, catalog.with_base(kind, std::move(document)));
  return read_model(whole);
}

Result<Model> load_model(const std::string& name_or_path, const Catalog& catalog) {
  std::error_code none;
  const bool file = looks_like_a_path(name_or_path);
  const bool known = std::ranges::any_of(
      kModelKinds, [&](const char* kind) { return catalog.contains(kind, name_or_path); });
  const bool checkpoint = !known && std::filesystem::exists(name_or_path + "/config.json", none);
  if (checkpoint || (file && std::filesystem::is_directory(name_or_path, none))) {
    return read_checkpoint(name_or_path);
  }
  // "meta-llama/Llama-3.1-70B" is an alias of an entry, unless it is a file too.
  if (file && !std::filesystem::exists(name_or_path, none)) {
    if (const auto entry = find_model(name_or_path, catalog)) return read_model(*entry);
  }
  if (file) {
    auto document = read_document(name_or_path);
    if (!document) {
      Error error = document.error();
      if (error.message.starts_with("cannot be read") && !name_or_path.ends_with(".json")) {
        error.hint =
            "a file, a folder with a config.json, or a model of the catalog by its name there or "
            "on Hugging Face";
      }
      return fail(std::move(error));
    }
    return read_based_model(*std::move(document), catalog);
  }
  ORRERY_TRY(const Document document, find_model(name_or_path, catalog));
  return read_model(document);
}

bool is_spec(const Document& document) {
  return document.root.kind() == Value::Kind::map && document.root.find("model") != nullptr &&
         !is_hugging_face_config(document.root);
}

Result<Spec> read_spec(const Document& document, std::string_view cluster, const Catalog& catalog) {
  static const std::vector<std::string> kKnown = {"model",    "cluster",  "training",
                                                  "plan",     "software", "adapters",
                                                  "workload", "forecast", "image"};
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
    ORRERY_TRY(out.scenario.model, read_based_model(Document{document.name, model}, catalog));
  }

  if (const Value* size = document.root.find("image")) {
    ORRERY_TRY(const ImageSize stated, read<ImageSize>(Document{document.name + ": image", *size}));
    ORRERY_TRY(out.scenario.model,
               at(place(document, *size, "image"), with_image(out.scenario.model, stated)));
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
    ORRERY_TRY(out.scenario.cluster, stated_cluster(Document{document.name, *c}, catalog));
  } else {
    return bad_input("missing field 'cluster'", document.name,
                     "write cluster: h100-sxm:1024, or give --on");
  }

  if (const Value* forecast = document.root.find("forecast")) out.forecast = *forecast;
  if (const Value* training = document.root.find("training")) {
    ORRERY_TRY(out.scenario.training,
               read<Training>(Document{document.name + ": training", *training}));
    ORRERY_RETURN_IF_ERROR(at(place(document, *training, "training.documents"),
                              read_documents(out.scenario.training)));
    ORRERY_RETURN_IF_ERROR(at(place(document, *training, "training.expert_load"),
                              read_expert_load(out.scenario.training.expert_load)));
  }
  if (const Value* workload = document.root.find("workload")) {
    ORRERY_TRY(out.scenario.training.workload,
               at(place(document, *workload, "workload"), Codec<Workload>::read(*workload)));
  }
  if (const Value* plan = document.root.find("plan")) {
    ORRERY_RETURN_IF_ERROR(state_plan(out, *plan, document.name));
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

Result<void> state_plan(Spec& spec, const Value& plan, const std::string& name) {
  if (plan.kind() == Value::Kind::text) {
    ORRERY_TRY(spec.scenario.plan,
               at(name + ": plan", parse_plan(plan.scalar_text(), spec.scenario.plan)));
    for (std::string& key : stated_fields(plan.scalar_text())) {
      spec.stated.push_back(std::move(key));
    }
    return {};
  }
  auto flat = flat_plan(plan);
  if (!flat) return fail(at(name, flat.error()));
  Value all = *flat;
  if (flat->kind() == Value::Kind::map && !(spec.scenario.plan == Plan{})) {
    all = Codec<Plan>::write(spec.scenario.plan);
    for (const auto& [key, value] : flat->members()) all.set(key, value);
  }
  ORRERY_TRY(spec.scenario.plan, read<Plan>(Document{name + ": plan", all}));
  for (const auto& [key, value] : flat->members()) spec.stated.push_back(key);
  return {};
}

Result<void> complete(Spec& spec, std::span<const std::string> settings, const Catalog& catalog) {
  if (!spec.scenario.software_stated) {
    const std::string& usual = spec.scenario.cluster.accelerator.usual_software;
    ORRERY_TRY(SoftwareProfile software,
               load_software(catalog, usual.empty() ? SoftwareProfile().name : usual));
    choose_software(spec, std::move(software));
    spec.scenario.software_stated = false;
  }
  for (const std::string& setting : settings) {
    ORRERY_RETURN_IF_ERROR(change(spec.scenario, setting));
    if (setting.starts_with("plan."))
      spec.stated.push_back(setting.substr(5, setting.find_first_of(".=", 5) - 5));
  }
  complete_by_software(spec);
  return {};
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
  // Left out they would be those of the software.
  for_each_field_by_software([&]<class T>(const FieldBySoftware<T>& field) {
    if (scenario.software.*field.usual == Plan{}.*field.chosen) return;
    plan.set(std::string(field.name), Codec<T>::write(scenario.plan.*field.chosen));
  });
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
  complete_by_software(spec);
}

void complete_by_software(Spec& spec) {
  const auto stated = [&](std::string_view field) {
    return std::ranges::find(spec.stated, field) != spec.stated.end();
  };
  Plan& plan = spec.scenario.plan;
  const SoftwareProfile& software = spec.scenario.software;
  spec.scenario.plan_by_software.clear();
  for_each_field_by_software([&](const auto& field) {
    if (stated(field.name)) return;
    plan.*field.chosen = software.*field.usual;
    spec.scenario.plan_by_software.emplace_back(field.name);
  });
  if (plan.pp > 1) choose_schedule(plan, software);
  if (spec.scenario.model.tables == 0) return;
  if (plan.ep == 1 && !stated("ep")) plan.ep = 0;
  if (plan.micro_batch == 1 && !stated("micro_batch")) plan.micro_batch = 0;
}

}  // namespace orrery
