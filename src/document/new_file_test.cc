#include "document/new_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "document/value.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class NewFiles : public ::testing::Test {
 protected:
  NewFiles()
      : folder_(fs::temp_directory_path() / ("orrery-new-file-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~NewFiles() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  // Names of the folder, sorted.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      out.push_back(entry.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  fs::path folder_;
};

TEST_F(NewFiles, APipeIsWrittenStraightAndStaysAPipe) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  auto read = std::async(std::launch::async, [&] { return read_file(path("pipe")); });
  const auto written = write_file(path("pipe"), "all of it");
  EXPECT_TRUE(written) << written.error().text();
  EXPECT_EQ(read.get(), "all of it");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_THAT(names(), ::testing::ElementsAre("pipe"));
}

TEST_F(NewFiles, ALinkStaysAndWhatItPointsToIsReplaced) {
  fs::create_directory(path("there"));
  ASSERT_TRUE(write_file(path("there/target"), "before"));
  fs::create_symlink("there/target", path("link"));
  fs::create_symlink("link", path("link_to_link"));
  ASSERT_TRUE(write_file(path("link_to_link"), "after"));
  EXPECT_EQ(read_file(path("there/target")), "after");
  // One that points to nothing yet makes what it points to.
  fs::create_symlink("there/new", path("dangling"));
  ASSERT_TRUE(write_file(path("dangling"), "new"));
  EXPECT_EQ(read_file(path("there/new")), "new");
  for (const char* link : {"link", "link_to_link", "dangling"}) {
    EXPECT_TRUE(fs::is_symlink(path(link))) << link;
  }
  fs::create_symlink("circle", path("circle"));
  const auto circle = write_file(path("circle"), "x");
  ASSERT_FALSE(circle);
  EXPECT_THAT(circle.error().text(), HasSubstr("circle: cannot be written: Too many levels"));
  // A link to what is no file is followed too.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", path("to_pipe"));
  auto read = std::async(std::launch::async, [&] { return read_file(path("pipe")); });
  EXPECT_TRUE(write_file(path("to_pipe"), "through"));
  EXPECT_EQ(read.get(), "through");
  EXPECT_TRUE(fs::is_symlink(path("to_pipe")));
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(NewFiles, AnOpenFileOfTheProcessIsWrittenStraight) {
  const int descriptor = open(path("open").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  fs::create_symlink("/proc/self/fd/" + std::to_string(descriptor), path("output"));
  ASSERT_TRUE(write_file(path("output"), "text"));
  close(descriptor);
  EXPECT_TRUE(fs::is_symlink(path("output")));
  EXPECT_EQ(read_file(path("open")), "text");
}

TEST_F(NewFiles, FilesOfOthersAreLeftAlone) {
  ASSERT_TRUE(write_file(path("x.part"), "mine"));
  ASSERT_TRUE(write_file(path("x"), "whole"));
  EXPECT_EQ(read_file(path("x.part")), "mine");
  EXPECT_THAT(names(), ::testing::ElementsAre("x", "x.part"));
}

TEST_F(NewFiles, KeepsTheRightsOfWhatItReplaces) {
  ASSERT_TRUE(write_file(path("x"), "before"));
  fs::permissions(path("x"), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_file(path("x"), "after"));
  EXPECT_EQ(fs::status(path("x")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(NewFiles, TwoOfOneNameDoNotMix) {
  auto first = NewFile::create(path("x"));
  auto second = NewFile::create(path("x"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  first->append("first");
  second->append("second");
  EXPECT_TRUE(second->finish());
  EXPECT_TRUE(first->finish());
  EXPECT_EQ(read_file(path("x")), "first");
  EXPECT_THAT(names(), ::testing::ElementsAre("x"));
}

TEST_F(NewFiles, NothingStaysOfWhatIsNotFinished) {
  {
    auto file = NewFile::create(path("x"));
    ASSERT_TRUE(file);
    file->append("half");
    EXPECT_THAT(names(), ::testing::SizeIs(1));
  }
  EXPECT_THAT(names(), ::testing::IsEmpty());
  fs::create_directory(path("folder"));
  const auto folder = NewFile::create(path("folder"));
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().text(), HasSubstr("folder: cannot be written: Is a directory"));
  EXPECT_FALSE(NewFile::create(path("no/such/folder")));
}

TEST_F(NewFiles, AHandlerOfSignalsRemovesWhatStandsUnfinished) {
  ASSERT_TRUE(write_file(path("done"), "whole"));
  auto file = NewFile::create(path("x"));
  ASSERT_TRUE(file);
  file->append("half");
  remove_unfinished_files();
  EXPECT_THAT(names(), ::testing::ElementsAre("done"));
}

}  // namespace
}  // namespace orrery
