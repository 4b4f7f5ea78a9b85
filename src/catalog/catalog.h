// The facts that Orrery ships with, found by kind and name.
//
// An entry is one YAML file catalog/<kind>/.../<name>.yaml, known by its kind and its name (the
// file's name without ".yaml"). The built-in catalog is the text of those files inside the program;
// an entry is parsed when it is first asked for. The folder that reads an entry (cluster/, model/,
// cost/) knows what it means. Thread-safe.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

namespace orrery {

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

 private:
  explicit Catalog(std::span<const CatalogEntry> entries);
  [[nodiscard]] std::span<const CatalogEntry> of_kind(std::string_view kind) const;

  // Documents parsed so far.
  struct Parsed;
  [[nodiscard]] Result<Document> parse(const CatalogEntry& entry) const;

  std::vector<CatalogEntry> entries_;                   // sorted by kind, then name
  std::shared_ptr<const std::deque<std::string>> own_;  // what entries_ point to, if read from disk
  std::shared_ptr<Parsed> parsed_;
};

}  // namespace orrery
