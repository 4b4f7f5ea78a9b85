#include "cost/collective/token_exchange.h"

#include <algorithm>
#include <cmath>

#include "cost/collective/communication_path.h"

namespace orrery {

namespace {

// ln C(n, k) by the gamma function, for numbers that are not whole too.
double log_choices(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// That none of k different ones of n is among some `held` of them.
double none_of(double n, double held, double k) {
  return k > n - held ? 0 : std::exp(log_choices(n - held, k) - log_choices(n, k));
}

}  // namespace

double distinct_units(double units, double experts, double top_k, ExpertGroups limit) {
  experts = std::max(experts, 1.0);
  const double k = std::clamp(top_k, 0.0, experts);
  const double u = std::clamp(units, 1.0, experts);
  const double group = experts / limit.groups;
  const double within = limit.chosen * group;  // experts of the groups that a token picks
  if (limit.groups <= 1 || limit.chosen >= limit.groups || k > within) {
    const double others = experts - experts / u;
    return k > others ? std::min(u, k) : u * (1 - none_of(experts, experts / u, k));
  }
  if (u >= limit.groups) {  // a unit is a part of one group
    const double picked = limit.chosen / limit.groups;
    return u * picked * (1 - none_of(within, experts / u, k));
  }
  // A unit holds several groups, of which a token picks j.
  const double held = limit.groups / u;
  double none = 0;
  for (double j = 0; j <= std::min(held, limit.chosen); ++j) {
    if (limit.chosen - j > limit.groups - held) continue;
    none += std::exp(log_choices(held, j) + log_choices(limit.groups - held, limit.chosen - j) -
                     log_choices(limit.groups, limit.chosen)) *
            none_of(within, j * group, k);
  }
  return u * (1 - none);
}

Seconds token_exchange_time(const TokenExchange& exchange, const GroupShape& group,
                            const std::vector<FabricLevel>& levels,
                            const CollectiveParameters& parameters) {
  if (group.size <= 1 || !(exchange.tokens > 0)) return Seconds(0);
  const CommunicationPath path = communication_path(group, levels, parameters);
  const TokenExchangeWay& p =
      exchange.away ? parameters.token_exchange.dispatch : parameters.token_exchange.combine;
  const Bytes sent = exchange.token * exchange.tokens;
  Seconds step;
  Seconds transfer;
  for (const Crossing& c : path.crossings()) {
    const double inside = std::ceil(static_cast<double>(c.outer) / c.inner);
    const double units = std::ceil(static_cast<double>(path.ranks) / c.inner);
    const double copies = distinct_units(units, exchange.experts, exchange.top_k, exchange.limit);
    // Of each other node one rank sends to this one at once.
    const double efficiency =
        c.link == LinkKind::network ? share_under_incast(c, path.nodes - 1) : p.efficiency;
    step = std::max(step, step_latency(parameters.pairwise.latency, c, Protocol::simple));
    transfer = std::max(transfer, sent * (copies * (inside - 1) / inside) / (c.rate * efficiency));
  }
  if (p.local > BytesPerSecond(0)) {
    const double high = std::max(transfer, sent / p.local).value();
    const double q = std::min(transfer, sent / p.local).value() / high;
    transfer = Seconds(high * std::sqrt(std::sqrt(1 + q * q * q * q)));
  }
  return p.base + step + transfer;
}

}  // namespace orrery
