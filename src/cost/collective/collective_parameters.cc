#include "cost/collective/collective_parameters.h"

#include <algorithm>

namespace orrery {

Fields<ProtocolLatencies> fields_of(const ProtocolLatencies*) {
  return Fields<ProtocolLatencies>("latency by protocol")
      .optional<&ProtocolLatencies::low_latency>("8-byte stores with flags")
      .optional<&ProtocolLatencies::low_latency_128>("128-byte stores with flags")
      .optional<&ProtocolLatencies::simple>("bulk with fences");
}

Fields<AlgorithmLatencies> fields_of(const AlgorithmLatencies*) {
  return Fields<AlgorithmLatencies>("latencies of an algorithm")
      .optional<&AlgorithmLatencies::base>("once a call, launch included")
      .optional<&AlgorithmLatencies::nvlink>("one step over scale-up links")
      .optional<&AlgorithmLatencies::pcie>("one step over PCIe")
      .optional<&AlgorithmLatencies::network>("one step between nodes");
}

Fields<NodeCeiling> fields_of(const NodeCeiling*) {
  return Fields<NodeCeiling>("ceiling by nodes")
      .required<&NodeCeiling::one_node>("inside one scale-up domain")
      .required<&NodeCeiling::two_nodes>("over two")
      .required<&NodeCeiling::more_nodes>("over three or more");
}

Fields<InSwitchParameters> fields_of(const InSwitchParameters*) {
  return Fields<InSwitchParameters>("in-switch reduction")
      .optional<&InSwitchParameters::step>("latency inside a node")
      .optional<&InSwitchParameters::tree_network_step>("latency of one step between nodes")
      .optional<&InSwitchParameters::low_latency_until>(
          "an all-reduce over several such nodes above which only Simple is used; 0: no limit")
      .optional<&InSwitchParameters::efficiency>(
          "share of the scale-up bandwidth; 0 where not available")
      .optional<&InSwitchParameters::least_ranks>("ranks a node from which the library uses it")
      .optional<&InSwitchParameters::tree_per_channel>(
          "bandwidth ceiling of one channel between nodes");
}

Fields<TokenExchangeWay> fields_of(const TokenExchangeWay*) {
  return Fields<TokenExchangeWay>("token exchange one way")
      .optional<&TokenExchangeWay::base>("launch, counts and barrier")
      .optional<&TokenExchangeWay::efficiency>("share of the scale-up links' bandwidth")
      .optional<&TokenExchangeWay::local>(
          "rate at which a rank handles its own tokens; 0: not counted");
}

Fields<TokenExchangeParameters> fields_of(const TokenExchangeParameters*) {
  return Fields<TokenExchangeParameters>("token exchange")
      .optional<&TokenExchangeParameters::dispatch>("to the experts")
      .optional<&TokenExchangeParameters::combine>("back from them");
}

Fields<PairwiseParameters> fields_of(const PairwiseParameters*) {
  return Fields<PairwiseParameters>("pairwise exchange")
      .required<&PairwiseParameters::latency>("of one round")
      .optional<&PairwiseParameters::peer>("each further peer inside a node")
      .optional<&PairwiseParameters::efficiency>("share of the link's bandwidth")
      .optional<&PairwiseParameters::network_efficiency>("the same between nodes, of all-to-alls")
      .required<&PairwiseParameters::low_latency_ceiling>("bandwidth of the LL protocol");
}

Fields<ParallelTreeParameters> fields_of(const ParallelTreeParameters*) {
  return Fields<ParallelTreeParameters>("aggregated trees")
      .required<&ParallelTreeParameters::latency>("latencies")
      .optional<&ParallelTreeParameters::share>("of the bandwidth they reach")
      .optional<&ParallelTreeParameters::overlap>("steps in flight at once")
      .optional<&ParallelTreeParameters::rank>("time for each rank");
}

Fields<CollectiveFit> fields_of(const CollectiveFit*) {
  return Fields<CollectiveFit>("fit")
      .required<&CollectiveFit::data>("what it was fitted to")
      .required<&CollectiveFit::date>("of the fit")
      .required<&CollectiveFit::rows>("measured")
      .required<&CollectiveFit::median_error>("median of |predicted/measured - 1|")
      .required<&CollectiveFit::p90_error>("90th percentile of the same")
      .optional<&CollectiveFit::cross_validated_median>("median on folds that were held out")
      .optional<&CollectiveFit::cross_validated_p90>("90th percentile on folds that were held out");
}

Fields<InterferenceParameters> fields_of(const InterferenceParameters*) {
  return Fields<InterferenceParameters>("interference")
      .optional<&InterferenceParameters::scale_up_units>(
          "compute units held by rings, trees and exchange inside a node")
      .optional<&InterferenceParameters::in_switch_units>(
          "held by reduction in the switch of one node")
      .optional<&InterferenceParameters::scale_out_units>("held by rings and trees between nodes")
      .optional<&InterferenceParameters::exchange_units>("held by direct exchange between nodes");
}

Fields<CollectiveParameters> fields_of(const CollectiveParameters*) {
  using P = CollectiveParameters;
  return Fields<P>("collective parameters")
      .required<&P::name>("architecture, such as hopper")
      .required<&P::source>("where the numbers come from")
      .required<&P::algorithms>("that the library may choose")
      .required<&P::channels>("parallel rings")
      .required<&P::ring>("latencies of rings")
      .required<&P::tree>("latencies of trees")
      .optional<&P::parallel_trees>("aggregated trees")
      .optional<&P::network_overhead>("of the host, per message")
      .optional<&P::plateau_factor>("on the latency of a Simple all-reduce ring between nodes")
      .optional<&P::low_latency_share>("payload share of LL")
      .optional<&P::low_latency_128_share>("payload share of LL128")
      .optional<&P::tree_share>("of the bandwidth that trees reach")
      .optional<&P::ring_share>("of the scale-up levels' bandwidth that collectives reach")
      .optional<&P::latency_overlap>(
          "exponent with which steps of Simple hide behind transfers; 1: not at all")
      .optional<&P::low_latency_until>("a rank's part above which only Simple is used; 0: no limit")
      .optional<&P::local_copy>("bandwidth of copying a rank's own part")
      .required<&P::low_latency_total>("ceiling of LL, all channels")
      .required<&P::ring_low_latency_128_per_channel>("ceiling of LL128 in rings")
      .required<&P::tree_low_latency_128_per_channel>("ceiling of LL128 in trees")
      .required<&P::tree_simple_per_channel>("ceiling of Simple in trees")
      .optional<&P::in_switch>("in-switch reduction")
      .required<&P::pairwise>("all-to-all and point to point")
      .optional<&P::token_exchange>("a token once to each rank or node")
      .optional<&P::host_path>("of accelerators on PCIe without a switch")
      .optional<&P::interference>("what computation beside it loses")
      .optional<&P::fits>("errors of the fit");
}

namespace {

// Limits of what is plausible; within them every time is finite.
constexpr Seconds kLongestStep{60};
constexpr BytesPerSecond kLeastBandwidth{1000};
constexpr int kMaxChannels = 4096;
constexpr double kMaxPlateau = 100;
constexpr double kMaxOverlap = 100;

bool is_share(double s) { return s >= 0.001 && s <= 1; }

bool is_latency(Seconds s) { return s >= Seconds(0) && s <= kLongestStep; }

bool are_latencies(const ProtocolLatencies& l) {
  return is_latency(l.low_latency) && is_latency(l.low_latency_128) && is_latency(l.simple);
}

bool are_latencies(const AlgorithmLatencies& l) {
  return are_latencies(l.base) && are_latencies(l.nvlink) && are_latencies(l.pcie) &&
         are_latencies(l.network);
}

bool is_ceiling(const NodeCeiling& c) {
  return std::min({c.one_node, c.two_nodes, c.more_nodes}) >= kLeastBandwidth;
}

bool is_local(const TokenExchangeWay& way) {
  return way.local == BytesPerSecond(0) || way.local >= kLeastBandwidth;
}

bool allows(const CollectiveParameters& p, CollectiveAlgorithm a) {
  return std::ranges::find(p.algorithms, a) != p.algorithms.end();
}

}  // namespace

Result<CollectiveParameters> read_collective_parameters(const Document& document) {
  ORRERY_TRY(CollectiveParameters p, read<CollectiveParameters>(document));
  const auto wrong = [&](std::string message, std::string where, std::string hint) {
    return bad_input(std::move(message), document.name + ": " + std::move(where), std::move(hint));
  };
  if (!allows(p, CollectiveAlgorithm::ring) || !allows(p, CollectiveAlgorithm::pairwise)) {
    return wrong("algorithms must include ring and pairwise", "algorithms",
                 "between them they offer every collective");
  }
  if (p.channels < 1 || p.channels > kMaxChannels) {
    return wrong("channels must be from 1 to 4096", "channels", "such as 16");
  }
  for (const auto& [key, value] :
       {std::pair{"low_latency_share", p.low_latency_share},
        {"low_latency_128_share", p.low_latency_128_share},
        {"tree_share", p.tree_share},
        {"ring_share", p.ring_share},
        {"parallel_trees.share", p.parallel_trees.share},
        {"pairwise.efficiency", p.pairwise.efficiency},
        {"pairwise.network_efficiency", p.pairwise.network_efficiency},
        {"token_exchange.dispatch.efficiency", p.token_exchange.dispatch.efficiency},
        {"token_exchange.combine.efficiency", p.token_exchange.combine.efficiency}}) {
    if (!is_share(value)) return wrong("a share must be from 0.001 to 1", key, "such as 0.92");
  }
  if (p.in_switch.efficiency < 0 || p.in_switch.efficiency > 1) {
    return wrong("an efficiency must be from 0 to 1", "in_switch.efficiency",
                 "0 where the switch does not reduce");
  }
  if (!(p.latency_overlap >= 1 && p.latency_overlap <= kMaxOverlap) ||
      !(p.parallel_trees.overlap >= 1 && p.parallel_trees.overlap <= kMaxOverlap)) {
    return wrong("an overlap must be from 1 to 100", "latency_overlap, parallel_trees.overlap",
                 "1 where nothing overlaps");
  }
  if (std::min(p.low_latency_until, p.in_switch.low_latency_until) < Bytes(0)) {
    return wrong("low_latency_until is negative", "low_latency_until", "such as 1 MiB");
  }
  ORRERY_RETURN_IF_ERROR(at(document.name, check(p.host_path)));
  if (p.plateau_factor < 1 || p.plateau_factor > kMaxPlateau) {
    return wrong("plateau_factor must be from 1 to 100", "plateau_factor", "such as 1.4");
  }
  if (!are_latencies(p.ring) || !are_latencies(p.tree) ||
      !are_latencies(p.parallel_trees.latency) || !are_latencies(p.pairwise.latency) ||
      !is_latency(p.network_overhead) || !is_latency(p.in_switch.step) ||
      !is_latency(p.in_switch.tree_network_step) || !is_latency(p.pairwise.peer) ||
      !is_latency(p.parallel_trees.rank) || !is_latency(p.token_exchange.dispatch.base) ||
      !is_latency(p.token_exchange.combine.base)) {
    return wrong("a latency is negative or above a minute", "latencies", "such as \"0.6 us\"");
  }
  if (!is_ceiling(p.low_latency_total) || !is_ceiling(p.ring_low_latency_128_per_channel) ||
      !is_ceiling(p.tree_low_latency_128_per_channel) || !is_ceiling(p.tree_simple_per_channel) ||
      p.pairwise.low_latency_ceiling < kLeastBandwidth ||
      (allows(p, CollectiveAlgorithm::in_switch) && p.in_switch.efficiency > 0 &&
       !is_ceiling(p.in_switch.tree_per_channel)) ||
      (p.local_copy != BytesPerSecond(0) && p.local_copy < kLeastBandwidth) ||
      !is_local(p.token_exchange.dispatch) || !is_local(p.token_exchange.combine)) {
    return wrong("a bandwidth is missing or below 1 kB/s", "ceilings", "such as \"39 GB/s\"");
  }
  const InterferenceParameters& held = p.interference;
  if (std::min({held.scale_up_units, held.in_switch_units, held.scale_out_units,
                held.exchange_units}) < 0) {
    return wrong("compute units cannot be negative", "interference", "such as 16");
  }
  return p;
}

Result<CollectiveParameters> load_collective_parameters(const Catalog& catalog,
                                                        std::string_view architecture) {
  ORRERY_TRY(
      const Document document,
      catalog.find("collectives",
                   catalog.contains("collectives", architecture) ? architecture : "default"));
  return read_collective_parameters(document);
}

Result<CollectiveParameters> load_collective_parameters(const Catalog& catalog,
                                                        std::string_view architecture,
                                                        const std::optional<HostPath>& stated) {
  ORRERY_TRY(CollectiveParameters out, load_collective_parameters(catalog, architecture));
  out.host_path = stated.value_or(HostPath{});
  return out;
}

}  // namespace orrery
