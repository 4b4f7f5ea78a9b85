// The facts that Orrery ships with, found by kind and name.
//
// An entry is one YAML file catalog/<kind>/.../<name>.yaml, known by its kind and its name (the
// file's name without ".yaml"). The built-in catalog is the text of those files inside the program;
// an entry is parsed when it is first asked for. The folder that reads an entry (cluster/, model/,
// cost/) knows what it means. Thread-safe.
//
// A directory of own entries may lie over the built-in ones: an own entry of the same kind and name
// takes the place of the built-in one, any other is added. What was used of them can be asked for, so
// that a prediction says so.
//
// An entry may begin with another one of its kind: `base: h100-sxm`. Its fields replace those of the
// base, maps are merged field by field, lists are replaced. An own entry whose base has its own name
// is based on the built-in entry that it replaces.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

namespace orrery {

inline constexpr int kMostBases = 8;

// One file of the catalog, unparsed.
struct CatalogEntry {
  std::string_view kind;  // "accelerators"
  std::string_view name;  // "h100-sxm"
  std::string_view path;  // "catalog/accelerators/h100-sxm.yaml", for messages
  std::string_view text;
};

class Catalog {
 public:
  // The files of catalog/ as they were when the program was built.
  static const Catalog& built_in();
  // Reads a directory laid out as catalog/. Errors: not a directory, unreadable file, two entries
  // of one kind and name.
  static Result<Catalog> from_directory(const std::string& path);
  // The built-in catalog with the entries of a directory over it; those that are the same to the
  // byte leave the built-in ones in place. Errors: as from_directory().
  static Result<Catalog> built_in_below(const std::string& path);

  // Sorted.
  [[nodiscard]] std::vector<std::string> kinds() const;
  // Sorted; empty for an unknown kind.
  [[nodiscard]] std::vector<std::string> names(std::string_view kind) const;

  // True if an entry has exactly that name; aliases do not count.
  [[nodiscard]] bool contains(std::string_view kind, std::string_view name) const;

  // The parsed entry of that name, or that lists the name among its `aliases`. Case and the
  // difference of '_' and '-' do not matter. Errors: unknown kind or name, with the nearest known
  // one; an entry that is not valid YAML.
  [[nodiscard]] Result<Document> find(std::string_view kind, std::string_view name) const;

  // A document of that kind merged over its `base`, or as it is where it has none. Errors: those of
  // find(); a base that is no name; more than kMostBases bases in a row.
  [[nodiscard]] Result<Document> with_base(std::string_view kind, Document document) const;

  // An entry that lies over the built-in catalog.
  struct Overlaid {
    std::string_view kind;
    std::string_view name;
    std::string_view path;
    bool replaces = false;                       // a built-in entry
    [[nodiscard]] std::string in_words() const;  // "links/mine: of own/links/mine.yaml"
  };
  // All of them, or those that were used so far; sorted by kind, then name.
  [[nodiscard]] std::vector<Overlaid> overlaid() const;
  [[nodiscard]] std::vector<Overlaid> overlaid_in_use() const;

 private:
  explicit Catalog(std::span<const CatalogEntry> entries);
  [[nodiscard]] std::span<const CatalogEntry> of_kind(std::string_view kind) const;

  // Documents parsed so far, and what lies over the built-in catalog.
  struct Shared;
  [[nodiscard]] Result<Document> parse(const CatalogEntry& entry, int bases = 0) const;
  [[nodiscard]] Result<Document> find(std::string_view kind, std::string_view name,
                                      int bases) const;
  [[nodiscard]] Result<Document> merged(std::string_view kind, const CatalogEntry* of,
                                        Document document, int bases) const;

  std::vector<CatalogEntry> entries_;                   // sorted by kind, then name
  std::shared_ptr<const std::deque<std::string>> own_;  // what entries_ point to, if read from disk
  std::shared_ptr<Shared> shared_;
};

}  // namespace orrery
