#include "golden/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace orrery::golden {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SandboxTest : public testing::Test {
 protected:
  SandboxTest() {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-root-XXXXXX").string();
    root_ = mkdtemp(name.data());
    std::filesystem::create_directories(root_ / "examples");
    std::ofstream(root_ / "examples/spec.yaml") << "model: a\n";
    std::filesystem::create_directories(root_ / "bin");
    std::ofstream(root_ / "bin/orrery") << "#!/bin/sh\necho \"$COLUMNS $NO_COLOR $*\"; exit 3\n";
    std::filesystem::permissions(root_ / "bin/orrery", std::filesystem::perms::all);
  }
  ~SandboxTest() override { std::filesystem::remove_all(root_); }
  SandboxTest(const SandboxTest&) = delete;
  SandboxTest& operator=(const SandboxTest&) = delete;

  std::filesystem::path root_;
};

TEST_F(SandboxTest, ShowsTheRepositoryAndTheBinary) {
  const Sandbox sandbox(root_, root_ / "bin");
  EXPECT_THAT(sandbox.run("cat examples/spec.yaml").printed, ElementsAre("model: a"));
  const Outcome outcome = sandbox.run("orrery search 'it''s'");
  EXPECT_THAT(outcome.printed, ElementsAre("100 1 search its"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(sandbox.run("build/release/bin/orrery").exit_code, 3);
}

TEST_F(SandboxTest, ErrorsAndOutputComeTogetherAndInputIsEmpty) {
  const Sandbox sandbox(root_, root_ / "bin");
  EXPECT_THAT(sandbox.run("echo a; echo b >&2; cat").printed, ElementsAre("a", "b"));
  EXPECT_THAT(sandbox.run("true").printed, IsEmpty());
}

TEST_F(SandboxTest, WhatIsWrittenVanishesWithIt) {
  std::filesystem::path folder;
  {
    const Sandbox sandbox(root_, root_ / "bin");
    folder = sandbox.folder();
    EXPECT_EQ(sandbox.run("echo 1 >report.html").exit_code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder / "report.html"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_FALSE(std::filesystem::exists(root_ / "report.html"));
  EXPECT_TRUE(std::filesystem::exists(root_ / "examples/spec.yaml"));
}

}  // namespace
}  // namespace orrery::golden
