// Error-bounded compression of the vectors of embedding tables, for the exchange of a recommendation
// model (arXiv 2407.04272, dual-level adaptive lossy compression).
//
//   quantise   code = round(x / (2 bound)), so that |x - 2 bound code| <= bound; an element for which
//              that fails in fp32 (not finite, or too large for its bound) is kept as it is
//   repeats    a row of codes that occurred among the 65536 rows before is a distance to it (the
//              vector-based LZ of the paper, derived from GPULZ); other rows are codes of one, two
//              or four bytes, as few as hold them all
//   huffman    a canonical prefix code over the codes of all rows; of more than 65536 different ones
//              the rarest are kept as exceptions
//
// Bounds, on two levels: by table, from how many vectors become equal when they are quantised,
//
//   index = 1 - distinct rows behind / distinct rows before,
//
// tight (0.01) above an index of 0.2, loose (0.05) below 0.02, else 0.03; and by iteration,
// twice as large at first, falling in equal steps to the table's at iteration 65536. Bounds, factor
// and iteration are those of the published artefact. The two limits of the index and the number of
// steps are ours: the source lists its tables, not the limits.
//
// What is worth it: bytes / link < bytes / compress + bytes / ratio / link + bytes / decompress
// means that vectors travel uncompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/tensor_file.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

enum class LosslessStage { repeats, huffman };

inline constexpr std::uint64_t kMostVectorElements = std::uint64_t{1} << 31U;

// `values`: whole rows of `width` elements, at most kMostVectorElements; `bound` > 0.
std::string compressed_vectors(std::span<const float> values, std::size_t width, double bound,
                               LosslessStage stage);
// The rows again, each element within the bound. A few bytes may stand for many rows: streams of more
// than `most_elements` are refused before memory is taken for them. Error: not what
// compressed_vectors wrote, to the last byte.
Result<std::vector<float>> decompressed_vectors(std::string_view bytes,
                                                std::uint64_t most_elements);

inline constexpr int kBoundSteps = 4;  // in which bounds fall to those of the tables
enum class BoundClass { tight, base, loose };
// 1 - distinct rows behind / distinct rows before quantisation.
double homogenization(std::span<const float> values, std::size_t width, double bound);
BoundClass bound_class(double index);
double error_bound(BoundClass of_table, std::int64_t iteration);

struct VectorStudySettings {
  double bound = 0;  // of every table; not greater than 0: by its class and the iteration
  std::int64_t iteration = 65536;
  BytesPerSecond link{25e9};
  BytesPerSecond compress{40e9};
  BytesPerSecond decompress{40e9};
};

// One table of a file.
struct VectorRow {
  std::string table;
  std::uint64_t rows = 0, width = 0;
  double index = 0;
  BoundClass bound_class = BoundClass::base;
  double bound = 0;
  double repeats_ratio = 0;  // bytes before over bytes behind
  double huffman_ratio = 0;
  double worst_error = 0;  // of both stages, the greatest of any finite element
  LosslessStage stage = LosslessStage::repeats;  // of the better ratio
  double gain = 1;  // time of the link over that of compressing, sending and decompressing
};

struct VectorStudy {
  VectorStudySettings settings;
  std::vector<VectorRow> rows;
};
// Every matrix of floating-point numbers in the file. Errors: io; none; one of more than
// kMostVectorElements.
Result<VectorStudy> study_vectors(const TensorFile& file, const VectorStudySettings& settings);

// Time of an exchange without over that with a codec of such a ratio.
double exchange_gain(double ratio, const VectorStudySettings& settings);

}  // namespace orrery
