#include "network/msccl.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "document/value.h"
#include "network/algorithms.h"
#include "network/network.h"
#include "network/program_run.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

std::string seed(const char* name) {
  return *read_file(std::string(ORRERY_SOURCE_DIR "/tests/seeds/msccl/") + name);
}
std::string error_of(const std::string& text) {
  const auto program = read_msccl(text, "a.xml");
  return program ? "accepted" : program.error().text();
}
std::string with(std::string text, const std::string& old, const std::string& now) {
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), now);
}

// Seconds on GPUs of one switch.
double seconds(const Program& program, Bytes payload) {
  Cluster cluster = *parse_cluster("h100-sxm:8", Catalog::built_in());
  const auto network = network_of(*part_of(cluster, program.ranks));
  std::vector<std::vector<std::uint32_t>> placement(1);
  placement[0].resize(program.ranks);
  std::iota(placement[0].begin(), placement[0].end(), 0U);
  return run(program, payload, *network, placement, Routing::spray)->time.value();
}

TEST(Msccl, RingSendsAsManyBytesAsOurRing) {
  const auto program = read_msccl(seed("allgather_ring_4.xml"), "a.xml");
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(program->kind, CollectiveKind::all_gather);
  EXPECT_EQ(program->ranks, 4U);
  std::uint32_t chunks = 0;
  for (const Round& round : program->rounds) {
    for (const Send& send : round.sends) chunks += send.count;
  }
  EXPECT_EQ(chunks, 4U * 3U);
  // On one switch every message waits for the one that brought its data: (P - 1) (a + n / (P b)).
  const auto ours = program_of(ProgramAlgorithm::ring, CollectiveKind::all_gather, {{4}});
  EXPECT_NEAR(seconds(*program, Bytes(1 << 26)) / seconds(*ours, Bytes(1 << 26)), 1, 1e-6);
}

TEST(Msccl, AllPairsTakesTwoRounds) {
  const auto program = read_msccl(seed("allreduce_allpairs_4.xml"), "a.xml");
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(program->kind, CollectiveKind::all_reduce);
  // Everything goes out at once, twice: 2 (a + (P - 1)/P n / b).
  const double once = seconds(
      *program_of(ProgramAlgorithm::direct, CollectiveKind::all_to_all, {{4}}), Bytes(1 << 26));
  EXPECT_NEAR(seconds(*program, Bytes(1 << 26)) / (2 * once), 1, 1e-6);
}

TEST(Msccl, RefusesWhatIsNotTheCollective) {
  const std::string gather = seed("allgather_ring_4.xml");
  const std::string pairs = seed("allreduce_allpairs_4.xml");
  // A GPU that never gets the last part.
  EXPECT_THAT(
      error_of(with(gather, "type=\"r\" srcbuf=\"o\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"1\"",
                    "type=\"r\" srcbuf=\"o\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\"")),
      HasSubstr("does not compute an all-gather: GPU 0 ends without all of chunk"));
  EXPECT_THAT(error_of(with(pairs, "type=\"re\"", "type=\"nop\"")),
              HasSubstr("without all of chunk"));
  EXPECT_THAT(error_of(with(pairs, "srcbuf=\"s\" srcoff=\"0\"", "srcbuf=\"i\" srcoff=\"1\"")),
              HasSubstr("adds chunk 1 of the data to chunk 0"));
  EXPECT_THAT(error_of(with(gather, "type=\"rcs\"", "type=\"r\"")),
              HasSubstr("waits for ever: GPU"));
  EXPECT_THAT(error_of(with(gather, "srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\"",
                            "srcoff=\"7\" dstbuf=\"o\" dstoff=\"0\"")),
              HasSubstr("GPU 0 has no chunk 7 of buffer i"));
  EXPECT_THAT(error_of(with(pairs, "srcbuf=\"s\" srcoff=\"0\"", "srcbuf=\"s\" srcoff=\"2\"")),
              HasSubstr("which nothing wrote"));
}

TEST(Msccl, RefusesWhatIsNoAlgorithmFile) {
  const std::string gather = seed("allgather_ring_4.xml");
  EXPECT_THAT(error_of("<algo"), HasSubstr("a.xml:1: is no XML"));
  EXPECT_THAT(error_of("<!DOCTYPE x [<!ENTITY a \"b\">]><algo/>"), HasSubstr("a document type"));
  EXPECT_THAT(error_of("<gpu/>"), HasSubstr("an element <gpu> at depth 0"));
  EXPECT_THAT(
      error_of(with(gather, "coll=\"allgather\"", "coll=\"custom\"")),
      HasSubstr("the collective 'custom' (allreduce, allgather, reduce_scatter or alltoall)"));
  EXPECT_THAT(error_of(with(gather, "ngpus=\"4\"", "ngpus=\"4000\"")),
              HasSubstr("ngpus=\"4000\" (a whole number from 2 to 256)"));
  EXPECT_THAT(error_of(with(gather, "ngpus=\"4\"", "ngpus=\"2\"")),
              HasSubstr("recv=\"3\" (a whole number from -1 to 1)"));
  EXPECT_THAT(error_of(with(gather, "type=\"s\"", "type=\"put\"")), HasSubstr("a.xml:4: type"));
  EXPECT_THAT(error_of(with(gather, "depid=\"-1\" deps=\"-1\"", "depid=\"3\" deps=\"0\"")),
              HasSubstr("waits for step 0 of block 3, which its GPU does not have"));
  EXPECT_THAT(error_of(with(gather, "cnt=\"1\"", "cnt=\"99999999999999999999\"")),
              HasSubstr("a whole number from 0 to 65536"));
  EXPECT_THAT(error_of("<algo name=\"x\" coll=\"allgather\" ngpus=\"2\" nchunksperloop=\"2\"/>"),
              HasSubstr("has 0 of 2 GPUs"));
}

TEST(Msccl, RefusesWhatWouldExhaustMemory) {
  std::string text =
      "<algo coll=\"allreduce\" ngpus=\"2\" nchunksperloop=\"65536\" inplace=\"1\"><gpu id=\"0\" "
      "i_chunks=\"65536\" o_chunks=\"0\" s_chunks=\"0\"><tb id=\"0\" send=\"1\" recv=\"-1\" "
      "chan=\"0\">";
  for (int s = 0; s < 80; ++s) {
    text += fmt::format(
        "<step s=\"{}\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" "
        "dstoff=\"0\" cnt=\"65536\"/>",
        s);
  }
  text += "</tb></gpu><gpu id=\"1\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\"/></algo>";
  EXPECT_THAT(error_of(text), HasSubstr("moves too many chunks"));
}

// A block with one step that does nothing but wait for the first of another; -1: for none.
std::string idle_block(int id, int waits_for) {
  return fmt::format(
      "<tb id=\"{}\" send=\"-1\" recv=\"-1\" chan=\"0\"><step s=\"0\" type=\"nop\" srcbuf=\"i\" "
      "srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"0\" depid=\"{}\" deps=\"{}\"/></tb>",
      id, waits_for, waits_for < 0 ? -1 : 0);
}

// Each block waits for the one behind it: looking at all of them again after each would take minutes.
TEST(Msccl, ALongChainOfBlocksIsRunOnce) {
  std::string text =
      "<algo coll=\"allreduce\" ngpus=\"2\" nchunksperloop=\"1\"><gpu id=\"0\" i_chunks=\"1\" "
      "o_chunks=\"1\" s_chunks=\"0\">";
  constexpr int kBlocks = 65'536;
  for (int b = 0; b < kBlocks; ++b) text += idle_block(b, b + 1 < kBlocks ? b + 1 : -1);
  const std::string end =
      "</gpu><gpu id=\"1\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\"/></algo>";
  EXPECT_THAT(error_of(text + end), HasSubstr("does not compute an all-reduce"));
  EXPECT_THAT(error_of(text + idle_block(kBlocks, -1) + end),
              HasSubstr("more than 65536 thread blocks (fewer blocks in each <gpu>)"));
}

// A receive counts when it is done, however long it waits.
TEST(Msccl, WaitingForALargeMessageIsNoWork) {
  const auto step = [](int s, const char* type, const char* from, const char* to, int target,
                       int waits_for = -1) {
    return fmt::format(
        "<step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"0\" dstbuf=\"{}\" dstoff=\"{}\" "
        "cnt=\"{}\" depid=\"{}\" deps=\"{}\"/>",
        s, type, from, to, target, *type == 'n' ? 0 : 32768, waits_for, waits_for < 0 ? -1 : 0);
  };
  const auto gpu = [&](int id, const std::string& steps, const std::string& others) {
    return fmt::format(
        "<gpu id=\"{0}\" i_chunks=\"32768\" o_chunks=\"65536\" s_chunks=\"0\"><tb id=\"0\" "
        "send=\"{1}\" recv=\"{1}\" chan=\"0\">{2}</tb>{3}</gpu>",
        id, 1 - id, steps, others);
  };
  std::string chain;
  constexpr int kBlocks = 300;
  for (int b = 1; b < kBlocks; ++b) chain += idle_block(b, b + 1 < kBlocks ? b + 1 : -1);
  const std::string text =
      "<algo coll=\"allgather\" ngpus=\"2\" nchunksperloop=\"65536\">" +
      gpu(0,
          step(0, "s", "i", "o", 0) + step(1, "r", "i", "o", 32768) + step(2, "cpy", "i", "o", 0),
          "") +
      gpu(1,
          step(0, "nop", "i", "o", 0, 1) + step(1, "s", "i", "o", 0) + step(2, "r", "i", "o", 0) +
              step(3, "cpy", "i", "o", 32768),
          chain) +
      "</algo>";
  EXPECT_EQ(error_of(text), "accepted");
}

// A collective by one program that this writes and one that a file describes cost the same data.
TEST(Msccl, ReadsEveryCollectiveInPlaceAndOutOfPlace) {
  // Two GPUs exchange what the other is to have.
  const auto file = [](const char* collective, int chunks, int in_place, const char* steps) {
    std::string out =
        fmt::format("<algo coll=\"{}\" ngpus=\"2\" nchunksperloop=\"{}\" inplace=\"{}\">",
                    collective, chunks, in_place);
    for (int g = 0; g < 2; ++g) {
      out += fmt::format(
          "<gpu id=\"{0}\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"0\"><tb id=\"0\" "
          "send=\"{1}\" recv=\"{1}\" chan=\"0\">",
          g, 1 - g);
      std::string own = steps;
      for (auto at = own.find('@'); at != std::string::npos; at = own.find('@')) {
        own.replace(at, 1, std::to_string(g));
      }
      for (auto at = own.find('#'); at != std::string::npos; at = own.find('#')) {
        own.replace(at, 1, std::to_string(1 - g));
      }
      out += own + "</tb></gpu>";
    }
    return out + "</algo>";
  };
  const auto step = [](int s, const char* type, const char* from, const char* off, const char* to,
                       const char* target) {
    return fmt::format(
        "<step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" "
        "dstoff=\"{}\" cnt=\"1\"/>",
        s, type, from, off, to, target);
  };
  EXPECT_EQ(error_of(file(
                "reduce_scatter", 2, 1,
                (step(0, "s", "i", "#", "i", "#") + step(1, "rrc", "i", "@", "i", "@")).c_str())),
            "accepted");
  EXPECT_EQ(error_of(file(
                "reduce_scatter", 2, 0,
                (step(0, "s", "i", "#", "i", "#") + step(1, "rrc", "i", "@", "o", "0")).c_str())),
            "accepted");
  EXPECT_EQ(error_of(file("alltoall", 2, 0,
                          (step(0, "s", "i", "#", "o", "@") + step(1, "r", "i", "#", "o", "#") +
                           step(2, "cpy", "i", "@", "o", "@"))
                              .c_str())),
            "accepted");
  EXPECT_THAT(error_of(file("alltoall", 2, 0,
                            (step(0, "s", "i", "@", "o", "@") + step(1, "r", "i", "#", "o", "#") +
                             step(2, "cpy", "i", "@", "o", "@"))
                                .c_str())),
              HasSubstr("does not compute an all-to-all"));
}

}  // namespace
}  // namespace orrery
