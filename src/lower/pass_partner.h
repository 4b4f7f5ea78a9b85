// What may run beside a pass. A backward and the forward behind it on their device are partners, so
// that the forwards before its first backward and the backwards behind its last forward have none.
// With overlap.expert_batches these cost what they do without it; other plans make no difference.
// Source: NVIDIA/Megatron-LM core_v0.15.0 megatron/core/pipeline_parallel/schedules.py
// (get_pp_rank_microbatches: one forward more than otherwise before passes alternate) and
// combined_1f1b.py beside it (combined_1f1b_schedule_for_no_pipelining: "executed alone, no a2a
// overlapping").
#pragma once

namespace orrery {

enum class Partner { none, other_microbatch };

}  // namespace orrery
