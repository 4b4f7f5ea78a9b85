// The maps of all answers as classes of a language with attributes: the names that the Python
// module gives them, and their stubs (python/orrery/answers.pyi).
#pragma once

#include <string>
#include <vector>

#include "document/description.h"

namespace orrery {

struct AnswerClass {
  std::string name;  // "EstimateDocument", "Plan"
  const Description* description = nullptr;
};

// Every map of every document of document_kinds() (report/documents.h), once; a map comes before
// those that hold it. A map without a name is called after the key that holds it; of two maps with
// one name, the second is called after its document as well.
const std::vector<AnswerClass>& answer_classes();

// The one of these that a map is; null where it is of no document.
const AnswerClass* answer_class(const Description& map);

// The text of python/orrery/answers.pyi.
std::string python_stubs();

}  // namespace orrery
