#include "numerics/checkpoint_difference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>

#include "outcome/nearest_name.h"

namespace orrery {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18U;  // elements that are read at once
constexpr std::size_t kMostParts = 4;                  // threads of a tensor: 32 MiB of bins each
constexpr unsigned kRestBits = 12;                     // of fp32, beyond the 20 bits of its bin
constexpr std::size_t kPage = 256;                     // bins

// Bits whose order is that of the numbers.
std::uint32_t ordered(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return bits ^ ((bits >> 31U) != 0 ? 0xffffffffU : 0x80000000U);
}
double number_of(std::uint32_t key) {
  return std::bit_cast<float>(key ^ ((key >> 31U) != 0 ? 0x80000000U : 0xffffffffU));
}

// What is known of the values of both tensors in a bin.
struct Bin {
  std::array<std::uint64_t, 2> rest = {};  // sums of the low bits
  std::array<std::uint32_t, 2> count = {};
};

class Bins {
 public:
  void add(float a, float b) {
    of(a, 0);
    of(b, 1);
  }
  void add_all(const Bins& other) {
    for (std::size_t page = 0; page < used_.size(); ++page) {
      if (other.used_[page] == 0) continue;
      used_[page] = 1;
      for (std::size_t i = page * kPage; i < (page + 1) * kPage; ++i) {
        for (const std::size_t side : {0U, 1U}) {
          bins_[i].rest[side] += other.bins_[i].rest[side];
          bins_[i].count[side] += other.bins_[i].count[side];
        }
      }
    }
  }
  void clear() {
    for (std::size_t page = 0; page < used_.size(); ++page) {
      if (used_[page] != 0) {
        std::fill_n(bins_.begin() + static_cast<std::ptrdiff_t>(page * kPage), kPage, Bin());
      }
      used_[page] = 0;
    }
  }

  // Bounds of W1 of `n` pairs. `are_points`: all values of a bin are equal.
  [[nodiscard]] std::pair<double, double> wasserstein(double n, bool are_points) const {
    double least = 0;
    double most = 0;
    double ahead = 0;  // of the first tensor: values below that the second has not, and less if < 0
    std::optional<double> end;
    for (std::size_t page = 0; page < used_.size(); ++page) {
      if (used_[page] == 0) continue;
      for (std::size_t i = page * kPage; i < (page + 1) * kPage; ++i) {
        const Bin& bin = bins_[i];
        const auto a = static_cast<double>(bin.count[0]);
        const auto b = static_cast<double>(bin.count[1]);
        if (a + b == 0) continue;
        const auto key = static_cast<std::uint32_t>(i << kRestBits);
        // Within a bin numbers are evenly spaced.
        const double low = number_of(key);
        const double step = number_of(key + 1) - low;
        const double width = are_points ? 0 : step * (1U << kRestBits);
        const double at = are_points && low < 0 ? number_of(key | ((1U << kRestBits) - 1)) : low;
        if (end) {
          least += std::abs(ahead) * (at - *end);
          most += std::abs(ahead) * (at - *end);
        }
        end = at + width;
        if (!are_points) {
          const double to_end_a = a * width - step * static_cast<double>(bin.rest[0]);
          const double to_end_b = b * width - step * static_cast<double>(bin.rest[1]);
          const double flow = std::abs(ahead * width + to_end_a - to_end_b);
          least += flow;
          const bool one_sign = ahead >= b || ahead + a <= 0;
          const double possible =
              std::min(std::abs(ahead) * width + to_end_a + to_end_b,
                       width * std::max(std::abs(ahead + a), std::abs(ahead - b)));
          most += one_sign ? flow : std::max(flow, possible);
        }
        ahead += a - b;
      }
    }
    return {least / n, most / n};
  }

 private:
  void of(float x, std::size_t side) {
    const std::uint32_t key = ordered(x);
    Bin& bin = bins_[key >> kRestBits];
    ++bin.count[side];
    bin.rest[side] += key & ((1U << kRestBits) - 1);
    used_[(key >> kRestBits) / kPage] = 1;
  }
  std::vector<Bin> bins_ = std::vector<Bin>(std::size_t{1} << (32 - kRestBits));
  std::vector<std::uint8_t> used_ = std::vector<std::uint8_t>(bins_.size() / kPage);
};

// Of one chunk, so that sums are added in the order of the chunks.
struct ChunkSums {
  double differences = 0;
  double squares = 0;
  double largest = 0;  // may be above fp32
  std::int64_t bad_first = 0;
  std::int64_t bad_second = 0;
  std::int64_t pairs = 0;
};

ChunkSums count_chunk(std::span<const float> a, std::span<const float> b, Bins& bins) {
  ChunkSums out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool good_a = std::isfinite(a[i]);
    const bool good_b = std::isfinite(b[i]);
    if (!good_a || !good_b) {
      out.bad_first += good_a ? 0 : 1;
      out.bad_second += good_b ? 0 : 1;
      continue;
    }
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    out.differences += d;
    out.squares += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    out.largest = std::max(out.largest, d);
    ++out.pairs;
    bins.add(a[i], b[i]);
  }
  return out;
}

struct Files {
  TensorFile first;
  TensorFile second;
};

Result<TensorDifference> difference(const Files& files, const StoredTensor& a,
                                    const StoredTensor& b, std::vector<Bins>& bins) {
  const std::size_t chunks = (a.elements + kChunk - 1) / kChunk;
  std::vector<ChunkSums> sums(chunks);
  const std::size_t parts = std::min(bins.size(), std::max<std::size_t>(1, chunks));
  std::optional<Error> failure;
  std::mutex failing;
  parallel_for(parts, static_cast<int>(parts), [&](std::size_t part) {
    bins[part].clear();
    std::array<std::vector<std::byte>, 2> raw;
    std::array<std::vector<float>, 2> values;
    for (std::size_t c = chunks * part / parts; c < chunks * (part + 1) / parts; ++c) {
      const std::size_t n = std::min<std::size_t>(kChunk, a.elements - c * kChunk);
      for (const std::size_t side : {0U, 1U}) {
        const StoredTensor& t = side == 0 ? a : b;
        raw[side].resize(n * t.type->bytes);
        values[side].resize(n);
        const TensorFile& file = side == 0 ? files.first : files.second;
        if (auto read = file.read(t.offset + c * kChunk * t.type->bytes, raw[side]); !read) {
          const std::lock_guard lock(failing);
          failure = read.error();
          return;
        }
        widen(raw[side], *t.type, values[side]);
      }
      sums[c] = count_chunk(values[0], values[1], bins[part]);
    }
  });
  if (failure) return fail(*failure);
  TensorDifference out;
  out.name = a.name;
  out.type = a.type->name;
  out.elements = static_cast<std::int64_t>(a.elements);
  double pairs = 0;
  double largest = 0;
  for (const ChunkSums& s : sums) {
    out.mean += s.differences;
    out.rms += s.squares;
    largest = std::max(largest, s.largest);
    out.not_finite_first += s.bad_first;
    out.not_finite_second += s.bad_second;
    pairs += static_cast<double>(s.pairs);
  }
  if (pairs == 0) return out;
  out.largest = largest;
  out.mean /= pairs;
  out.rms = std::sqrt(out.rms / pairs);
  for (std::size_t part = 1; part < parts; ++part) bins[0].add_all(bins[part]);
  const bool are_points = a.type->bytes < 4 && b.type->bytes < 4;
  const auto [least, most] = bins[0].wasserstein(pairs, are_points);
  out.wasserstein_at_most = are_points ? most : std::min(most, out.mean);
  out.wasserstein = std::min(least, out.wasserstein_at_most);
  return out;
}

}  // namespace

Result<CheckpointDifference> checkpoint_difference(const std::string& first,
                                                   const std::string& second, int threads,
                                                   const Progressed& progressed) {
  ORRERY_TRY(TensorFile a, TensorFile::open(first));
  ORRERY_TRY(TensorFile b, TensorFile::open(second));
  const Files files{std::move(a), std::move(b)};
  std::map<std::string, const StoredTensor*> others;
  std::vector<std::string> names;
  for (const StoredTensor& t : files.second.tensors()) {
    others[t.name] = &t;
    names.push_back(t.name);
  }
  std::vector<std::pair<const StoredTensor*, const StoredTensor*>> pairs;
  CheckpointDifference out{first, second, {}, {}, {}};
  double total = 0;
  for (const StoredTensor& t : files.first.tensors()) {
    const auto other = others.find(t.name);
    if (other == others.end()) {
      return bad_input("has no tensor '" + t.name + "', and " + first + " has", second,
                       name_hint(t.name, names));
    }
    if (t.shape != other->second->shape) {
      return bad_input("has the shape " + shape_text(*other->second) + ", and in " + first +
                           " it has " + shape_text(t),
                       second + ": tensor '" + t.name + "'",
                       "compare checkpoints of one model, sharded alike");
    }
    if (t.type != other->second->type) {
      return bad_input("is stored as " + std::string(other->second->type->name) + ", and in " +
                           first + " as " + std::string(t.type->name),
                       second + ": tensor '" + t.name + "'", "convert one of them");
    }
    if (t.type->format && t.type->bytes <= 4) {
      pairs.emplace_back(&t, other->second);
      total += static_cast<double>(t.elements);
    } else {
      out.left_out.push_back(t.name + " (" + std::string(t.type->name) + ")");
    }
    others.erase(other);
  }
  if (!others.empty()) {
    return bad_input("has no tensor '" + others.begin()->first + "', and " + second + " has", first,
                     "compare checkpoints of one model");
  }
  std::vector<Bins> bins(std::min<std::size_t>(
      kMostParts, static_cast<std::size_t>(std::max(1, threads_to_use(threads)))));
  double squares = 0;
  double done = 0;
  for (const auto& [x, y] : pairs) {
    ORRERY_TRY(TensorDifference d, difference(files, *x, *y, bins));
    const auto n = static_cast<double>(x->elements);
    const double share = total > 0 ? n / total : 0;  // tensors may have no elements
    out.all.largest = std::max(out.all.largest, d.largest);
    out.all.mean += d.mean * share;
    out.all.wasserstein += d.wasserstein * share;
    out.all.wasserstein_at_most += d.wasserstein_at_most * share;
    out.all.elements += d.elements;
    out.all.not_finite_first += d.not_finite_first;
    out.all.not_finite_second += d.not_finite_second;
    squares += d.rms * d.rms * share;
    out.tensors.push_back(std::move(d));
    done += n;
    if (progressed) progressed(total > 0 ? done / total : 1);
  }
  out.all.rms = std::sqrt(squares);
  return out;
}

}  // namespace orrery
