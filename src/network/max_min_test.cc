#include "network/max_min.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace orrery {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct TestFlow {
  std::vector<ResourceUse> uses;
  double limit = kNoLimit;
};

struct Case {
  const char* what;
  std::vector<double> capacities;
  std::vector<TestFlow> flows;
  std::vector<double> rates;  // worked out by hand
};

TestFlow over(std::initializer_list<std::uint32_t> links, double limit = kNoLimit) {
  TestFlow out;
  for (const std::uint32_t l : links) out.uses.push_back({l, 1});
  out.limit = limit;
  return out;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> out = {
      {"one flow", {10}, {over({0})}, {10}},
      {"two share a link", {10}, {over({0}), over({0})}, {5, 5}},
      {"three share a link", {9}, {over({0}), over({0}), over({0})}, {3, 3, 3}},
      {"the narrower link counts", {10, 4}, {over({0, 1})}, {4}},
      {"parking lot of two", {1, 1}, {over({0, 1}), over({0}), over({1})}, {.5, .5, .5}},
      {"parking lot of three",
       {1, 1, 1},
       {over({0, 1, 2}), over({0}), over({1}), over({2})},
       {.5, .5, .5, .5}},
      {"what a slow flow leaves", {10, 2}, {over({0}), over({0, 1})}, {8, 2}},
      {"what two slow flows leave", {12, 2, 3}, {over({0}), over({0, 1}), over({0, 2})}, {7, 2, 3}},
      {"Bertsekas and Gallager, figure 6.10: five sessions",
       {1, 1, 1},
       {over({0, 1, 2}), over({1, 2}), over({0, 1}), over({0}), over({2})},
       {1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3}},
      {"a link further on is the bottleneck",
       {6, 2, 100},
       {over({0, 1}), over({0, 1}), over({0, 2})},
       {1, 1, 4}},
      {"a limit leaves the rest", {10}, {over({0}, 2), over({0})}, {2, 8}},
      {"limits of all", {10}, {over({0}, 2), over({0}, 3)}, {2, 3}},
      {"a limit above the share", {10}, {over({0}, 7), over({0})}, {5, 5}},
      {"separate links", {3, 7}, {over({0}), over({1})}, {3, 7}},
      {"a flow that uses nothing", {1}, {over({}, 5), over({0})}, {5, 1}},
      {"two alike given as one", {10}, {{{{0, 2}}}, over({0})}, {10.0 / 3, 10.0 / 3}},
      {"spread over two links", {4, 4, 6}, {{{{0, .5}, {1, .5}, {2, 1}}}}, {6}},
      {"spread, beside one on a link",
       {4, 4},
       {{{{0, .5}, {1, .5}}}, over({0})},
       {8.0 / 3, 8.0 / 3}},
      {"incast of four",
       {1, 1, 1, 1, 2},
       {over({0, 4}), over({1, 4}), over({2, 4}), over({3, 4})},
       {.5, .5, .5, .5}},
      {"incast beside a stranger",
       {1, 1, 1, 1},
       {over({0, 3}), over({1, 3}), over({2})},
       {.5, .5, 1}},
      {"a chain of bottlenecks",
       {2, 5, 12},
       {over({0, 1}), over({0, 1}), over({1, 2}), over({2})},
       {1, 1, 3, 9}},
      {"a ring of three, each over two links",
       {3, 3, 3},
       {over({0, 1}), over({1, 2}), over({2, 0})},
       {1.5, 1.5, 1.5}},
  };
  return out;
}

FlowSet set_of(const std::vector<TestFlow>& flows) {
  FlowSet out;
  for (const TestFlow& f : flows) out.add(f.uses, f.limit);
  return out;
}

TEST(MaxMin, HandComputedCases) {
  EXPECT_GE(cases().size(), 20U);
  for (const Case& c : cases()) {
    const std::vector<double> rates = max_min_rates(c.capacities, set_of(c.flows));
    ASSERT_EQ(rates.size(), c.rates.size());
    for (std::size_t f = 0; f < rates.size(); ++f) {
      EXPECT_NEAR(rates[f], c.rates[f], 1e-12) << c.what << ", flow " << f;
    }
  }
}

struct Random {
  std::vector<double> capacities;
  std::vector<TestFlow> flows;
};

Random random_case(std::mt19937_64& engine) {
  Random out;
  const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(engine() % n); };
  const std::uint32_t links = 1 + below(12);
  for (std::uint32_t l = 0; l < links; ++l) out.capacities.push_back(1 + below(20));
  const std::uint32_t flows = 1 + below(30);
  for (std::uint32_t f = 0; f < flows; ++f) {
    TestFlow flow;
    for (std::uint32_t l = 0; l < links; ++l) {
      if (below(3) == 0) flow.uses.push_back({l, below(4) == 0 ? 0.5 : 1.0});
    }
    if (flow.uses.empty() || below(5) == 0) flow.limit = 0.25 * (1 + below(20));
    out.flows.push_back(std::move(flow));
  }
  return out;
}

// What makes an allocation max-min fair: nothing is overfull, and every flow has its limit, or a
// full resource on which no flow is faster.
TEST(MaxMin, RandomCasesAreFair) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 2000; ++i) {
    const Random c = random_case(engine);
    const std::vector<double> rates = max_min_rates(c.capacities, set_of(c.flows));
    std::vector<double> used(c.capacities.size());
    std::vector<double> fastest(c.capacities.size());
    for (std::size_t f = 0; f < rates.size(); ++f) {
      for (const ResourceUse& u : c.flows[f].uses) {
        used[u.resource] += u.weight * rates[f];
        fastest[u.resource] = std::max(fastest[u.resource], rates[f]);
      }
    }
    for (std::size_t l = 0; l < used.size(); ++l) EXPECT_LE(used[l], c.capacities[l] * (1 + 1e-9));
    for (std::size_t f = 0; f < rates.size(); ++f) {
      const bool limited = rates[f] >= c.flows[f].limit * (1 - 1e-9);
      const bool held_up = std::ranges::any_of(c.flows[f].uses, [&](const ResourceUse& u) {
        return used[u.resource] >= c.capacities[u.resource] * (1 - 1e-9) &&
               rates[f] >= fastest[u.resource] * (1 - 1e-9);
      });
      EXPECT_TRUE(limited || held_up) << "case " << i << ", flow " << f;
    }
  }
}

TEST(FlowSimulation, RatesChangeWhenFlowsComeAndGo) {
  FlowSimulation simulation({10});
  const std::vector<ResourceUse> link = {{0, 1}};
  const auto first = simulation.start(0, link, 100);  // alone until 4: 40 done
  const auto second = simulation.start(4, link, 25);  // shares until it ends at 9
  EXPECT_DOUBLE_EQ(simulation.next_end(), 9);
  EXPECT_EQ(simulation.end_next(), std::vector{second});
  EXPECT_DOUBLE_EQ(simulation.next_end(), 12.5);  // 35 left at 9
  EXPECT_EQ(simulation.end_next(), std::vector{first});
  EXPECT_EQ(simulation.under_way(), 0U);
  EXPECT_DOUBLE_EQ(simulation.carried(0), 125);
  EXPECT_EQ(simulation.next_end(), kNoLimit);
}

// Rates kept over changes are those of all flows found anew, and bytes are conserved.
TEST(FlowSimulation, IncrementalRatesEqualThoseFromTheBeginning) {
  std::mt19937_64 engine(2);
  for (int i = 0; i < 200; ++i) {
    Random c = random_case(engine);
    FlowSimulation simulation(c.capacities);
    std::vector<double> carried(c.capacities.size());
    std::vector<double> ends(c.flows.size());
    std::vector<std::size_t> who(c.flows.size());
    struct Under {
      std::size_t flow;
      double left;
    };
    // The reference finds all rates anew after each event.
    std::vector<Under> under;
    std::vector<double> expected(c.flows.size());
    double now = 0;
    std::size_t next = 0;
    const auto amount = [](std::size_t f) { return 5.0 + 3 * static_cast<double>(f % 7); };
    const auto starts = [](std::size_t f) { return 0.5 * static_cast<double>(f); };
    while (next < c.flows.size() || !under.empty()) {
      FlowSet set;
      for (const Under& u : under) set.add(c.flows[u.flow].uses, c.flows[u.flow].limit);
      const std::vector<double> rates = max_min_rates(c.capacities, set);
      double then = next < c.flows.size() ? starts(next) : kNoLimit;
      for (std::size_t u = 0; u < under.size(); ++u) {
        then = std::min(then, now + under[u].left / rates[u]);
      }
      for (std::size_t u = 0; u < under.size(); ++u) under[u].left -= rates[u] * (then - now);
      now = then;
      std::erase_if(under, [&](const Under& u) {
        if (u.left > 1e-9) return false;
        expected[u.flow] = now;
        return true;
      });
      if (next < c.flows.size() && starts(next) == now) {
        under.push_back({next, amount(next)});
        ++next;
      }
    }
    next = 0;
    while (next < c.flows.size() || simulation.under_way() > 0) {
      if (next < c.flows.size() && starts(next) <= simulation.next_end()) {
        const auto id =
            simulation.start(starts(next), c.flows[next].uses, amount(next), c.flows[next].limit);
        if (who.size() <= id) who.resize(id + 1);
        who[id] = next;
        for (const ResourceUse& u : c.flows[next].uses)
          carried[u.resource] += u.weight * amount(next);
        ++next;
        continue;
      }
      const double time = simulation.next_end();
      for (const auto id : simulation.end_next()) ends[who[id]] = time;
    }
    for (std::size_t f = 0; f < ends.size(); ++f) EXPECT_NEAR(ends[f], expected[f], 1e-6) << i;
    for (std::uint32_t l = 0; l < carried.size(); ++l) {
      EXPECT_NEAR(simulation.carried(l), carried[l], 1e-9);
    }
  }
}

}  // namespace
}  // namespace orrery
