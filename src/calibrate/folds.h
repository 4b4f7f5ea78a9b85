// Which rows are fitted and which are held out.
//
// A fold is chosen by a hash of a key, usually the shape of a measurement: rows with equal keys are
// always in the same fold, so that a shape measured twice, or on two accelerators, is never both
// fitted and judged. The hash is FNV-1a (64 bits) with the finaliser of splitmix64: the same on
// every machine and in every build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"

namespace orrery {

std::uint64_t stable_hash(std::string_view key);

// A fold in 0 .. folds - 1 for each key. Distinct keys, in the order of their hashes, are dealt to
// the folds in turn, so that folds differ by at most one distinct key, and none is empty unless
// there are fewer distinct keys than folds. Independent of the order of the rows. Precondition:
// folds >= 2.
std::vector<int> fold_of_each(std::span<const std::string> keys, int folds);

using RowIndices = std::vector<std::size_t>;

// Fits the rows `fitted` and returns predictions of the rows `held_out`, in their order.
using FitAndPredict = std::function<Result<std::vector<double>>(
    std::span<const std::size_t> fitted, std::span<const std::size_t> held_out)>;

// A prediction of every row by a fit that has not seen its fold. Folds without rows are skipped.
// Error: the first one of `fit_and_predict`.
Result<std::vector<double>> predict_held_out(std::span<const int> fold_of_row,
                                             const FitAndPredict& fit_and_predict);

}  // namespace orrery
