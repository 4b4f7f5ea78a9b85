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

TEST(Catalog, LiesOverTheBuiltInOne) {
  const Scratch directory;
  directory.write("accelerators/mine.yaml", "base: h100-sxm\nmemory: {bandwidth: 6.7 TB/s}\n");
  directory.write("accelerators/a100-80gb-sxm.yaml",
                  "base: a100-80gb-sxm\nmemory: {bandwidth: 3 TB/s}\n");
  const auto catalog = Catalog::built_in_below(directory.path());
  ASSERT_TRUE(catalog) << catalog.error().text();
  EXPECT_EQ(catalog->kinds(), Catalog::built_in().kinds());
  EXPECT_EQ(catalog->names("accelerators").size(),
            Catalog::built_in().names("accelerators").size() + 1);
  EXPECT_THAT(catalog->overlaid_in_use(), IsEmpty());

  const auto built_in = Catalog::built_in().find("accelerators", "h100-sxm");
  const auto mine = catalog->find("accelerators", "mine");
  ASSERT_TRUE(mine) << mine.error().text();
  EXPECT_EQ(mine->root.find("name")->scalar_text(), "mine");
  EXPECT_EQ(mine->root.find("memory")->find("bandwidth")->scalar_text(), "6.7 TB/s");
  EXPECT_EQ(mine->root.find("memory")->find("capacity")->scalar_text(),
            built_in->root.find("memory")->find("capacity")->scalar_text());
  EXPECT_EQ(mine->root.find("base"), nullptr);
  // What the source of the base says is not said of the changed entry.
  EXPECT_EQ(mine->root.find("provenance")->find("source")->scalar_text(),
            "based on h100-sxm of the catalog");
  EXPECT_EQ(mine->root.find("aliases"), nullptr);

  const auto replaced = catalog->find("accelerators", "a100-80gb-sxm");
  ASSERT_TRUE(replaced) << replaced.error().text();
  EXPECT_EQ(replaced->root.find("memory")->find("bandwidth")->scalar_text(), "3 TB/s");

  ASSERT_EQ(catalog->overlaid().size(), 2U);
  ASSERT_EQ(catalog->overlaid_in_use().size(), 2U);
  EXPECT_EQ(catalog->overlaid()[0].name, "a100-80gb-sxm");
  EXPECT_TRUE(catalog->overlaid()[0].replaces);
  EXPECT_EQ(catalog->overlaid()[1].name, "mine");
  EXPECT_FALSE(catalog->overlaid()[1].replaces);
}

// The files of the repository over the catalog that was made of them change nothing.
TEST(Catalog, OfTheSameFilesIsTheBuiltInOne) {
  const auto catalog = Catalog::built_in_below(ORRERY_SOURCE_DIR "/catalog");
  ASSERT_TRUE(catalog) << catalog.error().text();
  EXPECT_THAT(catalog->overlaid(), IsEmpty());
  EXPECT_EQ(catalog->names("models"), Catalog::built_in().names("models"));
}

TEST(Catalog, RefusesBasesThatDoNotEnd) {
  const Scratch directory;
  directory.write("links/a.yaml", "base: b\n");
  directory.write("links/b.yaml", "base: a\n");
  directory.write("links/c.yaml", "base: c\n");
  directory.write("links/d.yaml", "base: no-such-link\n");
  directory.write("links/e.yaml", "base: [a]\n");
  const auto catalog = Catalog::built_in_below(directory.path());
  ASSERT_TRUE(catalog) << catalog.error().text();
  const auto refusal = [&](std::string_view name) {
    const auto found = catalog->find("links", name);
    return found ? "" : found.error().text();
  };
  EXPECT_THAT(refusal("a"), HasSubstr("more than 8 bases in a row"));
  EXPECT_THAT(refusal("c"), HasSubstr("'c' is based on itself"));
  EXPECT_THAT(refusal("d"), HasSubstr("d.yaml: line 1, base"));
  EXPECT_THAT(refusal("d"), HasSubstr("no 'no-such-link' among the links"));
  EXPECT_THAT(refusal("e"), HasSubstr("is not the name of an entry"));
}

TEST(Catalog, CostsNothingUntilAsked) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(Catalog::built_in().contains("accelerators", "h100-sxm"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 5e-3);
}

}  // namespace
}  // namespace orrery
