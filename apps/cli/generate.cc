// orrery generate: how long an image or a video takes to make.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "document/value.h"
#include "estimate/generation.h"
#include "question.h"
#include "report/plans/plan_reports.h"

namespace orrery::cli {
namespace {

struct GenerateOptions {
  Question question;
  std::int64_t images = 1;
  std::int64_t steps = 0;             // 0: the model's
  std::string guidance;               // "on", "off"; empty: the model's
  double evaluated = 1;               // share of the steps that a cache leaves
  std::int64_t decoder_ranks = 1;     // that decode a strip each
  std::int64_t displaced_after = -1;  // steps that are not displaced; -1: all
  std::vector<std::string> measured;  // CSV files, in place of a model
};

Result<int> predict_generation(const GenerateOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  if (!options.measured.empty()) {
    if (!options.question.model.empty() || !options.question.cluster.empty()) {
      return bad_input("predicts the rows of its file, not a model on a cluster", "--measured",
                       "leave out the model and --on");
    }
    std::vector<CommaSeparated> tables;
    for (const std::string& file : options.measured) {
      ORRERY_TRY(const std::string text, read_file(file));
      ORRERY_TRY(CommaSeparated table,
                 parse_comma_separated(text, std::filesystem::path(file).filename().string()));
      tables.push_back(std::move(table));
    }
    ORRERY_TRY(const GenerationErrors errors, generation_errors(tables, catalog));
    return print(common.json ? to_json(generation_errors_json(errors))
                             : generation_errors_text(errors, text_style()));
  }
  if (options.question.model.empty()) {
    return bad_input("no model is given", "", "write orrery generate flux-dev --on h100-sxm:1");
  }
  ORRERY_TRY(Spec spec, ask(options.question, catalog));
  if (!spec.scenario.software_stated) {
    ORRERY_TRY(SoftwareProfile usual, load_software(catalog, "diffusers"));
    choose_software(spec, std::move(usual));
  }
  GenerationQuestion question;
  question.images = options.images;
  question.steps = options.steps;
  if (!options.guidance.empty()) question.guidance = options.guidance == "on";
  question.evaluated = options.evaluated;
  question.decoder_ranks = options.decoder_ranks;
  if (options.displaced_after >= 0) question.displaced_after = options.displaced_after;
  question.plan_stated = !spec.stated.empty();
  question.micro_batch_stated = std::ranges::find(spec.stated, "micro_batch") != spec.stated.end();
  ORRERY_TRY(const Generation made, generation(spec.scenario, question, catalog));
  return answered(
      common.json ? to_json(generation_json(made)) : generation_text(made, text_style()),
      made.verdict != Verdict::does_not_fit);
}

}  // namespace

Command generate_command(CLI::App& orrery) {
  auto [app, o] =
      subcommand<GenerateOptions>(orrery, "generate", "predict how long an image or a video takes");
  add_question(app, o->question);
  for (const char* option : {"--workload", "--seq", "--global-batch", "--adapter-rank",
                             "--adapted-products", "--html", "--timeline", "--expanded"}) {
    app->remove_option(app->get_option(option));
  }
  app->add_option("--images", o->images, "made at once (default: 1)")
      ->check(CLI::Range(1, 1'000'000));
  app->add_option("--steps", o->steps, "of the sampler (default: the model's)")
      ->check(CLI::Range(1, 100'000));
  app->add_option("--guidance", o->guidance,
                  "on: evaluate with and without the prompt; off (default: as the model)")
      ->check(CLI::IsMember({"on", "off"}));
  app->add_option("--evaluated", o->evaluated,
                  "share of the steps that a cache of features leaves to evaluate (default: 1)")
      ->check(number_within(1e-6, 1));
  app->add_option("--displaced-after", o->displaced_after,
                  "steps before those that use keys, values and patches of the step before "
                  "(DistriFusion, PipeFusion; default: no step does)")
      ->check(CLI::Range(0, 100'000));
  app->add_option("--decoder-ranks", o->decoder_ranks,
                  "GPUs of an image that decode a strip of it each (default: 1)")
      ->check(CLI::Range(1, 1'000'000));
  app->get_option("model")->required(false);
  app->add_option("--measured", o->measured,
                  "predict the rows of these CSV files instead, and show the errors");
  app->footer(
      "Examples:\n"
      "  orrery generate flux-dev --on h100-sxm:4 --plan cp=4,context_parallel=ulysses\n"
      "  orrery generate stable-diffusion-xl --on a100-80gb-sxm:2 --steps 30");
  return command(app, o, predict_generation);
}

}  // namespace orrery::cli
