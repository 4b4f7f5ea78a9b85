// Synthesized programs: what they promise, and how near they come to what the links allow.
#include "network/synthesis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "network/algorithms.h"
#include "network/program_run.h"
#include "network/verified_program.h"

namespace orrery {
namespace {

Network network_with(std::int64_t accelerators, const LevelTopology& topology) {
  Cluster c = *parse_cluster("h100-sxm:8", Catalog::built_in());
  FabricLevel level;
  level.name = "ici";
  level.accelerators = accelerators;
  level.bandwidth = BytesPerSecond(300e9);
  level.latency = Seconds(1e-6);
  level.topology = topology;
  c.levels = {level};
  c.accelerators = accelerators;
  c.accelerators_per_node = 1;
  auto out = network_of(c);
  EXPECT_TRUE(out) << out.error().text();
  return *std::move(out);
}

Network torus(const std::vector<std::int64_t>& dimensions) {
  std::int64_t accelerators = 1;
  for (const std::int64_t d : dimensions) accelerators *= d;
  return network_with(accelerators, {.wiring = LevelWiring::torus, .dimensions = dimensions});
}

std::size_t links_into(const Network& network, std::uint32_t accelerator) {
  return network.links_from(accelerator).size();
}

TEST(Synthesis, EveryRankGetsWhatTheCollectivePromises) {
  for (const std::vector<std::int64_t>& dimensions :
       {std::vector<std::int64_t>{5}, {4, 4}, {2, 3}, {3, 5}, {4, 4, 4}, {2, 2, 2}, {16, 4}}) {
    const Network network = torus(dimensions);
    for (const CollectiveKind kind :
         {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
      const auto program = synthesized_program(kind, network, network.accelerators());
      ASSERT_TRUE(program);
      const auto verified = verify(*program);
      EXPECT_TRUE(verified) << verified.error().text();
    }
  }
}

// A round brings every rank at most one part over each of its links.
TEST(Synthesis, RoundsAreCloseToTheFewestThatLinksAllow) {
  for (const std::vector<std::int64_t>& dimensions :
       {std::vector<std::int64_t>{8}, {4, 4}, {8, 8}, {4, 4, 4}, {16, 4}}) {
    const Network network = torus(dimensions);
    const std::uint32_t p = network.accelerators();
    const auto program = synthesized_program(CollectiveKind::all_gather, network, p);
    ASSERT_TRUE(program);
    const double fewest = static_cast<double>(program->parts) * (p - 1) / p /
                          static_cast<double>(links_into(network, 0));
    EXPECT_GE(static_cast<double>(program->rounds.size()), fewest);
    EXPECT_LE(static_cast<double>(program->rounds.size()), 1.3 * fewest + 1) << p;
    for (const Round& round : program->rounds) {
      EXPECT_LE(round.sends.size(), network.links().size());
    }
  }
}

// A ring leaves most links of a torus idle.
TEST(Synthesis, IsFasterThanARingOnATorus) {
  const Network network = torus({4, 4});
  const std::uint32_t p = network.accelerators();
  std::vector<std::uint32_t> ranks(p);
  for (std::uint32_t r = 0; r < p; ++r) ranks[r] = r;
  const Bytes payload(1e9);
  const auto time = [&](const Program& program) {
    const auto done = run(program, payload, network, {{ranks}}, Routing::spray);
    EXPECT_TRUE(done);
    return done->time;
  };
  const auto ring =
      program_of(ProgramAlgorithm::ring, CollectiveKind::all_reduce, {.members = {p}});
  const auto found = synthesized_program(CollectiveKind::all_reduce, network, p);
  ASSERT_TRUE(ring && found);
  const Seconds fewest = payload * (2.0 * (p - 1) / p) / BytesPerSecond(300e9);
  EXPECT_LT(time(*found), time(*ring) / 2.0);
  EXPECT_GE(time(*found), fewest);
  EXPECT_LE(time(*found), fewest * 1.3);
}

TEST(Synthesis, NothingIsFoundWhereSwitchesJoinTheRanksOrNothingDoes) {
  const Network switched = network_with(8, {.wiring = LevelWiring::switched});
  EXPECT_FALSE(synthesized_program(CollectiveKind::all_gather, switched, 8));
  const Network network = torus({4, 4});
  EXPECT_FALSE(synthesized_program(CollectiveKind::all_to_all, network, 16));
  EXPECT_FALSE(synthesized_program(CollectiveKind::all_gather, network, 1));
}

}  // namespace
}  // namespace orrery
