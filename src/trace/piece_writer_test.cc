#include "trace/piece_writer.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "document/value.h"
#include "trace/byte_stream.h"
#include "trace/gzip.h"

namespace orrery {
namespace {

TEST(PieceWriter, WritesTheSameAsAtOnce) {
  const std::string folder = ::testing::TempDir();
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "line " + std::to_string(i * 7919 % 1001) + "\n";
  for (const char* name : {"pieces.json", "pieces.json.gz"}) {
    const std::string file = folder + name;
    {
      auto writer = PieceWriter::create(file);
      ASSERT_TRUE(writer) << writer.error().text();
      for (std::size_t at = 0; at < text.size(); at += 1237) {
        writer->append(std::string_view(text).substr(at, 1237));
      }
      ASSERT_TRUE(writer->finish());
    }
    const std::string expected = file.ends_with(".gz") ? gzip(text) : text;
    EXPECT_TRUE(*read_file(file) == expected) << name;

    std::filesystem::remove(file);
  }
}

TEST(PieceWriter, LeavesNothingOfAFileThatIsNotFinished) {
  const std::string file = ::testing::TempDir() + "unfinished.json";
  {
    auto writer = PieceWriter::create(file);
    ASSERT_TRUE(writer);
    writer->append("half");
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(file + ".part"));
  EXPECT_FALSE(PieceWriter::create("/nonexistent/x.json"));
}

}  // namespace
}  // namespace orrery
