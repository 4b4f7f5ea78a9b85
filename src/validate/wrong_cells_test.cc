#include "validate/wrong_cells.h"

#include <gmock/gmock.h>

#include "validate/validation.h"

namespace orrery {
namespace {

using testing::HasSubstr;

MeasuredRow right_row() {
  MeasuredRow row;
  row.file = "mine.csv";
  row.line = 2;
  row.row_id = "a";
  row.model = "LLaMA";
  row.num_layers = 32;
  row.hidden = 4096;
  row.num_heads = 32;
  row.num_kv_heads = 8;
  row.ffn_hidden = 14336;
  row.ffn_kind = "swiglu";
  row.vocab = 128256;
  row.seq_len = 8192;
  row.accelerator = "h100-sxm";
  row.num_gpus = 8;
  row.framework = "TorchTitan";
  row.precision = "bf16";
  row.tp = 2;
  row.pp = 1;
  row.dp = 4;
  row.micro_batch = 1;
  row.global_batch = 8;
  row.recompute = "none";
  row.step_time = Seconds(1.0);
  row.status = "ok";
  return row;
}
std::string wrong(void (*change)(MeasuredRow&)) {
  MeasuredRow row = right_row();
  change(row);
  return wrong_cells(row, Catalog::built_in());
}

TEST(WrongCells, SayColumnValueAndWhatWouldBeRight) {
  EXPECT_EQ(wrong([](MeasuredRow&) {}), "");
  EXPECT_EQ(wrong([](MeasuredRow& r) { r.zero_stage = 5; }),
            "column 'zero_stage' holds '5' (expected 0, 1, 2 or 3)");
  EXPECT_EQ(wrong([](MeasuredRow& r) { r.recompute = "yes"; }),
            "column 'recompute' holds 'yes' (expected none, selective or full)");
  EXPECT_EQ(wrong([](MeasuredRow& r) { r.status = "OK"; }),
            "column 'status' holds 'OK' (expected ok, oom, kernel-unavailable or error)");
  EXPECT_THAT(wrong([](MeasuredRow& r) { r.precision = "bf17"; }),
              HasSubstr("'precision' holds 'bf17' (expected bf16, "));
  EXPECT_THAT(wrong([](MeasuredRow& r) { r.accelerator = "h100-smx"; }),
              HasSubstr("did you mean 'h100-sxm'?"));
  EXPECT_THAT(wrong([](MeasuredRow& r) { r.catalog_model = "llama-3-9b"; }),
              HasSubstr("column 'catalog_model' holds 'llama-3-9b' (no "));
  EXPECT_EQ(wrong([](MeasuredRow& r) { r.sequence_parallel = "on"; }),
            "column 'sequence_parallel' holds 'on' (expected yes or no)");
}

TEST(WrongCells, HeadsMustDivide) {
  EXPECT_EQ(wrong([](MeasuredRow& r) { r.num_heads = 40; }),
            "column 'hidden' holds '4096' (expected a multiple of num_heads, 40)");
  EXPECT_EQ(wrong([](MeasuredRow& r) { r.num_kv_heads = 5; }),
            "column 'num_heads' holds '32' (expected a multiple of num_kv_heads, 5)");
  EXPECT_EQ(wrong([](MeasuredRow& r) { r.tp = 3; }),
            "column 'num_heads' holds '32' (expected a multiple of tp, 3)");
  // With a head size of its own the width is free.
  EXPECT_EQ(wrong([](MeasuredRow& r) {
              r.hidden = 5000;
              r.head_dim = 128;
            }),
            "");
}

TEST(WrongCells, AllOfARowAreSaid) {
  const std::string text = wrong([](MeasuredRow& r) {
    r.zero_stage = 4;
    r.attention_kernel = "flsh";
  });
  EXPECT_THAT(text, HasSubstr("'zero_stage' holds '4'"));
  EXPECT_THAT(text, HasSubstr("; column 'attention_kernel' holds 'flsh'"));
}

// Such a row is named; one that is incomplete or not modelled is only counted with its like.
TEST(WrongCells, OnlyMistakesAreNamed) {
  MeasuredRow mistaken = right_row();
  mistaken.status = "OK";
  MeasuredRow uneven = right_row();  // no sequences left over for four replicas
  uneven.global_batch = 7;
  MeasuredRow incomplete = right_row();
  incomplete.micro_batch.reset();
  MeasuredRow unmodelled = right_row();
  unmodelled.offload = "expert_fc1";
  MeasuredRow failed = right_row();
  failed.status = "error";
  const Validation v = validate({mistaken, uneven, incomplete, unmodelled, failed, right_row()},
                                Catalog::built_in(), 1);
  EXPECT_TRUE(v.rows[0].impossible);
  EXPECT_TRUE(v.rows[1].impossible) << v.rows[1].skipped_because;
  for (const std::size_t i : {2u, 3u, 4u}) {
    EXPECT_NE(v.rows[i].skipped_because, "");
    EXPECT_FALSE(v.rows[i].impossible) << v.rows[i].skipped_because;
  }
  EXPECT_EQ(v.rows[5].skipped_because, "");
}

}  // namespace
}  // namespace orrery
