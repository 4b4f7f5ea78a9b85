#include "report/drawing/png.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace orrery {
namespace {

// Big-endian number of a PNG header: width at 16, height at 20 (ISO/IEC 15948 s.11.2.2).
std::size_t header(const std::string& png, std::size_t at) {
  std::size_t out = 0;
  for (std::size_t i = at; i < at + 4; ++i) out = out * 256 + static_cast<unsigned char>(png[i]);
  return out;
}

constexpr std::string_view kRed =
    R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 50"><rect width="200" height="50" )"
    R"(fill="#ff0000"/></svg>)";

TEST(Png, KeepsTheProportionsOfTheDrawing) {
  const auto png = png_of_svg(kRed, 800);
  ASSERT_TRUE(png) << png.error().text();
  EXPECT_EQ(png->substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(header(*png, 16), 800U);
  EXPECT_EQ(header(*png, 20), 200U);
}

TEST(Png, DrawsTheSameBytesTwice) { EXPECT_EQ(*png_of_svg(kRed, 64), *png_of_svg(kRed, 64)); }

TEST(Png, ShowsWhatTheDrawingHolds) {
  const std::string blank = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 50"/>)";
  EXPECT_NE(*png_of_svg(kRed, 64), *png_of_svg(blank, 64));
}

TEST(Png, RefusesWhatIsNoDrawing) {
  EXPECT_EQ(png_of_svg("no drawing", 64).error().code, ErrorCode::bad_input);
  EXPECT_EQ(png_of_svg("", 64).error().code, ErrorCode::bad_input);
  EXPECT_EQ(png_of_svg(kRed, 0).error().message, "a picture 0 pixels wide");
  EXPECT_EQ(png_of_svg(kRed, kWidestPng + 1).error().hint, "1 to 16384");
  EXPECT_EQ(png_of_svg(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 9"/>)", kWidestPng)
                .error()
                .message,
            "the picture would be too high");
  EXPECT_EQ(png_of_svg(R"(<svg xmlns="http://www.w3.org/2000/svg"/>)", 64).error().message,
            "the SVG states no size");
}

}  // namespace
}  // namespace orrery
