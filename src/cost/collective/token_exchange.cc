#include "cost/collective/token_exchange.h"

#include <algorithm>
#include <cmath>

#include "cost/collective/communication_path.h"

namespace orrery {

double distinct_units(double units, double experts, double top_k) {
  experts = std::max(experts, 1.0);
  const double k = std::clamp(top_k, 0.0, experts);
  const double u = std::clamp(units, 1.0, experts);
  // C(E - E/u, k) / C(E, k) by the gamma function, for units that do not divide the experts too.
  const double others = experts - experts / u;
  if (k > others) return std::min(u, k);
  const double none = std::exp(std::lgamma(others + 1) - std::lgamma(others - k + 1) -
                               std::lgamma(experts + 1) + std::lgamma(experts - k + 1));
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
    const double copies = distinct_units(units, exchange.experts, exchange.top_k);
    const double efficiency = c.link == LinkKind::network ? 1 : p.efficiency;
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
