// The documents of `--json` that are described by tables of keys (document/results.h): what
// docs/schema/, docs/json-keys.md and the classes of the Python module are made of.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// A map of an answer as a class of a language with attributes: the name that the Python module
// gives it, also in its stubs (python/orrery/answers.pyi).
struct AnswerClass {
  std::string name;  // "EstimateDocument", "Plan"
  const Description* description = nullptr;
};

// Every map of every document of document_kinds(), once; a map comes before those that hold it. A
// map without a name is called after the key that holds it; of two maps with one name, the second
// is called after its document as well.
const std::vector<AnswerClass>& answer_classes();

// The one of these that a map is; null where it is of no document.
const AnswerClass* answer_class(const Description& map);

}  // namespace orrery
