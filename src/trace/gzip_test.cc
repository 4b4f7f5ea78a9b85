#include "trace/gzip.h"

#include <gmock/gmock.h>

#include "trace/byte_stream.h"

namespace orrery {
namespace {

std::string unpacked(std::string_view bytes) {
  auto stream = ByteStream::of(bytes, "test");
  std::string out;
  char piece[1000];
  while (true) {
    const auto got = stream->read(piece, sizeof piece);
    if (!got || *got == 0) return out;
    out.append(piece, *got);
  }
}

TEST(Gzip, GivesBackWhatWasPacked) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919 % 10'007) + ",";
  const std::string packed = gzip(text);
  EXPECT_LT(packed.size(), text.size() / 2);
  EXPECT_EQ(unpacked(packed), text);
  EXPECT_EQ(unpacked(gzip("")), "");
}

TEST(Gzip, IsTheSameEveryTime) { EXPECT_EQ(gzip("a trace"), gzip("a trace")); }

}  // namespace
}  // namespace orrery
