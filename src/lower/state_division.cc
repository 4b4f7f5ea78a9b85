#include "lower/state_division.h"

#include <algorithm>
#include <cstddef>

#include "cluster/cluster.h"
#include "lower/price.h"
#include "lower/stage_memory.h"
#include "plan/site_division.h"

namespace orrery {
namespace {

struct Room {
  double ranks = 0;
  double free = 0;   // bytes that a rank without a share has left
  double share = 0;  // bytes that a mean share adds
};

// The room of the device that has the least left with a mean share.
Room room_of(StepCosts costs) {
  double least_free = 0;
  Room out;
  for (int device = 0; device < costs.shape.devices; ++device) {
    const auto peak = [&](double share) {
      costs.state_share = share;
      return static_cast<double>(stage_memory(costs, device).peak);
    };
    const double none = peak(0);
    const double mean = peak(1);
    const double capacity = costs.memory_capacity(device).value();
    if (device > 0 && capacity - mean >= least_free) continue;
    least_free = capacity - mean;
    out.free = capacity - none;
    out.share = mean - none;
  }
  return out;
}

}  // namespace

void divide_states_by_memory(std::vector<StepCosts>& sites) {
  std::vector<Room> rooms;
  double all = 0;
  for (std::size_t k = 0; k < sites.size(); ++k) {
    rooms.push_back(room_of(sites[k]));
    const Cluster& cluster = sites.front().cache->context().cluster;
    rooms[k].ranks = static_cast<double>(replicas_of(sites[k].plan, cluster, k));
    all += rooms[k].ranks;
    if (!(rooms[k].share > 0)) return;  // nothing is trained
  }
  std::vector<bool> holds(sites.size(), true);
  for (bool again = true; again;) {
    again = false;
    double room = 0;
    double weight = 0;
    for (std::size_t k = 0; k < sites.size(); ++k) {
      if (!holds[k]) continue;
      room += rooms[k].ranks * rooms[k].free / rooms[k].share;
      weight += rooms[k].ranks / rooms[k].share;
    }
    const double left = (room - all) / weight;
    for (std::size_t k = 0; k < sites.size(); ++k) {
      sites[k].state_share = holds[k] ? (rooms[k].free - left) / rooms[k].share : 0;
      if (sites[k].state_share >= 0) continue;
      holds[k] = false;
      again = true;
    }
  }
  const double largest = std::ranges::max(sites, {}, &StepCosts::state_share).state_share;
  for (StepCosts& site : sites) {
    site.largest_share = largest;
    for (int device = 0; site.passes.optimizer && device < site.shape.devices; ++device) {
      site.optimizer[static_cast<std::size_t>(device)] =
          price(site.optimizer_parts(device), site.layout->groups, site.cache->context());
    }
  }
}

}  // namespace orrery
