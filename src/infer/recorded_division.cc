#include "infer/recorded_division.h"

#include "infer/inferred_spec.h"

namespace orrery {

KnownDivision recorded_division(std::span<const RecordedTrace> run, const Catalog& catalog) {
  KnownDivision out;
  const auto spec = inferred_spec(run, catalog);
  if (!spec || !spec->complete) return out;
  const Architecture& a = spec->architecture;
  out.tensor_ranks = spec->plan.tp;
  out.data_ranks = spec->plan.dp;
  out.hidden = a.hidden;
  out.feed_forward = a.ffn_hidden;
  out.gated = is_gated(a.ffn);
  out.heads = a.num_heads;
  out.head_size = a.head_dim > 0 || a.num_heads == 0 ? a.head_dim : a.hidden / a.num_heads;
  out.vocabulary = a.vocab;
  out.sequence = spec->training.sequence_length;
  out.micro_batch = spec->plan.micro_batch;
  return out;
}

}  // namespace orrery
