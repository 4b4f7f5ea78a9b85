// Parameter counts of every catalog model, from its operators, against an independent count of the
// same structures (testdata/README.md) and against what the authors state.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "document/fields.h"
#include "model/model.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

struct Expected {
  double parameters_e9 = 0;
  double active_parameters_e9 = 0;
};

std::map<std::string, Expected> expected_counts() {
  std::ifstream file(std::string(ORRERY_SOURCE_DIR) + "/src/model/testdata/parameters.csv");
  std::map<std::string, Expected> out;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string name, total, active;
    std::getline(cells, name, ',');
    std::getline(cells, total, ',');
    std::getline(cells, active, ',');
    out[name] = {std::stod(total), std::stod(active)};
  }
  return out;
}

std::vector<std::filesystem::path> catalog_files() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(ORRERY_SOURCE_DIR) + "/catalog/models")) {
    out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Architecture load(const std::filesystem::path& path) {
  const auto document = read_document(path.string());
  EXPECT_TRUE(document) << path;
  auto architecture = read<Architecture>(*document);
  EXPECT_TRUE(architecture) << architecture.error().text();
  return architecture.value_or(Architecture{});
}

TEST(CatalogModels, CountsAgreeWithAnIndependentCountToAllPrintedDigits) {
  const auto expected = expected_counts();
  const auto files = catalog_files();
  ASSERT_EQ(files.size(), 116u);
  ASSERT_EQ(expected.size(), files.size());
  for (const auto& path : files) {
    const Architecture a = load(path);
    SCOPED_TRACE(a.name);
    EXPECT_EQ(a.name, path.stem().string());
    const auto model = build_model(a);
    ASSERT_TRUE(model) << model.error().text();
    ASSERT_TRUE(expected.contains(a.name));
    EXPECT_EQ(std::round(parameters(*model) / 1e6),
              std::round(expected.at(a.name).parameters_e9 * 1e3));
    EXPECT_EQ(std::round(active_parameters(*model) / 1e6),
              std::round(expected.at(a.name).active_parameters_e9 * 1e3));
  }
}

TEST(CatalogModels, CountsAgreeWithThePublishedOnesWithinThreePercent) {
  int within = 0;
  for (const auto& path : catalog_files()) {
    const Architecture a = load(path);
    const auto model = build_model(a);
    ASSERT_TRUE(model) << model.error().text();
    if (std::abs(parameters(*model) / a.published_parameters - 1) <= 0.03) ++within;
  }
  // The others: towers or relative-position matrices that are not counted, rounded sizes.
  EXPECT_GE(within, 110);
}

TEST(CatalogModels, EveryEntryNamesItsSourceAndSurvivesWritingAndReading) {
  for (const auto& path : catalog_files()) {
    const Architecture a = load(path);
    SCOPED_TRACE(a.name);
    EXPECT_FALSE(a.provenance.source.empty());
    const auto document = parse_yaml(to_yaml(Codec<Architecture>::write(a)), a.name);
    ASSERT_TRUE(document) << document.error().text();
    const auto again = read<Architecture>(*document);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, a);
  }
}

}  // namespace
}  // namespace orrery
