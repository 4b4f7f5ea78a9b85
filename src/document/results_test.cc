#include "document/results.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "document/description.h"
#include "document/result_key.h"
#include "document/written_description.h"

namespace orrery {
namespace {

enum class Kind { compute, copy };
EnumNames<Kind> names_of(Kind) {
  static constexpr auto kNames =
      std::to_array<EnumName<Kind>>({{Kind::compute, "compute"}, {Kind::copy, "copy"}});
  return kNames;
}

struct Names {
  std::vector<std::string> texts;
};

struct Spread {
  std::size_t count = 0;
  std::int64_t total_ns = 0;
};

struct Row {
  std::size_t name = 0;
  Kind kind = Kind::compute;
  Spread duration = {};
  std::optional<double> share = {};
  std::optional<int> stage = {};
};

struct Report {
  Seconds step;
  std::vector<Row> rows;
  std::vector<double> times;
};

}  // namespace

template <>
inline constexpr auto kResults<Spread> =
    table<Spread>("spread", "Durations.", field<&Spread::count>("count", "how many"),
                  nanoseconds<&Spread::total_ns>("total_s", "their sum"));

template <>
inline constexpr auto kResults<Row> = table<Row>(
    "row", "One kernel.",
    field("name", "as recorded", [](auto& r, const Names& n) { return n.texts[r.name]; }),
    field<&Row::kind>("kind", "what it does"), field<&Row::duration>("duration", "of its calls"),
    field<&Row::duration, &Spread::count>("calls", "how often | in all"),
    field<&Row::share>("share", "null: not known"),
    optional_field("stage", "of the pipeline", [](auto& r) { return r.stage; }));

template <>
inline constexpr auto kResults<Report> = table<Report>(
    "report", "A report.", schema_version<3>(), constant("kind", "of document", "test"),
    field<&Report::step>("step_s", "time of a step"), field<&Report::rows>("rows", "by time"),
    field("times_s", "by kind", [](auto& r) { return ByName<Kind, 2, double, 1>{r.times}; }));

namespace {

using testing::HasSubstr;

Report sample() {
  return {.step = Seconds(1.5),
          .rows = {{.name = 1, .duration = {2, 3'000'000'000}, .share = 0.5, .stage = 4},
                   {.name = 0, .kind = Kind::copy}},
          .times = {0.25}};
}

std::string compact(const Value& v) {
  std::string out = to_json(v);
  out.erase(std::remove_if(out.begin(), out.end(), [](char c) { return c == ' ' || c == '\n'; }),
            out.end());
  return out;
}

TEST(Results, WriteMembersComputedValuesAndWhatTheContextSays) {
  EXPECT_EQ(compact(answer(sample(), Names{{"copy", "gemm"}})),
            R"({"schema_version":3,"kind":"test","step_s":1.5,"rows":[)"
            R"({"name":"gemm","kind":"compute","duration":{"count":2,"total_s":3},"calls":2,)"
            R"("share":0.5,"stage":4},)"
            R"({"name":"copy","kind":"copy","duration":{"count":0,"total_s":0},"calls":0,)"
            R"("share":null}],"times_s":{"compute":0.25}})");
}

TEST(Results, OneKeyIsThatOfTheWhole) {
  const Spread spread{2, 3'000'000'000};
  const Value whole = answer(spread);
  for (const auto& [key, value] : whole.members()) {
    EXPECT_EQ(compact(answer_key(spread, key).value_or(Value())), compact(value)) << key;
  }
  EXPECT_FALSE(answer_key(spread, "mean_s"));
  const Names names{{"a", "b"}};
  const Row row{.name = 1};
  const auto& fields = kResults<Row>.fields;
  EXPECT_EQ(value_of_key(fields, "name", &row, &names)->scalar_text(), "b");
  EXPECT_FALSE(value_of_key(fields, "stage", &row, &names)) << "an optional key that is left out";
}

TEST(Results, DescribeTheirSchema) {
  const Value schema = json_schema(description_of<Report>(), "test, version 3");
  EXPECT_EQ(schema.find("additionalProperties")->scalar_text(), "false");
  EXPECT_EQ(schema.find("required")->items().size(), 5u);
  const Value& keys = *schema.find("properties");
  EXPECT_EQ(keys.find("schema_version")->find("const")->scalar_text(), "3");
  EXPECT_EQ(keys.find("kind")->find("const")->scalar_text(), "test");
  EXPECT_EQ(keys.find("step_s")->find("description")->scalar_text(), "time of a step");
  EXPECT_EQ(keys.find("rows")->find("items")->find("$ref")->scalar_text(), "#/$defs/row");
  EXPECT_EQ(compact(*keys.find("times_s")->find("required")), R"(["compute"])");
  const Value& row = *schema.find("$defs")->find("row");
  EXPECT_EQ(row.find("description")->scalar_text(), "One kernel.");
  EXPECT_EQ(compact(*row.find("required")), R"(["name","kind","duration","calls","share"])");
  const Value& columns = *row.find("properties");
  EXPECT_EQ(compact(*columns.find("kind")->find("enum")), R"(["compute","copy"])");
  EXPECT_EQ(compact(*columns.find("share")->find("type")), R"(["number","null"])");
  EXPECT_EQ(columns.find("calls")->find("minimum")->scalar_text(), "0");
  EXPECT_NE(schema.find("$defs")->find("spread"), nullptr);
}

TEST(Results, DescribeThemselvesOnAPage) {
  std::vector<const Description*> written;
  const std::string page = key_tables(description_of<Report>(), written);
  EXPECT_THAT(page, HasSubstr("| `step_s` | number | time of a step |"));
  EXPECT_THAT(page, HasSubstr("| `rows` | list of row | by time |"));
  EXPECT_THAT(page, HasSubstr("**row**: One kernel.\n\n| key | value | meaning |"));
  EXPECT_THAT(page, HasSubstr("| `kind` | compute \\| copy | what it does |"));
  EXPECT_THAT(page, HasSubstr("| `calls` | integer | how often \\| in all |"));
  EXPECT_THAT(page, HasSubstr("| `share` | number or null | null: not known |"));
  EXPECT_THAT(page, HasSubstr("| `stage` | integer, may be absent | of the pipeline |"));
  EXPECT_EQ(written.size(), 3u);
  EXPECT_EQ(key_tables(description_of<Report>(), written), "") << "each map is listed once";
}

}  // namespace
}  // namespace orrery
