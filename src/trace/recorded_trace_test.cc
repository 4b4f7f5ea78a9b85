#include "trace/recorded_trace.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

TEST(TextTable, GivesTheSameTextTheSameIndex) {
  TextTable texts;
  const std::uint32_t a = texts.intern("aten::mm");
  const std::uint32_t b = texts.intern("aten::add");
  EXPECT_NE(a, b);
  EXPECT_EQ(texts.intern("aten::mm"), a);
  EXPECT_EQ(texts[a], "aten::mm");
  EXPECT_EQ(texts[0], "");
}

TEST(TextTable, KeepsItsTextsWhenItIsMoved) {
  TextTable texts;
  for (int i = 0; i < 1000; ++i) texts.intern("name " + std::to_string(i));
  const TextTable moved = std::move(texts);
  EXPECT_EQ(moved[1], "name 0");
  EXPECT_EQ(moved[1000], "name 999");
}

TEST(CommunicationKernel, IsKnownByNameInEveryEra) {
  EXPECT_TRUE(is_communication_kernel("ncclKernel_AllReduce_RING_LL_Sum_half(ncclWorkElem)"));
  EXPECT_TRUE(is_communication_kernel("ncclDevKernel_SendRecv(ncclDevComm*)"));
  EXPECT_TRUE(is_communication_kernel("RcclKernel"));
  EXPECT_TRUE(is_communication_kernel("void dpsk::ep::dispatch<8>()"));
  EXPECT_FALSE(is_communication_kernel("ampere_fp16_s16816gemm"));
}

}  // namespace
}  // namespace orrery
