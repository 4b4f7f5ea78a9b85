#include "model/recommendation/table_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/recommendation/recommendation.h"

namespace orrery {
namespace {

constexpr std::int64_t kHost = 8;  // ranks of one

Recommender equal_tables(std::int64_t tables) {
  Recommender r;
  r.name = "equal";
  r.num_tables = tables;
  r.rows_per_table = 1'000'000;
  r.embedding_dim = 64;
  r.pooling = 10;
  r.bottom_mlp = {16, 64};
  r.top_mlp = {64 * (tables + 1), 64, 1};
  r.interaction = Interaction::concatenation;
  return r;
}

// Hosts of eight with 450 GB/s inside and 50 GB/s between them.
Division division_of(std::int64_t ranks, std::int64_t towers = 1) {
  const std::int64_t tower = towers > 1 ? ranks / towers : std::gcd(ranks, kHost);
  const auto rates = [](std::int64_t of) {
    return of > kHost ? ExchangeRates{BytesPerSecond(50e9), BytesPerSecond(400e9)}
                      : ExchangeRates{BytesPerSecond(450e9), BytesPerSecond(450e9)};
  };
  return {.ep = ranks,
          .etp = 1,
          .sequence_length = 1,
          .ranks = ranks,
          .micro_batch = 512,
          .memory = Bytes(80e9),
          .memory_bandwidth = BytesPerSecond(3.35e12),
          .towers = towers,
          .tower_ranks = tower,
          .between_all = rates(ranks),
          .in_tower = rates(tower),
          .between_towers = BytesPerSecond(50e9),
          .dense_gradients = BytesPerSecond(25e9),
          .host_memory = Bytes(256e9),
          .storage = Bytes(4e12),
          .host_bandwidth = BytesPerSecond(64e9),
          .storage_bandwidth = BytesPerSecond(1e8)};
}

// Elements of a sample that leave the host of a rank in one direction.
double crossing(const TablePlacement& p, const Division& d) {
  double out = 0;
  for (const auto* sends : {&p.sends, &p.module_sends}) {
    for (const VectorExchange& e : *sends) {
      const std::int64_t ranks = e.among == VectorExchange::Ranks::all     ? d.ep
                                 : e.among == VectorExchange::Ranks::tower ? d.tower_ranks
                                                                           : d.ep / d.tower_ranks;
      // Peers are never on one host, as a tower fills at least one.
      const double here =
          e.among == VectorExchange::Ranks::peers ? 1 : static_cast<double>(std::min(ranks, kHost));
      out += e.elements * (1 - here / static_cast<double>(ranks));
    }
  }
  return out;
}

// arXiv 2403.00877: of B F D e / G bytes of a rank, (T - 1) / T leave its tower, divided by the
// compression, and of those inside a tower of L ranks (L - 8) / L leave the host.
TEST(Towers, BytesBetweenHostsAreThoseOfTheFormula) {
  for (const std::int64_t hosts : {1, 2, 4, 8}) {
    const std::int64_t ranks = hosts * kHost;
    Recommender r = equal_tables(2 * ranks);
    r.table_sharding = TableSharding::table;
    const double width = 64.0 * 2 * static_cast<double>(ranks);
    const double flat = crossing(place_tables(r, division_of(ranks)), division_of(ranks));
    EXPECT_DOUBLE_EQ(flat, width * (1 - 1.0 / static_cast<double>(hosts)));
    for (std::int64_t towers = 1; towers <= hosts; towers *= 2) {
      for (const std::int64_t compression : {1, 2, 8}) {
        SCOPED_TRACE(testing::Message() << hosts << " hosts, " << towers << " towers");
        r.tower_modules = TowerModules{.towers = towers, .compression = compression};
        const Division d = division_of(ranks, towers);
        const auto t = static_cast<double>(towers);
        const double l = static_cast<double>(ranks) / t;
        const double expected = width * ((1 - 1 / t) / static_cast<double>(compression) +
                                         (1 - static_cast<double>(kHost) / l));
        const double crossed = crossing(place_tables(r, d), d);
        if (towers > 1) {
          EXPECT_NEAR(crossed, expected, 1e-9 * width);
        } else {
          EXPECT_DOUBLE_EQ(crossed, flat);  // one tower saves nothing
        }
        r.tower_modules.reset();
      }
      // Without modules the same function, and as many bytes where a tower is a host.
      const Division d = division_of(ranks, towers);
      const auto t = static_cast<double>(towers);
      const double l = static_cast<double>(ranks) / t;
      EXPECT_NEAR(crossing(place_tables(r, d), d),
                  towers > 1 ? width * (2 - 1 / t - static_cast<double>(kHost) / l) : flat,
                  1e-9 * width);
    }
  }
}

TEST(Towers, ModulesCountAsWhatTheyAre) {
  Recommender r = equal_tables(16);
  const double plain = parameters(*build_model(r));
  r.tower_modules = TowerModules{.towers = 4, .compression = 2, .cross_layers = 1};
  r.top_mlp[0] = 64 * 16 / 2 + 64;
  const auto model = build_model(r);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->towers, 4);
  const double width = 64.0 * 4;  // of a tower
  const double modules = 4 * ((width + 1) * width + (width + 1) * width / 2);
  EXPECT_DOUBLE_EQ(parameters(*model), plain + modules - 64.0 * 8 * 64);
  // Of a sample: all towers.
  double flops = 0;
  for (const Operator& op : model->blocks[0].operators) {
    if (op.name.starts_with("tower.") && is_product(op)) {
      flops += model_flops(op, Phase::forward, {}).value();
    }
  }
  EXPECT_DOUBLE_EQ(flops, 2 * 4 * (width * width + width * width / 2));
}

TEST(Towers, AreRefusedWhereTheyDoNotMatch) {
  Recommender r = equal_tables(16);
  r.tower_modules = TowerModules{.towers = 4};
  const auto problems = table_division_problems(r, division_of(16, 2));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], "towers 2: equal has modules for 4");
  r.tower_modules = TowerModules{.towers = 17, .compression = 0};
  const auto model = build_model(r);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().text(),
            "model 'equal' cannot be built: tower_modules.compression 0 is outside 1 to 65536; "
            "tower_modules.towers 17 are more than 16 tables");
}

// Partial sums stay inside the node; what leaves it is as little as of whole tables.
TEST(TableRow, ReducesInsideTheNode) {
  Recommender r = equal_tables(8);
  const Division d = division_of(64);
  r.table_sharding = TableSharding::row;
  const TablePlacement rows = place_tables(r, d);
  r.table_sharding = TableSharding::table_row;
  const TablePlacement of_node = place_tables(r, d);
  ASSERT_EQ(of_node.sends.size(), 2u);
  EXPECT_EQ(of_node.sends[0].among, VectorExchange::Ranks::tower);
  EXPECT_TRUE(of_node.sends[0].partial);
  EXPECT_DOUBLE_EQ(of_node.sends[0].elements, 64.0 * 64);  // one table a node, 64 ranks' samples
  EXPECT_EQ(of_node.sends[1].among, VectorExchange::Ranks::peers);
  EXPECT_DOUBLE_EQ(of_node.sends[1].elements, 8 * 64.0);
  EXPECT_DOUBLE_EQ(crossing(rows, d), 64 * 8 * 64.0 * (1 - 8.0 / 64));
  EXPECT_DOUBLE_EQ(crossing(of_node, d), 8 * 64.0 * (1 - 1.0 / 8));
  EXPECT_EQ(of_node.bags.weights, rows.bags.weights);
  EXPECT_EQ(of_node.tables[0].shards, 8);
}

// No placement comes below the bound, whatever is stated.
TEST(TablePlacement, TakesNoLessThanTheBound) {
  Recommender r = equal_tables(40);
  for (std::int64_t i = 0; i < 40; ++i) {
    r.row_counts.push_back(i % 7 == 0 ? 400'000'000 / (i + 1) : 1000 * (i + 1) * (i + 1));
    r.pooling_list.push_back(1 + static_cast<double>(i * i % 90));
  }
  for (const std::int64_t ranks : {1, 8, 16, 64}) {
    for (const std::int64_t towers : {1, 2}) {
      if (ranks < 16 && towers > 1) continue;
      for (const double memory : {6e9, 20e9, 80e9}) {
        for (const TableSharding kind :
             {TableSharding::automatic, TableSharding::table, TableSharding::column,
              TableSharding::row, TableSharding::table_row, TableSharding::data}) {
          Division d = division_of(ranks, towers);
          d.memory = Bytes(memory);
          d.table_sharding = kind;
          const TablePlacement p = place_tables(r, d);
          EXPECT_LE(p.bound.value(), p.time.value() * (1 + 1e-12));
          EXPECT_GT(p.bound, Seconds(0));
          if (kind != TableSharding::automatic) continue;
          for (const TableSharding other : {TableSharding::table, TableSharding::row}) {
            d.table_sharding = other;
            const TablePlacement single = place_tables(r, d);
            if (p.fits && single.fits) {
              EXPECT_LE(p.bound, single.time);
            }
          }
        }
      }
    }
  }
}

// Of the placements made in different ways, the one with the fastest step is taken, whatever the
// planner counts.
TEST(TablePlacement, IsTheOneWithTheFastestStep) {
  const Recommender r = equal_tables(128);
  Division d = division_of(64);
  EXPECT_EQ(place_tables(r, d).tables[0].sharding, TableSharding::table);
  for (const VectorExchange::Ranks fast :
       {VectorExchange::Ranks::all, VectorExchange::Ranks::tower}) {
    for (const bool partial : {false, true}) {
      d.step_price = [&](const Model& on_ranks) {
        const std::vector<VectorExchange>& sends = on_ranks.blocks.front().operators.front().sends;
        const bool found = std::ranges::any_of(sends, [&](const VectorExchange& e) {
          return e.among == fast && e.partial == partial;
        });
        return StepPrice{Seconds(found ? 1 : 2)};
      };
      const TableSharding expected = !partial ? TableSharding::table
                                     : fast == VectorExchange::Ranks::all
                                         ? TableSharding::row
                                         : TableSharding::table_row;
      EXPECT_EQ(place_tables(r, d).tables[0].sharding, expected);
    }
  }
}

// A step that has room is taken before a faster one that has not.
TEST(TablePlacement, IsOneWithWhichTheStepFits) {
  Recommender r = equal_tables(128);
  Division d = division_of(64);
  std::size_t priced = 0;
  const auto copies = [&](const Model& on_ranks) {
    return on_ranks.blocks.front().operators[1].name == "tables.replicated";
  };
  d.step_price = [&](const Model& on_ranks) {
    ++priced;
    return StepPrice{Seconds(copies(on_ranks) ? 1 : 2)};
  };
  r.rows_per_table = 1000;
  EXPECT_EQ(place_tables(r, d).tables[0].sharding, TableSharding::data);
  EXPECT_GT(priced, 1u);
  d.step_price = [&](const Model& on_ranks) {
    return StepPrice{Seconds(copies(on_ranks) ? 1 : 2), !copies(on_ranks)};
  };
  EXPECT_NE(place_tables(r, d).tables[0].sharding, TableSharding::data);
}

// Cutting ends when it has placed as many pieces as the planner may; tables then lie in one of the
// other ways.
TEST(TablePlacement, EndsWhereMoreIsCutThanThePlannerMayPlace) {
  Recommender r = equal_tables(20'000);
  for (std::int64_t i = 0; i < r.num_tables; ++i) {
    r.row_counts.push_back(1000);
    r.pooling_list.push_back(i % 500 == 0 ? 20'000 : 1);
  }
  const TablePlacement p = place_tables(r, division_of(1024));
  EXPECT_TRUE(p.fits);
  EXPECT_EQ(p.tables.size(), 20'000u);
  EXPECT_LE(p.bound, p.time);
}

TEST(HostMemory, HitsAreThoseOfTheHottestRows) {
  Recommender r = equal_tables(1);
  EXPECT_EQ(cache_hits(r, 0.2), 0.2);
  r.reuse = RowReuse{{0.5, 0.4, 0.1}, {0.1, 0.3, 0.6}};
  EXPECT_DOUBLE_EQ(cache_hits(r, 0), 0);
  EXPECT_DOUBLE_EQ(cache_hits(r, 0.05), 0.3);
  EXPECT_DOUBLE_EQ(cache_hits(r, 0.1), 0.6);
  EXPECT_DOUBLE_EQ(cache_hits(r, 0.3), 0.75);
  EXPECT_DOUBLE_EQ(cache_hits(r, 1), 1);
}

// Look-ups of Meta's production models of 2022 (facebookresearch/dlrm_datasets, locality statistics
// of fbgemm_t788_bs131072_0): rows by how often a batch reads them, and their share of the look-ups.
TEST(HostMemory, AFewRowsServeMostLookUps) {
  Recommender r = equal_tables(1);
  r.reuse = RowReuse{{0.342, 0.144, 0.149, 0.138, 0.112, 0.068, 0.029, 0.010, 0.004, 0.002, 0.001,
                      0.001, 0, 0, 0, 0, 0},
                     {0.027, 0.023, 0.040, 0.068, 0.105, 0.120, 0.099, 0.070, 0.059, 0.054, 0.040,
                      0.072, 0.064, 0.047, 0.021, 0.017, 0.076}};
  ASSERT_TRUE(build_model(r));
  EXPECT_NEAR(cache_hits(r, 0.01), 0.4631, 0.0005);
  EXPECT_NEAR(cache_hits(r, 0.1), 0.7111, 0.0005);
  EXPECT_NEAR(cache_hits(r, 0.2), 0.8171, 0.0005);
  double last = 0;
  for (double share = 0; share <= 1; share += 0.001) {
    EXPECT_GE(cache_hits(r, share), last);
    last = cache_hits(r, share);
  }
}

// What a cache does not serve travels over the link; all rows lie in memory of the host.
TEST(HostMemory, MovesWhatTheCacheDoesNotServe) {
  Recommender r = equal_tables(8);
  const TablePlacement device = place_tables(r, division_of(8));
  double last = 1e30;
  for (const double share : {0.0, 0.1, 0.5, 1.0}) {
    r.table_memory = TableMemory::cached;
    r.cache_share = share;
    const TablePlacement p = place_tables(r, division_of(8));
    EXPECT_NEAR(p.bags.weights.value(), share * device.bags.weights.value(), 1);
    // 64 columns of 4 bytes for each of 10 look-ups, of as many samples as 8 ranks have.
    EXPECT_NEAR(p.bags.fetched.value(), (1 - share) * 8 * 10 * 256, 1e-6);
    EXPECT_LT(p.time.value(), last);
    last = p.time.value();
    EXPECT_DOUBLE_EQ(p.host_memory.value(), 1e6 * (256 + 4));
  }
  EXPECT_DOUBLE_EQ(last, device.time.value());
  r.table_memory = TableMemory::host;
  EXPECT_EQ(place_tables(r, division_of(8)).bags.weights, Bytes(0));
  r.table_memory = TableMemory::storage;
  r.cache_share = 0.1;
  EXPECT_GT(place_tables(r, division_of(8)).bags.stored, Seconds(0));
}

// Tables leave the accelerators only where they do not fit, those that are read least first.
TEST(HostMemory, ColdTablesLeaveFirst) {
  Recommender r = equal_tables(4);
  r.table_memory = TableMemory::automatic;
  r.pooling_list = {100, 1, 50, 2};
  Division d = division_of(1);
  EXPECT_EQ(place_tables(r, d).tables[1].memory, TableMemory::device);
  d.memory = Bytes(0.9e9);
  const TablePlacement p = place_tables(r, d);
  EXPECT_EQ(p.tables[0].memory, TableMemory::device);
  EXPECT_EQ(p.tables[1].memory, TableMemory::cached);
  EXPECT_EQ(p.tables[1].reason,
            "accelerators have no room for it, and others are read more for their size");
  EXPECT_EQ(p.tables[2].memory, TableMemory::device);
  d.host_memory = Bytes(0);
  EXPECT_EQ(place_tables(r, d).tables[1].memory, TableMemory::storage);
}

// Disks are as full as anything else: what they do not hold stays where it is, and is refused.
TEST(HostMemory, TablesGoToDisksWhileThereIsRoom) {
  Recommender r = equal_tables(4);
  r.table_memory = TableMemory::automatic;
  r.pooling_list = {100, 1, 50, 2};
  Division d = division_of(1);
  d.memory = Bytes(0.9e9);
  d.host_memory = Bytes(0);
  d.storage = Bytes(3e8);  // for one table of 260 MB, which leaves 832 MB for 765 MB
  TablePlacement p = place_tables(r, d);
  EXPECT_EQ(p.tables[1].memory, TableMemory::storage);
  EXPECT_EQ(p.tables[3].memory, TableMemory::device);
  EXPECT_DOUBLE_EQ(p.storage.value(), 1e6 * (256 + 4));
  EXPECT_FALSE(p.fits);
  auto problems = table_division_problems(r, d);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(
      problems[0],
      "table 3 takes 248 MiB and fits nowhere: 1 GPUs have 730 MiB of memory for tables (85 % "
      "of it), 0.00 B of memory of their hosts and 286 MiB of disks; take more GPUs, state "
      "memory and local_storage of the host, or write table_memory: device to fill the GPUs "
      "further");
  // Tables at 95 % of the memory, and nothing known of the host.
  d.memory = Bytes(1.1e9);
  d.storage = Bytes(0);
  p = place_tables(r, d);
  EXPECT_EQ(p.tables[1].memory, TableMemory::device);
  EXPECT_EQ(p.bags.stored, Seconds(0));
  problems = table_division_problems(r, d);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].starts_with("table 1 takes 248 MiB and fits nowhere")) << problems[0];
  d.memory = Bytes(1.3e9);
  EXPECT_TRUE(table_division_problems(r, d).empty());
}

TEST(HostMemory, TablesThatFitNowhereAreRefusedWithAllReasons) {
  Recommender r = equal_tables(4);
  r.rows_per_table = 1'000'000'000;
  r.table_memories = {TableMemory::device, TableMemory::cached, TableMemory::host,
                      TableMemory::storage};
  Division d = division_of(1);
  d.storage = Bytes(1e9);
  const auto problems = table_division_problems(r, d);
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0],
            "the tables and their optimizer's states take 339 GiB; 1 GPUs have 74.5 GiB of memory");
  EXPECT_EQ(problems[1], "tables in memory of the host take 484 GiB; 1 GPUs have 238 GiB of it");
  EXPECT_EQ(problems[2], "tables on disks take 242 GiB; 1 GPUs have 954 MiB of them");
}

// What is sent as fewer bytes is so only where that is faster than the link.
TEST(Codec, IsTheOneWithTheLeastTime) {
  Recommender r = equal_tables(64);
  r.table_sharding = TableSharding::table;
  // Of four bytes an element; of bf16 half as much.
  r.lossy = LossyVectors{.ratio = 24,
                         .ratios = {},
                         .compress = BytesPerSecond(40e9),
                         .decompress = BytesPerSecond(200e9)};
  Division d = division_of(64);
  d.codec = VectorCodec::best;
  const auto codec = [&](double link) {
    d.between_all.vectors = BytesPerSecond(link);
    return place_tables(r, d).tables[0].codec;
  };
  EXPECT_EQ(codec(1e9), VectorCodec::lossy);  // although gradients travel as they are
  d.trains = false;
  EXPECT_EQ(codec(1e9), VectorCodec::lossy);
  EXPECT_EQ(codec(1e13), VectorCodec::none);
  r.lossy->ratios.assign(64, 24);
  r.lossy->ratios[3] = 1.01;
  EXPECT_EQ(codec(1e9), VectorCodec::lossy);
  EXPECT_EQ(place_tables(r, d).tables[3].codec, VectorCodec::int8);
  d.trains = true;
  d.codec = VectorCodec::none;
  const double plain = place_tables(r, d).time.value();
  d.codec = VectorCodec::best;
  EXPECT_LT(place_tables(r, d).time.value(), plain);
  r.lossy.reset();
  d.codec = VectorCodec::lossy;
  EXPECT_EQ(table_division_problems(r, d).size(), 1u);
}

// Measured ratios are of four bytes an element, whatever the vectors are computed in.
TEST(Codec, RatiosAreOfFourBytesAnElement) {
  Recommender r = equal_tables(64);
  r.table_sharding = TableSharding::table;
  r.lossy = LossyVectors{.ratio = 8,
                         .ratios = {},
                         .compress = BytesPerSecond(40e9),
                         .decompress = BytesPerSecond(200e9)};
  Division d = division_of(64);
  d.codec = VectorCodec::lossy;
  const auto sent = [&](double element, double ratio) {
    d.element = Bytes(element);
    r.lossy->ratio = ratio;
    const TablePlacement p = place_tables(r, d);
    EXPECT_EQ(p.sends.size(), 1u);
    EXPECT_EQ(p.tables[0].codec, p.sends[0].forward < 1 ? VectorCodec::lossy : VectorCodec::none);
    EXPECT_EQ(p.sends[0].backward, 1);
    return p.sends[0].forward;
  };
  EXPECT_DOUBLE_EQ(sent(4, 8), 1.0 / 8);
  EXPECT_DOUBLE_EQ(sent(2, 8), 1.0 / 4);
  EXPECT_DOUBLE_EQ(sent(2, 2), 1);
  EXPECT_DOUBLE_EQ(sent(2, 1.5), 1);
}

// arXiv 2407.04272 compresses all-to-alls: partial sums that are reduced travel as they are.
TEST(Codec, PartialSumsAreNotSentWithinABound) {
  Recommender r = equal_tables(8);
  r.lossy = LossyVectors{.ratio = 24,
                         .ratios = {},
                         .compress = BytesPerSecond(40e9),
                         .decompress = BytesPerSecond(200e9)};
  Division d = division_of(64);
  d.between_all = {BytesPerSecond(1e9), BytesPerSecond(8e9)};
  d.between_towers = BytesPerSecond(1e9);
  d.codec = VectorCodec::lossy;
  r.table_sharding = TableSharding::row;
  TablePlacement p = place_tables(r, d);
  ASSERT_EQ(p.sends.size(), 1u);
  EXPECT_TRUE(p.sends[0].partial);
  EXPECT_EQ(p.sends[0].forward, 1);
  EXPECT_EQ(p.sends[0].encode, Seconds(0));
  EXPECT_EQ(p.tables[0].codec, VectorCodec::none);
  EXPECT_LE(p.bound.value(), p.time.value() * (1 + 1e-12));
  d.codec = VectorCodec::best;
  EXPECT_EQ(place_tables(r, d).tables[0].codec, VectorCodec::int8);
  d.codec = VectorCodec::lossy;
  r.table_sharding = TableSharding::table_row;
  p = place_tables(r, d);
  ASSERT_EQ(p.sends.size(), 2u);
  EXPECT_TRUE(p.sends[0].partial);
  EXPECT_EQ(p.sends[0].forward, 1);
  EXPECT_EQ(p.sends[1].among, VectorExchange::Ranks::peers);
  EXPECT_DOUBLE_EQ(p.sends[1].forward, 1.0 / 12);
  EXPECT_EQ(p.tables[0].codec, VectorCodec::lossy);
}

}  // namespace
}  // namespace orrery
