// What is run of a model in a step: which passes there are besides the forward.
//
//              backward   optimizer
//   training   yes        yes         weights are trained
//   forward    no         no          evaluation, scoring, a prefill that keeps no keys and values
//
// A backward computes gradients of inputs and, of what is trained, of weights; without one nothing
// is trained, kept for later or reduced. Whatever depends on the workload asks for its passes. Not
// modelled: caches of keys and values, decoding token by token.
#pragma once

#include "outcome/enum_names.h"

namespace orrery {

enum class Workload : unsigned char { training, forward };

struct Passes {
  bool backward = true;
  bool optimizer = true;
};
Passes passes_of(Workload workload);

}  // namespace orrery
