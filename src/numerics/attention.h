// Attention computed in narrow formats: directly, and over tiles of keys as flash attention does.
//
//   golden    O = softmax(c Q K^T) V in double, c = 1 / sqrt(head size)
//   baseline  S = r(c q K^T);  P = r(exp(S - max S));  l = r(sum P);  O = r(r(P / l) V)
//   flash1    over tiles of keys (arXiv 2205.14135, algorithm 1), with statistics m and l:
//             m' = max(m, max S);  P = r(exp(S - max S));  a = r(exp(m - m'));  b = r(exp(max S - m'))
//             l' = r(a l + b sum P);  O' = r((r(l a) O + r(b PV)) / l')
//   flash2    m' = max(m, max S);  P = r(exp(S - m'));  l' = r(a l + sum P);  O' = r(r(a O) + PV), and
//             O / l at the end (arXiv 2307.08691, algorithm 1)
//
// r rounds to the format of what is computed: scores, probabilities, statistics (m, l, a, b),
// accumulator (O between tiles) and output have formats of their own. Products are summed in double
// and rounded once, as a tensor core with a wide accumulator does. Kernels keep scores, statistics
// and accumulator in fp32; the micro-benchmark of arXiv 2405.02803 narrows them all.
//
// The size of query tiles changes no rounding, because rows do not meet; only keys are tiled here.
// Left out: backward pass, dropout, masks other than causal, the order of sums within a product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/deviation.h"
#include "numerics/float_format.h"

namespace orrery {

enum class AttentionMethod { baseline, flash1, flash2 };
enum class TileOrder { forward, backward };

struct AttentionSizes {
  std::size_t queries = 1024;
  std::size_t keys = 1024;
  std::size_t head_size = 64;
  std::size_t query_heads = 1;
  std::size_t key_heads = 1;  // divides query_heads
  bool causal = false;        // query i of n sees the keys up to i + keys - n
};

// Row-major: [heads][positions][head size].
struct AttentionInputs {
  AttentionSizes shape;
  std::vector<double> q;
  std::vector<double> k;
  std::vector<double> v;
};

struct AttentionNumerics {
  AttentionMethod method = AttentionMethod::baseline;
  FloatFormat scores = kFp64;
  FloatFormat probabilities = kFp64;
  FloatFormat statistics = kFp64;
  FloatFormat accumulator = kFp64;
  FloatFormat output = kFp64;
  std::size_t tile = 128;  // keys
  TileOrder order = TileOrder::forward;
  // Baseline: divides P V by l instead of P, the order of operations of flash2.
  bool divides_last = false;
};

// Everything in one format.
AttentionNumerics all_in(const FloatFormat& format, AttentionMethod method, std::size_t tile);
// Probabilities and output in `format`, the rest in `wide`: what kernels do, with fp32.
AttentionNumerics kernel_numerics(const FloatFormat& format, const FloatFormat& wide,
                                  AttentionMethod method, std::size_t tile);

// O of each way to compute, [query heads][queries][head size].
std::vector<std::vector<double>> attention(const AttentionInputs& inputs,
                                           std::span<const AttentionNumerics> ways, int threads);

// Normal numbers of variance 1, rounded to `format`; those of q times `query_scale`.
AttentionInputs drawn_inputs(const AttentionSizes& shape, double query_scale,
                             const FloatFormat& format, std::uint64_t seed);

// Tiles that fit on-chip memory of `elements` numbers (arXiv 2205.14135, algorithm 1):
// ceil(M / 4d) keys and min(ceil(M / 4d), d) queries.
struct AttentionTiles {
  std::size_t keys;
  std::size_t queries;
};
AttentionTiles tiles_for(std::size_t elements, std::size_t head_size);

// What `orrery numerics attention` measures: baseline, flash1 and flash2 with everything in `format`,
// and flash2 with the wide formats, against the golden values of the same inputs.
struct AttentionQuestion {
  AttentionSizes shape;
  FloatFormat format = kBf16;
  FloatFormat statistics = kFloat32;  // of the kernel with wide formats, as is the accumulator
  FloatFormat accumulator = kFloat32;
  std::size_t tile = 128;
  TileOrder order = TileOrder::forward;
  double query_scale = 1;
  std::uint64_t seed = 1;
  int seeds = 3;
};
// `sweep`: "format=e8m4,bf16", "length=1Ki,2Ki", "tile=64,128", "head=64,128", "scale=1,4" or
// "order=forward,backward"; empty: nothing is swept. Errors: another axis, a bad value, more than
// kMostProducts multiplications or the memory of study_size.h.
Result<DeviationStudy> attention_study(const AttentionQuestion& question, std::string_view sweep,
                                       int threads);

// q, k and v of a safetensors file, [heads][positions][head size], k and v alike. Errors: the file's,
// and shapes that are none of attention.
Result<AttentionInputs> read_inputs(const std::string& file, bool causal);
// The same with these inputs, rounded to the format, instead of drawn ones. Error: kMostProducts.
Result<DeviationStudy> attention_study(const AttentionQuestion& question,
                                       const AttentionInputs& inputs, int threads);

inline constexpr double kMostProducts = 1e13;

}  // namespace orrery
