#include "catalog/catalog.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <tuple>

#include "catalog/embedded.h"
#include "outcome/nearest_name.h"

namespace orrery {
namespace {

char folded(char c) {
  if (c == '_') return '-';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string folded(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = folded(c);
  return out;
}

// Expects `needle` to be folded.
bool contains_folded(std::string_view text, std::string_view needle) {
  return std::search(text.begin(), text.end(), needle.begin(), needle.end(),
                     [](char a, char b) { return folded(a) == b; }) != text.end();
}

bool has_alias(const Value& root, std::string_view name) {
  const Value* aliases = root.find("aliases");
  if (aliases == nullptr) return false;
  return std::ranges::any_of(aliases->items(),
                             [&](const Value& v) { return folded(v.scalar_text()) == name; });
}

}  // namespace

struct Catalog::Parsed {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Document>, std::less<>> documents;  // by path
};

Result<Document> Catalog::parse(const CatalogEntry& entry) const {
  {
    const std::lock_guard lock(parsed_->mutex);
    const auto found = parsed_->documents.find(entry.path);
    if (found != parsed_->documents.end()) return *found->second;
  }
  ORRERY_TRY(Document document, parse_yaml(entry.text, std::string(entry.path)));
  auto kept = std::make_shared<const Document>(document);
  const std::lock_guard lock(parsed_->mutex);
  parsed_->documents.emplace(entry.path, std::move(kept));
  return document;
}

Catalog::Catalog(std::span<const CatalogEntry> entries)
    : entries_(entries.begin(), entries.end()), parsed_(std::make_shared<Parsed>()) {
  std::ranges::sort(entries_, [](const CatalogEntry& a, const CatalogEntry& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
}

const Catalog& Catalog::built_in() {
  static const Catalog catalog(embedded_entries());
  return catalog;
}

Result<Catalog> Catalog::from_directory(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return fail(ErrorCode::not_found, "is not a directory", path,
                "a directory laid out as catalog/: accelerators/h100-sxm.yaml, ...");
  }
  std::vector<std::string> files;
  fs::recursive_directory_iterator walk(path, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    if (walk->path().extension() == ".yaml") files.push_back(walk->path().string());
  }
  if (error) return fail(ErrorCode::io, "cannot be listed: " + error.message(), path);
  std::ranges::sort(files);

  auto own = std::make_shared<std::deque<std::string>>();
  const auto keep = [&](std::string s) {
    return std::string_view(own->emplace_back(std::move(s)));
  };
  std::vector<CatalogEntry> entries;
  for (const std::string& file : files) {
    const fs::path inside = fs::path(file).lexically_relative(path);
    if (!inside.has_parent_path()) continue;  // not in the folder of a kind
    ORRERY_TRY(std::string text, read_file(file));
    entries.push_back(CatalogEntry{keep(inside.begin()->string()), keep(inside.stem().string()),
                                   keep(file), keep(std::move(text))});
  }
  Catalog catalog{std::span<const CatalogEntry>(entries)};
  for (std::size_t i = 1; i < catalog.entries_.size(); ++i) {
    const CatalogEntry& a = catalog.entries_[i - 1];
    const CatalogEntry& b = catalog.entries_[i];
    if (a.kind == b.kind && a.name == b.name) {
      return bad_input("has the same name as " + std::string(a.path), std::string(b.path));
    }
  }
  catalog.own_ = std::move(own);
  return catalog;
}

std::vector<std::string> Catalog::kinds() const {
  std::vector<std::string> out;
  for (const CatalogEntry& e : entries_) {
    if (out.empty() || out.back() != e.kind) out.emplace_back(e.kind);
  }
  return out;
}

std::span<const CatalogEntry> Catalog::of_kind(std::string_view kind) const {
  struct ByKind {
    bool operator()(const CatalogEntry& e, std::string_view k) const { return e.kind < k; }
    bool operator()(std::string_view k, const CatalogEntry& e) const { return k < e.kind; }
  };
  const auto [first, last] = std::equal_range(entries_.begin(), entries_.end(), kind, ByKind());
  return {first, last};
}

std::vector<std::string> Catalog::names(std::string_view kind) const {
  std::vector<std::string> out;
  for (const CatalogEntry& e : of_kind(kind)) out.emplace_back(e.name);
  return out;
}

bool Catalog::contains(std::string_view kind, std::string_view name) const {
  const auto entries = of_kind(kind);
  return std::ranges::any_of(entries, [&](const CatalogEntry& e) { return e.name == name; });
}

Result<Document> Catalog::find(std::string_view kind, std::string_view name) const {
  const auto entries = of_kind(kind);
  if (entries.empty()) {
    return fail(ErrorCode::not_found, "the catalog has no kind '" + std::string(kind) + "'", "",
                name_hint(kind, kinds()));
  }
  for (const CatalogEntry& e : entries) {
    if (e.name == name) return parse(e);
  }
  const std::string wanted = folded(name);
  for (const CatalogEntry& e : entries) {
    if (folded(e.name) == wanted) return parse(e);
  }
  // An alias: only files that contain the word are parsed.
  if (!wanted.empty()) {
    for (const CatalogEntry& e : entries) {
      if (!contains_folded(e.text, wanted)) continue;
      ORRERY_TRY(Document document, parse(e));
      if (has_alias(document.root, wanted)) return document;
    }
  }
  return fail(ErrorCode::not_found,
              "no '" + std::string(name.substr(0, 100)) + "' among the " + std::string(kind) +
                  " of the catalog",
              "", name_hint(name, names(kind)));
}

}  // namespace orrery
