#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "document/value.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class File : public ::testing::Test {
 protected:
  File() : folder_(fs::temp_directory_path() / ("orrery-file-test-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~File() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

TEST_F(File, ReadsBackWhatItWrote) {
  const std::string text("a\0b\n", 4);
  ASSERT_TRUE(write_file(path("x"), text));
  EXPECT_EQ(read_file(path("x")), text);
  ASSERT_TRUE(write_file(path("x"), "shorter"));
  EXPECT_EQ(read_file(path("x")), "shorter");
  EXPECT_FALSE(fs::exists(path("x.part")));
}

TEST_F(File, RefusesInWords) {
  const auto absent = read_file(path("absent"));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
  EXPECT_THAT(absent.error().text(), HasSubstr("absent: cannot be read: No such file"));
  EXPECT_THAT(read_file(path("")).error().text(), HasSubstr("is a directory, not a file"));
  ASSERT_TRUE(write_file(path("large"), std::string(2u << 20, 'x')));
  EXPECT_THAT(read_file(path("large"), 1u << 20).error().text(), HasSubstr("larger than 1 MiB"));
  const auto nowhere = write_file(path("no/such/folder"), "x");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::io);
  EXPECT_THAT(nowhere.error().text(), HasSubstr("cannot be written"));
}

TEST_F(File, TheExtensionChoosesTheFormat) {
  ASSERT_TRUE(write_file(path("a.json"), "{\"a\": 1}"));
  ASSERT_TRUE(write_file(path("a.yaml"), "a: 1\n"));
  ASSERT_TRUE(write_file(path("bad.json"), "a: 1\n"));
  for (const char* name : {"a.json", "a.yaml"}) {
    const auto document = read_document(path(name));
    ASSERT_TRUE(document) << document.error().text();
    EXPECT_EQ(document->root.find("a")->scalar_text(), "1");
    EXPECT_EQ(document->name, path(name));
  }
  EXPECT_THAT(read_document(path("bad.json")).error().text(), HasSubstr("not valid JSON"));
}

TEST_F(File, PathsInADocumentAreSeenFromIt) {
  ASSERT_TRUE(write_file(path("fabric.yaml"), "name: fabric\n"));
  ASSERT_TRUE(write_file(path("lengths.csv"), "tokens\n512\n"));
  ASSERT_TRUE(write_file(path("jobs.yaml"),
                         "fabric: fabric.yaml:256\n"
                         "jobs:\n  - documents: {file: ./lengths.csv}\n"
                         "elsewhere: [/lengths.csv, absent/lengths.csv, fabric, '1/2']\n"
                         "nodes: 256\n"));
  const auto document = read_document(path("jobs.yaml"));
  ASSERT_TRUE(document) << document.error().text();
  const Value& root = document->root;
  EXPECT_EQ(root.find("fabric")->scalar_text(), path("fabric.yaml") + ":256");
  const Value& job = root.find("jobs")->items().front();
  EXPECT_EQ(job.find("documents")->find("file")->scalar_text(), path("lengths.csv"));
  EXPECT_EQ(job.find("documents")->line(), 3);
  // Absolute paths, those of nothing beside the document, and what is no path stay as written.
  std::vector<std::string> elsewhere;
  for (const Value& item : root.find("elsewhere")->items()) elsewhere.push_back(item.scalar_text());
  EXPECT_THAT(elsewhere,
              ::testing::ElementsAre("/lengths.csv", "absent/lengths.csv", "fabric", "1/2"));
  EXPECT_EQ(root.find("nodes")->kind(), Value::Kind::number);
}

}  // namespace
}  // namespace orrery
