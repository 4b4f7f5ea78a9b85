// Infers a specification from a recording: the transformer, its parallelism and the accelerator.
//
// Everything follows from the operators of one step of one rank, their shapes and communications:
//
//   hidden, sequence, micro-batch   the lookup of an embedding: [vocab, h] by [b, s]
//   heads, head size, layers        the attention kernels of a step: [b, heads, s, d], or products
//                                   [b heads, s, d] by [b heads, d, s]
//   feed-forward                    products of b s rows from h to f, and from f to h; gated: twice
//                                   as many from h to f, or twice as wide
//   vocabulary                      the product from h that happens once per microbatch; without
//                                   one over all tokens (generation), the rows of the table looked
//                                   up
//   positions                       rotated if halves are negated, or a kernel says so
//   an encoder of images            a convolution with one patch per token
//   tp                              h / (heads of this rank x head size), if b s h elements are
//                                   communicated in every layer
//   microbatches                    lookups in a step
//   dp                              number of ranks / tp
//   training or forward only        whether operators of a backward pass ran
//
//   pp, cp, ep                      groups the framework names (recorded_parallelism.h)
//   recomputation                   twice as many attentions forward as backward
//   sharding                        gathers and scatters of what are not activations
//   software                        operators (recorded_software.h)
//
// Operators that autograd calls are not counted: backward products have the shapes of forward ones.
//
// Each fact comes with what it was read from. What cannot be told is said with its reason, and the
// facts that can are given without a specification. Valid: dense decoders and encoders recorded
// with shapes (record_shapes=True). Not inferred: numbers of a layer of experts beyond those of its
// products, windows, stages of unequal layers. O(events).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "model/transformer/architecture.h"
#include "outcome/result.h"
#include "plan/plan.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct InferredFact {
  std::string name;   // "hidden"
  std::string value;  // "4096"
  std::string from;   // "aten::embedding [[2048, 4096], [4, 2048], ...]"
};

struct InferredSpec {
  std::vector<InferredFact> facts;
  Architecture architecture;
  Training training;
  Plan plan;
  std::string cluster;   // "a100-80gb-sxm:8"
  std::string software;  // of catalog/software; empty: nothing tells, the default
  std::int64_t microbatches = 1;
  bool backward = false;  // the step has a backward pass
  bool logits = false;    // of all tokens; generation computes those of the last
  bool loss = false;
  bool complete = false;                  // a specification; else facts only
  std::vector<std::string> not_inferred;  // what, and why
};

// Errors: nothing is recorded, or nothing of model and division can be told (with every reason).
Result<InferredSpec> inferred_spec(std::span<const RecordedTrace> run, const Catalog& catalog);

}  // namespace orrery
