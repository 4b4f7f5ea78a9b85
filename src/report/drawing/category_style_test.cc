#include "report/drawing/category_style.h"

#include <gmock/gmock.h>

#include <set>

#include "report/plans/sample_estimate.h"

namespace orrery {
namespace {

TEST(CategoryStyle, EveryLineHasItsOwnNameAndColour) {
  std::set<std::string_view> labels;
  std::set<std::string_view> light;
  std::set<std::string_view> dark;
  std::set<int> terminal;
  for (std::size_t i = 0; i < kCategories; ++i) {
    const auto c = static_cast<Category>(i);
    labels.insert(label(c));
    light.insert(swatch(c).light);
    dark.insert(swatch(c).dark);
    terminal.insert(swatch(c).terminal);
    EXPECT_EQ(swatch(c).light.size(), 7u);
    EXPECT_EQ(swatch(c).dark.size(), 7u);
  }
  EXPECT_EQ(labels.size(), kCategories);
  EXPECT_EQ(light.size(), kCategories);
  EXPECT_EQ(dark.size(), kCategories);
  EXPECT_EQ(terminal.size(), kCategories);
}

TEST(CategoryStyle, SectionsHoldTheWholeStep) {
  const Estimate e = sample_estimate();
  Picoseconds time;
  int tenths = 0;
  for (const BreakdownSection& group : sections(e.breakdown)) {
    Picoseconds of_group;
    int tenths_of_group = 0;
    for (const BreakdownLine& line : group.lines) {
      EXPECT_EQ(group_of(line.category), group.group);
      of_group += line.time;
      tenths_of_group += line.tenths;
    }
    EXPECT_EQ(of_group, group.time);
    EXPECT_EQ(tenths_of_group, group.tenths);
    time += group.time;
    tenths += group.tenths;
  }
  EXPECT_EQ(time, e.breakdown.total());
  EXPECT_EQ(tenths, 1000);
}

TEST(CategoryStyle, MemoryPartsAddUpToThePeak) {
  for (const StageReport& stage : sample_estimate().stages) {
    ByteCount sum = 0;
    for (const MemoryPart& part : parts_of(stage.memory)) sum += part.bytes;
    EXPECT_EQ(sum, stage.memory.peak);
  }
}

}  // namespace
}  // namespace orrery
