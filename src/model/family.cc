#include "model/family.h"

#include <algorithm>

#include "model/diffusion/diffusion.h"
#include "model/recommendation/recommendation.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

// The last one reads what no other is selected by.
const ModelFamily* const kFamilies[] = {&recommendation_models(), &image_models(),
                                        &diffusers_models(), &transformers()};

}  // namespace

Result<Model> read_model(const Document& document) {
  const auto selected = [&](const ModelFamily* family) {
    return family->key.empty() || (document.root.kind() == Value::Kind::map &&
                                   document.root.find(std::string(family->key)) != nullptr);
  };
  return (*std::find_if(std::begin(kFamilies), std::end(kFamilies), selected))->read(document);
}

}  // namespace orrery
