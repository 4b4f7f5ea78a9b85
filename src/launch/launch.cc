#include "launch/launch.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "estimate/spec.h"
#include "launch/launch_import.h"
#include "launch/launch_table.h"
#include "model/transformer/transformer.h"
#include "outcome/nearest_name.h"
#include "outcome/printable.h"
#include "plan/completed_plan.h"
#include "plan/software.h"

namespace orrery {
namespace {

constexpr const char* kGiveModel =
    "give --model NAME, a name of orrery catalog models or a config.json";

// Fields at or below a path, as a tree; digits are numbers, words of lists are items.
Value subtree(const LaunchSettings& settings, std::string_view path,
              const Description& description) {
  Value out = Value::map();
  for (const FieldDescription& field : description.fields) {
    const std::string key = std::string(path) + "." + field.key;
    if (field.shape.kind == ValueShape::Kind::map) {
      Value inner = subtree(settings, key, field.shape.map());
      if (!inner.members().empty()) out.set(field.key, std::move(inner));
      continue;
    }
    const auto found = settings.find(key);
    if (found == settings.end()) continue;
    const auto scalar = [&](const std::string& text, const ValueShape& shape) {
      const bool number =
          shape.kind == ValueShape::Kind::integer || shape.kind == ValueShape::Kind::number;
      const bool flag =
          shape.kind == ValueShape::Kind::boolean && (text == "true" || text == "false");
      return Value::scalar(number ? Value::Kind::number
                           : flag ? Value::Kind::boolean
                                  : Value::Kind::text,
                           text, 0);
    };
    if (field.shape.kind == ValueShape::Kind::list) {
      Value list = Value::list();
      const std::string& text = found->second;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        list.append(scalar(text.substr(at, end - at), field.shape.item.front()));
        at = end + 1;
      }
      out.set(field.key, std::move(list));
    } else {
      out.set(field.key, scalar(found->second, field.shape));
    }
  }
  return out;
}

template <Described T>
Value subtree_of(const LaunchSettings& settings, std::string_view path) {
  return subtree(settings, path, field_table<T>().description());
}

// The same shape, whatever the names, sources and lengths.
bool same_shape(const Architecture& a, const Architecture& b, bool vocabulary) {
  return a.kind == b.kind && a.num_layers == b.num_layers && a.hidden == b.hidden &&
         a.ffn_hidden == b.ffn_hidden && a.ffn == b.ffn && a.num_heads == b.num_heads &&
         a.num_kv_heads == b.num_kv_heads && a.head_dim == b.head_dim &&
         a.latent_attention == b.latent_attention && a.moe == b.moe && a.norm == b.norm &&
         a.position_encoding == b.position_encoding && a.linear_bias == b.linear_bias &&
         a.qkv_bias == b.qkv_bias && a.output_bias == b.output_bias &&
         a.feed_forward_bias == b.feed_forward_bias && a.qk_norm == b.qk_norm &&
         a.tie_embeddings == b.tie_embeddings && a.sliding_window == b.sliding_window &&
         a.parallel_block == b.parallel_block && a.embedding_norm == b.embedding_norm &&
         a.num_multi_token_prediction == b.num_multi_token_prediction &&
         (!vocabulary || a.vocab == b.vocab);
}

// The catalog's name of an architecture; of several, the one with as many positions. Empty if there
// is none. `vocabulary`: whether it has to be the same.
std::string catalog_name(const Architecture& a, bool vocabulary, const Catalog& catalog) {
  std::string out;
  for (const std::string& name : catalog.names("models")) {
    const auto document = catalog.find("models", name);
    if (!document) continue;
    const auto entry = read_architecture(*document);
    if (!entry || !same_shape(a, *entry, vocabulary)) continue;
    if (entry->max_position == a.max_position) return name;
    if (out.empty()) out = name;
  }
  return out;
}

// A name of the catalog for one of Hugging Face ("meta-llama/Llama-2-7b-hf"); else the name itself.
std::string model_name(const std::string& text, const Catalog& catalog) {
  std::string name = text.substr(text.rfind('/') + 1);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.starts_with("meta-")) name.erase(0, 5);
  for (const char* ending : {"-hf", "-instruct", "-base", "-v0.1"}) {
    if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
  }
  return catalog.contains("models", name) ? name : text;
}

struct FoundModel {
  std::string name;
  Value value;  // for the specification
};

Result<FoundModel> model_of(const LaunchQuestion& question, LaunchSettings& settings,
                            const LaunchTable& table, const Catalog& catalog,
                            std::vector<std::string>& unsaid) {
  std::string stated = question.model;
  if (const auto found = settings.find("model"); stated.empty() && found != settings.end()) {
    stated = model_name(found->second, catalog);
  }
  if (!stated.empty()) {
    auto model = load_model(stated, catalog);
    if (!model) {
      Error error = model.error();
      if (question.model.empty()) error.hint = kGiveModel;
      return fail(at(question.model.empty() ? "model" : "--model", std::move(error)));
    }
    return FoundModel{model->name, Value::text(stated)};
  }
  if (!settings.contains("model.num_layers")) {
    const auto layers = std::ranges::find_if(
        unsaid, [](const std::string& line) { return line.starts_with("num_layers: "); });
    return bad_input(
        "the files do not name the model" + (layers == unsaid.end() ? "" : ", and " + *layers), "",
        kGiveModel);
  }
  const bool vocabulary = settings.contains("model.vocab");
  const auto read_model_of = [&]() -> Result<Architecture> {
    auto read = read_architecture(Document{"model", subtree_of<Architecture>(settings, "model")});
    if (read) return read;
    Error error = read.error();
    error.hint = error.hint.empty() ? kGiveModel : error.hint + "; or " + kGiveModel;
    return fail(std::move(error));
  };
  ORRERY_TRY(Architecture architecture, read_model_of());
  if (const std::string name = catalog_name(architecture, vocabulary, catalog); !name.empty()) {
    if (!vocabulary)
      unsaid.push_back("the vocabulary: that of " + name + ", which has the same shape");
    return FoundModel{name, Value::text(name)};
  }
  for (const auto& [field, value] : table.assumed.all) {
    if (!settings.emplace(field, value).second) continue;
    unsaid.push_back(field + ": " + value + " is assumed");
  }
  if (!settings.contains("model.vocab")) {
    return bad_input("the files do not state the vocabulary", "", kGiveModel);
  }
  ORRERY_TRY(architecture, read_model_of());
  architecture.name = "imported";
  ORRERY_RETURN_IF_ERROR(build_model(architecture));
  Value value = non_default_fields(architecture);
  return FoundModel{architecture.name, std::move(value)};
}

Result<LaunchTable> table_of(const LaunchQuestion& question, const Catalog& catalog) {
  if (const std::string& name = question.framework; !name.empty()) {
    if (!catalog.find("launch", name)) {
      return bad_input("unknown framework '" + printable(name) + "'", "--from",
                       name_hint(name, framework_names(catalog)));
    }
    return at("--from", load_launch_table(catalog, name));
  }
  std::optional<LaunchTable> best;
  std::size_t most = 0;
  for (const std::string& name : catalog.names("launch")) {
    ORRERY_TRY(LaunchTable table, load_launch_table(catalog, name));
    const LaunchSettings known = known_keys(table);
    bool used = false;
    LaunchSettings found;  // flags that the table understands
    for (const LaunchFile& file : question.files) {
      if (std::ranges::find(table.syntaxes, file.syntax) == table.syntaxes.end()) continue;
      for (const LaunchFlag& flag : file.flags) {
        const std::string key = key_in(table, flag.key);
        if (known.contains(key)) used = true;
        if (known.contains(key) || irrelevant_in(table, key, IrrelevantNames::all) != nullptr) {
          found.emplace(key, "");
        }
      }
    }
    if (used && found.size() > most) {
      most = found.size();
      best = std::move(table);
    }
  }
  if (!best) {
    return bad_input("no flag of a known framework is in the files", "",
                     name_hint("", catalog.names("launch")));
  }
  return *std::move(best);
}

void set_cluster(LaunchImport& import, const Cluster& cluster) {
  import.pin("cluster.gpus", std::to_string(cluster.accelerators));
  import.pin("cluster.gpus_per_node", std::to_string(cluster.accelerators_per_node));
  import.pin("cluster.nodes",
             std::to_string(cluster.accelerators /
                            std::max<std::int64_t>(1, cluster.accelerators_per_node)));
}

// The layers of a model that is named, `given` or in the files: some flags count in layers.
void set_layers(LaunchImport& import, const LaunchTable& table, const LaunchFlags& flags,
                const std::string& given, const Catalog& catalog) {
  std::string name = given;
  if (name.empty()) {
    LaunchImport names(table, flags);
    names.apply();
    if (const auto found = names.settings.find("model"); found != names.settings.end()) {
      name = model_name(found->second, catalog);
    }
  }
  const auto model = name.empty() ? Result<Model>(fail({})) : load_model(name, catalog);
  const Architecture* architecture = model ? architecture_of(*model) : nullptr;
  if (architecture == nullptr) return;
  import.settings["model.num_layers"] = std::to_string(architecture->num_layers);
}

}  // namespace

std::vector<std::string> framework_names(const Catalog& catalog) {
  std::vector<std::string> out;
  for (std::string& name : catalog.names("launch")) {
    const auto entry = catalog.find("launch", name);
    const Value* aliases = entry ? entry->root.find("aliases") : nullptr;
    out.push_back(std::move(name));
    if (aliases == nullptr) continue;
    for (const Value& alias : aliases->items()) out.push_back(alias.scalar_text());
  }
  return out;
}

Result<ImportedLaunch> import_launch(const LaunchQuestion& question, const Catalog& catalog) {
  ORRERY_TRY(const LaunchTable table, table_of(question, catalog));
  LaunchFlags flags;
  for (const LaunchFile& file : question.files) {
    flags.insert(flags.end(), file.flags.begin(), file.flags.end());
  }
  LaunchImport import(table, flags);
  set_layers(import, table, flags, question.model, catalog);
  std::string cluster = question.cluster;
  const auto with_count = [&]() -> Result<void> {
    ORRERY_TRY(const Cluster read, at("--on", parse_cluster(cluster, catalog)));
    set_cluster(import, read);
    return {};
  };
  const bool counted = cluster.find(':') != std::string::npos ||
                       catalog.contains("clusters", cluster) || cluster.ends_with(".yaml");
  if (counted) ORRERY_RETURN_IF_ERROR(with_count());
  import.apply();
  ORRERY_RETURN_IF_ERROR(import.check_counts(question.files.size() > 1));
  LaunchSettings& settings = import.settings;
  if (!cluster.empty() && !counted) {
    const auto gpus = settings.find("cluster.gpus");
    if (gpus == settings.end()) {
      return bad_input("the files do not say the number of GPUs", "--on",
                       "write --on " + cluster + ":64");
    }
    cluster += ":" + gpus->second;
    ORRERY_RETURN_IF_ERROR(at("--on", parse_cluster(cluster, catalog)));
  }
  ImportedLaunch out;
  out.framework = table.name;
  out.title = table.title;
  out.software = settings.contains("software") ? settings["software"] : table.software;
  out.flags = import.flags();
  out.unsaid = import.unsaid();
  if (cluster.empty()) {
    const auto gpus = settings.find("cluster.gpus");
    out.unsaid.push_back(
        "the cluster: give --on" +
        (gpus == settings.end() ? " h100-sxm:64" : " h100-sxm, for " + gpus->second + " GPUs"));
  }
  for (const char* field : {"training.global_batch", "training.sequence_length"}) {
    if (!settings.contains(field)) {
      out.unsaid.push_back(std::string(field) + ": left at its default");
    }
  }
  ORRERY_TRY(FoundModel model, model_of(question, settings, table, catalog, out.unsaid));
  out.model = model.name;
  Value plan = subtree_of<Plan>(settings, "plan");
  Value training = subtree_of<Training>(settings, "training");
  ORRERY_TRY(out.plan, read<Plan>(Document{"plan", plan}));
  ORRERY_TRY(out.training, read<Training>(Document{"training", training}));
  out.specification = Value::map();
  out.specification.set("model", std::move(model.value));
  if (!cluster.empty()) out.specification.set("cluster", Value::text(cluster));
  out.specification.set("software", Value::text(out.software));
  out.specification.set("training", std::move(training));
  out.specification.set("plan", std::move(plan));
  return out;
}

// ---- emission ----

namespace {

LaunchSettings settings_of(const Scenario& scenario, const Plan& plan, const Catalog& catalog) {
  LaunchSettings out;
  const auto add = [&](const std::string& path, const Value& value) {
    for (const LaunchFlag& leaf : leaves(value, "")) {
      if (leaf.given) out[path + "." + leaf.key] = leaf.value;
    }
  };
  add("plan", all_fields(plan));
  add("training", all_fields(scenario.training));
  if (const Architecture* a = architecture_of(scenario.model)) {
    const Architecture whole = completed(*a);
    add("model", all_fields(whole));
    for (const char* width : {"model.sliding_window", "model.moe.num_shared_experts"}) {
      if (out.contains(width) && out[width] == "0") out.erase(width);
    }
    out["model"] =
        catalog.contains("models", a->name) ? a->name : catalog_name(whole, true, catalog);
  }
  out["software"] = scenario.software.name;
  const Cluster& cluster = scenario.cluster;
  out["cluster.architecture"] = cluster.accelerator.architecture;
  out["cluster.gpus"] = std::to_string(cluster.accelerators);
  const std::int64_t per_node = std::max<std::int64_t>(1, cluster.accelerators_per_node);
  out["cluster.gpus_per_node"] = std::to_string(per_node);
  out["cluster.nodes"] = std::to_string(cluster.accelerators / per_node);
  return out;
}

// The first form of a rule that has the meaning of the specification, and its flags; nullptr: none.
const LaunchForm* written_form(const LaunchRule& rule, const LaunchSettings& settings,
                               LaunchFlags& flags) {
  for (const LaunchForm& form : rule.forms) {
    if (form.import || !form.unsaid.empty()) continue;
    LaunchSettings variables;
    const auto fits = [&](const auto& p) {
      const auto found = settings.find(p.first);
      return matches(p.second, found == settings.end() ? nullptr : &found->second, variables,
                     settings);
    };
    if (!std::ranges::all_of(form.means.all, fits) || !std::ranges::all_of(form.when.all, fits)) {
      continue;
    }
    std::string missing;
    flags.clear();
    for (const auto& [key, pattern] : form.flags.all) {
      const auto value = filled(pattern, variables, settings, &missing);
      if (value && !value->empty()) flags.push_back({key, *value, "", 0, true, ""});
    }
    if (missing.empty()) return &form;
  }
  flags.clear();
  return nullptr;
}

// The sentence with the values of the fields that it has in braces.
std::string with_fields(std::string sentence, const LaunchSettings& settings) {
  for (std::size_t at = 0; (at = sentence.find('{', at)) != std::string::npos;) {
    const std::size_t end = sentence.find('}', at);
    if (end == std::string::npos) break;
    const auto found = settings.find(sentence.substr(at + 1, end - at - 1));
    const std::string value = found == settings.end() ? "" : found->second;
    sentence.replace(at, end + 1 - at, value);
    at += value.size();
  }
  return sentence;
}

// "choose chunks=1, 2, 4": values of the first of the form's fields with which the rule writes flags.
std::string accepted_instead(const LaunchRule& rule, const LaunchForm& refused,
                             const LaunchSettings& settings) {
  constexpr int kMost = 64;
  for (const std::string& field : refused.instead) {
    std::string values;
    LaunchSettings other = settings;
    LaunchFlags flags;
    for (int i = 1; i <= kMost; ++i) {
      other[field] = std::to_string(i);
      const LaunchForm* form = written_form(rule, other, flags);
      if (form != nullptr && !form->refused.empty()) continue;
      values += (values.empty() ? "" : ", ") + other[field];
    }
    if (!values.empty()) return "choose " + field.substr(field.find('.') + 1) + "=" + values;
  }
  return "";
}

Result<void> write_flags(const LaunchTable& table, const LaunchSettings& settings,
                         EmittedLaunch& out) {
  LaunchSettings written;
  for (const LaunchRule& rule : table.rules) {
    LaunchFlags flags;
    const LaunchForm* form = written_form(rule, settings, flags);
    if (form == nullptr) continue;
    if (!form->refused.empty()) {
      return unsupported(with_fields(form->refused, settings), "--emit",
                         accepted_instead(rule, *form, settings));
    }
    if (!form->add.empty()) out.to_add.push_back(form->add);
    for (LaunchFlag& flag : flags) {
      if (written.emplace(flag.key, "").second) out.flags.push_back(std::move(flag));
    }
  }
  return {};
}

struct LostField {
  std::string path;  // "plan.placement"
  std::string wanted;
  std::string got;
};

// Fields of two values of a type that differ.
template <Described T>
void differing(const std::string& path, const T& wanted, const T& got,
               std::vector<LostField>& out) {
  LaunchSettings other;
  for (const LaunchFlag& leaf : leaves(all_fields(got), "")) other[leaf.key] = leaf.value;
  for (const LaunchFlag& leaf : leaves(all_fields(wanted), "")) {
    const std::string& found = other[leaf.key];
    if (found != leaf.value) out.push_back({path + "." + leaf.key, leaf.value, found});
  }
}

// Without these a file would launch another plan, of another step time and memory.
Result<void> check_kept(const std::vector<LostField>& lost, const std::string& framework) {
  constexpr std::array<const char*, 12> kPlan = {"plan.tp",
                                                 "plan.cp",
                                                 "plan.context_parallel",
                                                 "plan.pp",
                                                 "plan.dp",
                                                 "plan.ep",
                                                 "plan.schedule",
                                                 "plan.chunks",
                                                 "plan.layers",
                                                 "plan.recompute_modules",
                                                 "plan.recompute_layers",
                                                 "plan.recompute"};
  for (const char* field : kPlan) {
    const auto found = std::ranges::find(lost, field, &LostField::path);
    if (found == lost.end()) continue;
    const std::string key = found->path.substr(found->path.find('.') + 1);
    std::string wanted = found->wanted;
    std::ranges::replace(wanted, ' ', '+');
    const std::string other =
        found->got.empty() ? "without " + key : "with " + key + "=" + found->got;
    return unsupported("a file of " + framework + " cannot express " + key + "=" + wanted +
                           ", and would launch a plan " + other,
                       "--emit",
                       "choose a plan " + other + ", or write --emit yaml for the specification");
  }
  return {};
}

}  // namespace

namespace {

Result<Architecture> read_catalog_model(const std::string& name, const Catalog& catalog) {
  ORRERY_TRY(const Document document, catalog.find("models", name));
  return read_architecture(document);
}

}  // namespace

Result<EmittedLaunch> emitted_launch(const Scenario& scenario, std::string_view framework,
                                     const Catalog& catalog) {
  ORRERY_RETURN_IF_ERROR(check_alike(scenario.cluster, "the launch of a framework"));
  if (architecture_of(scenario.model) == nullptr) {
    return unsupported(scenario.model.name + " is not a transformer, which " +
                           std::string(framework) + " would train",
                       "--emit", "write --emit yaml for the specification, or plan");
  }
  ORRERY_TRY(const LaunchTable table, load_launch_table(catalog, framework));
  const Accelerator& accelerator = scenario.cluster.accelerator;
  if (const std::string& usual = accelerator.usual_software;
      !usual.empty() && usual != table.software) {
    return unsupported(accelerator.name + " runs " + usual + ", not " + table.title, "--emit",
                       "write --emit yaml for the specification, or choose other accelerators");
  }
  // With another schedule the file would launch another plan, of another step time and memory.
  ORRERY_TRY(const SoftwareProfile software, load_software(catalog, table.software));
  if (std::string lacking = lacking_schedule(software, scenario.plan); !lacking.empty()) {
    return unsupported(std::move(lacking), "--emit",
                       software.schedules->empty()
                           ? "choose a plan with pp=1"
                           : "choose one of these, or search with --software " + software.name);
  }
  const Plan plan = without_idle_fields(scenario.plan);
  const LaunchSettings settings = settings_of(scenario, plan, catalog);
  EmittedLaunch out;
  ORRERY_RETURN_IF_ERROR(write_flags(table, settings, out));

  // What does not come back from these flags is not expressed by them.
  LaunchImport import(table, out.flags);
  set_cluster(import, scenario.cluster);
  import.settings["model.num_layers"] = settings.find("model.num_layers")->second;
  import.apply();
  std::vector<std::string> assumed;
  const auto model = model_of({}, import.settings, table, catalog, assumed);
  const Architecture* wanted = architecture_of(scenario.model);
  const auto read_back = !model ? Result<Architecture>(fail({}))
                         : model->value.kind() == Value::Kind::text
                             ? read_catalog_model(model->name, catalog)
                             : read_architecture(Document{"model", model->value});
  const bool same_model =
      model && wanted != nullptr && read_back && same_shape(*read_back, completed(*wanted), true);
  if (!same_model) out.not_expressed.push_back("model = " + scenario.model.name);
  ORRERY_TRY(const Plan read_plan,
             read<Plan>(Document{"plan", subtree_of<Plan>(import.settings, "plan")}));
  ORRERY_TRY(
      Training training,
      read<Training>(Document{"training", subtree_of<Training>(import.settings, "training")}));
  const CompletedPlan completed_again =
      completed_plan(scenario.model, scenario.cluster, training, read_plan);
  const CompletedPlan completed_before =
      completed_plan(scenario.model, scenario.cluster, scenario.training, scenario.plan);
  std::vector<LostField> lost;
  differing("plan", without_idle_fields(completed_before.plan),
            without_idle_fields(completed_again.plan), lost);
  differing("training", completed_before.training, completed_again.training, lost);
  ORRERY_RETURN_IF_ERROR(check_kept(lost, table.title));
  for (const LostField& field : lost) {
    out.not_expressed.push_back(field.path + " = " +
                                (field.wanted.empty() ? "none" : field.wanted));
  }

  std::vector<std::string> comment = {"Written by Orrery for " + table.title + ": " +
                                      scenario.model.name + " on " +
                                      std::to_string(scenario.cluster.accelerators) + " x " +
                                      scenario.cluster.accelerator.name + "."};
  if (!out.not_expressed.empty()) {
    comment.push_back("What its flags cannot say, and is left at their defaults:");
    for (const std::string& field : out.not_expressed) comment.push_back("  " + field);
  }
  for (const std::string& line : out.to_add) comment.push_back("Add " + line);
  out.text = launch_text(table, out.flags, comment);
  return out;
}

Plan without_idle_fields(Plan plan) {
  const Plan initial;
  Overlap& overlap = plan.overlap;
  if (plan.tp == 1) {
    plan.sequence_parallel = initial.sequence_parallel;
    overlap.tensor_parallel = initial.overlap.tensor_parallel;
  }
  if (plan.cp == 1) plan.context_parallel = initial.context_parallel;
  if (plan.pp == 1) {
    plan.schedule = initial.schedule;
    plan.group = initial.group;
    overlap.pipeline = initial.overlap.pipeline;
  }
  if (plan.dp * plan.cp == 1) {
    plan.zero = initial.zero;
    overlap.gradient_reduction = initial.overlap.gradient_reduction;
  }
  if (plan.zero == 0 || plan.dp * plan.cp == 1) {
    overlap.parameter_gather = initial.overlap.parameter_gather;
  }
  if (plan.shard_group == plan.dp * plan.cp) plan.shard_group = 0;
  if (plan.ep == 1) {
    plan.dispatch = initial.dispatch;
    if (plan.etp == plan.tp) plan.etp = 0;
    overlap.expert = overlap.expert_batches = false;
  } else if (plan.etp == 1) {
    plan.etp = 0;
  }
  if (plan.recompute_modules == std::vector{RecomputeModule::core_attn}) {
    plan.recompute_modules.clear();
  }
  return plan;
}

}  // namespace orrery
