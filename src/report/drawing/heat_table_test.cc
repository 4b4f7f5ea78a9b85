#include "report/drawing/heat_table.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HeatTable, TheLargestFigureIsTheDarkest) {
  const std::string html =
      heat_table_html({"axis", {"inside", "outside"}, {{"dp", {{"1 GB", 1}, {"0.5 GB", 0.5}}}}});
  EXPECT_THAT(html, HasSubstr(" 85%,transparent)"));
  EXPECT_THAT(html, HasSubstr(" 42%,transparent)"));
}

TEST(HeatTable, NothingThereIsLeftBlank) {
  const std::string html = heat_table_html({"", {"one"}, {{"row", {{"never", -1}}}}});
  EXPECT_THAT(html, HasSubstr("<td></td>"));
  EXPECT_THAT(html, Not(HasSubstr("never")));
}

TEST(HeatTable, TextsCannotBecomeMarkup) {
  const std::string html =
      heat_table_html({"<i>", {"<b>"}, {{"<u>", {{"<s>", 0.1, "\"><script>"}}}}});
  EXPECT_THAT(html, HasSubstr("data-tip=\"&quot;&gt;&lt;script"));
  for (const char* tag : {"<i>", "<b>", "<u>", "<s>", "<script>"}) {
    EXPECT_THAT(html, Not(HasSubstr(tag)));
  }
}

}  // namespace
}  // namespace orrery
