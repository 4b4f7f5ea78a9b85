#include "analyze/kernel_sequences.h"

#include <gmock/gmock.h>

#include "trace/hand_made_trace.h"

namespace orrery {
namespace {

TEST(KernelSequences, CountsWhatOneCallOfAnOperatorLaunches) {
  HandMadeTrace made;
  std::int64_t correlation = 0;
  std::int64_t at = 0;
  const auto layer = [&](std::string_view name, std::initializer_list<const char*> kernels) {
    made.op(name, at, at + 100);
    made.op("aten::inner", at + 1, at + 99);
    std::int64_t call = at + 2;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      made.call(call, call + 5, ++correlation);
      call += 6;
    }
    std::int64_t start = at + 90;
    std::int64_t c = correlation - static_cast<std::int64_t>(kernels.size());
    for (const char* kernel : kernels) {
      made.kernel(kernel, 7, start, start + 10, ++c);
      start += 10;
    }
    at += 200;
  };
  for (int i = 0; i < 3; ++i) layer("aten::linear", {"gemm", "add"});
  layer("aten::linear", {"add", "gemm"});  // another order is another sequence
  layer("aten::relu", {"relu"});           // alone: no sequence
  const std::vector<KernelSequence> found = kernel_sequences(made.trace, launch_links(made.trace));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(made.trace.texts[found[0].operator_name], "aten::linear");
  EXPECT_EQ(found[0].count, 3);
  EXPECT_EQ(found[0].launches(), 6);
  EXPECT_EQ(found[0].device_ns, 60);
  EXPECT_EQ(found[0].host_ns, 300);
  ASSERT_EQ(found[0].kernels.size(), 2U);
  EXPECT_EQ(made.trace.texts[found[0].kernels[0]], "gemm");
  EXPECT_EQ(found[1].count, 1);
  EXPECT_EQ(made.trace.texts[found[1].kernels[0]], "add");
}

TEST(KernelSequences, OfNothingAreNone) {
  const HandMadeTrace made;
  EXPECT_TRUE(kernel_sequences(made.trace, launch_links(made.trace)).empty());
}

}  // namespace
}  // namespace orrery
