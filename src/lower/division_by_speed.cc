#include "lower/division_by_speed.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "lower/stage_memory.h"
#include "outcome/invariant.h"
#include "plan/site_division.h"
#include "plan/stage_layers.h"

namespace orrery {
namespace {

std::vector<std::int64_t> layers_by_speed(const StepCosts& step) {
  const std::size_t layers = step.cache->model().layers.size();
  struct Device {
    double layer = 0;  // ps
    double busy = 0;   // ps
    std::int64_t layers = 0;
  };
  std::vector<Device> devices(step.device_site.size());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto device = static_cast<int>(d);
    const StepCosts& costs = step.at(device);
    const PassTotals& all = costs.recomputed->before.back();
    devices[d].layer = (all.forward + all.backward).count() / static_cast<double>(layers);
    const auto add = [&](const BlockCost& block) {
      devices[d].busy += (block.forward.time + block.backward.time).count();
    };
    for (int c = 0; c < step.shape.chunks; ++c) {
      if (step.chunk(device, c).embedding) add(costs.kept->embedding);
      if (step.chunk(device, c).head) add(costs.kept->head);
    }
  }
  for (std::size_t l = 0; l < layers; ++l) {
    Device& next =
        *std::ranges::min_element(devices, {}, [](const Device& d) { return d.busy + d.layer; });
    next.busy += next.layer;
    ++next.layers;
  }
  std::vector<std::int64_t> out(step.stages.size());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::vector<std::int64_t> chunks = even_layers(devices[d].layers, step.shape.chunks);
    for (int c = 0; c < step.shape.chunks; ++c) {
      const int stage = step.schedule->virtual_stage(step.shape, static_cast<int>(d), c);
      out[static_cast<std::size_t>(stage)] = chunks[static_cast<std::size_t>(c)];
    }
  }
  return out;
}

// Replicas that work on equally many microbatches.
struct Share {
  std::int64_t sequences = 0;  // of a microbatch of each of them, over those that all shares divide
  double time = 0;             // of one microbatch, ps
  std::int64_t microbatches = 1;
};

// Takes `excess` sequences away, a microbatch of every replica of a site at a time; false if no number
// of these has exactly as many.
bool take_away(std::vector<Share>& shares, std::int64_t excess) {
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> last(static_cast<std::size_t>(excess) + 1, kNone);
  for (std::int64_t e = 1; e <= excess; ++e) {
    for (std::size_t k = 0; k < shares.size(); ++k) {
      const std::int64_t before = e - shares[k].sequences;
      if (before < 0 || (before > 0 && last[static_cast<std::size_t>(before)] == kNone)) continue;
      last[static_cast<std::size_t>(e)] = k;
      break;
    }
  }
  std::vector<Share> fewer = shares;
  for (std::int64_t e = excess; e > 0;) {
    const std::size_t k = last[static_cast<std::size_t>(e)];
    if (k == kNone || --fewer[k].microbatches < 1) return false;
    e -= fewer[k].sequences;
  }
  shares = std::move(fewer);
  return true;
}

// Forward and backward of a microbatch on the slowest device, ps.
double microbatch_time(const StepCosts& costs) {
  double out = 0;
  for (int device = 0; device < costs.shape.devices; ++device) {
    const PassTotals held = costs.held(device);
    out = std::max(out, (held.forward + held.backward).count());
  }
  return out;
}

std::vector<std::int64_t> microbatches_by_speed(const StepCosts& step) {
  const Cluster& cluster = step.sites.front().cache->context().cluster;
  std::vector<Share> shares;
  std::int64_t unit = 0;
  for (std::size_t site = 0; site < step.sites.size(); ++site) {
    const StepCosts& costs = step.sites[site];
    const Share share{.sequences = replicas_of(step.plan, cluster, site) * costs.micro_batch,
                      .time = microbatch_time(costs)};
    unit = std::gcd(unit, share.sequences);
    shares.push_back(share);
  }
  if (step.cache->training().global_batch % unit != 0) return {};
  std::int64_t missing = step.cache->training().global_batch / unit;
  for (Share& share : shares) {
    share.sequences /= unit;
    missing -= share.sequences;
  }
  constexpr int kTriesBeyond = 64;
  constexpr std::int64_t kMostExcess = 1 << 20;
  for (int beyond = 0; beyond < kTriesBeyond && missing >= -kMostExcess;) {
    if (missing <= 0) {
      if (take_away(shares, -missing)) {
        std::vector<std::int64_t> out;
        for (const Share& share : shares) out.push_back(share.microbatches);
        return out;
      }
      ++beyond;
    }
    Share& next = *std::ranges::min_element(shares, {}, [](const Share& s) {
      return static_cast<double>(s.microbatches + 1) * s.time;
    });
    ++next.microbatches;
    missing -= next.sequences;
  }
  return {};
}

// The sequences of a microbatch by which each site would be the fastest; 0 where nothing fits.
std::vector<std::int64_t> best_sizes(CostCache& cache, std::span<const Plan> plans) {
  std::vector<std::int64_t> out(cache.sites());
  std::vector<double> best(cache.sites());
  for (const Plan& plan : plans) {
    const StepCosts step = step_costs(cache, plan);
    const double wanted = static_cast<double>(cache.training().global_batch) /
                          static_cast<double>(plan.dp * plan.micro_batch);
    for (std::size_t site = 0; site < out.size(); ++site) {
      const StepCosts& own = step.sites[site];
      bool fits = true;
      for (int d = 0; d < own.shape.devices; ++d) fits = fits && memory_room(own, d).left() >= 0;
      const double bound =
          lower_bound(own).count() + (wanted - own.shape.microbatches) * microbatch_time(own);
      if (!fits || (out[site] != 0 && bound >= best[site])) continue;
      out[site] = plan.micro_batch;
      best[site] = bound;
    }
  }
  return out;
}

}  // namespace

Plan divided_by_speed(const StepCosts& step) {
  ORRERY_INVARIANT(!step.sites.empty());
  Plan out = step.plan;
  if (step.device_site.empty()) {
    out.site_microbatches = microbatches_by_speed(step);
  } else {
    out.layers = layers_by_speed(step);
  }
  return out;
}

std::optional<Plan> sized_by_site(CostCache& cache, std::span<const Plan> plans) {
  for (; plans.size() > 1; plans = plans.first(plans.size() - 1)) {
    const std::vector<std::int64_t> sizes = best_sizes(cache, plans);
    const auto [least, most] = std::ranges::minmax(sizes);
    if (least == most || least == 0) return std::nullopt;
    Plan out = plans.front();
    out.micro_batch = 1;
    out.site_micro_batch = sizes;
    out.site_microbatches.clear();
    const double microbatches = static_cast<double>(cache.training().global_batch) /
                                sequences_at_once(cache.context().cluster, out);
    out.site_microbatches.assign(sizes.size(),
                                 static_cast<std::int64_t>(std::max(1.0, microbatches)));
    out = divided_by_speed(step_costs(cache, out));
    if (!out.site_microbatches.empty()) return out;
  }
  return std::nullopt;
}

}  // namespace orrery
