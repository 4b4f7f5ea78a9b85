// Writes what is made of the tables of keys: docs/schema/*.json, docs/json-keys.md
// and python/orrery/answers.pyi.
//
//   write_documents ROOT
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "document/value.h"
#include "report/documents.h"
#include "report/written_documents.h"

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: write_documents ROOT\n");
    return 2;
  }
  const std::string docs = std::string(arguments[1]) + "/docs/";
  bool written = orrery::write_file(docs + "json-keys.md", orrery::key_page()).has_value();
  const std::string stubs = std::string(arguments[1]) + "/python/orrery/answers.pyi";
  written = orrery::write_file(stubs, orrery::python_stubs()).has_value() && written;
  for (const orrery::DocumentKind& kind : orrery::document_kinds()) {
    const std::string path = docs + "schema/" + std::string(kind.name) + ".json";
    written = orrery::write_file(path, orrery::schema_text(kind)).has_value() && written;
  }
  if (!written) fmt::print(stderr, "write_documents: cannot write below {}\n", docs);
  return written ? 0 : 1;
}
