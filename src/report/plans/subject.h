// What the numbers of a report are about, in words.
#pragma once

#include <optional>
#include <string>

#include "model/transformer/architecture.h"

namespace orrery {

struct Subject {
  std::string model;    // "llama-3.1-405b"
  std::string cluster;  // "h100-sxm:16384"
  std::optional<Adapters> adapters = std::nullopt;
};

// "llama-3.1-405b", "llama-2-70b with adapters of rank 16 on attention"
inline std::string model_in_words(const Subject& subject) {
  if (!subject.adapters) return subject.model;
  return subject.model + " with adapters of rank " + std::to_string(subject.adapters->rank) +
         " on " +
         (subject.adapters->products == AdaptedProducts::all ? "all products" : "attention");
}

}  // namespace orrery
