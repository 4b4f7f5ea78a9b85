#include "trace/kineto/kineto_text.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

// What a text holds, one letter a piece.
std::string pieces(const std::string& text, Incomplete incomplete = Incomplete::refuse) {
  auto stream = ByteStream::of(text, "text");
  KinetoText kineto(std::move(*stream), incomplete);
  std::string out;
  while (true) {
    const auto piece = kineto.next();
    if (!piece) return out + piece.error().text();
    switch (piece->kind) {
      case KinetoText::Kind::member:
        out += piece->key + "=" + std::string(piece->text) + ";";
        break;
      case KinetoText::Kind::begin_of_events:
        out += piece->key + "[";
        break;
      case KinetoText::Kind::event:
        out += std::string(piece->text) + ";";
        break;
      case KinetoText::Kind::end_of_events:
        out += "]";
        break;
      case KinetoText::Kind::end:
        return out + ".";
    }
  }
}

TEST(KinetoText, GivesMembersAndEvents) {
  EXPECT_EQ(
      pieces("\xef\xbb\xbf {\"a\": [1, 2],\n \"traceEvents\" : [ {\"x\": 1} , {} ], \"b\":nan}"),
      "a=[1, 2];traceEvents[{\"x\": 1};{};]b=nan;.");
  EXPECT_EQ(pieces("[{}, {}]"), "[{};{};].");
  EXPECT_EQ(pieces("{\"traceEvents\": []}"), "traceEvents[].");
}

TEST(KinetoText, EndsWhereATextIsCut) {
  const std::string cut = "{\"traceEvents\": [{}, {\"x\": ";
  EXPECT_EQ(pieces(cut, Incomplete::use_what_is_whole), "traceEvents[{};.");
  EXPECT_EQ(pieces(cut),
            "traceEvents[{};text: byte 27: the file ends in the middle of an event (a job that is "
            "killed leaves such files; --partial uses what is whole)");
  EXPECT_EQ(pieces("{\"a\": 1, \"b\"", Incomplete::use_what_is_whole),
            "a=1;text: byte 12: the file ends in the header");
}

TEST(KinetoText, GivesEventsThatAreLongerThanABlock) {
  const std::string longer = "{\"x\": \"" + std::string(3U << 20U, 'y') + "\"}";
  EXPECT_EQ(pieces("[" + longer + "," + longer + "]"), "[" + longer + ";" + longer + ";].");
}

}  // namespace
}  // namespace orrery
