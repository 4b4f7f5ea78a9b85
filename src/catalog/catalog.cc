#include "catalog/catalog.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <tuple>
#include <utility>

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

struct Catalog::Shared {
  std::vector<CatalogEntry> replaced;  // built-in ones
  std::vector<Overlaid> overlaid;      // sorted by kind, then name
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Document>, std::less<>> documents;  // by path
};

namespace {

// The fields of `own` over those of `base`; maps are merged.
Value merged_over(const Value& base, const Value& own) {
  if (base.kind() != Value::Kind::map || own.kind() != Value::Kind::map) return own;
  Value out = base;
  for (const auto& [key, value] : own.members()) {
    const Value* below = base.find(key);
    out.set(key, below != nullptr ? merged_over(*below, value) : value);
  }
  return out;
}

}  // namespace

Result<Document> Catalog::merged(std::string_view kind, const CatalogEntry* of, Document document,
                                 int bases) const {
  if (document.root.kind() != Value::Kind::map) return document;
  const Value* stated = document.root.find("base");
  if (stated == nullptr) return document;
  const std::string where = document.name + ": line " + std::to_string(stated->line()) + ", base";
  const std::string name = stated->scalar_text();
  if (name.empty()) return bad_input("is not the name of an entry", where, "write base: h100-sxm");
  if (bases >= kMostBases) {
    return bad_input("more than " + std::to_string(kMostBases) + " bases in a row", where,
                     "one of them may be based on itself");
  }
  const CatalogEntry* below = nullptr;
  if (of != nullptr && name == of->name) {
    const auto replaced = std::ranges::find_if(
        shared_->replaced, [&](const CatalogEntry& e) { return e.kind == kind && e.name == name; });
    if (replaced == shared_->replaced.end()) {
      return bad_input("'" + name + "' is based on itself", where,
                       "there is no built-in entry of that name");
    }
    below = &*replaced;
  }
  auto base = below != nullptr ? parse(*below, bases + 1) : find(kind, name, bases + 1);
  if (!base) return fail(at(where, base.error()));
  Value own = Value::map();
  own.set_line(document.root.line());
  for (const auto& [key, value] : document.root.members()) {
    if (key != "base") own.append_member(key, value);
  }
  // What is said of the base is not said of its changes: neither its aliases nor its source.
  Value under = Value::map();
  for (const auto& [key, value] : base->root.members()) {
    if (key != "aliases" && key != "provenance") under.append_member(key, value);
  }
  document.root = merged_over(under, own);
  if (base->root.find("provenance") != nullptr && own.find("provenance") == nullptr) {
    Value provenance = Value::map();
    provenance.set("source", Value::text("based on " + name + " of the catalog"));
    document.root.set("provenance", std::move(provenance));
  }
  if (of != nullptr) document.root.set("name", Value::text(std::string(of->name)));
  if (of == nullptr && own.find("name") == nullptr) {
    document.root.set("name", Value::text(name + " with changes"));
  }
  return document;
}

Result<Document> Catalog::with_base(std::string_view kind, Document document) const {
  return merged(kind, nullptr, std::move(document), 0);
}

Result<Document> Catalog::parse(const CatalogEntry& entry, int bases) const {
  {
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->documents.find(entry.path);
    if (found != shared_->documents.end()) return *found->second;
  }
  ORRERY_TRY(Document document, parse_yaml(entry.text, std::string(entry.path)));
  ORRERY_TRY(document, merged(entry.kind, &entry, std::move(document), bases));
  auto kept = std::make_shared<const Document>(document);
  const std::lock_guard lock(shared_->mutex);
  shared_->documents.emplace(entry.path, std::move(kept));
  return document;
}

Catalog::Catalog(std::span<const CatalogEntry> entries)
    : entries_(entries.begin(), entries.end()), shared_(std::make_shared<Shared>()) {
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

Result<Catalog> Catalog::built_in_below(const std::string& path) {
  ORRERY_TRY(Catalog out, from_directory(path));
  const auto same = [](const CatalogEntry& a) {
    return [&a](const CatalogEntry& b) { return a.kind == b.kind && a.name == b.name; };
  };
  std::vector<CatalogEntry> all;
  for (const CatalogEntry& own : out.entries_) {
    const auto of_kind = built_in().of_kind(own.kind);
    const auto below = std::ranges::find_if(of_kind, same(own));
    if (below != of_kind.end() && below->text == own.text) continue;
    all.push_back(own);
    out.shared_->overlaid.push_back({own.kind, own.name, own.path, below != of_kind.end()});
    if (below != of_kind.end()) out.shared_->replaced.push_back(*below);
  }
  const std::size_t owned = all.size();
  for (const CatalogEntry& entry : built_in().entries_) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(owned);
    if (std::find_if(all.begin(), end, same(entry)) == end) all.push_back(entry);
  }
  std::ranges::sort(all, [](const CatalogEntry& a, const CatalogEntry& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
  out.entries_ = std::move(all);
  return out;
}

std::string Catalog::Overlaid::in_words() const {
  return std::string(kind) + "/" + std::string(name) + ": of " + std::string(path) +
         (replaces ? ", in place of the built-in entry" : "");
}

std::vector<Catalog::Overlaid> Catalog::overlaid() const { return shared_->overlaid; }

std::vector<Catalog::Overlaid> Catalog::overlaid_in_use() const {
  std::vector<Overlaid> out;
  if (shared_->overlaid.empty()) return out;
  const std::lock_guard lock(shared_->mutex);
  for (const Overlaid& entry : shared_->overlaid) {
    if (shared_->documents.contains(entry.path)) out.push_back(entry);
  }
  return out;
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
  return find(kind, name, 0);
}

Result<Document> Catalog::find(std::string_view kind, std::string_view name, int bases) const {
  const auto entries = of_kind(kind);
  if (entries.empty()) {
    return fail(ErrorCode::not_found, "the catalog has no kind '" + std::string(kind) + "'", "",
                name_hint(kind, kinds()));
  }
  for (const CatalogEntry& e : entries) {
    if (e.name == name) return parse(e, bases);
  }
  const std::string wanted = folded(name);
  for (const CatalogEntry& e : entries) {
    if (folded(e.name) == wanted) return parse(e, bases);
  }
  // An alias: only files that contain the word are parsed.
  if (!wanted.empty()) {
    for (const CatalogEntry& e : entries) {
      if (!contains_folded(e.text, wanted)) continue;
      ORRERY_TRY(const Document document, parse_yaml(e.text, std::string(e.path)));
      if (has_alias(document.root, wanted)) return parse(e, bases);
    }
  }
  return fail(ErrorCode::not_found,
              "no '" + std::string(name.substr(0, 100)) + "' among the " + std::string(kind) +
                  " of the catalog",
              "", name_hint(name, names(kind)));
}

}  // namespace orrery
