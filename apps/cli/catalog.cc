// orrery catalog: what the catalog holds, and one entry with its source.
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/accelerator.h"
#include "command.h"
#include "document/results.h"
#include "document/value.h"
#include "estimate/spec.h"
#include "model/family.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/plans/plan_text.h"

namespace orrery::cli {
namespace {

struct CatalogOptions {
  std::string kind;
  std::string name;
};

// The field at "memory.capacity".
const Value* at_path(const Value& root, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Value* v = root.find(path.substr(0, dot));
  return v == nullptr || dot == std::string_view::npos ? v : at_path(*v, path.substr(dot + 1));
}

std::string text_at(const Value& root, std::string_view path) {
  const Value* v = at_path(root, path);
  return v != nullptr ? v->scalar_text() : "";
}

// The fields of an entry that nobody has checked; `all`: what to say of all of them.
std::string unverified(const Value& entry, const char* all, const char* between) {
  if (text_at(entry, "provenance.verified") != "true") return all;
  const Value* fields = at_path(entry, "provenance.unverified");
  if (fields == nullptr) return "";
  return joined(fields->items() | std::views::transform(&Value::scalar_text), between);
}

// A column of a listing.
struct Shown {
  const char* title;
  std::string_view path;  // "memory.capacity"
  Align align = Align::right;
};

// Kinds whose entries are models, and have a size.
bool is_of_models(const std::string& kind) {
  return kind == "models" || kind == "generation" || kind == "recommendation";
}

// The most telling fields of each kind.
std::vector<Shown> columns_of(std::string_view kind) {
  static const std::map<std::string_view, std::vector<Shown>> kColumns = {
      {"models",
       {{"layers", "num_layers"},
        {"hidden", "hidden"},
        {"heads", "num_heads"},
        {"kv", "num_kv_heads"},
        {"experts", "moe.num_experts"},
        {"vocab", "vocab"}}},
      {"generation",
       {{"height", "image.height"},
        {"width", "image.width"},
        {"frames", "image.frames"},
        {"steps", "sampling.steps"}}},
      {"accelerators",
       {{"memory", "memory.capacity"},
        {"bandwidth", "memory.bandwidth"},
        {"bf16", "peak.bf16"},
        {"fp8", "peak.fp8"}}},
      {"failures",
       {{"per 1,000 node-days", "per_1000_node_days"},
        {"accelerators a node", "accelerators_per_node"},
        {"of", "title", Align::left}}},
      {"variability",
       {{"products", "products.spatial"},
        {"over time", "products.temporal"},
        {"between nodes", "communication.between_nodes"},
        {"of", "title", Align::left}}},
      {"scaling-laws",
       {{"irreducible", "irreducible"},
        {"parameters", "parameters.exponent"},
        {"tokens", "tokens.exponent"},
        {"of", "title", Align::left}}},
      {"critical-batches", {{"of", "title", Align::left}}},
      {"diffusers", {{"like", "like"}, {"of", "title", Align::left}}},
      {"hugging-face", {{"like", "like"}, {"of", "title", Align::left}}},
      {"restarts", {{"of", "title", Align::left}}},
      {"launch", {{"framework", "title", Align::left}, {"releases", "releases", Align::left}}},
      {"software", {{"framework", "title", Align::left}}},
      {"clusters", {{"node", "node"}, {"accelerators", "accelerators"}}},
      {"nodes", {{"accelerator", "accelerator"}, {"accelerators", "accelerators"}}},
      {"prices",
       {{"accelerator", "accelerator"},
        {"price", "price"},
        {"provider", "provider"},
        {"pricing", "pricing"},
        {"date", "date"}}},
  };
  const auto known = kColumns.find(kind);
  return known == kColumns.end() ? std::vector<Shown>{} : known->second;
}

Result<int> list(const std::string& kind, const Catalog& catalog, const Common& common) {
  const std::vector<Shown> shown = columns_of(kind);
  const bool sized = is_of_models(kind);
  std::vector<Column> columns = {left(kind).telling_rows_apart()};
  if (sized) {
    for (const char* title : {"parameters", "active", "a token"}) {
      columns.push_back(right(title, 6));
    }
  }
  for (const Shown& s : shown)
    columns.push_back({.title = s.title, .align = s.align, .importance = 5});
  columns.push_back(left("unverified", 2));
  columns.push_back(left("source", 0));
  Table table(columns);
  Value document = Value::list();
  for (const std::string& name : catalog.names(kind)) {
    ORRERY_TRY(auto entry, catalog.find(kind, name));
    Value described = entry.root;
    std::vector<Cell> cells = {{name}};
    if (sized) {
      ORRERY_TRY(const Model model, read_model(entry));
      const ModelSize size = size_of(model);
      described.set("computed", map_of({{"parameters", size.parameters},
                                        {"active_parameters", size.active_parameters},
                                        {"flops_per_token", size.flops_per_token}}));
      cells.push_back({billions(size.parameters)});
      cells.push_back({billions(size.active_parameters)});
      cells.push_back({flops_text(size.flops_per_token)});
    }
    for (const Shown& s : shown) cells.push_back({text_at(entry.root, s.path)});
    cells.push_back({unverified(entry.root, "all", ", ")});
    cells.push_back({text_at(entry.root, "provenance.source")});
    table.add_row(std::move(cells));
    document.append(std::move(described));
  }
  return print(common.json ? to_json(document) : table.text(text_style()));
}

// What was read of a model, after its entry.
std::string reading(const Model& model) {
  std::string out = "# computed from this structure: " + in_words(size_of(model)) + "\n";
  for (const std::string& line : model.assumed) out += "# assumed: " + line + "\n";
  return out;
}

// A file that is no entry of the catalog: the model as it is understood.
Result<int> show_file(const std::string& path, const Catalog& catalog, const Common& common) {
  ORRERY_TRY(const Model model, load_model(path, catalog));
  const Value fields = model.family->write(model);
  return print(common.json ? to_json(fields) : to_yaml(fields) + reading(model));
}

Result<int> show(const std::string& kind, const std::string& name, const Catalog& catalog,
                 const Common& common) {
  auto entry = catalog.find(kind, name);
  if (!entry && kind == "models") return show_file(name, catalog, common);
  if (!entry && kind == "accelerators") {
    auto accelerator = load_accelerator(catalog, name);  // an alias
    if (!accelerator) return fail(accelerator.error());
    entry = catalog.find(kind, accelerator->name);
  }
  if (!entry) return fail(entry.error());
  if (common.json) return print(to_json(entry->root));
  std::string text = to_yaml(entry->root);
  if (is_of_models(kind)) {
    ORRERY_TRY(const Model model, read_model(*entry));
    text += reading(model);
  }
  if (const std::string fields = unverified(entry->root, "every field", " "); !fields.empty()) {
    text += "# unverified: " + fields + "\n";
  }
  return print(text);
}

Result<int> show_catalog(const CatalogOptions& options, const Common& common) {
  ORRERY_TRY(auto catalog, open_catalog(common));
  if (options.kind.empty()) {
    Table table(left("kind", 2), right("entries", 2));
    Value document = Value::map();
    for (const std::string& kind : catalog.kinds()) {
      const auto count = static_cast<std::int64_t>(catalog.names(kind).size());
      table.row(kind, std::to_string(count));
      document.set(kind, Value::number(count));
    }
    std::string text = table.text(text_style());
    Value own = Value::map();
    for (const Catalog::Overlaid& entry : catalog.overlaid()) {
      text += (own.members().empty() ? "\n" : "") + paragraph(text_style(), entry.in_words());
      own.set(std::string(entry.kind) + "/" + std::string(entry.name),
              Value::text(std::string(entry.path)));
    }
    if (!own.members().empty()) document.set("overlaid", std::move(own));
    return print(common.json ? to_json(document) : text);
  }
  if (catalog.names(options.kind).empty()) {
    return fail(ErrorCode::not_found, "unknown kind '" + options.kind + "'", "catalog",
                name_hint(options.kind, catalog.kinds()));
  }
  return options.name.empty() ? list(options.kind, catalog, common)
                              : show(options.kind, options.name, catalog, common);
}

}  // namespace

Command catalog_command(CLI::App& orrery) {
  auto [app, o] = subcommand<CatalogOptions>(orrery, "catalog", "list and show what Orrery knows");
  app->add_option("kind", o->kind,
                  "models, accelerators, nodes, fabrics, clusters, links, prices, failures, ...");
  app->add_option("name", o->name, "one entry; of models also a Hugging Face config.json");
  app->footer(
      "Examples:\n  orrery catalog accelerators h100-sxm\n  orrery catalog models ./config.json");

  return command(app, o, show_catalog);
}

}  // namespace orrery::cli
