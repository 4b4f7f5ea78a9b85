// Random numbers that are a pure function of seed, run, purpose and index, so that neither the number
// of threads nor what else a run draws changes them. The third failure of run 17 comes at the same
// quantile in every variant of a forecast (common random numbers).
//
//   u = (mix(key(seed, run) + (64 index + purpose) phi) / 2^64),   in (0, 1)
//
// SplitMix64 (Steele, Lea, Flood 2014: weyl increment phi, Stafford's mixing function 13), read as
// a counter-based generator. Left out: a proof that streams of different runs do not overlap; their
// starts are random among 2^64 points.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace orrery {

class RandomDraws {
 public:
  static constexpr std::uint64_t kPurposes = 64;

  RandomDraws(std::uint64_t seed, std::uint64_t run) : key_(mixed(mixed(seed) + run * kPhi)) {}

  // purpose < kPurposes
  [[nodiscard]] std::uint64_t bits(std::uint64_t purpose, std::uint64_t index) const {
    return mixed(key_ + (index * kPurposes + purpose + 1) * kPhi);
  }
  [[nodiscard]] double uniform(std::uint64_t purpose, std::uint64_t index) const {
    return (static_cast<double>(bits(purpose, index) >> 11) + 0.5) * 0x1p-53;
  }
  // Of mean 0 and variance 1, from the purposes `purpose` and `purpose + 1` (Box and Muller 1958).
  [[nodiscard]] double normal(std::uint64_t purpose, std::uint64_t index) const {
    return std::sqrt(-2 * std::log(uniform(purpose, index))) *
           std::cos(2 * std::numbers::pi * uniform(purpose + 1, index));
  }

 private:
  static constexpr std::uint64_t kPhi = 0x9e3779b97f4a7c15;
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t key_;
};

}  // namespace orrery
