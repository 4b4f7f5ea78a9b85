#include "numerics/vector_codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace orrery {
namespace {

constexpr std::int32_t kException = std::numeric_limits<std::int32_t>::min();
constexpr double kMostCode = 1 << 30;
constexpr std::size_t kWindow = 1 << 16;       // rows
constexpr std::size_t kMostSymbols = 1 << 16;  // of the prefix code
constexpr int kLongestCode = 32;               // bits

// Bounds by class, the limits of the index, and how they begin.
constexpr double kTightBound = 0.01;
constexpr double kBaseBound = 0.03;
constexpr double kLooseBound = 0.05;
constexpr double kTightAbove = 0.2;
constexpr double kLooseBelow = 0.02;
constexpr double kEarlyFactor = 2;
constexpr std::int64_t kEarlyUntil = 65536;  // iteration

// ---- bytes ----

template <class T>
void put(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.append(bytes.data(), bytes.size());
}

class Bytewise {
 public:
  explicit Bytewise(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  bool get(T& value) {
    if (rest_.size() < sizeof(T)) return false;
    std::array<char, sizeof(T)> bytes{};
    rest_.copy(bytes.data(), bytes.size());
    std::memcpy(&value, bytes.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return true;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// What a stream begins with.
struct Header {
  std::uint32_t magic = 0x3156434F;  // "OCV1"
  std::uint32_t stage = 0;
  std::uint64_t elements = 0;
  std::uint64_t width = 0;
  double bound = 0;
  std::uint64_t exceptions = 0;
};

// ---- quantisation ----

struct Quantised {
  std::vector<std::int32_t> codes;
  std::vector<float> exceptions;
};

float dequantised(std::int32_t code, double bound) {
  return static_cast<float>(2 * bound * static_cast<double>(code));
}

Quantised quantised(std::span<const float> values, double bound) {
  Quantised out;
  out.codes.reserve(values.size());
  for (const float x : values) {
    const double scaled = std::round(static_cast<double>(x) / (2 * bound));
    if (std::abs(scaled) <= kMostCode) {
      const auto code = static_cast<std::int32_t>(scaled);
      const double error = static_cast<double>(x) - static_cast<double>(dequantised(code, bound));
      if (std::abs(error) <= bound) {
        out.codes.push_back(code);
        continue;
      }
    }
    out.codes.push_back(kException);
    out.exceptions.push_back(x);
  }
  return out;
}

// ---- repeated rows ----

using Codes = std::span<const std::int32_t>;

struct RowHash {
  std::size_t width;
  const std::int32_t* codes;
  std::size_t operator()(std::size_t row) const {
    return std::hash<std::string_view>{}(
        {reinterpret_cast<const char*>(codes + row * width), width * sizeof(std::int32_t)});
  }
};
struct RowsEqual {
  std::size_t width;
  const std::int32_t* codes;
  bool operator()(std::size_t a, std::size_t b) const {
    return std::memcmp(codes + a * width, codes + b * width, width * sizeof(std::int32_t)) == 0;
  }
};
template <class Mapped>
using MapOfRows = std::unordered_map<std::size_t, Mapped, RowHash, RowsEqual>;
template <class Mapped>
MapOfRows<Mapped> map_of_rows(Codes codes, std::size_t width) {
  return MapOfRows<Mapped>(codes.size() / width, RowHash{width, codes.data()},
                           RowsEqual{width, codes.data()});
}

// As few bytes as hold all codes; the least value of so many bytes stands for an exception.
int bytes_of_code(Codes codes) {
  std::int64_t most = 0;
  for (const std::int32_t c : codes) {
    if (c != kException) most = std::max(most, std::abs(static_cast<std::int64_t>(c)));
  }
  return most <= 127 ? 1 : most <= 32767 ? 2 : 4;
}
template <class T>
T narrow(std::int32_t code) {
  return code == kException ? std::numeric_limits<T>::min() : static_cast<T>(code);
}
template <class T>
std::int32_t widened(T code) {
  return code == std::numeric_limits<T>::min() ? kException : code;
}

void put_repeats(std::string& out, Codes codes, std::size_t width) {
  const int bytes = bytes_of_code(codes);
  put(out, static_cast<std::uint8_t>(bytes));
  auto last = map_of_rows<std::size_t>(codes, width);
  for (std::size_t row = 0; row * width < codes.size(); ++row) {
    const auto [at, first] = last.try_emplace(row, row);
    const std::size_t distance = row - at->second;
    at->second = row;
    if (!first && distance < kWindow) {
      put(out, static_cast<std::uint16_t>(distance));
      continue;
    }
    put(out, std::uint16_t{0});
    for (const std::int32_t c : codes.subspan(row * width, width)) {
      if (bytes == 1) put(out, narrow<std::int8_t>(c));
      if (bytes == 2) put(out, narrow<std::int16_t>(c));
      if (bytes == 4) put(out, c);
    }
  }
}

template <class T>
bool get_code(Bytewise& in, std::int32_t& code) {
  T narrow_code{};
  if (!in.get(narrow_code)) return false;
  code = widened(narrow_code);
  return true;
}

bool get_repeats(Bytewise& in, std::size_t elements, std::size_t width,
                 std::vector<std::int32_t>& codes) {
  std::uint8_t bytes = 0;
  if (!in.get(bytes) || (bytes != 1 && bytes != 2 && bytes != 4)) return false;
  while (codes.size() < elements) {
    std::uint16_t distance = 0;
    if (!in.get(distance)) return false;
    if (distance > 0) {
      const std::size_t back = distance * width;
      if (back > codes.size()) return false;
      const std::size_t from = codes.size() - back;
      for (std::size_t i = 0; i < width; ++i) codes.push_back(codes[from + i]);
      continue;
    }
    for (std::size_t i = 0; i < width; ++i) {
      std::int32_t code = 0;
      const bool read = bytes == 1   ? get_code<std::int8_t>(in, code)
                        : bytes == 2 ? get_code<std::int16_t>(in, code)
                                     : in.get(code);
      if (!read) return false;
      codes.push_back(code);
    }
  }
  return true;
}

// ---- prefix code ----

struct Symbol {
  std::int32_t code = 0;
  std::uint64_t count = 0;
  int bits = 0;
};

// Lengths of Huffman's code; counts are halved until none is longer than a word.
void set_lengths(std::vector<Symbol>& symbols) {
  if (symbols.size() == 1) symbols.front().bits = 1;
  std::vector<std::uint64_t> counts;
  for (const Symbol& s : symbols) counts.push_back(s.count);
  for (int longest = kLongestCode + 1; symbols.size() > 1 && longest > kLongestCode;) {
    std::vector<std::size_t> parent(2 * symbols.size() - 1);
    using Node = std::pair<std::uint64_t, std::size_t>;
    std::priority_queue<Node, std::vector<Node>, std::greater<>> least;
    for (std::size_t i = 0; i < counts.size(); ++i) least.emplace(counts[i], i);
    for (std::size_t next = symbols.size(); next < parent.size(); ++next) {
      std::uint64_t sum = 0;
      for (int i = 0; i < 2; ++i) {
        sum += least.top().first;
        parent[least.top().second] = next;
        least.pop();
      }
      least.emplace(sum, next);
    }
    std::vector<int> depth(parent.size());
    longest = 0;
    for (std::size_t i = parent.size() - 1; i-- > 0;) {
      depth[i] = depth[parent[i]] + 1;
      longest = std::max(longest, depth[i]);
    }
    for (std::size_t i = 0; i < symbols.size(); ++i) symbols[i].bits = depth[i];
    for (std::uint64_t& c : counts) c = c / 2 + 1;
  }
}

// The canonical code: of symbols in order of their length, then as they stand.
struct PrefixCode {
  std::array<std::uint64_t, kLongestCode + 2> first{};  // code of each length
  std::array<std::size_t, kLongestCode + 2> offset{};   // its symbol
  std::array<std::size_t, kLongestCode + 2> count{};

  // Error: lengths that are no prefix code.
  static std::optional<PrefixCode> of(std::span<const Symbol> symbols) {
    PrefixCode out;
    for (const Symbol& s : symbols) {
      if (s.bits < 1 || s.bits > kLongestCode) return std::nullopt;
      ++out.count[static_cast<std::size_t>(s.bits)];
    }
    std::uint64_t code = 0;
    std::size_t symbol = 0;
    for (std::size_t bits = 1; bits <= kLongestCode; ++bits) {
      code <<= 1U;
      out.first[bits] = code;
      out.offset[bits] = symbol;
      code += out.count[bits];
      symbol += out.count[bits];
      if (code > std::uint64_t{1} << bits) return std::nullopt;
    }
    return out;
  }
};

void put_huffman(std::string& out, std::span<std::int32_t> codes, Quantised& quantised_values,
                 double bound) {
  std::unordered_map<std::int32_t, std::uint64_t> counts;
  for (const std::int32_t c : codes) ++counts[c];
  std::vector<Symbol> symbols;
  for (const auto& [code, count] : counts) symbols.push_back({code, count, 0});
  const auto frequent = [](const Symbol& s) {
    return std::pair(s.code == kException ? 0 : ~s.count, s.code);
  };
  std::ranges::sort(symbols, std::less{}, frequent);
  if (symbols.size() > kMostSymbols) {
    // The rarest become exceptions, which are kept in the order of their elements.
    symbols.resize(kMostSymbols - 1);
    std::unordered_map<std::int32_t, bool> kept;
    for (const Symbol& s : symbols) kept.emplace(s.code, true);
    std::vector<float> exceptions;
    std::size_t next = 0;
    std::uint64_t dropped = 0;
    for (std::int32_t& c : codes) {
      if (c == kException) {
        exceptions.push_back(quantised_values.exceptions[next++]);
      } else if (!kept.contains(c)) {
        exceptions.push_back(dequantised(c, bound));
        c = kException;
        ++dropped;
      }
    }
    quantised_values.exceptions = std::move(exceptions);
    if (symbols.front().code == kException) {
      symbols.front().count += dropped;
    } else {
      symbols.push_back({kException, dropped, 0});
    }
  }
  set_lengths(symbols);
  std::ranges::stable_sort(symbols, std::less{}, &Symbol::bits);
  const PrefixCode prefix = *PrefixCode::of(symbols);
  put(out, static_cast<std::uint32_t>(symbols.size()));
  std::unordered_map<std::int32_t, std::pair<std::uint64_t, int>> words;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const auto bits = static_cast<std::size_t>(symbols[i].bits);
    put(out, symbols[i].code);
    put(out, static_cast<std::uint8_t>(bits));
    words[symbols[i].code] = {prefix.first[bits] + (i - prefix.offset[bits]), symbols[i].bits};
  }
  std::uint64_t held = 0;
  int bits = 0;
  for (const std::int32_t c : codes) {
    const auto& [word, length] = words.at(c);
    for (int i = length; i-- > 0;) {
      held = held << 1U | (word >> static_cast<unsigned>(i) & 1U);
      if (++bits == 64) {
        put(out, held);
        bits = 0;
      }
    }
  }
  if (bits > 0) put(out, held << static_cast<unsigned>(64 - bits));
}

bool get_huffman(Bytewise& in, std::size_t elements, std::vector<std::int32_t>& codes) {
  std::uint32_t count = 0;
  if (!in.get(count) || count > kMostSymbols || count == 0) return false;
  std::vector<Symbol> symbols(count);
  for (Symbol& s : symbols) {
    std::uint8_t bits = 0;
    if (!in.get(s.code) || !in.get(bits)) return false;
    s.bits = bits;
  }
  if (!std::ranges::is_sorted(symbols, std::less{}, &Symbol::bits)) return false;
  const auto prefix = PrefixCode::of(symbols);
  if (!prefix) return false;
  std::uint64_t held = 0;
  int left = 0;
  while (codes.size() < elements) {
    std::uint64_t word = 0;
    std::size_t bits = 0;
    do {
      if (left == 0) {
        if (!in.get(held)) return false;
        left = 64;
      }
      word = word << 1U | held >> 63U;
      held <<= 1U;
      --left;
      if (++bits > kLongestCode) return false;
    } while (word < prefix->first[bits] || word - prefix->first[bits] >= prefix->count[bits]);
    codes.push_back(symbols[prefix->offset[bits] + (word - prefix->first[bits])].code);
  }
  return true;
}

}  // namespace

std::string compressed_vectors(std::span<const float> values, std::size_t width, double bound,
                               LosslessStage stage) {
  Quantised q = quantised(values, bound);
  std::string body;
  if (!values.empty()) {
    if (stage == LosslessStage::repeats) put_repeats(body, q.codes, width);
    if (stage == LosslessStage::huffman) put_huffman(body, q.codes, q, bound);
  }
  std::string out;
  put(out, Header{.stage = static_cast<std::uint32_t>(stage),
                  .elements = values.size(),
                  .width = width,
                  .bound = bound,
                  .exceptions = q.exceptions.size()});
  for (const float x : q.exceptions) put(out, x);
  return out + body;
}

Result<std::vector<float>> decompressed_vectors(std::string_view bytes,
                                                std::uint64_t most_elements) {
  const Failure damaged = bad_input("these are no compressed vectors, or they are damaged");
  Bytewise in(bytes);
  Header h;
  if (!in.get(h) || h.magic != Header{}.magic || h.stage > 1 || !(h.bound > 0) || h.width == 0 ||
      h.width > kMostVectorElements || h.elements > kMostVectorElements ||
      h.elements % h.width != 0 || h.exceptions > h.elements ||
      h.exceptions > in.rest().size() / sizeof(float)) {
    return damaged;
  }
  std::vector<float> exceptions(h.exceptions);
  for (float& x : exceptions) in.get(x);
  // A row takes two bytes at least, the first one more than its width; a code takes one bit.
  const std::uint64_t left = in.rest().size();
  const std::uint64_t most = h.stage == 1 ? left * 8 : h.width < left ? left / 2 * h.width : 0;
  if (h.elements > most) return damaged;
  if (h.elements > most_elements) {
    return bad_input(
        fmt::format("these compressed vectors have {} elements where at most {} are "
                    "expected",
                    h.elements, most_elements));
  }
  std::vector<std::int32_t> codes;
  codes.reserve(h.elements);
  const bool read = h.elements == 0 || (h.stage == 0 ? get_repeats(in, h.elements, h.width, codes)
                                                     : get_huffman(in, h.elements, codes));
  if (!read || !in.rest().empty()) return damaged;
  std::vector<float> out;
  out.reserve(codes.size());
  std::size_t next = 0;
  for (const std::int32_t c : codes) {
    if (c == kException && next == exceptions.size()) return damaged;
    out.push_back(c == kException ? exceptions[next++] : dequantised(c, h.bound));
  }
  if (next != exceptions.size()) return damaged;
  return out;
}

double homogenization(std::span<const float> values, std::size_t width, double bound) {
  if (values.empty()) return 0;
  const auto distinct = [&](Codes codes) {
    auto rows = map_of_rows<char>(codes, width);
    for (std::size_t row = 0; row * width < codes.size(); ++row) rows.try_emplace(row, '\0');
    return static_cast<double>(rows.size());
  };
  std::vector<std::int32_t> before(values.size());
  std::ranges::transform(values, before.begin(),
                         [](float x) { return std::bit_cast<std::int32_t>(x); });
  return 1 - distinct(quantised(values, bound).codes) / distinct(before);
}

BoundClass bound_class(double index) {
  if (index > kTightAbove) return BoundClass::tight;
  return index < kLooseBelow ? BoundClass::loose : BoundClass::base;
}

double error_bound(BoundClass of_table, std::int64_t iteration) {
  const double bound = of_table == BoundClass::tight   ? kTightBound
                       : of_table == BoundClass::loose ? kLooseBound
                                                       : kBaseBound;
  if (iteration >= kEarlyUntil) return bound;
  const std::int64_t passed = iteration * kBoundSteps / kEarlyUntil;
  return bound * (kEarlyFactor - (kEarlyFactor - 1) * static_cast<double>(passed) / kBoundSteps);
}

double exchange_gain(double ratio, const VectorStudySettings& s) {
  const double sent = 1 / s.link.value();
  return sent / (1 / s.compress.value() + sent / ratio + 1 / s.decompress.value());
}

Result<VectorStudy> study_vectors(const TensorFile& file, const VectorStudySettings& settings) {
  VectorStudy out{settings, {}};
  for (const StoredTensor& t : file.tensors()) {
    if (t.shape.size() != 2 || t.elements == 0 || !t.type->format) continue;
    if (t.elements > kMostVectorElements) {
      return unsupported(
          fmt::format("table '{}' of {} elements is too large to compress", t.name, t.elements),
          file.path(),
          fmt::format("at most {} elements: state a file with some of its rows",
                      kMostVectorElements));
    }
    ORRERY_TRY(const std::vector<float> values, read_tensor(file, t.name));
    VectorRow row{.table = t.name, .rows = t.shape[0], .width = t.shape[1]};
    row.index = homogenization(values, row.width, kBaseBound);
    row.bound_class = bound_class(row.index);
    row.bound =
        settings.bound > 0 ? settings.bound : error_bound(row.bound_class, settings.iteration);
    for (const LosslessStage stage : {LosslessStage::repeats, LosslessStage::huffman}) {
      const std::string bytes = compressed_vectors(values, row.width, row.bound, stage);
      const double ratio =
          static_cast<double>(values.size() * sizeof(float)) / static_cast<double>(bytes.size());
      (stage == LosslessStage::repeats ? row.repeats_ratio : row.huffman_ratio) = ratio;
      ORRERY_TRY(const std::vector<float> again, decompressed_vectors(bytes, values.size()));
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) continue;
        row.worst_error = std::max(row.worst_error, std::abs(static_cast<double>(values[i]) -
                                                             static_cast<double>(again[i])));
      }
    }
    const bool huffman = row.huffman_ratio > row.repeats_ratio;
    row.stage = huffman ? LosslessStage::huffman : LosslessStage::repeats;
    row.gain = exchange_gain(huffman ? row.huffman_ratio : row.repeats_ratio, settings);
    out.rows.push_back(std::move(row));
  }
  if (out.rows.empty()) {
    return bad_input(file.path() + " has no matrix of floating-point numbers", "vectors",
                     "rows of embedding tables, as two-dimensional tensors");
  }
  return out;
}

}  // namespace orrery
