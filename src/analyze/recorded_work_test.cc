#include "analyze/recorded_work.h"

#include <gmock/gmock.h>

#include "analyze/operator_table.h"
#include "catalog/catalog.h"
#include "cluster/accelerator.h"
#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using testing::ElementsAre;

std::vector<RecordedArgument> arguments(std::string_view shapes, std::string_view types,
                                        std::string_view values = "") {
  RecordedTrace trace;
  OperatorDetails details;
  details.input_shapes = trace.texts.intern(shapes);
  details.input_types = trace.texts.intern(types);
  details.concrete_inputs = trace.texts.intern(values);
  return recorded_arguments(trace, details);
}

RecordedWork work(std::string_view name, const std::vector<RecordedArgument>& x) {
  const auto found = recorded_work(name, x);
  EXPECT_TRUE(found) << name;
  return found.value_or(RecordedWork{});
}

TEST(RecordedArguments, AreReadFromTheTextsOfTheProfiler) {
  const auto x =
      arguments(R"([[64, 128], [], [[3, 4], [5]], []])",
                R"(["float", "Scalar", "TensorList", "long int"])", R"(["", "[1, 2]", "", ""])");
  ASSERT_EQ(x.size(), 4U);
  EXPECT_THAT(x[0].shapes, ElementsAre(Shape{64, 128}));
  EXPECT_FALSE(x[1].is_tensor());
  EXPECT_THAT(whole_numbers(x[1].value), ElementsAre(1, 2));
  EXPECT_THAT(x[2].shapes, ElementsAre(Shape{3, 4}, Shape{5}));
  EXPECT_THAT(x[3].shapes, ElementsAre(Shape{}));  // a tensor without extents
  EXPECT_EQ(elements_of(x[3]), 1);
  EXPECT_EQ(elements_of(x[2]), 17);
}

TEST(RecordedArguments, OfDamagedTextsAreNone) {
  for (const char* damaged : {"", "[", "[[", "[[1, 2]", "[[x]]", "[[[[[[1]]]]]]", "1", "[1,"}) {
    EXPECT_TRUE(arguments(damaged, "[").empty()) << damaged;
  }
}

TEST(RecordedWork, OfAProductIsTwoFlopsAMultiplyAdd) {
  const RecordedWork mm =
      work("aten::mm", arguments("[[8, 32], [32, 16]]", R"(["c10::BFloat16", "c10::BFloat16"])"));
  EXPECT_EQ(mm.flops, Flops(2.0 * 8 * 32 * 16));
  EXPECT_EQ(mm.bytes, Bytes(2.0 * (8 * 32 + 32 * 16 + 8 * 16)));
  EXPECT_EQ(mm.operator_class, RecordedWorkClass::product);
  const RecordedWork linear = work(
      "aten::linear", arguments("[[2, 4, 32], [16, 32], [16]]", R"(["float", "float", "float"])"));
  EXPECT_EQ(linear.flops, Flops(2.0 * 8 * 32 * 16 + 8 * 16));
  const RecordedWork batched =
      work("aten::bmm", arguments("[[3, 8, 32], [3, 32, 16]]", R"(["float", "float"])"));
  EXPECT_EQ(batched.flops, Flops(3 * 2.0 * 8 * 32 * 16));
}

TEST(RecordedWork, OfABackwardOfAConvolutionIsTwiceThatOfItsForward) {
  const char* values = R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])";
  const RecordedWork forward =
      work("aten::convolution",
           arguments("[[10, 64, 56, 56], [64, 64, 3, 3], [], [], [], [], [], [], []]",
                     R"(["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar",
                    "ScalarList", "Scalar"])",
                     values));
  const RecordedWork backward =
      work("aten::convolution_backward",
           arguments("[[10, 64, 56, 56], [10, 64, 56, 56], [64, 64, 3, 3]]",
                     R"(["float", "float", "float"])"));
  EXPECT_EQ(forward.flops, Flops(2.0 * 10 * 64 * 56 * 56 * 64 * 9));
  EXPECT_EQ(backward.flops, forward.flops * 2);
}

TEST(RecordedWork, OfCausalAttentionIsHalf) {
  const char* shapes = "[[16, 16, 559, 64], [16, 16, 559, 64], [16, 16, 559, 64], [], [], [], []]";
  const char* types = R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar"])";
  const auto of = [&](const char* causal) {
    return work(
        "aten::_scaled_dot_product_flash_attention",
        arguments(shapes, types, std::string(R"(["", "", "", "0.", ")") + causal + R"("])"));
  };
  EXPECT_EQ(of("False").flops, Flops(4.0 * 16 * 16 * 559 * 559 * 64));
  EXPECT_EQ(of("True").flops * 2, of("False").flops);
}

// grad, q, k, v, out, logsumexp, two tables of sequences, two longest, dropout, causal, seed,
// offset.
TEST(RecordedWork, OfCausalAttentionBackwardIsHalfToo) {
  const char* shapes =
      "[[2, 8, 64, 32], [2, 8, 64, 32], [2, 8, 64, 32], [2, 8, 64, 32], [2, 8, 64, 32], "
      "[2, 8, 64], [], [], [], [], [], [], [], []]";
  const char* types =
      R"(["c10::Half", "c10::Half", "c10::Half", "c10::Half", "c10::Half", "float", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "long", "long"])";
  const auto of = [&](const char* causal) {
    return work("aten::_scaled_dot_product_flash_attention_backward",
                arguments(shapes, types,
                          std::string(R"(["", "", "", "", "", "", "", "", "64", "64", "0.", ")") +
                              causal + R"(", "", ""])"));
  };
  EXPECT_EQ(of("False").flops, Flops(2.5 * 4.0 * 2 * 8 * 64 * 64 * 32));
  EXPECT_EQ(of("True").flops * 2, of("False").flops);
}

TEST(RecordedWork, OfBroadcastOperandsIsThatOfTheResult) {
  const RecordedWork mul =
      work("aten::mul", arguments("[[4, 1, 8], [5, 1]]", R"(["float", "float"])"));
  EXPECT_EQ(mul.flops, Flops(4 * 5 * 8));
  EXPECT_EQ(mul.bytes, Bytes(4.0 * (32 + 5 + 160)));
  const RecordedWork sum =
      work("aten::sum", arguments("[[10, 1000], [], []]", R"(["float", "ScalarList", "Scalar"])",
                                  R"(["", "[0]", "True"])"));
  EXPECT_EQ(sum.bytes, Bytes(4.0 * (10'000 + 1000)));
}

TEST(RecordedWork, OfWhatIsNotKnownIsNothing) {
  EXPECT_FALSE(recorded_work("aten::mm", {}));
  EXPECT_FALSE(recorded_work("mine::mm", arguments("[[8, 32], [32, 16]]", R"(["float"])")));
  EXPECT_FALSE(recorded_work("aten::mm", arguments("[[], []]", R"(["", ""])")));
}

TEST(PeakRate, IsOfTheUnitsThatDoTheWork) {
  const Accelerator h100 = *load_accelerator(Catalog::built_in(), "h100-sxm");
  EXPECT_EQ(peak_rate(h100, RecordedWorkClass::product, "c10::BFloat16"), h100.peaks.bf16);
  EXPECT_EQ(peak_rate(h100, RecordedWorkClass::product, "float"), h100.peaks.tf32);
  EXPECT_EQ(peak_rate(h100, RecordedWorkClass::elementwise, "c10::BFloat16"), h100.peaks.fp32);
  const Accelerator v100 = *load_accelerator(Catalog::built_in(), "v100-pcie");
  EXPECT_EQ(peak_rate(v100, RecordedWorkClass::product, "c10::BFloat16"), std::nullopt);
  EXPECT_EQ(peak_rate(v100, RecordedWorkClass::product, "float"), v100.peaks.fp32);
}

double roofline_of_gelu(const std::string& types) {
  const auto trace = read_kineto_bytes(
      R"({"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::gelu", "pid": 1, "tid": 1, "ts": 0, "dur": 9,
   "args": {"Input Dims": [[1024, 16384], []])" +
          types + R"(}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2,
   "dur": 5, "args": {"correlation": 8}},
  {"ph": "X", "cat": "kernel", "name": "gelu", "pid": 0, "tid": 7, "ts": 10, "dur": 40,
   "args": {"device": 0, "stream": 7, "correlation": 8}}]})",
      "made");
  EXPECT_TRUE(trace) << trace.error().text();
  const auto h100 = load_accelerator(Catalog::built_in(), "h100-sxm");
  const OperatorTable table =
      operator_table(*trace, launch_links(*trace), OperatorGrouping::shapes, &*h100);
  EXPECT_EQ(table.rows.size(), 1U);
  return table.rows.front().roofline;
}

TEST(RecordedWork, OfUnknownBytesHasNoRooflineButOfAProduct) {
  // 67 MB at 3.35 TB/s take 20 of the 40 us; how many bytes an element has, only types say.
  EXPECT_NEAR(roofline_of_gelu(R"(, "Input type": ["c10::BFloat16", ""])"), 0.5, 0.01);
  EXPECT_LT(roofline_of_gelu(""), 0);
}

}  // namespace
}  // namespace orrery
