#include "catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace orrery {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

// A directory that is removed at the end.
class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / ("orrery-catalog-" + std::to_string(counter()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Scratch() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  static long counter() {
    static long next = std::chrono::steady_clock::now().time_since_epoch().count();
    return next++;
  }
  fs::path path_;
};

TEST(Catalog, BuiltInHoldsExactlyTheFilesOfTheRepository) {
  const auto disk = Catalog::from_directory(ORRERY_SOURCE_DIR "/catalog");
  ASSERT_TRUE(disk) << disk.error().text();
  const Catalog& built_in = Catalog::built_in();
  ASSERT_EQ(built_in.kinds(), disk->kinds());
  for (const std::string& kind : built_in.kinds()) {
    ASSERT_EQ(built_in.names(kind), disk->names(kind)) << kind;
    for (const std::string& name : built_in.names(kind)) {
      const auto a = built_in.find(kind, name);
      const auto b = disk->find(kind, name);
      ASSERT_TRUE(a) << a.error().text();
      ASSERT_TRUE(b) << b.error().text();
      EXPECT_EQ(to_json(a->root), to_json(b->root)) << kind << "/" << name;
      EXPECT_THAT(a->name, HasSubstr("catalog/" + kind + "/"));
    }
  }
}

TEST(Catalog, NamesOfFilesAreTheNamesInside) {
  const Catalog& catalog = Catalog::built_in();
  for (const char* kind : {"accelerators", "nodes", "fabrics", "clusters", "links", "prices"}) {
    EXPECT_THAT(catalog.names(kind), ::testing::Not(IsEmpty())) << kind;
    for (const std::string& name : catalog.names(kind)) {
      const auto document = catalog.find(kind, name);
      ASSERT_TRUE(document) << document.error().text();
      const Value* inside = document->root.find("name");
      ASSERT_NE(inside, nullptr) << kind << "/" << name;
      EXPECT_EQ(inside->scalar_text(), name);
    }
  }
}

TEST(Catalog, FindsByNameAliasAndOtherSpelling) {
  const Catalog& catalog = Catalog::built_in();
  const auto name_of = [&](const char* asked) {
    const auto document = catalog.find("accelerators", asked);
    return document ? document->root.find("name")->scalar_text() : document.error().text();
  };
  EXPECT_EQ(name_of("h100-sxm"), "h100-sxm");
  EXPECT_EQ(name_of("H100_SXM"), "h100-sxm");
  EXPECT_EQ(name_of("h100"), "h100-sxm");
  EXPECT_EQ(name_of("H100"), "h100-sxm");
}

TEST(Catalog, NoAliasBelongsToTwoEntriesOrHidesBehindAName) {
  const Catalog& catalog = Catalog::built_in();
  std::vector<std::string> seen = catalog.names("accelerators");
  for (const std::string& name : catalog.names("accelerators")) {
    const auto document = catalog.find("accelerators", name);
    ASSERT_TRUE(document);
    const Value* aliases = document->root.find("aliases");
    if (aliases == nullptr) continue;
    for (const Value& alias : aliases->items()) {
      EXPECT_THAT(seen, ::testing::Not(Contains(alias.scalar_text()))) << name;
      seen.push_back(alias.scalar_text());
    }
  }
}

TEST(Catalog, UnknownNamesSuggestTheNearest) {
  const Catalog& catalog = Catalog::built_in();
  const auto unknown = catalog.find("accelerators", "h10-sxm");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  EXPECT_THAT(unknown.error().text(), HasSubstr("h10-sxm"));
  EXPECT_THAT(unknown.error().text(), HasSubstr("did you mean 'h100-sxm'?"));

  const auto kind = catalog.find("acelerators", "h100-sxm");
  ASSERT_FALSE(kind);
  EXPECT_THAT(kind.error().text(), HasSubstr("did you mean 'accelerators'?"));

  EXPECT_FALSE(catalog.find("accelerators", ""));
  EXPECT_FALSE(catalog.find("accelerators", std::string(100000, 'h')));
  EXPECT_THAT(catalog.names("no such kind"), IsEmpty());
}

TEST(Catalog, ReadsADirectory) {
  const Scratch directory;
  directory.write("links/b.yaml", "name: b\naliases: [beta]\n");
  directory.write("links/nested/a.yaml", "name: a\n");
  directory.write("links/readme.md", "not an entry");
  directory.write("beside.yaml", "name: beside\n");
  auto catalog = Catalog::from_directory(directory.path());
  ASSERT_TRUE(catalog) << catalog.error().text();
  EXPECT_THAT(catalog->kinds(), ElementsAre("links"));
  EXPECT_THAT(catalog->names("links"), ElementsAre("a", "b"));
  EXPECT_TRUE(catalog->contains("links", "b"));
  EXPECT_FALSE(catalog->contains("links", "beta"));

  // The text outlives the catalog it was copied from.
  const Catalog copy = *catalog;
  catalog = fail(ErrorCode::io, "gone");
  const auto found = copy.find("links", "beta");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->root.find("name")->scalar_text(), "b");
}

TEST(Catalog, RefusesADirectoryWithTwoEntriesOfOneName) {
  const Scratch directory;
  directory.write("links/a.yaml", "name: a\n");
  directory.write("links/more/a.yaml", "name: a\n");
  const auto catalog = Catalog::from_directory(directory.path());
  ASSERT_FALSE(catalog);
  EXPECT_THAT(catalog.error().text(), HasSubstr("has the same name as"));
}

TEST(Catalog, SaysWhichEntryIsNotValid) {
  const Scratch directory;
  directory.write("links/a.yaml", "name: [a\n");
  const auto catalog = Catalog::from_directory(directory.path());
  ASSERT_TRUE(catalog);
  const auto found = catalog->find("links", "a");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text(), HasSubstr("links/a.yaml: line"));
}

TEST(Catalog, RefusesAFileInPlaceOfADirectory) {
  for (const char* path : {"/does/not/exist", ORRERY_SOURCE_DIR "/CMakeLists.txt"}) {
    const auto catalog = Catalog::from_directory(path);
    ASSERT_FALSE(catalog);
    EXPECT_THAT(catalog.error().text(), HasSubstr("is not a directory"));
  }
}

TEST(Catalog, CostsNothingUntilAsked) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(Catalog::built_in().contains("accelerators", "h100-sxm"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 5e-3);
}

}  // namespace
}  // namespace orrery
