// The documents of `--json` that are described by tables of keys (document/results.h): what
// docs/schema/ and docs/json-keys.md are made of.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "document/description.h"
#include "document/value.h"
#include "outcome/error.h"

namespace orrery {

struct DocumentKind {
  std::string_view name;     // of its schema: "estimate-1"
  std::string_view command;  // that writes it
  const Description& (*description)();
};
std::span<const DocumentKind> document_kinds();

// The document that any command writes in place of its answer.
Value error_json(const Error& error);

// The text of docs/schema/NAME.json.
std::string schema_text(const DocumentKind& kind);
// The text of docs/json-keys.md: the keys of all documents.
std::string key_page();

}  // namespace orrery
