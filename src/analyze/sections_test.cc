#include "analyze/sections.h"

#include <gmock/gmock.h>

#include "trace/hand_made_trace.h"
#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

const SectionRow* find(const std::vector<SectionRow>& rows, std::string_view name) {
  for (const SectionRow& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// Two blocks of one linear each; the backward of the first linear runs on a thread of its own.
TEST(Sections, HaveTheWorkOfTheirModulesForwardAndBackward) {
  HandMadeTrace made;
  RecordedTrace& trace = made.trace;
  trace.lanes.push_back({.process = 1, .thread = 2, .process_name = {}, .thread_name = {}});
  const std::uint32_t backward_lane = 1;
  made.step(1, 0, 1000);
  made.add(EventKind::annotation, "## forward ##", 0, 10, 400);
  made.add(EventKind::python_function, "nn.Module: Block_0", 0, 20, 200);
  made.add(EventKind::python_function, "nn.Module: Linear_0", 0, 30, 100);
  const std::uint32_t forward = made.op("aten::linear", 40, 90);
  made.call(50, 60, 1);
  made.add(EventKind::python_function, "nn.Module: Block_1", 0, 210, 390);
  made.add(EventKind::python_function, "nn.Module: Linear_1", 0, 220, 300);
  made.op("aten::linear", 230, 290);
  made.call(240, 250, 2);
  made.call(350, 360, 3);  // of the block itself
  made.add(EventKind::annotation, "## backward ##", 0, 500, 900);
  const std::uint32_t backward =
      made.add(EventKind::cpu_operator, "autograd: AddmmBackward0", backward_lane, 550, 600);
  made.add(EventKind::runtime_call, "cudaLaunchKernel", backward_lane, 560, 570, 4);
  made.add(EventKind::runtime_call, "cudaLaunchKernel", backward_lane, 700, 710, 5);
  made.kernel("gemm", 7, 100, 200, 1);
  made.kernel("gemm", 7, 300, 340, 2);
  made.kernel("add", 7, 400, 410, 3);
  made.kernel("gemm_backward", 7, 600, 900, 4);
  made.kernel("other", 7, 900, 1000, 5);
  trace.forward_to_backward.push_back({forward, backward});

  const std::vector<SectionRow> rows = section_table(trace, launch_links(trace));
  const SectionRow* linear = find(rows, "Linear");
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->kind, SectionKind::module);
  EXPECT_EQ(linear->instances, 2);
  EXPECT_EQ(linear->device_ns, 100 + 40 + 300);
  EXPECT_EQ(linear->backward_ns, 300);
  EXPECT_EQ(linear->own_ns, linear->device_ns);
  const SectionRow* block = find(rows, "Block");
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->device_ns, 450);
  EXPECT_EQ(block->own_ns, 10);
  EXPECT_EQ(block->launched, 4);
  // The annotation around the modules has them; the step's own mark is none.
  EXPECT_EQ(find(rows, "## forward ##")->device_ns, 450);
  EXPECT_EQ(find(rows, "ProfilerStep#1"), nullptr);
  // Work of a thread without sections that no arrow explains: what is open at that time.
  EXPECT_EQ(find(rows, "## backward ##")->device_ns, 100);
}

TEST(Sections, CountASectionInOneOfItsNameOnce) {
  HandMadeTrace made;
  made.add(EventKind::annotation, "block", 0, 0, 100);
  made.add(EventKind::annotation, "block", 0, 10, 90);
  made.call(20, 30, 1);
  made.kernel("gemm", 7, 40, 90, 1);
  const std::vector<SectionRow> rows = section_table(made.trace, launch_links(made.trace));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].device_ns, 50);
  EXPECT_EQ(rows[0].own_ns, 50);
  EXPECT_EQ(rows[0].host.count, 2);
}

// A recording with stacks: Qwen2 has 24 layers, each with one attention.
TEST(Sections, AreTheModulesOfARecordingWithStacks) {
  KinetoOptions options;
  options.python_functions = PythonFunctions::modules;
  const auto trace = read_kineto(ORRERY_SOURCE_DIR
                                 "/validation/traces/TraceLens/mi300/"
                                 "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
                                 options);
  ASSERT_TRUE(trace) << trace.error().text();
  for (std::size_t e = 0; e < trace->size(); ++e) {
    if (trace->kind[e] != EventKind::python_function) continue;
    EXPECT_TRUE(trace->name_of(e).starts_with("nn.Module: "));
  }
  const std::vector<SectionRow> rows = section_table(*trace, launch_links(*trace));
  const SectionRow* model = find(rows, "Qwen2Model");
  const SectionRow* layer = find(rows, "Qwen2DecoderLayer");
  const SectionRow* attention = find(rows, "Qwen2Attention");
  ASSERT_TRUE(model != nullptr && layer != nullptr && attention != nullptr);
  EXPECT_EQ(layer->instances, 24);
  EXPECT_EQ(attention->instances, 24);
  EXPECT_LT(attention->device_ns, layer->device_ns);
  EXPECT_LE(layer->device_ns, model->device_ns);
  // TraceLens: 29.74 ms of kernels that an operator in the recording launched.
  EXPECT_NEAR(static_cast<double>(model->device_ns) * 1e-6, 29.7, 0.1);
}

}  // namespace
}  // namespace orrery
