#include "calibrate/folds.h"

#include <algorithm>
#include <map>

#include "outcome/invariant.h"

namespace orrery {

std::uint64_t stable_hash(std::string_view key) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31U);
}

std::vector<int> fold_of_each(std::span<const std::string> keys, int folds) {
  ORRERY_INVARIANT(folds >= 2);
  using Place = std::pair<std::uint64_t, std::string_view>;
  std::map<Place, int> fold;
  for (const std::string& key : keys) fold.emplace(Place(stable_hash(key), key), 0);
  int next = 0;
  for (auto& [key, number] : fold) number = next++ % folds;
  std::vector<int> out;
  out.reserve(keys.size());
  for (const std::string& key : keys) out.push_back(fold.at(Place(stable_hash(key), key)));
  return out;
}

Result<std::vector<double>> predict_held_out(std::span<const int> fold_of_row,
                                             const FitAndPredict& fit_and_predict) {
  std::vector<double> out(fold_of_row.size());
  const int folds = fold_of_row.empty() ? 0 : *std::ranges::max_element(fold_of_row) + 1;
  for (int fold = 0; fold < folds; ++fold) {
    RowIndices fitted;
    RowIndices held_out;
    for (std::size_t i = 0; i < fold_of_row.size(); ++i) {
      (fold_of_row[i] == fold ? held_out : fitted).push_back(i);
    }
    if (held_out.empty()) continue;
    ORRERY_TRY(const std::vector<double> predicted, fit_and_predict(fitted, held_out));
    ORRERY_INVARIANT(predicted.size() == held_out.size());
    for (std::size_t i = 0; i < held_out.size(); ++i) out[held_out[i]] = predicted[i];
  }
  return out;
}

}  // namespace orrery
