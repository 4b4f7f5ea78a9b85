#include "whatif/edit_language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "whatif/known_edits.h"

namespace orrery {
namespace {

std::vector<Edit> read(std::string_view text) {
  auto edits = parse_edits(text, "edits");
  EXPECT_TRUE(edits) << edits.error().text();
  return edits ? *edits : std::vector<Edit>{};
}

std::string error(std::string_view text) {
  const auto edits = parse_edits(text, "edits");
  EXPECT_FALSE(edits) << text;
  return edits ? "" : edits.error().text();
}

TEST(EditLanguage, ReadsEditsInOrder) {
  const auto edits = read(
      "# faster\nscale class matrix_product rank 2 by 50%; capture\n\n"
      "set operator \"aten::add *\" to 20us # each\nlayers 40 to 48");
  ASSERT_EQ(edits.size(), 4u);
  EXPECT_EQ(edits[0].verb, &kScaleEdit);
  EXPECT_EQ(edits[0].where.kernel_class, "matrix_product");
  EXPECT_EQ(edits[0].where.rank, 2);
  EXPECT_EQ(edits[0].factor, 0.5);
  EXPECT_EQ(edits[1].verb, &kCaptureEdit);
  EXPECT_TRUE(edits[1].where.everything());
  EXPECT_EQ(edits[2].where.op, "aten::add *");
  EXPECT_DOUBLE_EQ(edits[2].time->value(), 20e-6);
  EXPECT_EQ(edits[3].verb, &kRepeatEdit);
  EXPECT_EQ(edits[3].from, 40);
  EXPECT_EQ(edits[3].count, 48);
  EXPECT_TRUE(read("\n # nothing\n;;").empty());
}

TEST(EditLanguage, WritesWhatItReads) {
  for (const char* text :
       {"bandwidth by 2 group 13", "latency to 5us", "latency by 0.5", "bucket 25MiB",
        "overlap collective allreduce", "even host", "dp 16",
        "dp 8 gradients 2GB link 50GB/s latency 5us", "pp 4", "pp 1 microbatches 3",
        "pp 8 schedule interleaved_1f1b chunks 2 send 1MB link 400Gb/s", "tp 4 group \"a b\"",
        "resize 4096 to 8192", "accelerator h100-sxm class attention", "price class matrix_product",
        "fuse kernel *elementwise* stream 7", "remove shape \"[[4, 8]*\""}) {
    const auto edits = read(text);
    ASSERT_EQ(edits.size(), 1u);
    EXPECT_EQ(read(to_text(edits[0])), edits) << to_text(edits[0]);
  }
}

TEST(EditLanguage, SaysWhatIsWrongWhereAndWhatWouldBeRight) {
  EXPECT_EQ(error("scle class copy by 2"),
            "edits:1:1: there is no edit 'scle' (did you mean 'scale'?)");
  EXPECT_EQ(error("even\nscale by 2"),
            "edits:2:10: 'scale' does not say what is meant (write: scale WHERE by FACTOR)");
  EXPECT_EQ(error("scale host"), "edits:1:7: 'by' is missing (write: scale WHERE by FACTOR)");
  EXPECT_EQ(error("scale host by -1"),
            "edits:1:15: '-1' is not a factor (a number from 0 to 1000000, as 0.5, or 50%)");
  EXPECT_EQ(error("scale class gem by 2"),
            "edits:1:13: there is no class 'gem' (known: matrix_product, attention, convolution, "
            "normalization, softmax, embedding, optimizer, reduction, elementwise, communication, "
            "copy, other)");
  EXPECT_EQ(
      error("latency"),
      "edits:1:1: one of 'by' and 'to' is needed (write: latency by FACTOR [WHERE], or latency "
      "to TIME [WHERE])");
  EXPECT_EQ(error("layers 40"), "edits:1:8: nothing follows '40' (write: layers N to N)");
  EXPECT_EQ(error("dp x"), "edits:1:4: 'x' is not a whole number from 1");
  EXPECT_EQ(error("remove kernel \"a"),
            "edits:1:15: a quotation does not end (write \" behind it, on the same line)");
  EXPECT_EQ(error("remove kernle a"),
            "edits:1:8: 'kernle' selects nothing (did you mean 'kernel'?)");
  EXPECT_EQ(error("accelerator a b"),
            "edits:1:15: 'b' selects nothing (known: kernel, class, operator, shape, collective, "
            "group, rank, stream, host)");
  EXPECT_EQ(error("bandwidth by 0"),
            "edits:1:14: the factor of a bandwidth must be greater than 0 (write: bandwidth by "
            "FACTOR [WHERE])");
  EXPECT_EQ(error("remove rank 1 rank 2"),
            "edits:1:20: 'rank' is said twice (write: remove WHERE)");
  EXPECT_EQ(error("pp 4 schedul 1f1b"),
            "edits:1:6: 'pp' has no 'schedul' (did you mean 'schedule'?)");
  EXPECT_EQ(error("pp 2000"), "edits:1:4: '2000' is not a whole number from 1 to 1024");
  EXPECT_THAT(error("even; pp 4 latency 5us"), testing::HasSubstr("'latency' needs 'link RATE'"));
  EXPECT_THAT(
      error("dp 4 rank 0 link 1GB/s"),
      testing::HasSubstr("'gradients' and 'link' are of reductions for the whole run: leave "
                         "WHERE out (write: dp N [WHERE], or dp N"));
  EXPECT_THAT(error("pp 4 link 0GB/s"),
              testing::HasSubstr("the rate of a link must be greater than 0"));
  EXPECT_EQ(error("bucket 0B"),
            "edits:1:8: the size of a bucket must be greater than 0 (write: bucket SIZE [WHERE])");
  std::string many;
  for (std::size_t i = 0; i <= kMostEdits; ++i) many += "even;";
  EXPECT_EQ(error(many), "edits: there are 1001 edits (at most 1000)");
}

// What a new verb must state to be read, written, listed and applied.
TEST(EditLanguage, HasATableOfVerbs) {
  std::set<std::string_view> verbs;
  for (const EditVerb* verb : edit_verbs()) {
    verbs.insert(verb->verb);
    EXPECT_EQ(verb->form.substr(0, verb->verb.size()), verb->verb);
    EXPECT_NE(verb->apply, nullptr) << verb->verb;
    EXPECT_EQ(verb->form.find("WHERE") != std::string_view::npos, verb->where != EditPart::no)
        << verb->form;
    for (const EditTerm& term : verb->terms) {
      EXPECT_NE(verb->form.find(term.word), std::string_view::npos) << verb->form;
    }
  }
  EXPECT_EQ(verbs.size(), edit_verbs().size());
}

TEST(EditLanguage, FitsPatterns) {
  EXPECT_TRUE(fits_pattern("ampere_sgemm_128x64", "*SGEMM*"));
  EXPECT_TRUE(fits_pattern("aten::mm", "aten::?m"));
  EXPECT_FALSE(fits_pattern("aten::bmm", "aten::?m"));
  EXPECT_TRUE(fits_pattern("", "*"));
  EXPECT_FALSE(fits_pattern("", "?"));
  EXPECT_TRUE(fits_pattern("aaab", "*a*b"));
  EXPECT_FALSE(fits_pattern("aaa", "a*b"));
}

}  // namespace
}  // namespace orrery
