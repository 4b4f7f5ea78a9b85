#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "numerics/attention.h"
#include "numerics/study_size.h"
#include "numerics/sweep.h"
#include "numerics/tensor_file.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::size_t kMostPositions = std::size_t{1} << 20U;
constexpr std::size_t kMostHeadSize = 4096;

Result<AttentionQuestion> with(AttentionQuestion q, const std::string& axis,
                               const std::string& value) {
  if (axis == "format") {
    ORRERY_TRY(q.format, parse_float_format(value));
  } else if (axis == "length") {
    ORRERY_TRY(q.shape.keys, parse_size(value, 1, kMostPositions));
    q.shape.queries = q.shape.keys;
  } else if (axis == "tile") {
    ORRERY_TRY(q.tile, parse_size(value, 1, kMostPositions));
  } else if (axis == "head") {
    ORRERY_TRY(q.shape.head_size, parse_size(value, 1, kMostHeadSize));
  } else if (axis == "order") {
    ORRERY_TRY(q.order, parse_enum<TileOrder>(value));
  } else if (axis == "scale") {
    const auto scale = parsed_number<double>(value);
    if (!scale || !(*scale > 0) || !(*scale <= 1e6)) {
      return bad_input("'" + value + "' is not a number between 0 and 1e6");
    }
    q.query_scale = *scale;
  }
  return q;
}

Result<void> check_products(double products) {
  if (products <= kMostProducts) return {};
  return unsupported(
      fmt::format("{:.0e} multiplications are more than {:.0e}", products, kMostProducts), "",
      "choose a shorter length, fewer heads or fewer seeds");
}
// Inputs, what each way gives and the deviations of one of them, in double.
double bytes_of(const AttentionSizes& s) {
  constexpr double kWays = 5;
  const double queries = static_cast<double>(s.query_heads * s.head_size * s.queries);
  const double keys = static_cast<double>(s.key_heads * s.head_size) * static_cast<double>(s.keys);
  return 8 * (queries * (1 + kWays + 1) + 2 * keys);
}
// Of scores once and of values for each way.
double products_of(const AttentionSizes& s) {
  return static_cast<double>(s.query_heads * s.head_size) * static_cast<double>(s.queries) *
         static_cast<double>(s.keys) * 6;
}

std::vector<AttentionNumerics> ways_of(const AttentionQuestion& q) {
  AttentionNumerics kernel = kernel_numerics(q.format, kFloat32, AttentionMethod::flash2, q.tile);
  kernel.statistics = q.statistics;
  kernel.accumulator = q.accumulator;
  std::vector<AttentionNumerics> out = {all_in(kFp64, AttentionMethod::baseline, q.tile),
                                        all_in(q.format, AttentionMethod::baseline, q.tile),
                                        all_in(q.format, AttentionMethod::flash1, q.tile),
                                        all_in(q.format, AttentionMethod::flash2, q.tile), kernel};
  for (AttentionNumerics& way : out) way.order = q.order;
  return out;
}

constexpr std::array kWays = {"baseline", "flash1", "flash2", "flash2, as kernels"};

std::vector<Deviation> deviations(const AttentionQuestion& q, const AttentionInputs& inputs,
                                  int threads) {
  const std::vector<AttentionNumerics> ways = ways_of(q);
  const auto computed = attention(inputs, ways, threads);
  std::vector<Deviation> out;
  for (std::size_t w = 1; w < ways.size(); ++w) {
    out.push_back(deviation(computed[w], computed[0], q.format));
  }
  return out;
}

DeviationStudy study_of(const AttentionQuestion& question, const AttentionSizes& shape) {
  DeviationStudy out{
      "attention",
      {{"queries", std::to_string(shape.queries)},
       {"keys", std::to_string(shape.keys)},
       {"head size", std::to_string(shape.head_size)},
       {"heads", fmt::format("{} of queries, {} of keys", shape.query_heads, shape.key_heads)},
       {"mask", shape.causal ? "causal" : "none"},
       {"keys of a tile", std::to_string(question.tile)},
       {"format", to_text(question.format)}},
      "",
      question.format};
  out.remarks = {
      "baseline, flash1 and flash2 round every intermediate to the format: scores, probabilities, "
      "statistics, accumulator and output; inputs are rounded before",
      fmt::format("as kernels: scores in fp32, statistics in {}, accumulator in {}, probabilities "
                  "and output in the format",
                  to_text(question.statistics), to_text(question.accumulator)),
      "golden: the same inputs in double",
  };
  return out;
}

}  // namespace

Result<DeviationStudy> attention_study(const AttentionQuestion& question, std::string_view sweep,
                                       int threads) {
  ORRERY_TRY(const Sweep swept,
             parse_sweep(sweep, {"format", "length", "tile", "head", "scale", "order"}));
  std::vector<AttentionQuestion> questions;
  double products = 0;
  for (const std::string& value : swept.values) {
    ORRERY_TRY(const AttentionQuestion q, at("--sweep", with(question, swept.axis, value)));
    ORRERY_RETURN_IF_ERROR(check_bytes(bytes_of(q.shape)));
    products += products_of(q.shape) * q.seeds;
    questions.push_back(q);
  }
  ORRERY_RETURN_IF_ERROR(check_products(products));
  DeviationStudy out = study_of(question, question.shape);
  out.swept = swept.axis;
  out.settings.emplace_back("seeds", std::to_string(question.seeds));
  out.remarks.back() += "; figures are means over the seeds";
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const AttentionQuestion& q = questions[i];
    const auto means = mean_over_seeds(q.seed, q.seeds, [&](std::uint64_t seed) {
      return deviations(q, drawn_inputs(q.shape, q.query_scale, q.format, seed), threads);
    });
    for (std::size_t w = 0; w < kWays.size(); ++w) {
      out.rows.push_back({kWays[w], swept.values[i], means[w]});
    }
  }
  return out;
}

Result<AttentionInputs> read_inputs(const std::string& path, bool causal) {
  ORRERY_TRY(const TensorFile file, TensorFile::open(path));
  std::array<std::vector<double>, 3> values;
  std::array<std::vector<std::uint64_t>, 3> shapes;
  constexpr std::array kNames = {"q", "k", "v"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    ORRERY_TRY(const std::vector<float> tensor, read_tensor(file, kNames[i]));
    values[i].assign(tensor.begin(), tensor.end());
    const auto found = std::ranges::find(file.tensors(), kNames[i], &StoredTensor::name);
    shapes[i] = found->shape;
    if (shapes[i].size() != 3 || tensor.empty()) {
      return bad_input("has the shape " + shape_text(*found), path + ": tensor '" + kNames[i] + "'",
                       "write [heads, positions, head size]");
    }
  }
  const auto& [q, k, v] = shapes;
  if (k != v || q[2] != k[2] || q[0] % k[0] != 0 || (causal && q[1] > k[1])) {
    return bad_input("the shapes of q, k and v do not fit together", path,
                     "k and v have one shape, q the same head size and a multiple of their heads; "
                     "with a causal mask no more positions than k");
  }
  return AttentionInputs{{q[1], k[1], q[2], q[0], k[0], causal},
                         std::move(values[0]),
                         std::move(values[1]),
                         std::move(values[2])};
}

Result<DeviationStudy> attention_study(const AttentionQuestion& question,
                                       const AttentionInputs& inputs, int threads) {
  ORRERY_RETURN_IF_ERROR(check_bytes(bytes_of(inputs.shape)));
  ORRERY_RETURN_IF_ERROR(check_products(products_of(inputs.shape)));
  AttentionInputs narrow = inputs;
  for (std::vector<double>* x : {&narrow.q, &narrow.k, &narrow.v}) round_all(*x, question.format);
  DeviationStudy out = study_of(question, inputs.shape);
  const auto all = deviations(question, narrow, threads);
  for (std::size_t w = 0; w < kWays.size(); ++w) out.rows.push_back({kWays[w], "", all[w]});
  return out;
}

}  // namespace orrery
