#include "report/numerics/training_report.h"

#include <fmt/format.h>

#include "document/results.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"

namespace orrery {
namespace {

std::string ratio(double reference, double flash) {
  return flash > 0 ? fmt::format("{:.1f}", reference / flash) : "";
}

}  // namespace

Table training_table(const TrainingStudy& study) {
  Table table(left("seed", 6), right("step", 6), left("", 6), right("flash", 5),
              right("formats", 5), right("times flash", 4), right("other seed", 5),
              right("times flash", 4));
  for (const TrainedPair& p : study.pairs) {
    if (4 * p.step + 3 < study.question.steps) continue;
    const auto add = [&](bool first, const char* name, double WeightDistance::* figure) {
      const double flash = p.flash.*figure;
      table.row(first ? std::to_string(p.seed) : "", first ? std::to_string(p.step) : "", name,
                scientific(flash, 2), scientific(p.fp32.*figure, 2), ratio(p.fp32.*figure, flash),
                scientific(p.other_seed.*figure, 2), ratio(p.other_seed.*figure, flash));
    };
    add(true, "largest", &WeightDistance::largest);
    add(false, "mean", &WeightDistance::mean);
    add(false, "Wasserstein", &WeightDistance::wasserstein);
  }
  return table;
}

std::string training_text(const TrainingStudy& study, const TextStyle& style) {
  const TrainingQuestion& q = study.question;
  const SmallTransformer& m = q.model;
  const std::string format = to_text(q.format);
  std::string out =
      wrapped(fmt::format("A transformer of {} layers and width {}, {} sequences of {} tokens, {} "
                          "steps. Distances of weights",
                          m.layers, m.width, m.batch, m.positions, q.steps),
              2, style) +
      wrapped(fmt::format("flash: attention in {0} against flash attention in {0}, {1} keys at a "
                          "time; everything else in fp32",
                          format, q.tile),
              4, style) +
      wrapped(fmt::format("formats: everything in {} against everything in fp32", format), 4,
              style) +
      wrapped("other seed: attention in " + format + " against the same from other weights", 4,
              style) +
      "\n";
  out += training_table(study).text(style) + "\n";
  std::string losses = "loss of the first and the last step:";
  for (std::size_t s = 0; s < study.first_loss.size(); ++s) {
    losses += fmt::format("{} {:.2f} and {:.2f}", s == 0 ? "" : ",", study.first_loss[s],
                          study.last_loss[s]);
  }
  return out + wrapped(losses, 2, style);
}

template <>
inline constexpr auto kResults<WeightDistance> = table<WeightDistance>(
    "weight distance", "How far two sets of weights are apart.",
    field<&WeightDistance::largest>("absolute difference"),
    field<&WeightDistance::mean>("absolute difference"),
    field<&WeightDistance::wasserstein>("of the distributions of each tensor's weights, mean over "
                                        "all elements"));

template <>
inline constexpr auto kResults<TrainedPair> = table<TrainedPair>(
    "trained pair", "Distances of the weights of two trainings, after a step.",
    field<&TrainedPair::seed>("of the initial weights and the tokens"),
    field<&TrainedPair::step>("of the training"),
    field<&TrainedPair::flash>("from attention in the format to flash attention in it"),
    field<&TrainedPair::fp32>("formats", "from training in the format to training in fp32"),
    field<&TrainedPair::other_seed>("from attention in the format to the same from other initial "
                                    "weights"));

template <>
inline constexpr auto kResults<TrainingStudy> = table<TrainingStudy>(
    "training", "How far numeric changes move the weights of a small transformer.",
    schema_version<1>(), constant("kind", "what the document is", "numerics-train"),
    field("format", "of attention, and of one whole training",
          [](auto& s) { return to_text(s.question.format); }),
    field("tile", "keys of a tile of flash attention", [](auto& s) { return s.question.tile; }),
    field("steps", "of a training", [](auto& s) { return s.question.steps; }),
    field<&TrainingStudy::pairs>("by seed, then step"),
    field<&TrainingStudy::first_loss>("after the first step, of each seed"),
    field<&TrainingStudy::last_loss>("after the last step, of each seed"));

Value training_json(const TrainingStudy& study) { return answer(study); }
const Description& training_document() { return description_of<TrainingStudy>(); }

}  // namespace orrery
