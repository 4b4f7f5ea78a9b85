#include "cluster/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery {
namespace {

using ::testing::HasSubstr;

Accelerator load(const char* name) {
  auto accelerator = load_accelerator(Catalog::built_in(), name);
  EXPECT_TRUE(accelerator) << accelerator.error().text();
  return accelerator.value_or(Accelerator{});
}

// NVIDIA's H100 data sheet, SXM column, dense: half of the sparse figures it prints.
TEST(Accelerator, H100HasTheFiguresOfItsDataSheet) {
  const Accelerator h100 = load("h100-sxm");
  EXPECT_EQ(h100.compute_units, 132);
  EXPECT_EQ(h100.peak(NumberFormat::bf16), FlopsPerSecond(989e12));
  EXPECT_EQ(h100.peak(NumberFormat::fp8), FlopsPerSecond(1979e12));
  EXPECT_EQ(h100.peak(NumberFormat::fp64), FlopsPerSecond(34e12));
  EXPECT_EQ(h100.memory.capacity, Bytes(80.0 * (1 << 30)));
  EXPECT_EQ(h100.memory.bandwidth, BytesPerSecond(3.35e12));
  EXPECT_EQ(h100.scale_up.bandwidth, BytesPerSecond(450e9));
  EXPECT_EQ(h100.power, Watts(700));
  EXPECT_EQ(h100.default_node, "dgx-h100");
}

// Which units take a scale for each block: Transformer Engine's matrix of formats and hardware
// (nvidia.github.io/TransformerEngine/support_matrix.html): Blackwell, not Ada and Hopper. AMD's
// are those of OCP's formats, blocks of 32, from CDNA 4 on.
TEST(Accelerator, FormatsWithSharedScalesRunAtTheRateOfTheirElementsWhereTheyExist) {
  const Accelerator b200 = load("b200-sxm");
  EXPECT_EQ(b200.peak(NumberFormat::mxfp8), b200.peak(NumberFormat::fp8));
  EXPECT_EQ(b200.peak(NumberFormat::nvfp4), FlopsPerSecond(9000e12));
  for (const char* name : {"h100-sxm", "l40s", "mi300x", "gaudi3"}) {
    EXPECT_NE(load(name).peak(NumberFormat::fp8), std::nullopt) << name;
    EXPECT_EQ(load(name).peak(NumberFormat::mxfp8), std::nullopt) << name;
    EXPECT_EQ(load(name).peak(NumberFormat::nvfp4), std::nullopt) << name;
  }
  EXPECT_NE(load("mi355x").peak(NumberFormat::mxfp8), std::nullopt);
  EXPECT_EQ(load("mi355x").peak(NumberFormat::nvfp4), std::nullopt);
}

TEST(Accelerator, SaysWhichFormatsItLacks) {
  EXPECT_EQ(load("v100-32gb-sxm2").peak(NumberFormat::bf16), std::nullopt);
  EXPECT_EQ(load("a100-80gb-sxm").peak(NumberFormat::fp8), std::nullopt);
  EXPECT_EQ(load("h100-sxm").peak(NumberFormat::nvfp4), std::nullopt);
}

TEST(Accelerator, IsFoundByAliasAndSuggestedByNearName) {
  EXPECT_EQ(load("h100").name, "h100-sxm");
  const auto unknown = load_accelerator(Catalog::built_in(), "b20-sxm");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().text(), HasSubstr("did you mean 'b200-sxm'?"));
}

TEST(Accelerator, CheckRefusesTheImpossible) {
  const Accelerator good = load("h100-sxm");
  EXPECT_TRUE(check(good));

  const auto refused = [&](auto change) {
    Accelerator bad = good;
    change(bad);
    const auto checked = check(bad);
    return checked ? std::string("accepted") : checked.error().text();
  };
  EXPECT_THAT(refused([](Accelerator& a) { a.compute_units = 0; }), HasSubstr("no compute units"));
  EXPECT_THAT(refused([](Accelerator& a) { a.memory.capacity = Bytes(0); }),
              HasSubstr("no memory"));
  EXPECT_THAT(refused([](Accelerator& a) { a.memory.bandwidth = BytesPerSecond(-1); }),
              HasSubstr("no memory bandwidth"));
  EXPECT_THAT(refused([](Accelerator& a) { a.peaks.bf16 = FlopsPerSecond(0); }),
              HasSubstr("not above zero"));
  EXPECT_THAT(refused([](Accelerator& a) {
                a.peaks = {};
                a.achieved = {};
              }),
              HasSubstr("no peak rate"));
  EXPECT_THAT(refused([](Accelerator& a) { a.peaks.mxfp8 = FlopsPerSecond(2e15); }),
              HasSubstr("mxfp8 faster than its elements"));
  EXPECT_THAT(refused([](Accelerator& a) { a.peaks.nvfp4 = FlopsPerSecond(1e15); }),
              HasSubstr("nvfp4 faster than its elements"));
  EXPECT_THAT(refused([](Accelerator& a) { a.achieved.bf16 = FlopsPerSecond(990e12); }),
              HasSubstr("more than its peak"));
  EXPECT_THAT(refused([](Accelerator& a) { a.achieved.fp8 = FlopsPerSecond(1e16); }),
              HasSubstr("more than its peak"));
  EXPECT_THAT(refused([](Accelerator& a) { a.scale_up.bandwidth = BytesPerSecond(-1); }),
              HasSubstr("negative"));
  EXPECT_THAT(refused([](Accelerator& a) { a.host_link.bandwidth = BytesPerSecond(0); }),
              HasSubstr("has a bandwidth that is not greater than 0"));
}

}  // namespace
}  // namespace orrery
