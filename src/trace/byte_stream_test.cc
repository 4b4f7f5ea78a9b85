#include "trace/byte_stream.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdio>
#include <future>

#include "document/input_memory.h"
#include "document/value.h"
#include "trace/gzip.h"

namespace orrery {
namespace {

std::string unpacked(std::string_view bytes) {
  auto stream = ByteStream::of(bytes, "test");
  auto rest = stream->rest();
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

// A pipe with a name, and somebody who writes into it.
class NamedPipe {
 public:
  NamedPipe(const std::string& name, std::string text) : file_(::testing::TempDir() + name) {
    std::remove(file_.c_str());
    EXPECT_EQ(mkfifo(file_.c_str(), 0600), 0);
    writer_ = std::async(std::launch::async, [file = file_, text = std::move(text)] {
      return write_file(file, text).has_value();
    });
  }
  ~NamedPipe() {
    EXPECT_TRUE(writer_.get());
    std::remove(file_.c_str());
  }
  NamedPipe(const NamedPipe&) = delete;
  NamedPipe& operator=(const NamedPipe&) = delete;
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::future<bool> writer_;
};

TEST(ByteStream, APipeThatWasLookedAtIsReadFromItsBeginningAndOnce) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + ",";
  const NamedPipe pipe("long.pipe", text);
  for (int look = 0; look < 2; ++look) {
    auto stream = ByteStream::open(pipe.file());
    std::string beginning(1000, ' ');
    ASSERT_EQ(stream->read(beginning.data(), beginning.size()), 1000u);
    EXPECT_EQ(beginning, text.substr(0, 1000));
    EXPECT_EQ(stream->file_size(), 0u);
  }
  {
    auto stream = ByteStream::open(pipe.file());
    EXPECT_EQ(ByteStream::open(pipe.file()).error().text(),
              pipe.file() +
                  ": is not a regular file and can be read only once (write it to a file "
                  "first)");
    EXPECT_TRUE(*stream->rest() == text);
    EXPECT_EQ(stream->taken(), text.size());
  }
  EXPECT_FALSE(ByteStream::open(pipe.file()));
}

TEST(ByteStream, AShortPipeIsHeldWhole) {
  const NamedPipe pipe("short.pipe", gzip("packed"));
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(*ByteStream::open(pipe.file())->rest(), "packed");
  }
}

TEST(ByteStream, RefusesToHoldWhatIsCutOrTooLong) {
  const std::string packed = gzip("a trace");
  EXPECT_EQ(unpacked(packed.substr(0, packed.size() - 4)),
            "test: byte " + std::to_string(packed.size() - 4) + ": the gzip stream ends too early");
  const std::string zeros(std::size_t{3} << 20U, '\0');
  auto stream = ByteStream::of(zeros, "test");
  input_memory() = 1U << 20U;
  EXPECT_EQ(stream->rest().error().text(),
            "test: is larger than 2 MiB, unpacked (if you trust the file, raise the limit with "
            "--max-input 4MiB)");
  input_memory() = kDefaultInputMemory;
}

TEST(Gzip, IsTheSameEveryTime) { EXPECT_EQ(gzip("a trace"), gzip("a trace")); }

}  // namespace
}  // namespace orrery
