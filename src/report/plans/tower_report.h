// Which features share a tower, as text and as the JSON of `orrery tables --similarities`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/description.h"
#include "document/value.h"
#include "model/recommendation/recommender.h"
#include "model/recommendation/tower_partition.h"
#include "report/drawing/text_style.h"

namespace orrery {

struct ReportedTower {
  std::vector<std::int64_t> tables;   // from 0
  std::vector<std::string> features;  // their names in the file of similarities
  double look_ups = 0;                // of a sample
  Bytes size;                         // of the tables
  double width = 0;                   // elements that a sample leaves the tower with
};

struct ReportedTowers {
  std::string model;
  TowerStrategy strategy = TowerStrategy::coherent;
  std::optional<double> inside, across;  // as in TowerPartition
  double imbalance = 1;                  // look-ups of the busiest tower over the mean
  std::vector<ReportedTower> towers;
};

// Errors: another number of features than tables; those of partition_towers.
Result<ReportedTowers> reported_towers(const Recommender& recommender,
                                       const Similarities& similarities, std::int64_t towers,
                                       TowerStrategy strategy);
std::string towers_text(const ReportedTowers& towers, const TextStyle& style);
Value towers_json(const ReportedTowers& towers);
const Description& towers_document();

}  // namespace orrery
