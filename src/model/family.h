// Families of models: which kinds of models can be read, and what each answers about division.
//
// A family is a folder beside this file: the fields of its models, the blocks of operators it makes
// of them, and its rules of division. It is known to everything else by its line in family.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "model/division.h"
#include "model/model.h"
#include "outcome/result.h"

namespace orrery {

struct ModelFamily {
  std::string_view key;  // the field that selects it in a document; empty: every other document
  Result<Model> (*read)(const Document& document);
  // The document that would be read as this model.
  Value (*write)(const Model& model);
  // Every reason why the model cannot be divided so, in words with the numbers.
  std::vector<std::string> (*division_problems)(const Model& model, const Division& division);
  // The model as its ranks hold it, if that differs: parts of which there are fewer than
  // tensor-parallel ranks may be copied, tables are placed. Asked only of valid divisions.
  std::optional<Model> (*on_ranks)(const Model& model, const Division& division);
  // What tensor-parallel ranks copy, in a sentence; empty if nothing is.
  std::string (*copies)(const Model& model, std::int64_t tp);
};

// Errors: as the family's reader.
Result<Model> read_model(const Document& document);

}  // namespace orrery
