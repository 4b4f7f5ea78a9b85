// From a recording to a specification: which transformer was run, how it was divided, on what.
//
// Everything follows from the operators of one step of one rank, their shapes and communications:
//
//   hidden, sequence, micro-batch   the lookup of an embedding: [vocab, h] by [b, s]
//   heads, head size, layers        the attention kernels of a step: [b, heads, s, d], or products
//                                   [b heads, s, d] by [b heads, d, s]
//   feed-forward                    products of b s rows from h to f, and from f to h; gated: twice
//                                   as many from h to f, or twice as wide
//   vocabulary                      the product from h that happens once a microbatch; without one
//                                   over all tokens (generation), the rows of the table looked up
//   tp                              h / (heads of this rank x head size), if b s h elements are
//                                   communicated in every layer
//   microbatches                    lookups in a step
//   dp                              what tp leaves of the ranks
//   training or forward only        whether operators of a backward pass ran
//
// Each fact comes with what it was read from. Valid: dense decoders and encoders whose heads times
// head size is the hidden size, recorded with shapes (record_shapes=True). Not inferred: pipelines,
// experts, context parallelism, recomputation, sharding; recordings of those are refused where
// sends or all-to-alls show them. O(events).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "outcome/result.h"
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
  std::string cluster;  // "a100-80gb-sxm:8"
  std::int64_t microbatches = 1;
  bool backward = false;  // the step has a backward pass
};

// Errors: no shapes, no transformer found (which fact is missing), parallelism that is not
// inferred, an accelerator the catalog does not have.
Result<InferredSpec> inferred_spec(std::span<const RecordedTrace> run, const Catalog& catalog);

// The specification predicted, beside what was recorded.
struct InferredComparison {
  InferredSpec spec;
  Estimate estimate;
  Seconds predicted;  // of a training step; of a recording without backward, of its forward passes
  Seconds recorded;   // the step; without backward, the time kernels ran, less waiting for ranks
  Seconds recorded_step;
};

// Errors: those of inferring and of estimating.
Result<InferredComparison> inferred_comparison(std::span<const RecordedTrace> run,
                                               const Catalog& catalog);

}  // namespace orrery
