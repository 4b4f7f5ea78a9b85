// Fits layers of experts to measurements of an inference engine on one rank: routing of tokens,
// both grouped products with the activation between them, weighted sum; no communication.
//
//   t = floor + passes · bytes / B + up + down
//   up, down   grouped products of the model (gemm.cc) at `rate` of a plain product's rate and
//              `bandwidth` of its bandwidth, hot as gemm_fit.h says
//   bytes      of 16 bits: routed rows read and written on the way in and out, and the activation,
//              R (4 h + 6 f) + 4 T h
//
// Rows of an expert: the balanced distribution gives each of E experts T k / E. "power-law-a" is
// the sampler of the source, whose loads x have x^(1-a) distributed evenly between 1 and 0.8 T
// (taken at their quantiles). The busiest of the ranks that share the experts was timed:
//
//   load of a rank = mean (1 + c √((1 - L/E) / L) z),   z = expected maximum of as many normals
//
// L experts a rank, c coefficient of variation of the loads. A token chooses an expert at most
// once, so no load is above T. Source of data: ai-dynamo/aiconfigurator
// (validation/kernels/README.md); of the sampler its collector (power_law_logits). Not modelled:
// the engine's choice among kernels (4-bit layers on B200 and GB200 take another one where a rank
// holds all experts, up to twice as fast), rows of other ranks that its kernels also process.
//
// Recognised by the columns accelerator, dtype, num_tokens, hidden, expert_ffn, top_k, num_experts,
// moe_tp, moe_ep, token_distribution, latency_us. Writes no file, because steps of training use the
// model of grouped products and count routing by its operators.
#pragma once

#include <string>
#include <vector>

#include "calibrate/calibration.h"
#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

struct MeasuredExpertLayer {
  std::string accelerator;
  std::string dtype;  // "fp8_block" is fp8 with scales of blocks
  NumberFormat format = NumberFormat::bf16;
  double tokens = 0, hidden = 0, ffn = 0;  // ffn on this rank
  double top_k = 0, experts = 0, ranks = 1;
  double power = 0;  // of the distribution of loads; 0: balanced
  Seconds measured;
};

// Rows of every expert on the rank that was timed.
std::vector<double> expert_loads(const MeasuredExpertLayer& row);

MeasurementKind expert_layer_measurement_kind();

}  // namespace orrery
