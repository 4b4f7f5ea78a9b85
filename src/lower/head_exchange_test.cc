// Context parallelism by all-to-all: what travels, what is computed, what is kept.
#include "lower/head_exchange.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "lower/random_plan.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

const CostContext& context_of(const Cluster& cluster) {
  static std::map<std::string, CostContext> known;
  const std::string key = cluster.name + "/" + std::to_string(cluster.accelerators);
  const auto it = known.find(key);
  if (it != known.end()) return it->second;
  return known.emplace(key, *cost_context(cluster, Catalog::built_in())).first->second;
}

Picoseconds on_stream(const BlockPass& pass, StepStream kind) {
  Picoseconds sum;
  for (std::size_t i = 0; i < pass.graph.size(); ++i) {
    const NodeIndex n(i);
    if (pass.graph.stream_of(n).number == static_cast<std::uint32_t>(kind)) {
      sum += pass.graph.duration(n);
    }
  }
  return sum;
}

int transfers(const BlockPass& pass) {
  int count = 0;
  for (std::size_t i = 0; i < pass.graph.size(); ++i) {
    count += pass.graph.name(NodeIndex(i)).starts_with("all-to-all of ") ? 1 : 0;
  }
  return count;
}

// Kernels of attention itself, without the copies around it.
Picoseconds attention(const BlockPass& pass) {
  Picoseconds sum;
  for (std::size_t i = 0; i < pass.graph.size(); ++i) {
    if (pass.graph.name(NodeIndex(i)) == "attention.core") sum += pass.graph.duration(NodeIndex(i));
  }
  return sum;
}

// Valid draws whose plan exchanges heads.
template <class Check>
void for_exchanging_plans(Check check) {
  std::mt19937 random(20230914);  // the day of arXiv 2309.14509
  int checked = 0;
  for (int draw = 0; draw < 20000 && checked < 60; ++draw) {
    auto c = random_case(random);
    if (!c || !exchanges_heads(c->plan) || ring_ranks(c->plan) > 1 ||
        c->plan.halves != Halves::none ||  // each half has exchanges of its own
        c->training.workload != Workload::training)
      continue;
    ++checked;
    check(*c);
  }
  EXPECT_EQ(checked, 60);
}

struct OnePlan {
  Model model;
  Cluster cluster;
  Training training;
  Plan plan;
  OnePlan(const char* name, const char* on, std::string_view text, std::int64_t sequence)
      : model(small_model(name, 4)), cluster(*parse_cluster(on, Catalog::built_in())) {
    training.sequence_length = sequence;
    training.global_batch = cluster.accelerators;
    CompletedPlan completed = completed_plan(model, cluster, training, *parse_plan(text));
    training = completed.training;
    plan = completed.plan;
    EXPECT_TRUE(plan_problems(model, cluster, training, plan).empty()) << text;
  }
  [[nodiscard]] BlockCost cost() const {
    CostCache cache(model, training, context_of(cluster));
    return cache.costs(plan, plan.recompute, Backward::fused).blocks[0];
  }
};

// 2 b (s/c) / tp bytes of each column of queries, keys, values and the output, each an all-to-all
// of its own (arXiv 2309.14509 s.3.2: 4 h for as many key-value heads as heads). Backward as much,
// and what is computed again travels again.
TEST(HeadExchange, VolumeIsThatOfThePaper) {
  for_exchanging_plans([](const RandomCase& c) {
    const Architecture& a = *architecture_of(c.model);
    const double heads = static_cast<double>(a.num_heads);
    double query_key = static_cast<double>(a.head_dim);
    double value = query_key;
    double key_heads = static_cast<double>(a.num_kv_heads);
    if (a.latent_attention) {
      const LatentAttention& l = *a.latent_attention;
      query_key = static_cast<double>(l.qk_nope_head_dim + l.qk_rope_head_dim);
      value = static_cast<double>(l.v_head_dim);
      key_heads = heads;
    }
    CostCache cache(c.model, c.training, context_of(c.cluster));
    const GroupShape& group = cache.layout(c.plan).cp;
    const double rows = static_cast<double>(c.plan.micro_batch * c.training.sequence_length) /
                        static_cast<double>(c.plan.cp * c.plan.tp);
    Seconds expected(0);
    for (const double columns :
         {heads * query_key, key_heads * query_key, key_heads * value, heads * value}) {
      expected +=
          cache.context().communicate(CollectiveKind::all_to_all, Bytes(2 * rows * columns), group);
    }
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      const int again = recompute == Recompute::full ? 1 : 0;
      for (const BlockCost& block : cache.costs(c.plan, recompute, Backward::fused).blocks) {
        EXPECT_EQ(transfers(block.forward), 4) << to_text(c.plan);
        EXPECT_EQ(transfers(block.backward), 4 + 4 * again) << to_text(c.plan);
        EXPECT_NEAR(on_stream(block.forward, StepStream::cp).seconds() / expected, 1, 1e-6)
            << to_text(c.plan);
        EXPECT_NEAR(on_stream(block.backward, StepStream::cp).seconds() / expected, 1 + again, 1e-6)
            << to_text(c.plan);
      }
    }
  });
}

// One kernel over the whole sequence with the heads of one rank of tp x cp.
TEST(HeadExchange, AttendsToAllTokensWithAPartOfTheHeads) {
  for (const auto& [plan, ranks] :
       {std::pair{"tp=1,cp=8", 8}, {"tp=2,cp=4", 8}, {"tp=2,cp=2", 4}}) {
    const OnePlan p("llama-3-8b", "h100-sxm:8", std::string(plan) + ",context_parallel=all-to-all",
                    16384);
    const AttentionShape shape{1, 16384, 16384, 32.0 / ranks, 8.0 / ranks, 128, 128, 0, true};
    const KernelModel& kernels = context_of(p.cluster).kernels;
    const Seconds expected =
        kernels.attention(shape, p.plan.attention, Direction::forward, NumberFormat::bf16);
    EXPECT_NEAR(attention(p.cost().forward).seconds() / expected, 1, 1e-6) << plan;
  }
}

// Every scheme computes the same pairs of tokens: h s^2 / (2 c) on each rank. Kernels differ by
// how their tiles fill the accelerator.
TEST(HeadExchange, AttentionIsNeitherLostNorDoubled) {
  for (const char* degrees : {"cp=2", "cp=4", "tp=2,cp=2"}) {
    const auto priced = [&](const char* scheme) {
      return OnePlan("llama-3-8b", "h100-sxm:8",
                     std::string(degrees) + ",context_parallel=" + scheme, 65536)
          .cost();
    };
    const BlockCost exchanged = priced("all-to-all");
    for (const char* scheme : {"all-gather", "ring"}) {
      const BlockCost other = priced(scheme);
      EXPECT_NEAR(attention(exchanged.forward).seconds() / attention(other.forward).seconds(), 1,
                  0.03)
          << degrees << " " << scheme;
      EXPECT_NEAR(attention(exchanged.backward).seconds() / attention(other.backward).seconds(), 1,
                  0.03)
          << degrees << " " << scheme;
    }
  }
}

TEST(HeadExchange, MoreRanksNeverComputeMore) {
  Picoseconds forward;
  Picoseconds backward;
  for (const char* plan : {"cp=1", "cp=2", "cp=4", "cp=8"}) {
    const BlockCost cost = OnePlan("llama-3-8b", "h100-sxm:8",
                                   std::string(plan) + ",context_parallel=all-to-all", 32768)
                               .cost();
    if (forward > Picoseconds(0)) {
      EXPECT_LT(cost.forward.computing(), forward) << plan;
      EXPECT_LT(cost.backward.computing(), backward) << plan;
    }
    forward = cost.forward.computing();
    backward = cost.backward.computing();
  }
}

TEST(HeadExchange, OneRankExchangesNothing) {
  for (const char* scheme : {"ring", "all-to-all"}) {
    const auto priced = [](const std::string& more) {
      return OnePlan("llama-3-8b", "h100-sxm:8", "tp=2" + more, 8192).cost();
    };
    const BlockCost none = priced("");
    const BlockCost stated = priced(std::string(",context_parallel=") + scheme);
    EXPECT_EQ(stated.forward.time, none.forward.time);
    EXPECT_EQ(stated.backward.time, none.backward.time);
    EXPECT_EQ(stated.memory.saved, none.memory.saved);
    EXPECT_EQ(stated.memory.working, none.memory.working);
  }
}

// Three tensors before the kernel: the copy of one runs beside the all-to-all of another, so that
// less than all four transfers is exposed, but the last before and the one behind always are.
TEST(HeadExchange, CopiesRunBesideTransfers) {
  const BlockCost cost =
      OnePlan("llama-3-8b", "h100-sxm:8", "cp=8,context_parallel=all-to-all", 65536).cost();
  const Picoseconds all = on_stream(cost.forward, StepStream::cp);
  EXPECT_LT(cost.forward.breakdown[Category::exposed_cp], all);
  EXPECT_GT(cost.forward.breakdown[Category::exposed_cp], Picoseconds(0));
}

// Two ways to say the same: all of cp exchange heads, or none do.
TEST(HeadExchange, TheEndsOfTwoDimensionsAreTheOneDimensionalSchemes) {
  const auto priced = [](const char* plan) {
    return OnePlan("llama-3-8b", "h100-sxm:8", plan, 65536).cost();
  };
  for (const auto& [one, two] :
       {std::pair{"cp=8,context_parallel=all-to-all", "cp=8,context_parallel=ring,ulysses=8"},
        {"cp=8,context_parallel=ring", "cp=8,context_parallel=ring,ulysses=1"}}) {
    EXPECT_EQ(priced(one).forward.time, priced(two).forward.time) << two;
    EXPECT_EQ(priced(one).backward.time, priced(two).backward.time) << two;
    EXPECT_EQ(priced(one).memory.saved, priced(two).memory.saved) << two;
  }
}

// USP, arXiv 2405.07719: all-to-alls of tensors of s/c tokens among u ranks, and a ring of c/u that
// passes keys and values of kv_heads / u heads, so that a rank receives (r - 1)/r of s tokens of
// them. cp 8 = 4 x 2, b 1, s 65,536, 32 heads and 8 key-value heads of 128, by hand.
TEST(HeadExchange, TwoDimensionsSendWhatThePaperSays) {
  const OnePlan p("llama-3-8b", "h100-sxm:8", "cp=8,context_parallel=ring,ulysses=4", 65536);
  const BlockCost cost = p.cost();
  double exchanged = 0;
  double passed = 0;
  for (std::size_t i = 0; i < cost.forward.graph.size(); ++i) {
    const NodeIndex n(i);
    for (const OperationPart& part : cost.forward.graph.operation(n).parts) {
      const auto* c = std::get_if<Communication>(&part.what);
      if (c == nullptr) continue;
      (c->collective == CollectiveKind::all_to_all ? exchanged : passed) +=
          c->payload.value() * c->times / c->pieces;
    }
  }
  EXPECT_DOUBLE_EQ(exchanged, 2.0 * 8192 * (32 + 8 + 8 + 32) * 128);  // 168 MB a rank
  EXPECT_DOUBLE_EQ(passed, 2.0 * 65536 * 2 * (128 + 128));            // 67 MB among two ranks
}

// The same pairs of tokens, whichever way they are divided, apart from how kernels fill the device.
TEST(HeadExchange, TwoDimensionsComputeWhatOneDoes) {
  const auto flops = [](const char* plan) {
    const BlockCost cost = OnePlan("llama-3-8b", "h100-sxm:8", plan, 65536).cost();
    return attention(cost.forward).seconds().value();
  };
  const double ring = flops("cp=8,context_parallel=ring");
  EXPECT_NEAR(flops("cp=8,context_parallel=ring,ulysses=2") / ring, 1, 0.03);
  EXPECT_NEAR(flops("cp=8,context_parallel=all-gather,ulysses=4") / ring, 1, 0.03);
  EXPECT_NEAR(flops("cp=8,context_parallel=ring,context_balance=striped") / ring, 1, 1e-9);
  // Of 8 contiguous pieces the last attends to 15/16 of the keys instead of the half.
  EXPECT_NEAR(flops("cp=8,context_parallel=ring,context_balance=contiguous") / ring, 15.0 / 8,
              0.03);
}

// Head first: the exchange stays in the node, and the ring crosses it. Context first: the reverse.
TEST(HeadExchange, PlacementSaysWhichGroupStaysInTheNode) {
  const auto layout = [](const char* placement) {
    const OnePlan p(
        "llama-3-8b", "h100-sxm:16",
        std::string("cp=16,context_parallel=ring,ulysses=4,context_placement=") + placement, 65536);
    return rank_layout(p.plan, p.cluster);
  };
  EXPECT_EQ(layout("head-first").cp_heads.members, (std::vector<int>{4, 4}));
  EXPECT_EQ(layout("head-first").cp_ring.members, (std::vector<int>{2, 4}));
  EXPECT_EQ(layout("context-first").cp_heads.members, (std::vector<int>{2, 4}));
  EXPECT_EQ(layout("context-first").cp_ring.members, (std::vector<int>{4, 4}));
}

// The output is kept by attention with all tokens of some heads and by the product behind it with
// all heads of some tokens: 2 b (s/c) h bytes more than where keys and values are gathered.
TEST(HeadExchange, TheOutputIsKeptInBothDivisions) {
  const auto memory = [](const char* scheme) {
    return OnePlan("llama-3-8b", "h100-sxm:8", std::string("tp=2,cp=4,context_parallel=") + scheme,
                   32768)
        .cost()
        .memory;
  };
  const double rows = 32768.0 / 4;
  EXPECT_DOUBLE_EQ((memory("all-to-all").saved - memory("all-gather").saved).value(),
                   2 * rows * 4096 / 2);
  EXPECT_EQ(memory("ring").saved, memory("all-gather").saved);
}

}  // namespace
}  // namespace orrery
