// Habits of files that a machine can check (CONTRIBUTING.md): names, header guards, opening
// comments, length, and what library code never does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "layers/source_tree.h"

namespace orrery::layers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::filesystem::path kSourceRoot = ORRERY_SOURCE_DIR;

std::vector<SourceFile> code_of(const std::vector<std::string>& folders) {
  std::vector<SourceFile> out;
  for (const std::string& folder : folders) {
    for (SourceFile& file : source_files(kSourceRoot, folder, {".h", ".cc"})) {
      out.push_back(std::move(file));
    }
  }
  return out;
}

TEST(SourceTree, FindsIncludesWithTheirLine) {
  const auto found = includes("// a\n#include <vector>\n  #  include \"plan/plan.h\"  // why\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].path, "vector");
  EXPECT_FALSE(found[0].quoted);
  EXPECT_EQ(found[1].path, "plan/plan.h");
  EXPECT_TRUE(found[1].quoted);
  EXPECT_EQ(found[1].line, 3);
}

TEST(SourceTree, BlanksCommentsAndStrings) {
  EXPECT_EQ(without_comments_and_strings("a; // exit()\nb"), "a;          \nb");
  EXPECT_EQ(without_comments_and_strings("f(\"exit()\");"), "f(        );");
  EXPECT_EQ(without_comments_and_strings("x = '\"'; y"), "x =    ; y");
  EXPECT_EQ(without_comments_and_strings("1'000 + a"), "1'000 + a");
  EXPECT_EQ(without_comments_and_strings("/* a\nb */c"), "    \n    c");
  EXPECT_EQ(without_comments_and_strings("R\"(a\")\"; b"), "R      ; b");
}

TEST(FileHabits, NamesSayTheConcept) {
  static const std::set<std::string> kEmptyWords = {
      "util", "utils", "helper", "helpers", "common", "misc", "manager", "base", "managers"};
  for (const char* folder : {"src", "apps", "tests", "tools", "cmake"}) {
    for (const SourceFile& file : source_files(kSourceRoot, folder, {""})) {
      std::string words = file.path;
      std::replace_if(words.begin(), words.end(), [](char c) { return std::isalnum(c) == 0; }, ' ');
      std::istringstream stream(words);
      for (std::string word; stream >> word;) {
        EXPECT_FALSE(kEmptyWords.contains(word)) << file.path << ": '" << word << "' says nothing";
      }
      const std::string name = file.path.substr(file.path.rfind('/') + 1);
      if (name.ends_with(".cc") || name.ends_with(".h")) {
        EXPECT_TRUE(std::regex_match(name, std::regex("[a-z0-9_]+\\.(cc|h)"))) << file.path;
      }
    }
  }
}

TEST(FileHabits, HeadersOpenWithACommentAndPragmaOnce) {
  for (const SourceFile& file : code_of({"src", "apps", "tests"})) {
    if (!file.path.ends_with(".h")) continue;
    EXPECT_TRUE(file.text.starts_with("// ")) << file.path << ": the first line says what it is";
    EXPECT_NE(file.text.find("\n#pragma once\n"), std::string::npos) << file.path;
  }
}

TEST(FileHabits, FilesHoldOneConcept) {
  for (const SourceFile& file : code_of({"src", "apps", "tests"})) {
    EXPECT_LT(std::count(file.text.begin(), file.text.end(), '\n'), 600) << file.path;
  }
}

// Tests, benchmarks and fuzzers stand beside the code and may do what it may not.
bool is_library(const SourceFile& file) {
  static const std::regex kBeside(R"(_(test|benchmark|fuzz)(_\w+)?\.(cc|h)$)");
  return file.path.starts_with("src/") && !std::regex_search(file.path, kBeside);
}

TEST(FileHabits, TheLibraryDoesNotPrintExitOrReadTheEnvironment) {
  static const std::regex kNever(
      R"((^|[^\w.>])(std::|::)?(exit|abort|_Exit|quick_exit|printf|puts|putchar|getenv|srand|rand)\s*\()"
      R"(|\bstd::(cout|cerr|clog|random_device)\b|\b(stdout|stderr)\b)");
  for (const SourceFile& file : code_of({"src"})) {
    if (!is_library(file)) continue;
    for (const Include& include : includes(file.text)) {
      EXPECT_NE(include.path, "iostream") << file.path << ":" << include.line;
    }
    std::istringstream lines(without_comments_and_strings(file.text));
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      std::smatch match;
      EXPECT_FALSE(std::regex_search(line, match, kNever))
          << file.path << ":" << number << ": library code returns a Result instead of '"
          << match.str() << "'";
    }
  }
}

TEST(FileHabits, TheLibraryThrowsOnlyThroughInvariants) {
  // A parser's callback can leave its library's event loop in no other way. Memory that a C library
  // is refused ends the program as memory that `new` is refused does.
  const std::set<std::string> exempt = {"src/outcome/invariant.h", "src/document/yaml.cc"};
  static const std::regex kThrow(R"(\bthrow\b(?! std::bad_alloc\(\)))");
  for (const SourceFile& file : code_of({"src"})) {
    if (!is_library(file) || exempt.contains(file.path)) continue;
    std::istringstream lines(without_comments_and_strings(file.text));
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      EXPECT_FALSE(std::regex_search(line, kThrow)) << file.path << ":" << number;
    }
  }
}

TEST(FileHabits, NothingIsLeftForLater) {
  static const std::regex kLater(R"(\b(TODO|FIXME|XXX|GTEST_SKIP|DISABLED_\w+)\b)");
  for (const SourceFile& file : code_of({"src", "apps"})) {
    std::smatch match;
    EXPECT_FALSE(std::regex_search(file.text, match, kLater)) << file.path << ": " << match.str();
  }
}

TEST(FileHabits, EveryFuzzerNamesItsSeeds) {
  for (const SourceFile& file : code_of({"src", "apps"})) {
    if (!file.path.ends_with("_fuzz.cc")) continue;
    static const std::regex kSeeds(R"(^// seeds: (.+)$)", std::regex::multiline);
    std::smatch match;
    ASSERT_TRUE(std::regex_search(file.text, match, kSeeds))
        << file.path << ": add '// seeds: <file or folder> ...'";
    std::istringstream words(match[1]);
    for (std::string seed; words >> seed;) {
      EXPECT_TRUE(std::filesystem::exists(kSourceRoot / seed))
          << file.path << ": no such seed " << seed;
    }
  }
}

// A warning of the linter that is silenced has its reason; their number may only fall.
TEST(FileHabits, SuppressionsCarryAReasonAndAreFew) {
  constexpr int kMost = 6;
  static const std::regex kSuppressed(R"(NOLINT(NEXTLINE|BEGIN)?(?!END))");
  static const std::regex kReasoned(R"(NOLINT(NEXTLINE|BEGIN)?\([a-z*.,-]+\): \w)");
  int count = 0;
  for (const SourceFile& file : code_of({"src", "apps"})) {
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("NOLINT"
                    "END") != std::string::npos)
        continue;
      if (!std::regex_search(line, kSuppressed)) continue;
      ++count;
      EXPECT_TRUE(std::regex_search(line, kReasoned)) << file.path << ": " << line;
    }
  }
  EXPECT_LE(count, kMost);
}

}  // namespace
}  // namespace orrery::layers
