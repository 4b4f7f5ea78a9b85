#include "numerics.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "number_option.h"
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

// Of every experiment with drawn inputs.
struct Drawn {
  std::string inputs = "normal";
  std::uint64_t seed = 1;
  int seeds = 3;
  std::string sweep;
  std::string html;

  void add_distribution_to(CLI::App* app) {
    app->add_option("--inputs", inputs, "normal, uniform or outliers: one channel in 64 large")
        ->capture_default_str();
  }
  void add_seed_to(CLI::App* app) {
    app->add_option("--seed", seed, "of the first draw")
        ->check(not_negative())
        ->capture_default_str();
    app->add_option("--html", html, "write a page with a plot to this file");
  }
  void add_to(CLI::App* app, const std::string& axes) {
    add_seed_to(app);
    app->add_option("--seeds", seeds, "draws that figures are averaged over")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app->add_option("--sweep", sweep, "several values of one of " + axes + ": AXIS=VALUE,VALUE");
  }
};

Result<int> answered(const DeviationStudy& study, const Drawn& drawn, const Common& common) {
  if (!drawn.html.empty()) ORRERY_RETURN_IF_ERROR(write_file(drawn.html, deviation_html(study)));
  return print(common.json ? to_json(deviation_json(study)) : deviation_text(study, text_style()));
}

NumericsCommand attention_command(CLI::App& numerics) {
  struct Options {
    Drawn drawn;
    std::string format = "bf16";
    std::string length = "1Ki";
    std::string keys;
    std::string head = "64";
    std::string heads = "1";
    std::string key_heads;
    std::string tile = "128";
    std::string memory;
    std::string order = "forward";
    std::string statistics = "fp32";
    std::string accumulator = "fp32";
    double scale = 1;
    std::string file;
    bool causal = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* app = numerics.add_subcommand(
      "attention", "baseline and flash attention in a narrow format against double");
  app->add_option("--format", o->format, "of what is computed: bf16, fp16, fp8-e4m3, e8m4, ...")
      ->capture_default_str();
  app->add_option("--length", o->length, "queries")->capture_default_str();
  app->add_option("--keys", o->keys, "(default: as many as queries)");
  app->add_option("--head", o->head, "size of a head")->capture_default_str();
  app->add_option("--heads", o->heads, "of queries")->capture_default_str();
  app->add_option("--key-heads", o->key_heads, "of keys and values (default: as of queries)");
  app->add_option("--input", o->file,
                  "a safetensors file with q, k and v, [heads, positions, head size], instead of "
                  "drawn numbers");
  app->add_flag("--causal", o->causal, "no query sees later keys");
  app->add_option("--tile", o->tile, "keys of a tile")->capture_default_str();
  app->add_option("--on-chip", o->memory,
                  "numbers that fit on the chip, which give the tile as in FlashAttention");
  app->add_option("--order", o->order, "of the tiles: forward or backward")->capture_default_str();
  app->add_option("--statistics", o->statistics, "format, in the kernel with wide formats")
      ->capture_default_str();
  app->add_option("--accumulator", o->accumulator, "format, in the kernel with wide formats")
      ->capture_default_str();
  app->add_option("--scale", o->scale, "of the queries")
      ->check(number_within(1e-6, 1e6))
      ->capture_default_str();
  o->drawn.add_to(app, "format, length, tile, head, scale, order");
  for (const char* const drawn : {"--length", "--keys", "--head", "--heads", "--key-heads",
                                  "--scale", "--seed", "--seeds", "--sweep"}) {
    app->get_option("--input")->excludes(app->get_option(drawn));
  }
  app->footer("Example:\n  orrery numerics attention --format bf16 --sweep tile=64,128,256,1024");
  return {app, [o](const Common& common) -> Result<int> {
            AttentionQuestion q;
            ORRERY_TRY(q.format, at("--format", parse_float_format(o->format)));
            ORRERY_TRY(q.statistics, at("--statistics", parse_float_format(o->statistics)));
            ORRERY_TRY(q.accumulator, at("--accumulator", parse_float_format(o->accumulator)));
            ORRERY_TRY(q.shape.queries, at("--length", parse_size(o->length, 1, kMostPositions)));
            q.shape.keys = q.shape.queries;
            if (!o->keys.empty()) {
              ORRERY_TRY(q.shape.keys, at("--keys", parse_size(o->keys, 1, kMostPositions)));
            }
            ORRERY_TRY(q.shape.head_size, at("--head", parse_size(o->head, 1, 4096)));
            ORRERY_TRY(q.shape.query_heads, at("--heads", parse_size(o->heads, 1, 4096)));
            q.shape.key_heads = q.shape.query_heads;
            if (!o->key_heads.empty()) {
              ORRERY_TRY(q.shape.key_heads,
                         at("--key-heads", parse_size(o->key_heads, 1, q.shape.query_heads)));
            }
            if (q.shape.query_heads % q.shape.key_heads != 0) {
              return bad_input(
                  o->heads + " heads of queries cannot share " + o->key_heads + " of keys evenly",
                  "--key-heads", "write a divisor of " + o->heads);
            }
            q.shape.causal = o->causal;
            if (o->causal && q.shape.keys < q.shape.queries) {
              return bad_input(
                  "with a causal mask, the first queries see none of " + o->keys + " keys",
                  "--keys", "write at least as many keys as queries");
            }
            ORRERY_TRY(q.tile, at("--tile", parse_size(o->tile, 1, kMostPositions)));
            if (!o->memory.empty()) {
              ORRERY_TRY(const std::size_t numbers,
                         at("--on-chip", parse_size(o->memory, 1, std::size_t{1} << 40U)));
              q.tile = tiles_for(numbers, q.shape.head_size).keys;
            }
            ORRERY_TRY(q.order, at("--order", parse_enum<TileOrder>(o->order)));
            q.query_scale = o->scale;
            q.seed = o->drawn.seed;
            q.seeds = o->drawn.seeds;
            const int threads = threads_to_use(common.threads);
            if (!o->file.empty()) {
              ORRERY_TRY(const AttentionInputs inputs, read_inputs(o->file, o->causal));
              ORRERY_TRY(const DeviationStudy study, attention_study(q, inputs, threads));
              return answered(study, o->drawn, common);
            }
            ORRERY_TRY(const DeviationStudy study, attention_study(q, o->drawn.sweep, threads));
            return answered(study, o->drawn, common);
          }};
}

NumericsCommand gemm_command(CLI::App& numerics) {
  struct Options {
    Drawn drawn;
    std::string format = "mxfp8-e4m3";
    std::string accumulator = "fp32";
    std::string inner = "4Ki";
    std::string group = "1";
    std::string promote = "0";
    std::string rows = "64";
    std::string columns = "64";
  };
  auto o = std::make_shared<Options>();
  CLI::App* app = numerics.add_subcommand(
      "gemm", "products of narrow operands and their accumulation against double");
  app->add_option("--format", o->format,
                  "of the operands: fp8-e4m3, fp8-e4m3/128, mxfp8-e4m3, nvfp4, int8, ...")
      ->capture_default_str();
  app->add_option("-k,--inner", o->inner, "length of the sums")->capture_default_str();
  app->add_option("--rows", o->rows, "of the result")->capture_default_str();
  app->add_option("--columns", o->columns, "of the result")->capture_default_str();
  app->add_option("--accumulator", o->accumulator, "its format: fp32, fp16, e8m13, ...")
      ->capture_default_str();
  app->add_option("--group", o->group, "products that are added at once")->capture_default_str();
  app->add_option("--promote", o->promote,
                  "products after which the accumulator goes to an fp32 total; 0: never")
      ->capture_default_str();
  o->drawn.add_distribution_to(app);
  o->drawn.add_to(app, "format, k, accumulator, group, promote");
  app->footer(
      "Example:\n  orrery numerics gemm --format fp8-e4m3/128 --accumulator e8m13 --group 32 "
      "--sweep k=512,4Ki,32Ki");
  return {
      app, [o](const Common& common) -> Result<int> {
        ProductQuestion q;
        ORRERY_TRY(q.format, at("--format", parse_tensor_format(o->format)));
        ORRERY_TRY(q.accumulation.format, at("--accumulator", parse_float_format(o->accumulator)));
        ORRERY_TRY(q.inner, at("--inner", parse_size(o->inner, 1, kMostElements)));
        ORRERY_TRY(q.rows, at("--rows", parse_size(o->rows, 1, 4096)));
        ORRERY_TRY(q.columns, at("--columns", parse_size(o->columns, 1, 4096)));
        ORRERY_TRY(q.accumulation.group, at("--group", parse_size(o->group, 1, 1U << 24U)));
        ORRERY_TRY(q.accumulation.promote, at("--promote", parse_size(o->promote, 0, 1U << 24U)));
        ORRERY_TRY(q.distribution, at("--inputs", parse_enum<Distribution>(o->drawn.inputs)));
        q.seed = o->drawn.seed;
        q.seeds = o->drawn.seeds;
        ORRERY_TRY(const DeviationStudy study,
                   product_study(q, o->drawn.sweep, threads_to_use(common.threads)));
        return answered(study, o->drawn, common);
      }};
}

NumericsCommand allreduce_command(CLI::App& numerics) {
  struct Options {
    Drawn drawn;
    std::string format = "bf16";
    std::string ranks = "64";
    std::string elements = "16Ki";
    std::string rounding = "nearest-even";
  };
  auto o = std::make_shared<Options>();
  CLI::App* app = numerics.add_subcommand(
      "allreduce", "sums over ranks in a ring, a tree and two steps against double");
  app->add_option("--format", o->format, "in which contributions and sums travel")
      ->capture_default_str();
  app->add_option("--ranks", o->ranks, "that contribute")->capture_default_str();
  app->add_option("--elements", o->elements, "of a contribution")->capture_default_str();
  app->add_option("--rounding", o->rounding, "nearest-even or stochastic")->capture_default_str();
  o->drawn.add_distribution_to(app);
  o->drawn.add_to(app, "format, ranks");
  app->footer("Example:\n  orrery numerics allreduce --format bf16 --sweep ranks=8,64,512");
  return {app, [o](const Common& common) -> Result<int> {
            ReductionQuestion q;
            ORRERY_TRY(q.format, at("--format", parse_tensor_format(o->format)));
            ORRERY_TRY(q.ranks, at("--ranks", parse_size(o->ranks, 2, 65536)));
            ORRERY_TRY(q.elements, at("--elements", parse_size(o->elements, 1, kMostElements)));
            ORRERY_TRY(q.rounding, at("--rounding", parse_enum<Rounding>(o->rounding)));
            ORRERY_TRY(q.distribution, at("--inputs", parse_enum<Distribution>(o->drawn.inputs)));
            q.seed = o->drawn.seed;
            q.seeds = o->drawn.seeds;
            ORRERY_TRY(const DeviationStudy study,
                       reduction_study(q, o->drawn.sweep, threads_to_use(common.threads)));
            return answered(study, o->drawn, common);
          }};
}

NumericsCommand quantize_command(CLI::App& numerics) {
  struct Options {
    Drawn drawn;
    std::vector<std::string> formats;
    std::vector<double> bounds;
    std::string elements = "64Ki";
    std::string file;
    std::string tensor;
    int states = 0;
  };
  auto o = std::make_shared<Options>();
  CLI::App* app = numerics.add_subcommand(
      "quantize", "a tensor stored in narrow formats, in error-bounded codes, or as 8-bit states");
  app->add_option("--format", o->formats,
                  "formats to compare, 'a,b,c' (default: those with a name)")
      ->delimiter(',');
  app->add_option("--bound", o->bounds,
                  "error-bounded codes as well: bounds as shares of the largest magnitude")
      ->delimiter(',')
      ->check(number_within(1e-9, 1));
  app->add_option("--elements", o->elements, "of the drawn tensor")->capture_default_str();
  app->add_option("--input", o->file, "a safetensors or .npy file instead of drawn numbers");
  app->add_option("--tensor", o->tensor, "of the file; needed where it has several")
      ->needs("--input");
  CLI::Option* const states =
      app->add_option("--states", o->states,
                      "Adam's moments in 8-bit codes instead, after this many steps")
          ->check(CLI::Range(1, 100000));
  o->drawn.add_distribution_to(app);
  o->drawn.add_seed_to(app);
  for (const char* const other : {"--format", "--bound", "--input", "--tensor", "--inputs"}) {
    states->excludes(app->get_option(other));
  }
  for (const char* const drawn : {"--inputs", "--elements", "--seed"}) {
    app->get_option("--input")->excludes(app->get_option(drawn));
  }
  app->footer("Example:\n  orrery numerics quantize --inputs outliers --bound 0.001");
  return {app, [o](const Common& common) -> Result<int> {
            ORRERY_TRY(const Distribution distribution,
                       at("--inputs", parse_enum<Distribution>(o->drawn.inputs)));
            ORRERY_TRY(const std::size_t elements,
                       at("--elements", parse_size(o->elements, 1, kMostElements)));
            if (o->states > 0) {
              ORRERY_TRY(const DeviationStudy study,
                         optimizer_state_study(elements, o->states, o->drawn.seed));
              return answered(study, o->drawn, common);
            }
            std::vector<TensorFormat> formats;
            for (const std::string& name : o->formats) {
              ORRERY_TRY(TensorFormat format, at("--format", parse_tensor_format(name)));
              formats.push_back(std::move(format));
            }
            if (formats.empty()) {
              std::ranges::copy_if(tensor_formats(), std::back_inserter(formats),
                                   &TensorFormat::signed_codes);
            }
            std::vector<float> tensor;
            if (o->file.empty()) {
              tensor = drawn_tensor(distribution, 1, elements, o->drawn.seed, 0);
            } else {
              ORRERY_TRY(const TensorFile file, TensorFile::open(o->file));
              ORRERY_TRY(tensor, read_tensor(file, o->tensor));
            }
            return answered(storage_study(tensor, formats, o->bounds), o->drawn, common);
          }};
}

NumericsCommand train_command(CLI::App& numerics) {
  struct Options {
    std::string format = "fp16";
    std::string folder;
    std::string html;
    TrainingQuestion question;
  };
  auto o = std::make_shared<Options>();
  TrainingQuestion& q = o->question;
  CLI::App* app = numerics.add_subcommand(
      "train", "train a small transformer with and without a numeric change, and compare weights");
  app->add_option("--format", o->format, "of the baseline and of flash attention")
      ->capture_default_str();
  app->add_option("--steps", q.steps, "of a training")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app->add_option("--learning-rate", q.model.learning_rate, "of Adam, the same in all steps")
      ->check(number_within(1e-9, 1))
      ->capture_default_str();
  app->add_option("--tile", q.tile, "keys of a tile")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app->add_option("--seed", q.seed, "of the first training")
      ->check(not_negative())
      ->capture_default_str();
  app->add_option("--seeds", q.seeds, "trainings of each kind")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app->add_option("--out", o->folder,
                  "write the first seed's weights into this folder, and a log of gradients for "
                  "orrery numerics adam");
  app->add_option("--html", o->html, "write a page with a plot to this file");
  app->footer("Example:\n  orrery numerics train --seeds 3");
  return {app, [o](const Common& common) -> Result<int> {
            ORRERY_TRY(o->question.format, at("--format", parse_float_format(o->format)));
            ORRERY_TRY(const TrainingStudy study,
                       at("--format " + o->format,
                          training_study(o->question, threads_to_use(common.threads))));
            if (!o->folder.empty()) {
              std::error_code error;
              std::filesystem::create_directories(o->folder, error);
              if (error) {
                return fail(ErrorCode::io, "cannot be made: " + error.message(), o->folder);
              }
              const auto write = [&](const std::string& name,
                                     const std::vector<WrittenTensor>& tensors) {
                return write_file(o->folder + "/" + name + ".safetensors",
                                  safetensors_text(tensors));
              };
              for (const auto& [name, weights] : study.runs) {
                ORRERY_RETURN_IF_ERROR(write(name, weights));
              }
              ORRERY_RETURN_IF_ERROR(write("gradients", study.gradients));
            }
            if (!o->html.empty()) {
              ORRERY_RETURN_IF_ERROR(write_file(o->html, training_html(study)));
            }
            return print(common.json ? to_json(training_json(study))
                                     : training_text(study, text_style()));
          }};
}

NumericsCommand compare_command(CLI::App& numerics) {
  struct Options {
    std::string first;
    std::string second;
    std::vector<std::string> references;
  };
  auto o = std::make_shared<Options>();
  CLI::App* app = numerics.add_subcommand(
      "compare", "how far the weights of two checkpoints are from each other");
  app->add_option("first", o->first, "a safetensors or .npy file")->required();
  app->add_option("second", o->second, "a file with the same tensors")->required();
  app->add_option("--reference", o->references,
                  "a further run that the first is compared with: another seed, fp16 for fp32");
  app->footer(
      "Example:\n  orrery numerics compare baseline.safetensors flash.safetensors --reference "
      "seed-2.safetensors");
  return {app, [o](const Common& common) -> Result<int> {
            Progress progress(!common.quiet);
            const auto compared = [&](const std::string& second) {
              return checkpoint_difference(o->first, second, common.threads, [&](double share) {
                progress.show(share, "comparing " + second);
              });
            };
            ComparedCheckpoints out;
            ORRERY_TRY(out.difference, compared(o->second));
            for (const std::string& reference : o->references) {
              ORRERY_TRY(CheckpointDifference d, compared(reference));
              out.references.push_back(std::move(d));
            }
            return print(common.json ? to_json(checkpoint_json(out))
                                     : checkpoint_text(out, text_style()));
          }};
}

NumericsCommand adam_command(CLI::App& numerics) {
  struct Options {
    AdamSettings settings;
    std::string log;
    std::uint64_t seed = 1;
  };
  auto o = std::make_shared<Options>();
  CLI::App* app = numerics.add_subcommand(
      "adam", "what Adam makes of gradients, simulated or from a log, and when it may diverge");
  app->add_option("--b1", o->settings.b1, "decay of the first moment")
      ->check(number_within(0, 0.9999))
      ->capture_default_str();
  app->add_option("--b2", o->settings.b2, "decay of the second moment")
      ->check(number_within(0, 0.9999))
      ->capture_default_str();
  app->add_option("--eps", o->settings.eps, "added to the root of the second moment")
      ->check(number_within(0, 1e6))
      ->capture_default_str();
  app->add_option("--log", o->log,
                  "gradients in place of simulated ones: a safetensors file with a tensor [steps, "
                  "components] for each layer");
  app->add_option("--seed", o->seed, "of the simulated gradients")
      ->check(not_negative())
      ->capture_default_str();
  app->footer("Example:\n  orrery numerics adam --b2 0.999");
  return {app, [o](const Common& common) -> Result<int> {
            AdamStudy study;
            if (o->log.empty()) {
              study = simulated_adam(o->settings, o->seed, threads_to_use(common.threads));
            } else {
              ORRERY_TRY(study, logged_adam(o->log, o->settings));
            }
            return print(common.json ? to_json(adam_json(study)) : adam_text(study, text_style()));
          }};
}

NumericsCommand vectors_command(CLI::App& numerics) {
  struct Options {
    std::string file;
    double bound = 0;
    std::int64_t iteration = 65536;
    std::string link = "25 GB/s";
    std::string compress = "40 GB/s";
    std::string decompress = "40 GB/s";
  };
  auto o = std::make_shared<Options>();
  CLI::App* app = numerics.add_subcommand(
      "vectors", "what error-bounded compression makes of rows of embedding tables");
  app->add_option("file", o->file, "a safetensors or .npy file with a matrix for each table")
      ->required();
  app->add_option("--bound", o->bound, "of the error of an element; 0: by table and iteration")
      ->check(number_within(0, 1e6))
      ->capture_default_str();
  app->add_option("--iteration", o->iteration, "of the training: bounds are wider before 65536")
      ->check(not_negative())
      ->capture_default_str();
  app->add_option("--link", o->link, "that vectors are exchanged over")->capture_default_str();
  app->add_option("--compress", o->compress, "throughput of the codec on an accelerator")
      ->capture_default_str();
  app->add_option("--decompress", o->decompress, "and of its inverse")->capture_default_str();
  app->footer("Example:\n  orrery numerics vectors embeddings.safetensors --link '50 GB/s'");
  return {
      app, [o](const Common& common) -> Result<int> {
        VectorStudySettings settings;
        settings.bound = o->bound;
        settings.iteration = o->iteration;
        const auto rate = [](const std::string& text,
                             const char* option) -> Result<BytesPerSecond> {
          ORRERY_TRY(const BytesPerSecond read, at(option, parse_bytes_per_second(text)));
          if (read.value() > 0) return read;
          return bad_input("a throughput of 0", option, "write one such as '40 GB/s'");
        };
        ORRERY_TRY(settings.link, rate(o->link, "--link"));
        ORRERY_TRY(settings.compress, rate(o->compress, "--compress"));
        ORRERY_TRY(settings.decompress, rate(o->decompress, "--decompress"));
        ORRERY_TRY(const TensorFile file, TensorFile::open(o->file));
        ORRERY_TRY(const VectorStudy study, study_vectors(file, settings));
        return print(common.json ? to_json(vector_json(study)) : vector_text(study, text_style()));
      }};
}

}  // namespace

NumericsCommand add_numerics(CLI::App& orrery) {
  CLI::App* app = orrery.add_subcommand(
      "numerics", "what number formats and kernels change in what is computed");
  app->require_subcommand(1);
  const std::vector<NumericsCommand> commands = {
      attention_command(*app), gemm_command(*app),  allreduce_command(*app), quantize_command(*app),
      compare_command(*app),   train_command(*app), adam_command(*app),      vectors_command(*app)};
  app->footer("orrery numerics COMMAND --help explains a command.");
  return {app, [commands](const Common& common) -> Result<int> {
            for (const NumericsCommand& command : commands) {
              if (command.app->parsed()) return command.run(common);
            }
            return ExitCode::bug;
          }};
}

}  // namespace orrery::cli
