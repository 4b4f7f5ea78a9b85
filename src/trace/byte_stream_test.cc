#include "trace/byte_stream.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 30U;

std::string unpacked(std::string_view bytes) {
  auto stream = ByteStream::of(bytes, "test");
  auto rest = stream->rest(kMost);
  return rest ? *rest : rest.error().text();
}

TEST(Gzip, GivesBackWhatWasPacked) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919 % 10'007) + ",";
  const std::string packed = gzip(text);
  EXPECT_LT(packed.size(), text.size() / 2);
  EXPECT_EQ(unpacked(packed), text);
  EXPECT_EQ(unpacked(gzip("")), "");
}

TEST(Gzip, ReadsSeveralMembersAndPadding) {
  EXPECT_EQ(unpacked(gzip("one, ") + gzip("two") + std::string(512, '\0')), "one, two");
  EXPECT_EQ(unpacked(gzip("one") + "tail"),
            "test: byte 23: damaged gzip: something follows its end (gzip -t checks a file)");
}

TEST(ByteStream, RefusesToHoldWhatIsCutOrTooLong) {
  const std::string packed = gzip("a trace");
  EXPECT_EQ(unpacked(packed.substr(0, packed.size() - 4)),
            "test: byte " + std::to_string(packed.size() - 4) + ": the gzip stream ends too early");
  const std::string zeros = gzip(std::string(std::size_t{5} << 20U, '\0'));
  auto stream = ByteStream::of(zeros, "test");
  EXPECT_EQ(stream->rest(std::size_t{2} << 20U).error().text(),
            "test: is larger than 2 MiB, unpacked");
}

TEST(Gzip, IsTheSameEveryTime) { EXPECT_EQ(gzip("a trace"), gzip("a trace")); }

}  // namespace
}  // namespace orrery
