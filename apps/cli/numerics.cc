// orrery numerics: what number formats and kernels change in what is computed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "numerics/adam_statistics.h"
#include "numerics/attention.h"
#include "numerics/checkpoint_difference.h"
#include "numerics/products.h"
#include "numerics/small_transformer.h"
#include "numerics/sweep.h"
#include "numerics/tensor_file.h"
#include "numerics/vector_codec.h"
#include "parallel/parallel_for.h"
#include "progress.h"
#include "report/numerics/numerics_report.h"
#include "units/quantity_text.h"

namespace orrery::cli {
namespace {

constexpr std::size_t kMostPositions = std::size_t{1} << 20U;
constexpr std::size_t kMostElements = std::size_t{1} << 28U;

// CLI11 alone reads -1 as the largest seed. The upper end leaves room for the seeds that follow.
CLI::Validator not_negative() { return CLI::Range(std::int64_t{0}, std::int64_t{1} << 53U); }

// Options whose texts are read when the command runs: an error then names the option.
class ReadOptions {
 public:
  // Where nothing is given the usual text is read; nothing if that is empty.
  template <class T, class Parse>
  void add(CLI::App* app, const char* name, T& into, const char* usual, const char* sentence,
           Parse parse) {
    const auto text = std::make_shared<std::string>(usual);
    CLI::Option* option = app->add_option(name, *text, sentence);
    if (!text->empty()) option->capture_default_str();
    reads_.push_back(
        [&into, text, parse, where = "--" + option->get_lnames().front()]() -> Result<void> {
          if (text->empty()) return {};
          ORRERY_TRY(into, at(where, parse(*text)));
          return {};
        });
  }
  // Of a whole number within these.
  void add_size(CLI::App* app, const char* name, std::size_t& into, const char* usual,
                const char* sentence, std::size_t least, std::size_t most) {
    add(app, name, into, usual, sentence,
        [least, most](const std::string& text) { return parse_size(text, least, most); });
  }
  [[nodiscard]] Result<void> read() const {
    for (const auto& one : reads_) ORRERY_RETURN_IF_ERROR(one());
    return {};
  }

 private:
  std::vector<std::function<Result<void>()>> reads_;
};

// Of every experiment with drawn inputs.
struct Drawn {
  ReadOptions read;
  std::string sweep;
  std::string html;

  void add_distribution_to(CLI::App* app, Distribution& distribution) {
    read.add(app, "--inputs", distribution, "normal",
             "normal, uniform or outliers: one channel in 64 large", parse_enum<Distribution>);
  }
  void add_seed_to(CLI::App* app, std::uint64_t& seed) {
    add_number(app, "--seed", seed, "of the first draw", not_negative());
    app->add_option("--html", html, "write a page with a plot to this file");
  }
  void add_to(CLI::App* app, std::uint64_t& seed, int& seeds, const std::string& axes) {
    add_seed_to(app, seed);
    add_number(app, "--seeds", seeds, "draws that figures are averaged over", CLI::Range(1, 1000));
    app->add_option("--sweep", sweep, "several values of one of " + axes + ": AXIS=VALUE,VALUE");
  }
};

Result<int> drawn_study(const DeviationStudy& study, const Drawn& drawn, const Common& common) {
  if (!drawn.html.empty()) ORRERY_RETURN_IF_ERROR(write_file(drawn.html, deviation_html(study)));
  return print(common.json ? to_json(deviation_json(study)) : deviation_text(study, text_style()));
}

struct AttentionOptions {
  Drawn drawn;
  AttentionQuestion q;
  std::size_t keys = 0;       // 0: as many as queries
  std::size_t key_heads = 0;  // 0: as of queries
  std::size_t on_chip = 0;    // numbers; 0: the tile is stated
  std::string file;
};

Result<int> compare_attention(const AttentionOptions& o, const Common& common) {
  ORRERY_RETURN_IF_ERROR(o.drawn.read.read());
  AttentionQuestion q = o.q;
  q.shape.keys = o.keys > 0 ? o.keys : q.shape.queries;
  q.shape.key_heads = o.key_heads > 0 ? o.key_heads : q.shape.query_heads;
  if (q.shape.query_heads % q.shape.key_heads != 0) {
    return bad_input(fmt::format("{} heads of queries cannot share {} of keys evenly",
                                 q.shape.query_heads, q.shape.key_heads),
                     "--key-heads", fmt::format("write a divisor of {}", q.shape.query_heads));
  }
  if (q.shape.causal && q.shape.keys < q.shape.queries) {
    return bad_input(
        fmt::format("with a causal mask, the first queries see none of {} keys", q.shape.keys),
        "--keys", "write at least as many keys as queries");
  }
  if (o.on_chip > 0) q.tile = tiles_for(o.on_chip, q.shape.head_size).keys;
  const int threads = threads_to_use(common.threads);
  if (!o.file.empty()) {
    ORRERY_TRY(const AttentionInputs inputs, read_inputs(o.file, q.shape.causal));
    ORRERY_TRY(const DeviationStudy study, attention_study(q, inputs, threads));
    return drawn_study(study, o.drawn, common);
  }
  ORRERY_TRY(const DeviationStudy study, attention_study(q, o.drawn.sweep, threads));
  return drawn_study(study, o.drawn, common);
}

Command attention_command(CLI::App& numerics) {
  auto [app, o] = subcommand<AttentionOptions>(
      numerics, "attention", "baseline and flash attention in a narrow format against double");
  AttentionQuestion& q = o->q;
  ReadOptions& read = o->drawn.read;
  read.add(app, "--format", q.format, "bf16",
           "of what is computed: bf16, fp16, fp8-e4m3, e8m4, ...", parse_float_format);
  read.add_size(app, "--length", q.shape.queries, "1Ki", "queries", 1, kMostPositions);
  read.add_size(app, "--keys", o->keys, "", "(default: as many as queries)", 1, kMostPositions);
  read.add_size(app, "--head", q.shape.head_size, "64", "size of a head", 1, 4096);
  read.add_size(app, "--heads", q.shape.query_heads, "1", "of queries", 1, 4096);
  read.add(app, "--key-heads", o->key_heads, "", "of keys and values (default: as of queries)",
           [&q](const std::string& text) { return parse_size(text, 1, q.shape.query_heads); });
  app->add_option("--input", o->file,
                  "a safetensors file with q, k and v, [heads, positions, head size], instead of "
                  "drawn numbers");
  app->add_flag("--causal", q.shape.causal, "no query sees later keys");
  read.add_size(app, "--tile", q.tile, "128", "keys of a tile", 1, kMostPositions);
  read.add_size(app, "--on-chip", o->on_chip, "",
                "numbers that fit on the chip, which give the tile as in FlashAttention", 1,
                std::size_t{1} << 40U);
  read.add(app, "--order", q.order, "forward", "of the tiles: forward or backward",
           parse_enum<TileOrder>);
  read.add(app, "--statistics", q.statistics, "fp32", "format, in the kernel with wide formats",
           parse_float_format);
  read.add(app, "--accumulator", q.accumulator, "fp32", "format, in the kernel with wide formats",
           parse_float_format);
  add_number(app, "--scale", q.query_scale, "of the queries", number_within(1e-6, 1e6));
  o->drawn.add_to(app, q.seed, q.seeds, "format, length, tile, head, scale, order");
  for (const char* const drawn : {"--length", "--keys", "--head", "--heads", "--key-heads",
                                  "--scale", "--seed", "--seeds", "--sweep"}) {
    app->get_option("--input")->excludes(app->get_option(drawn));
  }
  app->footer("Example:\n  orrery numerics attention --format bf16 --sweep tile=64,128,256,1024");
  return command(app, o, compare_attention);
}

// Of products and sums over ranks: their questions are studied alike.
template <class Question>
struct DrawnOptions {
  Drawn drawn;
  Question q;
};
template <auto kStudy, class Question>
Result<int> study_drawn(const DrawnOptions<Question>& o, const Common& common) {
  ORRERY_RETURN_IF_ERROR(o.drawn.read.read());
  ORRERY_TRY(const DeviationStudy study,
             kStudy(o.q, o.drawn.sweep, threads_to_use(common.threads)));
  return drawn_study(study, o.drawn, common);
}

Command gemm_command(CLI::App& numerics) {
  auto [app, o] = subcommand<DrawnOptions<ProductQuestion>>(
      numerics, "gemm", "products of narrow operands and their accumulation against double");
  ProductQuestion& q = o->q;
  ReadOptions& read = o->drawn.read;
  read.add(app, "--format", q.format, "mxfp8-e4m3",
           "of the operands: fp8-e4m3, fp8-e4m3/128, mxfp8-e4m3, nvfp4, int8, ...",
           parse_tensor_format);
  read.add_size(app, "-k,--inner", q.inner, "4Ki", "length of the sums", 1, kMostElements);
  read.add_size(app, "--rows", q.rows, "64", "of the result", 1, 4096);
  read.add_size(app, "--columns", q.columns, "64", "of the result", 1, 4096);
  read.add(app, "--accumulator", q.accumulation.format, "fp32",
           "its format: fp32, fp16, e8m13, ...", parse_float_format);
  read.add_size(app, "--group", q.accumulation.group, "1", "products that are added at once", 1,
                1U << 24U);
  read.add_size(app, "--promote", q.accumulation.promote, "0",
                "products after which the accumulator goes to an fp32 total; 0: never", 0,
                1U << 24U);
  o->drawn.add_distribution_to(app, q.distribution);
  o->drawn.add_to(app, q.seed, q.seeds, "format, k, accumulator, group, promote");
  app->footer(
      "Example:\n  orrery numerics gemm --format fp8-e4m3/128 --accumulator e8m13 --group 32 "
      "--sweep k=512,4Ki,32Ki");
  return command(app, o, study_drawn<product_study, ProductQuestion>);
}

Command allreduce_command(CLI::App& numerics) {
  auto [app, o] = subcommand<DrawnOptions<ReductionQuestion>>(
      numerics, "allreduce", "sums over ranks in a ring, a tree and two steps against double");
  ReductionQuestion& q = o->q;
  ReadOptions& read = o->drawn.read;
  read.add(app, "--format", q.format, "bf16", "in which contributions and sums travel",
           parse_tensor_format);
  read.add_size(app, "--ranks", q.ranks, "64", "that contribute", 2, 65536);
  read.add_size(app, "--elements", q.elements, "16Ki", "of a contribution", 1, kMostElements);
  read.add(app, "--rounding", q.rounding, "nearest-even", "nearest-even or stochastic",
           parse_enum<Rounding>);
  o->drawn.add_distribution_to(app, q.distribution);
  o->drawn.add_to(app, q.seed, q.seeds, "format, ranks");
  app->footer("Example:\n  orrery numerics allreduce --format bf16 --sweep ranks=8,64,512");
  return command(app, o, study_drawn<reduction_study, ReductionQuestion>);
}

struct QuantizeOptions {
  Drawn drawn;
  Distribution distribution{};
  std::size_t elements = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> formats;
  std::vector<double> bounds;
  std::string file;
  std::string tensor;
  int states = 0;
};

Result<int> store_tensor(const QuantizeOptions& o, const Common& common) {
  ORRERY_RETURN_IF_ERROR(o.drawn.read.read());
  if (o.states > 0) {
    ORRERY_TRY(const DeviationStudy study, optimizer_state_study(o.elements, o.states, o.seed));
    return drawn_study(study, o.drawn, common);
  }
  std::vector<TensorFormat> formats;
  for (const std::string& name : o.formats) {
    ORRERY_TRY(TensorFormat format, at("--format", parse_tensor_format(name)));
    formats.push_back(std::move(format));
  }
  if (formats.empty()) {
    std::ranges::copy_if(tensor_formats(), std::back_inserter(formats),
                         &TensorFormat::signed_codes);
  }
  std::vector<float> tensor;
  if (o.file.empty()) {
    tensor = drawn_tensor(o.distribution, 1, o.elements, o.seed, 0);
  } else {
    ORRERY_TRY(const TensorFile file, TensorFile::open(o.file));
    ORRERY_TRY(tensor, read_tensor(file, o.tensor));
  }
  return drawn_study(storage_study(tensor, formats, o.bounds), o.drawn, common);
}

Command quantize_command(CLI::App& numerics) {
  auto [app, o] = subcommand<QuantizeOptions>(
      numerics, "quantize",
      "a tensor stored in narrow formats, in error-bounded codes, or as 8-bit states");
  app->add_option("--format", o->formats,
                  "formats to compare, 'a,b,c' (default: those with a name)")
      ->delimiter(',');
  app->add_option("--bound", o->bounds,
                  "error-bounded codes as well: bounds as shares of the largest magnitude")
      ->delimiter(',')
      ->check(number_within(1e-9, 1));
  o->drawn.read.add_size(app, "--elements", o->elements, "64Ki", "of the drawn tensor", 1,
                         kMostElements);
  app->add_option("--input", o->file, "a safetensors or .npy file instead of drawn numbers");
  app->add_option("--tensor", o->tensor, "of the file; needed where it has several")
      ->needs("--input");
  CLI::Option* const states =
      app->add_option("--states", o->states,
                      "Adam's moments in 8-bit codes instead, after this many steps")
          ->check(CLI::Range(1, 100000));
  o->drawn.add_distribution_to(app, o->distribution);
  o->drawn.add_seed_to(app, o->seed);
  for (const char* const other : {"--format", "--bound", "--input", "--tensor", "--inputs"}) {
    states->excludes(app->get_option(other));
  }
  for (const char* const drawn : {"--inputs", "--elements", "--seed"}) {
    app->get_option("--input")->excludes(app->get_option(drawn));
  }
  app->footer("Example:\n  orrery numerics quantize --inputs outliers --bound 0.001");
  return command(app, o, store_tensor);
}

struct TrainOptions {
  std::string format = "fp16";
  std::string folder;
  std::string html;
  TrainingQuestion question;
};

Result<int> train_twice(const TrainOptions& o, const Common& common) {
  TrainingQuestion question = o.question;
  ORRERY_TRY(question.format, at("--format", parse_float_format(o.format)));
  std::optional<Progress> progress(std::in_place, !common.quiet);
  const auto tell = [&](double share) {
    if (Progress::interrupted()) end_by_signal(SIGINT);
    progress->show(share, "training");
  };
  ORRERY_TRY(
      const TrainingStudy study,
      at("--format " + o.format, training_study(question, threads_to_use(common.threads), tell)));
  progress.reset();
  if (!o.folder.empty()) {
    ORRERY_RETURN_IF_ERROR(make_folder(o.folder));
    const auto write = [&](const std::string& name, const std::vector<WrittenTensor>& tensors) {
      return write_file(o.folder + "/" + name + ".safetensors", safetensors_text(tensors));
    };
    for (const auto& [name, weights] : study.runs) {
      ORRERY_RETURN_IF_ERROR(write(name, weights));
    }
    ORRERY_RETURN_IF_ERROR(write("gradients", study.gradients));
  }
  if (!o.html.empty()) ORRERY_RETURN_IF_ERROR(write_file(o.html, training_html(study)));
  return print(common.json ? to_json(training_json(study)) : training_text(study, text_style()));
}

Command train_command(CLI::App& numerics) {
  auto [app, o] = subcommand<TrainOptions>(
      numerics, "train",
      "train a small transformer with and without a numeric change, and compare weights");
  TrainingQuestion& q = o->question;
  app->add_option("--format", o->format, "of the baseline and of flash attention")
      ->capture_default_str();
  add_number(app, "--steps", q.steps, "of a training", CLI::Range(1, 100000));
  add_number(app, "--learning-rate", q.model.learning_rate, "of Adam, the same in all steps",
             number_within(1e-9, 1));
  add_number(app, "--tile", q.tile, "keys of a tile", CLI::Range(1, 1024));
  add_number(app, "--seed", q.seed, "of the first training", not_negative());
  add_number(app, "--seeds", q.seeds, "trainings of each kind", CLI::Range(1, 100));
  app->add_option("--out", o->folder,
                  "write the first seed's weights into this folder, and a log of gradients for "
                  "orrery numerics adam");
  app->add_option("--html", o->html, "write a page with a plot to this file");
  app->footer("Example:\n  orrery numerics train --seeds 3");
  return command(app, o, train_twice);
}

struct CheckpointOptions {
  std::string first;
  std::string second;
  std::vector<std::string> references;
};

Result<int> compare_checkpoints(const CheckpointOptions& o, const Common& common) {
  Progress progress(!common.quiet);
  const auto compared = [&](const std::string& second) {
    return checkpoint_difference(o.first, second, common.threads, [&](double share) {
      progress.show(share, "comparing " + second);
    });
  };
  ComparedCheckpoints out;
  ORRERY_TRY(out.difference, compared(o.second));
  for (const std::string& reference : o.references) {
    ORRERY_TRY(CheckpointDifference d, compared(reference));
    out.references.push_back(std::move(d));
  }
  return print(common.json ? to_json(checkpoint_json(out)) : checkpoint_text(out, text_style()));
}

Command compare_checkpoints_command(CLI::App& numerics) {
  auto [app, o] = subcommand<CheckpointOptions>(
      numerics, "compare", "how far the weights of two checkpoints are from each other");
  app->add_option("first", o->first, "a safetensors or .npy file")->required();
  app->add_option("second", o->second, "a file with the same tensors")->required();
  app->add_option("--reference", o->references,
                  "a further run that the first is compared with: another seed, fp16 for fp32");
  app->footer(
      "Example:\n  orrery numerics compare baseline.safetensors flash.safetensors --reference "
      "seed-2.safetensors");
  return command(app, o, compare_checkpoints);
}

struct AdamOptions {
  AdamSettings settings;
  std::string log;
  std::uint64_t seed = 1;
};

Result<int> study_adam(const AdamOptions& o, const Common& common) {
  AdamStudy study;
  if (o.log.empty()) {
    study = simulated_adam(o.settings, o.seed, threads_to_use(common.threads));
  } else {
    ORRERY_TRY(study, logged_adam(o.log, o.settings));
  }
  return print(common.json ? to_json(adam_json(study)) : adam_text(study, text_style()));
}

Command adam_command(CLI::App& numerics) {
  auto [app, o] = subcommand<AdamOptions>(
      numerics, "adam",
      "what Adam makes of gradients, simulated or from a log, and when it may diverge");
  add_number(app, "--b1", o->settings.b1, "decay of the first moment", number_within(0, 0.9999));
  add_number(app, "--b2", o->settings.b2, "decay of the second moment", number_within(0, 0.9999));
  add_number(app, "--eps", o->settings.eps, "added to the root of the second moment",
             number_within(0, 1e6));
  app->add_option("--log", o->log,
                  "gradients in place of simulated ones: a safetensors file with a tensor [steps, "
                  "components] for each layer");
  add_number(app, "--seed", o->seed, "of the simulated gradients", not_negative());
  app->footer("Example:\n  orrery numerics adam --b2 0.999");
  return command(app, o, study_adam);
}

struct VectorOptions {
  ReadOptions read;
  VectorStudySettings settings;
  std::string file;
};

Result<int> compress_vectors(const VectorOptions& o, const Common& common) {
  ORRERY_RETURN_IF_ERROR(o.read.read());
  ORRERY_TRY(const TensorFile file, TensorFile::open(o.file));
  ORRERY_TRY(const VectorStudy study, study_vectors(file, o.settings));
  return print(common.json ? to_json(vector_json(study)) : vector_text(study, text_style()));
}

Command vectors_command(CLI::App& numerics) {
  auto [app, o] = subcommand<VectorOptions>(
      numerics, "vectors", "what error-bounded compression makes of rows of embedding tables");
  VectorStudySettings& s = o->settings;
  app->add_option("file", o->file, "a safetensors or .npy file with a matrix for each table")
      ->required();
  add_number(app, "--bound", s.bound, "of the error of an element; 0: by table and iteration",
             number_within(0, 1e6));
  add_number(app, "--iteration", s.iteration, "of the training: bounds are wider before 65536",
             not_negative());
  const auto rate = [](const std::string& text) -> Result<BytesPerSecond> {
    ORRERY_TRY(const BytesPerSecond read, parse_bytes_per_second(text));
    if (read.value() > 0) return read;
    return bad_input("a throughput of 0", "", "write one such as '40 GB/s'");
  };
  o->read.add(app, "--link", s.link, "25 GB/s", "that vectors are exchanged over", rate);
  o->read.add(app, "--compress", s.compress, "40 GB/s", "throughput of the codec on an accelerator",
              rate);
  o->read.add(app, "--decompress", s.decompress, "40 GB/s", "and of its inverse", rate);
  app->footer("Example:\n  orrery numerics vectors embeddings.safetensors --link '50 GB/s'");
  return command(app, o, compress_vectors);
}

}  // namespace

Command numerics_command(CLI::App& orrery) {
  static constexpr std::array<AddCommand, 8> kCommands = {
      attention_command,           gemm_command,  allreduce_command, quantize_command,
      compare_checkpoints_command, train_command, adam_command,      vectors_command};
  return command_group(
      orrery.add_subcommand("numerics",
                            "what number formats and kernels change in what is computed"),
      kCommands);
}

}  // namespace orrery::cli
