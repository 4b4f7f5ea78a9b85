#include "forecast/checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

#include "document/comma_separated.h"
#include "document/value.h"

namespace orrery {
namespace {

const std::string kCheckpointRoot = ORRERY_SOURCE_DIR;

CheckpointCost cost_of(double parameters, std::int64_t accelerators, SaveMode mode) {
  CheckpointPolicy policy;
  policy.mode = mode;
  policy.size = Bytes(14 * parameters);
  policy.memory = MemoryReplicas{};
  const auto cluster =
      parse_cluster("h100-sxm:" + std::to_string(accelerators), Catalog::built_in());
  return checkpoint_cost(Model{}, Training{}, *cluster, policy);
}

TEST(CheckpointCost, IsWorkedOutByHand) {
  const CheckpointCost blocking = cost_of(1e9, 64, SaveMode::blocking);
  // 14 GB to eight nodes of 1.2 GB/s.
  EXPECT_NEAR(blocking.storage.blocked.value(), 14 / 9.6, 1e-9);
  EXPECT_EQ(blocking.storage.blocked, blocking.storage.durable);
  EXPECT_EQ(blocking.storage.restore, blocking.storage.durable);
  // 14 GB / 64 over 64 GB/s to the host, then over 50 GB/s to another node.
  const CheckpointCost waiting = cost_of(1e9, 64, SaveMode::asynchronous);
  EXPECT_NEAR(waiting.storage.blocked.value(), 14.0 / 64 / 64, 1e-12);
  EXPECT_NEAR(waiting.storage.durable.value(), 14.0 / 64 / 64 + 14 / 9.6, 1e-9);
  EXPECT_NEAR(waiting.memory->durable.value(), 14.0 / 64 / 64 + 14.0 / 64 / 50, 1e-12);
}

TEST(CheckpointCost, StandsBesideMeasuredSavesInTheDocumentation) {
  const auto text = read_file(kCheckpointRoot + "/validation/runs/checkpoint-blocking.csv");
  const auto table = parse_comma_separated(*text, "checkpoint-blocking.csv");
  ASSERT_TRUE(table && table->complete());
  ASSERT_EQ(table->columns.size(), 5u);
  std::string shown =
      "| parameters | GPUs | way | measured | computed | computed / measured |\n"
      "| ---: | ---: | --- | ---: | ---: | ---: |\n";
  for (const CommaSeparated::Record& record : table->records) {
    const std::vector<std::string>& fields = record.fields;
    const auto number = [&](std::size_t column) {
      double value = 0;
      const std::string& word = fields[column];
      std::from_chars(word.data(), word.data() + word.size(), value);
      return value;
    };
    const auto mode = parse_enum<SaveMode>(fields[3]);
    ASSERT_TRUE(mode) << record.line;
    const Seconds blocked =
        cost_of(number(0), static_cast<std::int64_t>(number(1)), *mode).storage.blocked;
    shown +=
        fmt::format("| {:.0f} B | {} | {} | {:.2f} s | {:.3f} s | {:.2f} |\n", number(0) / 1e9,
                    fields[1], fields[2], number(4), blocked.value(), blocked.value() / number(4));
  }
  const auto page = read_file(kCheckpointRoot + "/docs/forecast.md");
  ASSERT_TRUE(page);
  EXPECT_NE(page->find(shown), std::string::npos) << "docs/forecast.md should show\n" << shown;
}

}  // namespace
}  // namespace orrery
