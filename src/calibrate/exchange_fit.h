// Reads measurements of the exchange of tokens with experts (cost/collective/token_exchange.h) in
// one scale-up domain, and fits the parameters of dispatch and combine.
//
//   DeepEP   accelerator, num_gpus, hidden, num_tokens, top_k, num_experts, num_sms, dispatch_us,
//            combine_us: tokens routed at random; dispatched in 8 bits with a scale for 128
//            elements, combined in 16. The rate is at most `unit_rate` per compute unit that the
//            kernel occupies, and at most the share of the links.
//   NVLink   accelerator, phase, kernel, dtype, num_tokens, hidden, top_k, num_experts, ep_size,
//            latency_us: every token goes to min(ranks, top_k) ranks; combined in 16 bits.
//
//   t = base + (link^4 + local^4)^(1/4),   link = bytes / min(e b, units unit_rate),
//                                          local = T w / local rate
//
// Robust fit of log(predicted / measured); folds by shape. The parameters take the fit that
// corresponds to a training run: the two-sided NVLink exchange where it was measured (16-bit
// tokens, a domain of many nodes), DeepEP elsewhere. Not fitted: other phases of these files,
// kernels for decoding.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/calibration.h"
#include "calibrate/cross_validated_fit.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {

enum class ExchangeKernel { deep_ep, one_sided, two_sided };

struct ExchangeMeasurement {
  std::string accelerator;
  std::string architecture;
  ExchangeKernel kernel = ExchangeKernel::deep_ep;
  std::string where;  // "file.csv:12"
  bool away = true;   // dispatch; false: combine
  int ranks = 2;
  double tokens = 0;
  double units = 0;     // compute units occupied; 0: not stated
  Bytes token;          // of one
  double copies = 0;    // of a token that leave the rank
  BytesPerSecond link;  // of one accelerator, after the level's own efficiency
  Seconds time;
  std::string shape;
};

bool holds_exchange_measurements(const CommaSeparated& table);
std::vector<ExchangeMeasurement> exchange_measurements(const CommaSeparated& table,
                                                       const Catalog& catalog,
                                                       std::vector<RowProblem>& problems);

// One fit of dispatch and one of combine for each kernel among `rows`, which are of one
// architecture; stores the result in `parameters`. With folds, each accelerator is also predicted
// by a fit of the others or, where it is alone, as an all-to-all between pairs. Errors: those of fit().
Result<std::vector<CalibratedPart>> fit_exchanges(std::span<const ExchangeMeasurement> rows,
                                                  int folds, const PairwiseParameters& pairs,
                                                  TokenExchangeParameters& parameters);

}  // namespace orrery
