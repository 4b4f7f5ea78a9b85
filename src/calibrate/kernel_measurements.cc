#include "calibrate/kernel_measurements.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>
#include <utility>

namespace orrery {
namespace {

constexpr double kTokensOfFigures = 16384;  // batch x sequence in every bar of the figures
constexpr double kHiddenOfFigures = 2048;   // heads x head dimension

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t comma = line.find(','); comma != std::string_view::npos;
       comma = line.find(',')) {
    out.push_back(line.substr(0, comma));
    line.remove_prefix(comma + 1);
  }
  out.push_back(line);
  return out;
}

// One row with its header: cells by column name.
class Row {
 public:
  Row(const std::vector<std::string_view>& header, std::string_view line, std::string place)
      : header_(header), cells_(split(line)), place_(std::move(place)) {}

  [[nodiscard]] Result<std::string_view> text(std::string_view column) const {
    const auto it = std::find(header_.begin(), header_.end(), column);
    const auto i = static_cast<std::size_t>(it - header_.begin());
    if (i >= header_.size() || i >= cells_.size()) {
      return fail(ErrorCode::bad_input, "no column '" + std::string(column) + "'", place_);
    }
    return cells_[i];
  }
  [[nodiscard]] Result<double> number(std::string_view column) const {
    ORRERY_TRY(const std::string_view cell, text(column));
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0)) {
      return fail(ErrorCode::bad_input, "'" + std::string(cell) + "' is no positive number",
                  place_ + ": " + std::string(column));
    }
    return value;
  }

 private:
  const std::vector<std::string_view>& header_;
  std::vector<std::string_view> cells_;
  std::string place_;
};

// Calls `take` for every row.
Result<std::monostate> for_each_row(const std::string& path,
                                    const std::function<Result<std::monostate>(const Row&)>& take) {
  ORRERY_TRY(const std::string file, read_file(path));
  std::string_view rest = file;
  std::vector<std::string_view> header;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (header.empty()) {
      header = split(line);
    } else {
      ORRERY_TRY([[maybe_unused]] const auto ok,
                 take(Row(header, line, path + ":" + std::to_string(number))));
    }
  }
  return std::monostate{};
}

NumberFormat format_of(std::string_view dtype) {
  if (dtype == "fp8") return NumberFormat::fp8;
  if (dtype == "nvfp4") return NumberFormat::nvfp4;
  return NumberFormat::bf16;
}

}  // namespace

Result<std::vector<MeasuredGemm>> read_measured_gemms(const std::string& path) {
  std::vector<MeasuredGemm> out;
  ORRERY_TRY(
      [[maybe_unused]] const auto ok,
      for_each_row(path, [&](const Row& row) -> Result<std::monostate> {
        ORRERY_TRY(const auto accelerator, row.text("accelerator"));
        ORRERY_TRY(const auto dtype, row.text("dtype"));
        ORRERY_TRY(const double m, row.number("m"));
        ORRERY_TRY(const double n, row.number("n"));
        ORRERY_TRY(const double k, row.number("k"));
        ORRERY_TRY(const double us, row.number("latency_us"));
        out.push_back({std::string(accelerator), format_of(dtype), {m, n, k}, Seconds(us * 1e-6)});
        return std::monostate{};
      }));
  return out;
}

Result<std::vector<MeasuredAttention>> read_measured_prefill(const std::string& path) {
  std::vector<MeasuredAttention> out;
  ORRERY_TRY([[maybe_unused]] const auto ok,
             for_each_row(path, [&](const Row& row) -> Result<std::monostate> {
               ORRERY_TRY(const auto accelerator, row.text("accelerator"));
               ORRERY_TRY(const auto dtype, row.text("dtype"));
               if (dtype != "bf16") return std::monostate{};
               MeasuredAttention a;
               a.accelerator = accelerator;
               a.implementation = "trtllm";
               ORRERY_TRY(a.shape.batch, row.number("batch"));
               ORRERY_TRY(a.shape.queries, row.number("seq_len"));
               a.shape.keys = a.shape.queries;
               ORRERY_TRY(a.shape.heads, row.number("num_heads"));
               ORRERY_TRY(a.shape.kv_heads, row.number("num_kv_heads"));
               ORRERY_TRY(a.shape.query_key_dim, row.number("head_dim"));
               a.shape.value_dim = a.shape.query_key_dim;
               a.shape.causal = true;
               ORRERY_TRY(const double us, row.number("latency_us"));
               a.measured = Seconds(us * 1e-6);
               out.push_back(std::move(a));
               return std::monostate{};
             }));
  return out;
}

Result<std::vector<MeasuredAttention>> read_published_attention(const std::string& path) {
  struct Named {
    std::string_view name;
    AttentionKernel kernel;
  };
  static constexpr std::array<Named, 6> kKnown = {{
      {"pytorch", AttentionKernel::unfused},
      {"standard", AttentionKernel::unfused},
      {"flash-attention-1", AttentionKernel::flash_1},
      {"flash-attention-2", AttentionKernel::flash_2},
      {"flash-attention-3", AttentionKernel::flash_3},
      {"cudnn", AttentionKernel::library},
  }};
  std::vector<MeasuredAttention> out;
  ORRERY_TRY(
      [[maybe_unused]] const auto ok,
      for_each_row(path, [&](const Row& row) -> Result<std::monostate> {
        ORRERY_TRY(const auto implementation, row.text("implementation"));
        const auto known = std::find_if(kKnown.begin(), kKnown.end(),
                                        [&](const Named& n) { return n.name == implementation; });
        ORRERY_TRY(const auto dtype, row.text("dtype"));
        ORRERY_TRY(const auto cell, row.text("tflops"));
        if (known == kKnown.end() || dtype != "fp16/bf16" || cell.empty()) return std::monostate{};
        MeasuredAttention a;
        ORRERY_TRY(a.accelerator, row.text("accelerator"));
        a.implementation = implementation;
        a.kernel = known->kernel;
        ORRERY_TRY(const auto direction, row.text("direction"));
        ORRERY_TRY(const auto causal, row.text("causal"));
        ORRERY_TRY(const double d, row.number("head_dim"));
        ORRERY_TRY(const double s, row.number("seq_len"));
        ORRERY_TRY(const double tflops, row.number("tflops"));
        const bool both = direction == "fwd+bwd";
        a.direction = both ? MeasuredDirection::forward_and_backward : MeasuredDirection::forward;
        a.shape = {kTokensOfFigures / s, s, s, kHiddenOfFigures / d, kHiddenOfFigures / d, d, d, 0,
                   causal == "true"};
        const double flops = 4 * s * s * d * a.shape.heads * a.shape.batch *
                             (a.shape.causal ? 0.5 : 1.0) * (both ? 3.5 : 1.0);
        a.measured = Seconds(flops / (tflops * 1e12));
        out.push_back(std::move(a));
        return std::monostate{};
      }));
  return out;
}

Result<std::vector<MeasuredLayerOperation>> read_measured_layer_operations(
    const std::string& path) {
  std::vector<MeasuredLayerOperation> out;
  ORRERY_TRY([[maybe_unused]] const auto ok,
             for_each_row(path, [&](const Row& row) -> Result<std::monostate> {
               ORRERY_TRY(const auto accelerator, row.text("accelerator"));
               ORRERY_TRY(const auto operation, row.text("op"));
               ORRERY_TRY(const double tokens, row.number("num_tokens"));
               ORRERY_TRY(const double hidden, row.number("hidden"));
               ORRERY_TRY(const double ffn, row.number("ffn"));
               ORRERY_TRY(const double tp, row.number("tp"));
               double elements = 0;
               if (operation == "add") {
                 elements = 3 * hidden;  // two read, one written
               } else if (operation == "mlp-act") {
                 elements = 5 * ffn / tp;  // gate read and written, both read, product written
               } else {
                 return std::monostate{};
               }
               ORRERY_TRY(const double us, row.number("median_latency_us"));
               out.push_back({std::string(accelerator), std::string(operation),
                              Bytes(2 * elements * tokens), Seconds(us * 1e-6)});
               return std::monostate{};
             }));
  return out;
}

Seconds predict(const KernelModel& model, const MeasuredGemm& row) {
  const Seconds product = model.gemm(row.shape, row.format);
  if (row.format == NumberFormat::bf16) return product;
  const double read = row.shape.m * row.shape.k * 2;
  const double written = row.shape.m * row.shape.k * element_size(row.format).value();
  const Seconds scaling = model.memory_bound(Bytes(read + written));
  if (row.format == NumberFormat::nvfp4) return product + scaling;
  return product + model.memory_bound(Bytes(read)) + scaling;
}

Seconds predict(const KernelModel& model, const MeasuredAttention& row) {
  const Seconds forward =
      model.attention(row.shape, row.kernel, Direction::forward, NumberFormat::bf16);
  if (row.direction == MeasuredDirection::forward) return forward;
  return forward + model.attention(row.shape, row.kernel, Direction::backward, NumberFormat::bf16);
}

Seconds predict(const KernelModel& model, const MeasuredLayerOperation& row) {
  return model.memory_bound(row.moved);
}

}  // namespace orrery
