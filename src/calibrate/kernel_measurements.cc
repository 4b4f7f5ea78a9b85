#include "calibrate/kernel_measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "calibrate/measurement_cells.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr double kTokensOfFigures = 16384;  // batch x sequence in every bar of the figures
constexpr double kHiddenOfFigures = 2048;   // heads x head dimension
constexpr Seconds kKernelLaunch(10e-6);     // generous: the shortest rows take 1 to 4 us

// Nothing for a format the model does not know as one of products.
std::optional<NumberFormat> format_of(std::string_view dtype) {
  if (dtype == "bf16") return NumberFormat::bf16;
  if (dtype == "fp16") return NumberFormat::fp16;
  if (dtype == "fp8") return NumberFormat::fp8;
  if (dtype == "mxfp8") return NumberFormat::mxfp8;
  if (dtype == "nvfp4") return NumberFormat::nvfp4;
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const Catalog& catalog) : catalog_(catalog) {}

  using ReadRow = void (Reader::*)(MeasurementCells& row, const Accelerator& accelerator);

  // How the rows of a table are read, by its columns; null if it is none of kernels.
  static ReadRow rows_of(const CommaSeparated& table) {
    struct Known {
      std::vector<std::string_view> columns;
      ReadRow read;
    };
    // What has more columns of the same names stands first.
    static const std::array kKnown = {
        Known{{"accelerator", "dtype", "m", "n", "k", "groups", "latency_us", "calls"},
              &Reader::read_recorded_product},
        Known{{"accelerator", "dtype", "kernel", "direction", "causal", "batch", "queries", "keys",
               "num_heads", "num_kv_heads", "head_dim", "value_dim", "latency_us", "calls"},
              &Reader::read_recorded_attention},
        Known{{"accelerator", "op", "bytes", "kernels", "latency_us", "calls"},
              &Reader::read_recorded_memory},
        Known{{"accelerator", "dtype", "m", "n", "k", "latency_us"}, &Reader::read_product},
        Known{{"accelerator", "dtype", "batch", "seq_len", "num_heads", "num_kv_heads", "head_dim",
               "latency_us"},
              &Reader::read_prefill},
        Known{{"accelerator", "direction", "dtype", "causal", "head_dim", "seq_len",
               "implementation", "tflops"},
              &Reader::read_figure},
        Known{{"accelerator", "hidden", "ffn", "tp", "num_tokens", "op", "median_latency_us"},
              &Reader::read_layer},
        Known{{"accelerator", "op", "shape", "efficiency", "peak_tflops"}, &Reader::read_operator}};
    const bool decodes = has_columns(table, std::array{std::string_view("context_len")});
    for (const Known& known : kKnown) {
      if (known.read == &Reader::read_prefill && decodes) continue;
      if (has_columns(table, known.columns)) return known.read;
    }
    return nullptr;
  }

  void read(const CommaSeparated& table) {
    const ReadRow read_row = rows_of(table);
    if (read_row == nullptr) return;
    table_ = table.name.substr(table.name.rfind('/') + 1);
    out_.rows += table.refused.size();
    for_each_record(std::span(&table, 1), out_.problems, [&](MeasurementCells row) {
      ++out_.rows;
      if (const Accelerator* accelerator = known(row)) (this->*read_row)(row, *accelerator);
    });
  }

  KernelMeasurements take() { return std::move(out_); }

 private:
  const Accelerator* known(MeasurementCells& row) {
    const std::string name(row.text("accelerator"));
    auto& slot = accelerators_[name];
    if (!slot) {
      auto loaded = load_accelerator(catalog_, name);
      slot = loaded ? std::optional<Accelerator>(std::move(*loaded)) : std::optional<Accelerator>();
      if (!slot) {
        row.complain(loaded.error().message +
                     (loaded.error().hint.empty() ? "" : " (" + loaded.error().hint + ")"));
        return nullptr;
      }
    }
    return &*slot;
  }

  // Complains of a rate above the peak (a wrong unit, or FLOPs counted otherwise), and of a time
  // far above what FLOPs and `moved`, each operand once, take at the peaks.
  static bool possible(MeasurementCells& row, const Accelerator& accelerator, NumberFormat format,
                       double flops, Seconds time, Bytes moved) {
    const std::optional<FlopsPerSecond> peak = accelerator.peak(format);
    if (!peak) {
      row.complain(fmt::format("{} has no {} peak", accelerator.name, name_of(format)));
      return false;
    }
    const double rate = flops / time.value();
    if (rate > peak->value() * 1.02) {
      row.complain(fmt::format("{:.4g} TFLOP/s are more than the peak of {:.4g}", rate * 1e-12,
                               peak->value() * 1e-12));
      return false;
    }
    return row.not_too_slow(
        time, Flops(flops) / *peak + moved / accelerator.memory.bandwidth + kKernelLaunch);
  }

  static double flops(const GemmShape& g) { return 2 * g.m * g.n * g.k * g.groups; }

  // Keeps a possible and new product, and attention of so many FLOPs.
  void keep(std::vector<MeasuredGemm>& rows, MeasuredGemm g, const Accelerator& accelerator,
            const std::string& key, MeasurementCells& row) {
    const GemmShape& s = g.shape;
    const Bytes moved = element_size(g.format) * (s.groups * (s.m * s.k + s.n * s.k)) +
                        Bytes(2 * s.groups * s.m * s.n);
    g.accelerator = accelerator.name;
    if (!possible(row, accelerator, g.format, flops(s), g.measured, moved)) return;
    keep_new(rows, std::move(g), key, row);
  }
  void keep(std::vector<MeasuredAttention>& rows, MeasuredAttention a, double flops,
            const Accelerator& accelerator, const std::string& key, MeasurementCells& row) {
    // Queries, keys, values and the output in 16 bits, and what separate kernels write between.
    const AttentionShape& s = a.shape;
    const double width = s.query_key_dim + s.value_dim;
    const double scores =
        a.kernel == AttentionKernel::unfused ? s.batch * s.heads * s.queries * s.keys : 0;
    const Bytes moved(2 * (s.batch * width * (s.queries * s.heads + s.keys * s.kv_heads) + scores));
    a.accelerator = accelerator.name;
    if (!possible(row, accelerator, a.format, flops, a.measured, moved)) return;
    keep_new(rows, std::move(a), key, row);
  }
  template <class Row>
  void keep_new(std::vector<Row>& rows, Row measured, const std::string& key,
                MeasurementCells& row) {
    if (!seen_.add(key, row)) return;
    measured.table = table_;
    rows.push_back(std::move(measured));
    ++out_.used;
  }

  static std::optional<NumberFormat> format(MeasurementCells& row) {
    const auto found = format_of(row.text("dtype"));
    if (!found) {
      row.complain(
          fmt::format("dtype '{}' is none of bf16, fp16, fp8, mxfp8, nvfp4", row.text("dtype")));
    }
    return found;
  }

  void read_product(MeasurementCells& row, const Accelerator& accelerator) {
    MeasuredGemm g;
    const auto f = format(row);
    g.shape.m = row.count("m", 1, kMostSize);
    g.shape.n = row.count("n", 1, kMostSize);
    g.shape.k = row.count("k", 1, kMostSize);
    g.measured = row.microseconds("latency_us");
    if (!row.usable()) return;
    g.format = *f;
    const std::string key =
        fmt::format("product {} {} {} {} {} {}", accelerator.name, row.text("dtype"), g.shape.m,
                    g.shape.n, g.shape.k, row.text("library"));
    keep(out_.products, std::move(g), accelerator, key, row);
  }

  void read_prefill(MeasurementCells& row, const Accelerator& accelerator) {
    const auto f = format(row);
    MeasuredAttention a;
    a.implementation = row.text("library");
    AttentionShape& s = a.shape;
    s.batch = row.count("batch", 1, kMostSize);
    s.queries = s.keys = row.count("seq_len", 1, kMostSize);
    s.heads = row.count("num_heads", 1, kMostSize);
    s.kv_heads = row.count("num_kv_heads", 1, kMostSize);
    s.query_key_dim = s.value_dim = row.count("head_dim", 1, 4096);
    s.causal = true;
    a.measured = row.microseconds("latency_us");
    if (!row.usable()) return;
    a.format = *f;
    s.narrow_scores = *f != NumberFormat::bf16;
    const double flops = 2 * s.batch * s.heads * s.value_dim * s.queries * s.queries;
    const std::string key =
        fmt::format("prefill {} {} {} {} {} {} {} {}", accelerator.name, row.text("dtype"), s.batch,
                    s.queries, s.heads, s.kv_heads, s.value_dim, a.implementation);
    keep(out_.prefill, std::move(a), flops, accelerator, key, row);
  }

  void read_figure(MeasurementCells& row, const Accelerator& accelerator) {
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
    const auto known = std::ranges::find(kKnown, row.text("implementation"), &Named::name);
    // Kernels of other compilers, 8-bit scores, and bars of runs out of memory.
    if (known == kKnown.end() || row.text("dtype") != "fp16/bf16" || row.text("tflops").empty()) {
      return;
    }
    const double d = row.count("head_dim", 1, 4096);
    const double s = row.count("seq_len", 1, kMostSize);
    const double tflops = row.number("tflops", 0, 1e5);
    if (row.text("direction") != "fwd" && row.text("direction") != "fwd+bwd") {
      row.complain(fmt::format("direction '{}' is neither fwd nor fwd+bwd", row.text("direction")));
    }
    if (!row.usable()) return;
    MeasuredAttention a;
    a.implementation = known->name;
    a.kernel = known->kernel;
    const bool both = row.text("direction") == "fwd+bwd";
    a.direction = both ? MeasuredDirection::forward_and_backward : MeasuredDirection::forward;
    a.shape = {kTokensOfFigures / s,        s, s, kHiddenOfFigures / d,
               kHiddenOfFigures / d,        d, d, 0,
               row.text("causal") == "true"};
    const double flops = 4 * s * s * d * a.shape.heads * a.shape.batch *
                         (a.shape.causal ? 0.5 : 1.0) * (both ? 3.5 : 1.0);
    a.measured = Seconds(flops / (tflops * 1e12));
    const std::string key =
        fmt::format("figure {} {} {} {} {} {} {}", accelerator.name, known->name,
                    row.text("direction"), row.text("causal"), d, s, row.text("source_id"));
    keep(out_.attention, std::move(a), flops, accelerator, key, row);
  }

  // Residual additions and gated activations; norms are left out, theirs took three times their
  // bytes, and so are the products, timed to a microsecond.
  void read_layer(MeasurementCells& row, const Accelerator& accelerator) {
    const double tokens = row.count("num_tokens", 1, kMostSize);
    const double hidden = row.count("hidden", 1, kMostSize);
    const double ffn = row.count("ffn", 1, kMostSize);
    const double tp = row.count("tp", 1, kMostSize);
    const std::string operation(row.text("op"));
    double elements = 0;
    if (operation == "add") {
      elements = 3 * hidden;  // two read, one written
    } else if (operation == "mlp-act") {
      elements = 5 * ffn / tp;  // gate read and written, both read, product written
    } else {
      return;
    }
    const Seconds time = row.microseconds("median_latency_us");
    if (!row.usable()) return;
    const Bytes bytes(2 * elements * tokens);
    if (!row.not_too_slow(time, bytes / accelerator.memory.bandwidth + kKernelLaunch)) return;
    const std::string key =
        fmt::format("layer {} {} {} {} {} {} {}", accelerator.name, row.text("model_shape"), hidden,
                    ffn, tp, tokens, operation);
    keep_new(out_.layers, {accelerator.name, operation, bytes, time}, key, row);
  }

  // "b=1, m=4096, k=5120, layout=TN": the value of a key.
  static std::string_view value_of(std::string_view shape, std::string_view key) {
    while (!shape.empty()) {
      const std::size_t end = std::min(shape.find(", "), shape.size());
      const std::string_view pair = shape.substr(0, end);
      if (pair.size() > key.size() && pair.starts_with(key) && pair[key.size()] == '=') {
        return pair.substr(key.size() + 1);
      }
      shape.remove_prefix(std::min(end + 2, shape.size()));
    }
    return {};
  }
  static double size_of(MeasurementCells& row, std::string_view shape, std::string_view key) {
    const auto value = parsed_number<double>(value_of(shape, key));
    if (value && *value >= 1 && *value <= kMostSize) return *value;
    row.complain(fmt::format("shape has no size '{}' of at least 1", key));
    return 0;
  }

  void read_operator(MeasurementCells& row, const Accelerator& accelerator) {
    const std::string_view op = row.text("op");
    const std::string_view shape = row.text("shape");
    const double efficiency = row.number("efficiency", 0, 2);
    const double peak = row.number("peak_tflops", 0, 1e5);
    if (!row.usable()) return;
    const double rate = efficiency * peak * 1e12;
    const std::string key =
        fmt::format("operator {} {} {} {}", row.text("accelerator"), op, shape, row.text("source"));
    const bool product = op == "matmul";
    const bool grouped = op == "group_matmul";
    if (product || grouped) {
      MeasuredGemm g;
      g.shape.m = size_of(row, shape, product ? "m" : "M");
      g.shape.n = size_of(row, shape, product ? "n" : "N");
      g.shape.k = size_of(row, shape, product ? "k" : "K");
      if (grouped) g.shape.groups = size_of(row, shape, "ng");
      g.shape.accumulates =
          value_of(shape, "accumulate") == "True" &&
          (product ? value_of(shape, "out_dtype") : value_of(shape, "main_grad_dtype")) == "fp32";
      // The gradient of grouped weights: M is the inner dimension of each group.
      if (grouped && value_of(shape, "stage") == "bwd_grad_w") std::swap(g.shape.m, g.shape.k);
      if (!row.usable()) return;
      g.measured = Seconds(flops(g.shape) / rate);
      keep(out_.in_training, std::move(g), accelerator, key, row);
      return;
    }
    if (op != "sdp_fwd" && op != "sdp_bwd") {
      row.complain(fmt::format("op '{}' is none of matmul, group_matmul, sdp_fwd, sdp_bwd", op));
      return;
    }
    MeasuredAttention a;
    a.implementation = "training library";
    a.direction = op == "sdp_bwd" ? MeasuredDirection::backward : MeasuredDirection::forward;
    a.shape.batch = size_of(row, shape, "batch");
    a.shape.queries = a.shape.keys = size_of(row, shape, "seq_len");
    a.shape.heads = size_of(row, shape, "head_num");
    a.shape.kv_heads = size_of(row, shape, "kv_head_num");
    a.shape.query_key_dim = size_of(row, shape, "qk_head_dim");
    a.shape.value_dim = size_of(row, shape, "v_head_dim");
    a.shape.causal = true;
    if (!row.usable()) return;
    // That project counts the whole square, and 2.5 times it backward.
    const double square = 2 * a.shape.batch * a.shape.heads * a.shape.queries * a.shape.queries *
                          (a.shape.query_key_dim + a.shape.value_dim);
    const double flops = square * (a.direction == MeasuredDirection::backward ? 2.5 : 1);
    a.measured = Seconds(flops / rate);
    keep(out_.attention, std::move(a), flops / 2, accelerator, key, row);
  }

  // Formats a recorded product may have beside those of benchmarks.
  static std::optional<NumberFormat> recorded_format(MeasurementCells& row) {
    if (row.text("dtype") == "fp32") return NumberFormat::fp32;
    if (row.text("dtype") == "tf32") return NumberFormat::tf32;
    if (row.text("dtype") == "fp64") return NumberFormat::fp64;
    return format(row);
  }

  static std::string recorded_key(const std::string& what, const MeasurementCells& row) {
    return fmt::format("{} {} {} {} {} {}", what, row.text("accelerator"), row.text("op"),
                       row.text("type"), row.text("shapes"), row.text("recorded_in"));
  }

  void read_recorded_product(MeasurementCells& row, const Accelerator& accelerator) {
    const auto f = recorded_format(row);
    MeasuredGemm g;
    g.recorded = true;
    g.shape.m = row.number("m", 0, kMostSize);  // of groups the mean
    g.shape.n = row.count("n", 1, kMostSize);
    g.shape.k = row.count("k", 1, kMostSize);
    g.shape.groups = row.count("groups", 1, kMostSize);
    g.measured = row.microseconds("latency_us");
    if (!row.usable()) return;
    g.format = *f;
    const std::string what = fmt::format("product {} {} {} {} {}", row.text("dtype"), g.shape.m,
                                         g.shape.n, g.shape.k, g.shape.groups);
    keep(out_.in_training, std::move(g), accelerator, recorded_key(what, row), row);
  }

  void read_recorded_attention(MeasurementCells& row, const Accelerator& accelerator) {
    const auto f = recorded_format(row);
    const auto kernel = parse_enum<AttentionKernel>(row.text("kernel"));
    if (!kernel) {
      row.complain(fmt::format("kernel '{}' is none of unfused, flash_1, flash_2, flash_3, library",
                               row.text("kernel")));
    }
    const auto direction = parse_enum<Direction>(row.text("direction"));
    if (!direction) {
      row.complain(
          fmt::format("direction '{}' is neither forward nor backward", row.text("direction")));
    }
    MeasuredAttention a;
    a.implementation = "recorded";
    a.recorded = true;
    a.shape.batch = row.count("batch", 1, kMostSize);
    a.shape.queries = row.count("queries", 1, kMostSize);
    a.shape.keys = row.count("keys", 1, kMostSize);
    a.shape.heads = row.count("num_heads", 1, kMostSize);
    a.shape.kv_heads = row.count("num_kv_heads", 1, kMostSize);
    a.shape.query_key_dim = row.count("head_dim", 1, 4096);
    a.shape.value_dim = row.count("value_dim", 1, 4096);
    a.shape.causal = row.text("causal") == "true";
    a.measured = row.microseconds("latency_us");
    if (!row.usable()) return;
    a.format = *f;
    a.kernel = *kernel;
    a.direction = *direction == Direction::backward ? MeasuredDirection::backward
                                                    : MeasuredDirection::forward;
    const Flops flops = KernelModel::attention_flops(a.shape, *direction, a.kernel);
    const std::string shape =
        fmt::format("attention {} {} {} {} {} {} {} {}", row.text("dtype"), row.text("direction"),
                    row.text("causal"), a.shape.batch, a.shape.queries, a.shape.keys, a.shape.heads,
                    a.shape.query_key_dim);
    // Masked blocks may be left out.
    keep(out_.recorded_attention, std::move(a), flops.value() / 2, accelerator,
         recorded_key(shape, row), row);
  }

  void read_recorded_memory(MeasurementCells& row, const Accelerator& accelerator) {
    MeasuredLayerOperation l;
    l.accelerator = accelerator.name;
    l.operation = row.text("op");
    l.recorded = true;
    l.moved = Bytes(row.number("bytes", 0, 1e13));
    l.kernels = row.number("kernels", 0, 1e6);
    l.measured = row.microseconds("latency_us");
    if (l.operation.empty()) row.complain("op is empty");
    if (!row.usable()) return;
    const std::string key = recorded_key(fmt::format("memory {}", l.moved.value()), row);
    keep_new(out_.layers, std::move(l), key, row);
  }

  const Catalog& catalog_;
  std::map<std::string, std::optional<Accelerator>> accelerators_;
  std::string table_;  // that is being read
  SeenRows seen_;
  KernelMeasurements out_;
};

}  // namespace

bool holds_kernel_measurements(const CommaSeparated& table) {
  return Reader::rows_of(table) != nullptr;
}

KernelMeasurements read_kernel_measurements(std::span<const CommaSeparated> tables,
                                            const Catalog& catalog) {
  Reader reader(catalog);
  for (const CommaSeparated& table : tables) reader.read(table);
  return reader.take();
}

Result<KernelMeasurements> read_kernel_measurements(const std::vector<std::string>& paths,
                                                    const Catalog& catalog) {
  std::vector<CommaSeparated> tables;
  for (const std::string& path : paths) {
    ORRERY_TRY(const std::string text, read_file(path));
    ORRERY_TRY(CommaSeparated table, parse_comma_separated(text, path));
    tables.push_back(std::move(table));
  }
  return read_kernel_measurements(tables, catalog);
}

GemmShape repeated(GemmShape shape, NumberFormat format, Bytes cache) {
  const double e = element_size(format).value();
  const double inputs = shape.m * shape.k * e;
  const double weights = shape.n * shape.k * e;
  shape.inputs_cached = inputs < cache.value() / 2;
  shape.weights_cached = kRotatedCopies * weights + inputs + 2 * shape.m * shape.n < cache.value();
  return shape;
}

Seconds time_of(const TimedBeside& beside, Bytes bytes, double depth, BytesPerSecond bandwidth) {
  return beside.floor + bytes * beside.passes / bandwidth + beside.per_depth * depth;
}

Bytes quantised_bytes(const MeasuredGemm& row) {
  return Bytes(row.shape.m * row.shape.k * (2 + element_size(row.format).value()));
}

Bytes prepared_bytes(const MeasuredAttention& row) {
  const AttentionShape& s = row.shape;
  return Bytes(2 * 2 * s.batch * s.queries * s.value_dim * (s.heads + 2 * s.kv_heads));
}

Seconds heated(Seconds time, const GemmParameters& parameters, Seconds ideal) {
  if (!(parameters.heating_loss > 0)) return time;
  const double share = ideal / (ideal + parameters.heating_time);
  return time / (1 - parameters.heating_loss * share);
}

Seconds predict(const KernelModel& model, const GemmParameters& parameters, Bytes cache,
                const MeasuredGemm& row) {
  const GemmShape shape = repeated(row.shape, row.format, cache);
  const Seconds ideal =
      Flops(2 * shape.m * shape.n * shape.k) / model.parameters().format(row.format).ceiling;
  Seconds time = heated(model.gemm(shape, row.format), parameters, ideal);
  if (parameters.beside) {
    time += time_of(*parameters.beside, quantised_bytes(row), shape.k,
                    model.parameters().format(row.format).bandwidth);
  }
  return time;
}

Seconds predict(const KernelModel& model, const MeasuredAttention& row) {
  Seconds time(0);
  if (row.direction != MeasuredDirection::backward) {
    time += model.attention(row.shape, row.kernel, Direction::forward, row.format);
  }
  if (row.direction != MeasuredDirection::forward) {
    time += model.attention(row.shape, row.kernel, Direction::backward, row.format);
  }
  return time;
}

Seconds predict(const KernelModel& model, const MeasuredLayerOperation& row) {
  return model.memory_bound(row.moved) +
         model.parameters().memory_floor * std::max(0.0, row.kernels - 1);
}

}  // namespace orrery
