// The names of a cluster (cluster.h): short form, catalog entry, file, sites.
#include <cmath>
#include <optional>
#include <utility>

#include "cluster/cluster.h"
#include "cluster/cluster_description.h"
#include "cluster/sites.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

struct Name {
  std::string head;
  std::optional<std::int64_t> count;
};

// Splits "h100-sxm:1024". Errors: a count that is not a whole number above zero, or above the
// limit.
Result<Name> split(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return Name{std::string(text), std::nullopt};
  const std::string_view digits = text.substr(colon + 1);
  const std::string shown = "'" + std::string(text.substr(0, 100)) + "'";
  auto count = parse_count(digits);
  if (!count) {
    return bad_input("the count in " + shown + ": " + count.error().message, "",
                     count.error().hint);
  }
  if (!(*count >= 1) || std::floor(*count) != *count) {
    return bad_input("the count in " + shown + " is not a whole number above zero", "",
                     "write a name and a count, such as h100-sxm:1024");
  }
  if (*count > static_cast<double>(kMaxAccelerators)) {
    return bad_input(shown + " is more accelerators than Orrery supports", "",
                     "at most " + std::to_string(kMaxAccelerators));
  }
  return Name{std::string(text.substr(0, colon)), static_cast<std::int64_t>(*count)};
}

bool is_path(std::string_view text) {
  return text == "-" || text.find('/') != std::string_view::npos || text.ends_with(".yaml") ||
         text.ends_with(".yml") || text.ends_with(".json");
}

// Empty if no entry has that name; an entry that cannot be read is an error.
Result<std::optional<Document>> find_entry(const Catalog& catalog, const char* kind,
                                           const std::string& name) {
  auto document = catalog.find(kind, name);
  if (document) return std::optional<Document>(std::move(*document));
  if (document.error().code == ErrorCode::not_found) return std::optional<Document>();
  return fail(std::move(document.error()));
}

// "8xh100" and "h100x8" as they are written here, "h100:8"; empty for any other text.
std::string with_colon(std::string_view text, const Catalog& catalog) {
  for (const std::size_t x : {text.find_first_of("xX"), text.find_last_of("xX")}) {
    if (x == std::string_view::npos) break;
    const std::string_view before = text.substr(0, x);
    const std::string_view after = text.substr(x + 1);
    for (const auto& [count, name] : {std::pair(before, after), std::pair(after, before)}) {
      if (parsed_number<std::int64_t>(count).value_or(0) > 0 &&
          catalog.find("accelerators", std::string(name))) {
        return std::string(name) + ":" + std::string(count);
      }
    }
  }
  return "";
}

Failure unknown(std::string_view head, const Catalog& catalog) {
  const std::string meant = with_colon(head, catalog);
  std::vector<std::string> known;
  for (const char* kind : {"accelerators", "clusters", "nodes"}) {
    const auto names = catalog.names(kind);
    known.insert(known.end(), names.begin(), names.end());
  }
  return fail(ErrorCode::not_found,
              "'" + std::string(head.substr(0, 100)) +
                  "' is not an accelerator, cluster or node of the catalog",
              "", meant.empty() ? name_hint(head, known) : "write " + meant);
}

Result<Cluster> named(const Name& name, const Catalog& catalog) {
  ORRERY_TRY(const auto cluster_entry, find_entry(catalog, "clusters", name.head));
  if (cluster_entry) {
    ORRERY_TRY(Cluster cluster, read_cluster(*cluster_entry, catalog));
    return name.count ? part_of(cluster, *name.count) : cluster;
  }
  ClusterDescription description;
  ORRERY_TRY(std::optional<Document> entry, find_entry(catalog, "accelerators", name.head));
  const bool is_accelerator = entry.has_value();
  if (!entry) {
    ORRERY_TRY(entry, find_entry(catalog, "nodes", name.head));
  }
  if (!entry) return unknown(name.head, catalog);
  const Value* own_name = entry->root.find("name");
  const std::string canonical = own_name != nullptr ? own_name->scalar_text() : name.head;
  if (!name.count) {
    return bad_input("the number of accelerators of " + canonical + " is missing", "",
                     "write it after a colon, such as " + canonical + ":64");
  }
  (is_accelerator ? description.accelerator : description.node) = canonical;
  description.name = canonical + ":" + std::to_string(*name.count);
  description.accelerators = *name.count;
  return build_cluster(description, catalog);
}

using FileReader = Result<Cluster> (&)(const Document&, const Catalog&);

Result<Cluster> parse_with(std::string_view text, const Catalog& catalog, FileReader read_file) {
  const std::string_view head = text.substr(0, text.rfind(':'));
  if (!is_path(text) && !is_path(head)) return parse_cluster_name(text, catalog);
  // A path, followed by a count unless the colon belongs to the path.
  const bool counted = is_path(head) && head.size() < text.size() &&
                       text.find('/', head.size()) == std::string_view::npos &&
                       parse_count(text.substr(head.size() + 1)).has_value();
  if (!counted) {
    ORRERY_TRY(const Document document, read_document(std::string(text)));
    return read_file(document, catalog);
  }
  ORRERY_TRY(const Name name, split(text));
  ORRERY_TRY(const Document document, read_document(name.head));
  ORRERY_TRY(Cluster cluster, read_file(document, catalog));
  return part_of(cluster, *name.count);
}

// A file of a cluster, or a specification that has one.
Result<Cluster> cluster_of_file(const Document& document, const Catalog& catalog) {
  const Value& root = document.root;
  const bool specification = root.kind() == Value::Kind::map && root.find("model") != nullptr;
  const Value* own = specification ? root.find("cluster") : nullptr;
  return own == nullptr ? read_cluster(document, catalog)
                        : stated_cluster(Document{document.name, *own}, catalog);
}

}  // namespace

Result<Cluster> read_cluster(const Document& stated, const Catalog& catalog) {
  ORRERY_TRY(const Document document, catalog.with_base("clusters", stated));
  const Value* accelerator = document.root.find("accelerator");
  if (accelerator != nullptr && accelerator->kind() == Value::Kind::map) {
    ORRERY_TRY(Cluster cluster, read<Cluster>(document));
    ORRERY_RETURN_IF_ERROR(at(document.name, check(cluster)));
    return cluster;
  }
  ORRERY_TRY(const ClusterDescription description, read<ClusterDescription>(document));
  return at(document.name, build_cluster(description, catalog));
}

Result<Cluster> parse_cluster_name(std::string_view text, const Catalog& catalog) {
  if (is_path(text)) {
    return unsupported("'" + std::string(text.substr(0, 100)) +
                       "' is a file; here only a name will do");
  }
  const std::string shown(text.substr(0, 100));
  if (text.find_first_of("+@") != std::string_view::npos) {
    return at(shown, parse_sites(text, catalog));
  }
  ORRERY_TRY(const Name name, split(text));
  return at(shown, named(name, catalog));
}

Result<Cluster> parse_cluster(std::string_view text, const Catalog& catalog) {
  return parse_with(text, catalog, cluster_of_file);
}

Result<Cluster> stated_cluster(const Document& document, const Catalog& catalog) {
  const Value& value = document.root;
  std::string where = document.name + ": ";
  if (value.line() > 0) where += "line " + std::to_string(value.line()) + ", ";
  where += "cluster";
  // A file that is named here is one of a cluster, so that no file names itself.
  if (value.is_scalar()) return at(where, parse_with(value.scalar_text(), catalog, read_cluster));
  const Value* name = value.find("name");
  const Value* gpus = value.find("gpus");
  if (name != nullptr && value.members().size() == (gpus != nullptr ? 2U : 1U)) {
    const std::string text =
        name->scalar_text() + (gpus != nullptr ? ":" + gpus->scalar_text() : std::string());
    return at(where, parse_with(text, catalog, read_cluster));
  }
  return read_cluster(document, catalog);
}

}  // namespace orrery
