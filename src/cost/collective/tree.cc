#include "cost/collective/tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "cost/collective/never.h"

namespace orrery {
namespace {

constexpr std::size_t kBins = 24;
constexpr Bytes kFirstBin{64};
using Corrections = std::array<std::array<double, kBins>, 3>;

// Share of bandwidth for 64 B * 2^i, i = 0..23: NCCL graph/tuning.cc, treeCorrectionFactor.
constexpr Corrections kCorrection = {{
    // clang-format off
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
    // clang-format on
}};

// envelope[p][i]: the greatest n / correction of any payload in the bins before i, in units of
// 64 B. Past the last bin the correction is 1.
constexpr std::array<std::array<double, kBins + 1>, 3> envelopes() {
  std::array<std::array<double, kBins + 1>, 3> out{};
  for (std::size_t p = 0; p < out.size(); ++p) {
    double end = 2;  // bin i ends at 64 B * 2^(i+1)
    for (std::size_t i = 0; i < kBins; ++i, end *= 2) {
      const double last = end / kCorrection[p][i];
      out[p][i + 1] = out[p][i] > last ? out[p][i] : last;
    }
  }
  return out;
}
constexpr auto kEnvelope = envelopes();

std::size_t bin(Bytes payload) {
  if (payload < kFirstBin) return 0;
  if (payload >= kFirstBin * (1 << kBins)) return kBins;
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(payload / kFirstBin))) -
         1;
}

}  // namespace

double tree_correction(Bytes payload, Protocol protocol) {
  const std::size_t i = bin(payload);
  return i < kBins ? kCorrection[static_cast<std::size_t>(protocol)][i] : 1.0;
}

Bytes corrected_tree_bytes(Bytes payload, Protocol protocol) {
  const std::size_t i = bin(payload);
  const auto p = static_cast<std::size_t>(protocol);
  const double share = i < kBins ? kCorrection[p][i] : 1.0;
  return std::max(payload / share, kFirstBin * kEnvelope[p][i]);
}

double tree_protocol_share(Protocol protocol, int nodes) {
  if (protocol == Protocol::low_latency) return 1 / 3.8;
  if (protocol == Protocol::low_latency_128) return nodes == 1 ? 7.0 / 9 : 120.0 / 128;
  return 1;
}

Seconds tree_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                  Protocol protocol, const CollectiveParameters& parameters) {
  if (kind != CollectiveKind::all_reduce) return kNever;
  if (protocol != Protocol::simple && !low_latency_allowed(kind, payload, path, parameters)) {
    return kNever;
  }
  const double channels = parameters.channels;
  BytesPerSecond rate = std::min(path.ring_rate * parameters.tree_share,
                                 parameters.tree_simple_per_channel.of(path.nodes) * channels);
  rate *= tree_protocol_share(protocol, path.nodes);
  if (protocol == Protocol::low_latency) {
    rate = std::min(rate, parameters.low_latency_total.of(path.nodes));
  } else if (protocol == Protocol::low_latency_128) {
    rate = std::min(rate, parameters.tree_low_latency_128_per_channel.of(path.nodes) * channels);
  }
  Seconds time = parameters.tree.base.of(protocol);
  for (const Crossing& c : path.crossings()) {
    if (c.link == LinkKind::pcie && protocol == Protocol::low_latency_128) return kNever;
    const int steps =
        c.link == LinkKind::network ? c.tree_depth : (c.outer + c.inner - 1) / c.inner - 1;
    time += 2.0 * steps * step_latency(parameters.tree, c, protocol);
  }
  return time + corrected_tree_bytes(payload, protocol) / (rate * 0.5);
}

}  // namespace orrery
