#include "measured/derived_cells.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

MeasuredRow open_row() {
  MeasuredRow row;
  row.num_gpus = 64;
  row.tp = 4;
  row.pp = 1;
  row.cp = 2;
  row.global_batch = 64;
  row.microbatches = 4;
  row.missing = "micro_batch";
  return row;
}

TEST(DerivedCells, MicroBatchFollowsFromTheBatchAndItsMicrobatches) {
  std::vector<std::string> assumed;
  MeasuredRow row = with_derived_cells(open_row(), assumed);
  EXPECT_EQ(row.micro_batch, 2);  // 64 / (8 x 4)
  EXPECT_EQ(row.missing, "");
  EXPECT_THAT(assumed, ElementsAre("micro-batch 2: global batch / (dp x microbatches)"));

  MeasuredRow stated = open_row();
  stated.dp = 16;
  EXPECT_EQ(with_derived_cells(stated, assumed).micro_batch, 1);
}

TEST(DerivedCells, WhatDoesNotDivideStaysMissing) {
  std::vector<std::string> assumed;
  for (const auto open : {&MeasuredRow::global_batch, &MeasuredRow::microbatches}) {
    MeasuredRow row = open_row();
    (row.*open).reset();
    EXPECT_EQ(with_derived_cells(row, assumed).missing, "micro_batch");
    row.*open = 3;
    if (open == &MeasuredRow::global_batch) {
      EXPECT_EQ(with_derived_cells(row, assumed).missing, "micro_batch");
    }
    row.*open = 0;
    EXPECT_EQ(with_derived_cells(row, assumed).micro_batch, std::nullopt);
  }
  EXPECT_THAT(assumed, IsEmpty());
}

TEST(DerivedCells, DimensionsAreThoseOfTheNamedModel) {
  std::vector<std::string> assumed;
  MeasuredRow row = open_row();
  row.missing = "hidden vocab recompute";
  EXPECT_EQ(with_derived_cells(row, assumed).missing, "hidden vocab recompute");
  EXPECT_THAT(assumed, IsEmpty());
  row.catalog_model = "gpt-3-175b";
  EXPECT_EQ(with_derived_cells(row, assumed).missing, "recompute");
  EXPECT_THAT(assumed, ElementsAre("hidden, vocab: those of gpt-3-175b in the catalog"));
}

}  // namespace
}  // namespace orrery
