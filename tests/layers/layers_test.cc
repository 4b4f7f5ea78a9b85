// The walls between the folders of src/ stand: tools/layers.txt against every #include and every
// CMakeLists.txt, and the drawing in ARCHITECTURE.md against tools/layers.txt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "layers/layer_rules.h"
#include "layers/source_tree.h"

namespace orrery::layers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

const std::filesystem::path kRoot = ORRERY_SOURCE_DIR;

LayerRules rules_of_repository() {
  return parse_layer_rules(read_text_file(kRoot / "tools/layers.txt"));
}

std::string folder_of(const std::string& path) { return path.substr(0, path.find('/')); }

TEST(LayerRules, AFolderUsesOnlyFoldersAboveIt) {
  EXPECT_THAT(parse_layer_rules("a:\nb: a\n").problems, IsEmpty());
  EXPECT_THAT(parse_layer_rules("a: b\nb: a\n").problems,
              ElementsAre("line 1: 'a' may use only folders above it, not 'b'"));
  EXPECT_THAT(parse_layer_rules("a: a\n").problems,
              ElementsAre("line 1: 'a' may use only folders above it, not 'a'"));
  EXPECT_THAT(parse_layer_rules("# note\na:\na:\n").problems,
              ElementsAre("line 3: 'a' stands twice"));
  EXPECT_THAT(parse_layer_rules("a\n").problems, ElementsAre("line 1: expected 'folder: folders'"));
}

TEST(LayerRules, TheDrawingLeavesOutWhatFollows) {
  const LayerRules rules = parse_layer_rules("a:\nb: a\nc: a b\nd: a\n");
  EXPECT_THAT(direct_edges(rules), ElementsAre(Pair("b", "a"), Pair("c", "b"), Pair("d", "a")));
  EXPECT_THAT(mermaid(rules), HasSubstr("  c --> b\n"));
}

TEST(Layers, TheFileIsSound) { EXPECT_THAT(rules_of_repository().problems, IsEmpty()); }

TEST(Layers, EveryFolderIsListedAndEveryListedFolderExists) {
  const LayerRules rules = rules_of_repository();
  std::set<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "src")) {
    if (entry.is_directory() && !std::filesystem::is_empty(entry)) {
      folders.insert(entry.path().filename().string());
    }
  }
  EXPECT_EQ(folders, std::set<std::string>(rules.order.begin(), rules.order.end()));
}

TEST(Layers, EveryIncludeIsAllowed) {
  const LayerRules rules = rules_of_repository();
  for (const SourceFile& file : source_files(kRoot, "src", {".h", ".cc"})) {
    const std::string folder = folder_of(file.path.substr(std::string("src/").size()));
    for (const Include& include : includes(file.text)) {
      if (!include.quoted) continue;
      const std::string used = folder_of(include.path);
      EXPECT_TRUE(rules.allowed.contains(used)) << file.path << ":" << include.line << ": \""
                                                << include.path << "\" is not a path from src/";
      if (used == folder || !rules.allowed.contains(folder)) continue;
      EXPECT_TRUE(rules.allowed.at(folder).contains(used))
          << file.path << ":" << include.line << ": " << folder << " may not include " << used
          << " (tools/layers.txt)";
    }
  }
}

TEST(Layers, EveryDependencyInCMakeIsAllowed) {
  static const std::regex kFolder(R"(orrery_folder\(\s*(\w+)([^)]*)\))");
  const LayerRules rules = rules_of_repository();
  for (const SourceFile& file : source_files(kRoot, "src", {"CMakeLists.txt"})) {
    for (std::sregex_iterator i(file.text.begin(), file.text.end(), kFolder), none; i != none;
         ++i) {
      const std::string folder = (*i)[1];
      ASSERT_TRUE(rules.allowed.contains(folder)) << file.path;
      std::istringstream words((*i)[2]);
      bool depends = false;
      for (std::string word; words >> word;) {
        if (word == "DEPENDS" || word == "LIBRARIES") {
          depends = word == "DEPENDS";
        } else if (depends) {
          EXPECT_TRUE(rules.allowed.at(folder).contains(word))
              << file.path << ": " << folder << " may not depend on " << word;
        }
      }
    }
  }
}

// A heavy or foreign header is known to the folder that wraps it, and to nobody else.
TEST(Layers, ThirdPartyHeadersStayInTheirFolder) {
  const std::map<std::string, std::set<std::string>> homes = {
      {"yaml-cpp/", {"src/document/"}},
      {"toml++/", {"src/document/"}},
      // The benchmark of the trace reader races it.
      {"rapidjson/", {"src/document/", "src/trace/kineto/kineto_benchmark.cc"}},
      {"simdjson", {"src/trace/"}},
      {"zlib", {"src/trace/"}},
      {"tl/", {"src/outcome/", "src/measured/expressible.h"}},
      {"CLI/", {"apps/"}},
      {"benchmark/", {"src/"}},
  };
  for (const char* folder : {"src", "apps"}) {
    for (const SourceFile& file : source_files(kRoot, folder, {".h", ".cc"})) {
      for (const Include& include : includes(file.text)) {
        for (const auto& [library, places] : homes) {
          if (!include.path.starts_with(library)) continue;
          const bool at_home = std::any_of(places.begin(), places.end(), [&](const std::string& p) {
            return file.path.starts_with(p);
          });
          EXPECT_TRUE(at_home) << file.path << ":" << include.line << ": <" << include.path
                               << "> is included elsewhere only";
        }
      }
    }
  }
}

// Two types of one name in two files are one type to the linker: inline members of either are used
// for both. So are two inline constants, whatever their types. Nothing else reports it, so names are
// counted here; unnamed namespaces may repeat them.
TEST(Layers, ATypeOrInlineConstantIsDefinedInOneFileOnly) {
  const std::regex opens(R"(^(?:inline )?namespace\s*([\w:]*)\s*\{.*)");
  const std::regex closes(R"(^\}\s*// namespace.*)");
  const std::regex defines(
      R"(^(?:template <.*> )?(?:struct|class|enum|enum class) (\w+)(?: final)?(?: : [^;]*)? \{.*)");
  const std::regex constant(R"(^inline constexpr [^=({;]* (k\w+)(?: =.*|\{.*))");
  std::map<std::string, std::set<std::string>> homes;
  for (const char* folder : {"src", "apps"}) {
    for (const SourceFile& file : source_files(kRoot, folder, {".h", ".cc"})) {
      std::vector<std::string> spaces;
      std::istringstream lines(file.text);
      for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_match(line, match, opens)) {
          spaces.push_back(match[1]);
        } else if (std::regex_match(line, closes)) {
          if (!spaces.empty()) spaces.pop_back();
        } else if (std::find(spaces.begin(), spaces.end(), "") == spaces.end() &&
                   (std::regex_match(line, match, defines) ||
                    std::regex_match(line, match, constant))) {
          std::string name;
          for (const std::string& space : spaces) name += space + "::";
          homes[name + match[1].str()].insert(file.path);
        }
      }
    }
  }
  EXPECT_GT(homes.size(), 500U);
  for (const auto& [name, files] : homes) {
    EXPECT_THAT(files, SizeIs(1)) << name << " is defined in several files";
  }
}

TEST(Architecture, DrawsTheLayersAsTheyAre) {
  const std::string drawing =
      std::string(kDrawingBegin) + mermaid(rules_of_repository()) + std::string(kDrawingEnd);
  EXPECT_THAT(read_text_file(kRoot / "ARCHITECTURE.md"), HasSubstr(drawing))
      << "run: build/release/bin/draw_layers ARCHITECTURE.md";
}

}  // namespace
}  // namespace orrery::layers
