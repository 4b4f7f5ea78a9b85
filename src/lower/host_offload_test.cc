// What lies outside the accelerators: bytes are neither lost nor doubled, rates are shared by a
// node, and times are those computed by hand.
#include "lower/host_offload.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "cost/memory/memory.h"
#include "lower/price.h"
#include "lower/random_plan.h"
#include "lower/stage_memory.h"
#include "lower/step_graph.h"
#include "lower/step_window.h"
#include "simulate/simulate.h"

namespace orrery {
namespace {

NodeHost host() {
  NodeHost out;
  out.memory = Bytes(2e12);
  out.memory_bandwidth = BytesPerSecond(400e9);
  out.local_storage = Bytes(30e12);
  out.storage_read = BytesPerSecond(40e9);
  out.storage_write = BytesPerSecond(20e9);
  return out;
}

struct Offloaded {
  RandomCase c;
  CostCache cache;
  StepCosts costs;
  StepGraph step;
  Timeline timeline;

  Offloaded(const char* on, const char* plan, std::int64_t batch)
      : c(with_host(stated_case(small_model("gpt-3-1.3b", 8), on, plan, 2048, batch))),
        cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in())),
        costs(step_costs(cache, c.plan)),
        step(*step_graph(costs, Folding::folded)),
        timeline(simulate(step.graph)) {
    EXPECT_TRUE(plan_problems(c.model, c.cluster, c.training, c.plan).empty()) << plan;
  }
  static RandomCase with_host(RandomCase out) {
    out.cluster.host = host();
    return out;
  }
  // Bytes and seconds of the nodes of this name.
  struct Sum {
    double bytes = 0;
    double seconds = 0;
  };
  [[nodiscard]] Sum of(std::string_view name) const {
    Sum out;
    for (std::size_t i = 0; i < step.graph.size(); ++i) {
      const NodeIndex n(i);
      if (step.graph.name(n) != name) continue;
      out.seconds += step.graph.duration(n).seconds().value();
      for (const OperationPart& part : step.graph.operation(n).parts) {
        if (const auto* copy = std::get_if<HostCopy>(&part.what)) out.bytes += copy->bytes.value();
      }
    }
    return out;
  }
  [[nodiscard]] double parameters() const { return trained_parameters(c.model); }
};

// Without a stride no optimizer state moves, not even a rounding error of one.
TEST(HostOffload, FetchesNothingWithoutAStride) {
  for (const char* share : {"0.1", "0.3", "0.7", "0.9"}) {
    const std::string plan = std::string("zero=1,offload_optimizer=cpu,offload_share=") + share;
    const Offloaded o("h100-sxm:8", plan.c_str(), 64);
    for (std::size_t i = 0; i < o.step.graph.size(); ++i) {
      EXPECT_NE(o.step.graph.name(NodeIndex(i)), "fetch optimizer states") << share;
    }
  }
}

TEST(HostOffload, TheAcceleratorsOfANodeShareIt) {
  Cluster c = *parse_cluster("h100-sxm:16", Catalog::built_in());
  c.host = host();
  EXPECT_DOUBLE_EQ(host_rate(c, HostResource::memory)->value(), 50e9);
  EXPECT_DOUBLE_EQ(host_rate(c, HostResource::storage_read)->value(), 5e9);
  EXPECT_EQ(host_rate(c, HostResource::link), c.accelerator.host_link.bandwidth);
  c.host.links = BytesPerSecond(80e9);
  EXPECT_DOUBLE_EQ(host_rate(c, HostResource::link)->value(), 10e9);
  c = *parse_cluster("h100-sxm:1", Catalog::built_in());
  c.host = host();
  EXPECT_DOUBLE_EQ(host_rate(c, HostResource::memory)->value(), 400e9);
}

// One accelerator, two microbatches. Gradients of 4 bytes leave once a microbatch under ZeRO 3, the
// update moves 4 + 24 + 2 bytes a parameter and 3 x 4 for norm and clipping, 2 return.
TEST(HostOffload, TheUpdateOnTheHostByHand) {
  const Offloaded o("h100-sxm:1", "zero=3,offload_optimizer=cpu", 2);
  const double p = o.parameters();
  EXPECT_NEAR(o.of("send gradients to the host").bytes, 2 * 4 * p, 1);
  EXPECT_NEAR(o.of("update on the host").bytes, (4 + 24 + 2 + 12) * p, 1);
  EXPECT_NEAR(o.of("update on the host").seconds, 42 * p / 400e9, 1e-6);
  EXPECT_NEAR(o.of("return weights").bytes, 2 * p, 1);
  EXPECT_GE(o.timeline.makespan.seconds().value(), o.of("update on the host").seconds);
}

// States of 12 bytes are read and written beside the update; two bytes of each weight are read
// twice a microbatch and written once.
TEST(HostOffload, StorageByHand) {
  const Offloaded o("h100-sxm:1",
                    "zero=3,offload_optimizer=nvme,offload_parameters=nvme,recompute=full", 4);
  const double p = o.parameters();
  EXPECT_NEAR(o.of("read optimizer states").bytes, 12 * p, 1);
  EXPECT_NEAR(o.of("write optimizer states").bytes, 12 * p, 1);
  EXPECT_NEAR(o.of("read optimizer states").seconds, 12 * p / 40e9, 1e-6);
  EXPECT_NEAR(o.of("write optimizer states").seconds, 12 * p / 20e9, 1e-6);
  EXPECT_NEAR(o.of("read weights from storage").bytes, 4 * 2 * 2 * p, 1);
  EXPECT_NEAR(o.of("fetch weights from the host").bytes, 4 * 2 * 2 * p, 1);
  EXPECT_NEAR(o.of("write weights").bytes, 2 * p, 1);
  const MemoryReport memory = stage_memory(o.costs, 0);
  EXPECT_EQ(memory.parameters, 0);
  EXPECT_EQ(memory.gradients, 0);
  EXPECT_EQ(memory.optimizer_states, 0);
}

// Each of 16 ranks moves its sixteenth.
TEST(HostOffload, RanksMoveTheirShards) {
  const Offloaded o("h100-sxm:16", "zero=3,offload_optimizer=cpu,offload_parameters=cpu", 16);
  const double p = o.parameters() / 16;
  EXPECT_NEAR(o.of("fetch weights from the host").bytes, 2 * 2 * p, 1);
  EXPECT_NEAR(o.of("send gradients to the host").bytes, 4 * p, 1);
  EXPECT_NEAR(o.of("update on the host").seconds, 42 * p / (400e9 / 8), 1e-6);
}

TEST(HostOffload, ActivationsLeaveAndReturn) {
  const Offloaded o("h100-sxm:8", "zero=1,offload_activations=cpu", 16);
  const Offloaded without("h100-sxm:8", "zero=1", 16);
  EXPECT_DOUBLE_EQ(o.of("send activations to the host").bytes,
                   o.of("fetch activations from the host").bytes);
  double saved = 0;
  for (const VirtualStage& s : o.costs.stages) saved += s.totals.saved.value();
  EXPECT_NEAR(o.of("send activations to the host").bytes, 2 * saved, 1);
  EXPECT_LT(stage_memory(o.costs, 0).activations, stage_memory(without.costs, 0).activations);
  EXPECT_GE(o.timeline.makespan, without.timeline.makespan);
}

// Every third part of what lies outside is fetched, updated on the device and sent back; a quarter
// never leaves. The host updates the rest, and returns its weights.
TEST(HostOffload, UpdatesAreSharedByHostAndDevice) {
  const Offloaded o("h100-sxm:1", "zero=1,offload_optimizer=cpu,offload_share=0.75,update_stride=3",
                    2);
  const double p = o.parameters();
  EXPECT_NEAR(o.of("update on the host").bytes, 42 * 0.5 * p, 1);
  EXPECT_NEAR(o.of("fetch optimizer states").bytes, 12 * 0.25 * p, 1);
  EXPECT_NEAR(o.of("send optimizer states").bytes, 12 * 0.25 * p, 1);
  EXPECT_NEAR(o.of("return weights").bytes, 2 * 0.5 * p, 1);
  EXPECT_NEAR(o.of("send gradients to the host").bytes, 4 * 0.75 * p, 1);
  const Offloaded alone("h100-sxm:1", "zero=1,offload_optimizer=cpu,offload_share=0.75", 2);
  EXPECT_LT(o.timeline.makespan, alone.timeline.makespan);
  // A quarter of the states stays on the device.
  const Offloaded inside("h100-sxm:1", "zero=1", 2);
  EXPECT_NEAR(static_cast<double>(stage_memory(o.costs, 0).optimizer_states),
              0.25 * static_cast<double>(stage_memory(inside.costs, 0).optimizer_states), 2);
}

// What the host updates while the backward goes on is as much as behind it, and ends earlier.
TEST(HostOffload, UpdatesBesideTheBackwardMoveTheSame) {
  for (const char* plan : {"zero=3,offload_optimizer=nvme,offload_parameters=nvme",
                           "zero=1,offload_optimizer=cpu", "zero=2,offload_optimizer=cpu"}) {
    const Offloaded behind("h100-sxm:8", plan, 32);
    const std::string beside = std::string(plan) + ",overlap.host_update=on";
    const Offloaded o("h100-sxm:8", beside.c_str(), 32);
    for (const char* moved : {"update on the host", "return weights", "read optimizer states",
                              "write optimizer states", "write weights"}) {
      EXPECT_NEAR(o.of(moved).bytes, behind.of(moved).bytes, 64) << plan << ": " << moved;
    }
    // The storage has one queue: weights that it reads may wait behind states that it writes.
    if (o.of("write weights").bytes > 0) continue;
    EXPECT_LT(o.timeline.makespan, behind.timeline.makespan) << plan;
  }
}

TEST(HostOffload, ActivationsGoOnToStorage) {
  const Offloaded o("h100-sxm:8", "zero=1,offload_activations=nvme", 16);
  const Offloaded host("h100-sxm:8", "zero=1,offload_activations=cpu", 16);
  const double sent = o.of("send activations to the host").bytes;
  EXPECT_GT(sent, 0);
  EXPECT_DOUBLE_EQ(o.of("write activations to storage").bytes, sent);
  EXPECT_DOUBLE_EQ(o.of("read activations from storage").bytes, sent);
  EXPECT_GE(o.timeline.makespan, host.timeline.makespan);
  EXPECT_EQ(stage_memory(o.costs, 0).peak, stage_memory(host.costs, 0).peak);
}

// The more blocks are gathered ahead the sooner a step may end and the more it holds; without any
// ahead in the backward, gathers wait for reductions.
TEST(ShardPrefetch, TradesMemoryForTime) {
  Picoseconds before = Picoseconds(1e18);
  ByteCount held = 0;
  for (const char* blocks : {"0", "1", "2", "4", "100"}) {
    const Offloaded o("a100-80gb-sxm:64", ("zero=3,prefetch=" + std::string(blocks)).c_str(), 64);
    EXPECT_LE(o.timeline.makespan, before) << blocks;
    const MemoryReport memory = stage_memory(o.costs, 0);
    EXPECT_GE(memory.peak, held) << blocks;
    before = o.timeline.makespan;
    held = memory.peak;
  }
}

TEST(HostOffload, FoldedAndExpandedStepsAgree) {
  for (const char* plan :
       {"zero=3,offload_optimizer=nvme,offload_parameters=nvme",
        "zero=3,offload_optimizer=nvme,offload_parameters=nvme,overlap.host_update=on",
        "zero=3,offload_optimizer=cpu,offload_parameters=cpu,prefetch=3,update_stride=2",
        "zero=3,prefetch=0", "zero=1,offload_optimizer=cpu,offload_share=0.4,update_stride=3",
        "zero=2,offload_activations=nvme,overlap.host_update=on,offload_optimizer=cpu",
        "zero=1,offload_optimizer=cpu,offload_activations=cpu,recompute=selective",
        "pp=2,zero=1,offload_optimizer=cpu", "zero=2,offload_optimizer=cpu,tp=2"}) {
    const Offloaded o("h100-sxm:8", plan, 32);
    const auto expanded = step_graph(o.costs, Folding::expanded);
    ASSERT_TRUE(expanded);
    EXPECT_EQ(simulate(expanded->graph).makespan, o.timeline.makespan) << plan;
    EXPECT_LE(lower_bound(o.costs), step_time(windows(o.costs, o.step, o.timeline))) << plan;
  }
}

}  // namespace
}  // namespace orrery
