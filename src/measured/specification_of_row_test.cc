#include "measured/specification_of_row.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Read again, a specification asks the same question, to the last bit of every quantity; some are
// estimated, too.
TEST(SpecificationOfRow, AsksWhatTheRowAsks) {
  const Catalog& catalog = Catalog::built_in();
  const auto folder = std::filesystem::path(ORRERY_SOURCE_DIR) / "validation/measured";
  int specifications = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    const auto read = read_measured_rows(entry.path().string());
    ASSERT_TRUE(read) << read.error().text();
    for (const MeasuredRow& row : read->rows) {
      const auto direct = scenario_of_row(row, catalog);
      if (!direct) continue;
      const auto document = parse_yaml(specification_of_row(row, *direct, catalog), row.row_id);
      ASSERT_TRUE(document) << document.error().text();
      const auto spec = read_spec(*document, "", catalog);
      ASSERT_TRUE(spec) << spec.error().text();
      const Scenario& a = direct->scenario;
      const Scenario& b = spec->scenario;
      EXPECT_EQ(a.plan, b.plan) << row.row_id;
      EXPECT_EQ(a.training, b.training) << row.row_id;
      EXPECT_EQ(*architecture_of(a.model), *architecture_of(b.model)) << row.row_id;
      EXPECT_EQ(a.cluster, b.cluster) << row.row_id;
      EXPECT_EQ(to_json(specification(a, catalog)), to_json(specification(b, catalog)));
      if (specifications++ % 20 != 0) continue;
      const auto direct_step = predict(a, catalog);
      const auto read_step = predict(b, catalog);
      ASSERT_EQ(direct_step.has_value(), read_step.has_value()) << row.row_id;
      if (direct_step) {
        EXPECT_EQ(direct_step->folded.time, read_step->folded.time) << row.row_id;
      }
    }
  }
  EXPECT_GT(specifications, 1000);
}

TEST(SpecificationOfRow, SaysWhereTheRowComesFromAndWhatWasAssumed) {
  const Catalog& catalog = Catalog::built_in();
  const auto read =
      read_measured_rows(std::string(ORRERY_SOURCE_DIR) + "/validation/measured/korthikanti.csv");
  ASSERT_TRUE(read);
  MeasuredRow row = read->rows.front();
  row.source = "a paper\nmodel: in its title";
  const auto scenario = scenario_of_row(row, catalog);
  ASSERT_TRUE(scenario) << scenario.error().because;
  const std::string text = specification_of_row(row, *scenario, catalog);
  EXPECT_THAT(text, StartsWith("# row korthikanti-0001 of "));
  EXPECT_THAT(text, HasSubstr("\n# published in a paper model: in its title\n"));
  EXPECT_THAT(text, HasSubstr("\n# measured step time "));
  EXPECT_THAT(text, HasSubstr("\n#   software: megatron-lm-2022\n"));
  EXPECT_THAT(text, HasSubstr("\nplan:\n"));
}

}  // namespace
}  // namespace orrery
