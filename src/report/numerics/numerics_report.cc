#include "report/numerics/numerics_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "document/results.h"
#include "report/drawing/figures.h"
#include "units/grouped.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

std::string ulps(double x) { return x < 1000 ? fmt::format("{:.2f}", x) : scientific(x, 2); }

}  // namespace

Table deviation_table(const DeviationStudy& study) {
  const auto any = [&](const auto& has) { return std::ranges::any_of(study.rows, has); };
  Table table(
      left(study.swept, 6).shown_if(!study.swept.empty()), left("", 6), right("largest", 5),
      right("mean", 5), right("spread", 2), right("relative rms", 4),
      right("expected", 3).shown_if(any([](const auto& r) { return r.expected.has_value(); })),
      right("ulps, median", 1), right("p99", 1), right("largest", 1),
      right("bits", 3).shown_if(any([](const auto& r) { return r.bits_an_element.has_value(); })),
      right("not finite", 3).shown_if(any([](const auto& r) {
        return r.deviation.not_finite > 0;
      })));
  std::string last;
  for (const MeasuredDeviation& row : study.rows) {
    const Deviation& d = row.deviation;
    if (!last.empty() && last != row.at) table.add_rule();
    table.row(row.at == last ? "" : row.at, row.variant, bold(scientific(d.largest, 2)),
              scientific(d.mean, 2), scientific(d.spread, 2), scientific(d.relative_rms, 2),
              row.expected ? scientific(*row.expected, 2) : "", ulps(d.ulps_median),
              ulps(d.ulps_p99), ulps(d.ulps_largest),
              row.bits_an_element ? fmt::format("{:.2f}", *row.bits_an_element) : "",
              grouped(d.not_finite));
    last = row.at;
  }
  return table;
}

std::string settings_of(const DeviationStudy& study) {
  return joined(study.settings | std::views::transform([](const auto& setting) {
                  return setting.first + ": " + setting.second;
                }),
                "; ");
}

std::string deviation_text(const DeviationStudy& study, const TextStyle& style) {
  std::string out = paragraph(style, study.experiment + ": " + settings_of(study)) + "\n";
  out += deviation_table(study).text(style);
  if (!study.remarks.empty()) out += "\n";
  for (const std::string& remark : study.remarks) out += paragraph(style, remark);
  return out;
}

template <>
inline constexpr auto kResults<std::pair<std::string, std::string>> =
    table<std::pair<std::string, std::string>>(
        "setting", "A setting of the experiment.",
        field("name", "of the setting",
              [](const std::pair<std::string, std::string>& s) { return s.first; }),
        field("value", "in words",
              [](const std::pair<std::string, std::string>& s) { return s.second; }));

template <>
inline constexpr auto kResults<Deviation> = table<Deviation>(
    "deviation", "How far a computed tensor is from a golden one; means over the seeds.",
    field<&Deviation::largest>("absolute difference"),
    field<&Deviation::mean>("absolute difference"),
    field<&Deviation::spread>("standard deviation of the absolute difference"),
    field<&Deviation::relative_rms>("root of the squared differences over the squared golden "
                                    "elements"),
    field<&Deviation::largest_relative>("largest difference over the largest golden magnitude"),
    field<&Deviation::ulps_median>("in units in the last place of the format `ulp_of`"),
    field<&Deviation::ulps_p99>("the same"), field<&Deviation::ulps_largest>("the same"),
    field<&Deviation::not_finite>("elements that are infinite or NaN; in no other figure"));

template <>
inline constexpr auto kResults<MeasuredDeviation> = table<MeasuredDeviation>(
    "measured deviation", "One way to compute, at one value of what is swept.",
    field<&MeasuredDeviation::variant>("way to compute"),
    field<&MeasuredDeviation::at>("swept value; empty: nothing is swept"),
    fields_within([](auto& m) { return m.deviation; }),
    field<&MeasuredDeviation::expected>("expected_relative_rms", "by theory; null: none"),
    field<&MeasuredDeviation::bits_an_element>("of what is stored, scales included; null: nothing "
                                               "is"));

template <>
inline constexpr auto kResults<DeviationStudy> = table<DeviationStudy>(
    "deviations", "Deviations of an experiment in narrow formats from golden values.",
    schema_version<1>(), constant("kind", "what the document is", "numerics"),
    field<&DeviationStudy::experiment>("attention, gemm, allreduce or quantize"),
    field<&DeviationStudy::settings>("what was computed"),
    field<&DeviationStudy::swept>("setting that takes several values; empty: none"),
    field("ulp_of", "format whose units in the last place are counted",
          [](auto& s) { return to_text(s.ulp_of); }),
    field<&DeviationStudy::rows>("in the order of the text"),
    field<&DeviationStudy::remarks>("sentences"));

Value deviation_json(const DeviationStudy& study) { return answer(study); }
const Description& deviation_document() { return description_of<DeviationStudy>(); }

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
      paragraph(style,
                "A transformer of {} layers and width {}, {} sequences of {} tokens, {} "
                "steps. Distances of weights",
                m.layers, m.width, m.batch, m.positions, q.steps) +
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
  return out + paragraph(style, losses);
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

namespace {

std::string bounds(const TensorDifference& t) {
  return t.wasserstein_at_most - t.wasserstein <= 5e-4 * t.wasserstein_at_most
             ? scientific(t.wasserstein_at_most, 3)
             : scientific(t.wasserstein, 3) + " to " + scientific(t.wasserstein_at_most, 3);
}

Table tensor_table(const CheckpointDifference& d) {
  Table table(
      left("tensor", 5), left("type", 2), right("elements", 2), right("largest", 5),
      right("mean", 4), right("Wasserstein", 5), right("rms of weights", 2),
      right("not finite", 3).shown_if(d.all.not_finite_first + d.all.not_finite_second > 0));
  const auto bad = [](const TensorDifference& t) {
    return t.not_finite_first + t.not_finite_second == 0
               ? ""
               : fmt::format("{} and {}", grouped(t.not_finite_first),
                             grouped(t.not_finite_second));
  };
  for (const TensorDifference& t : d.tensors) {
    table.row(t.name, t.type, grouped(t.elements), scientific(t.largest, 3), scientific(t.mean, 3),
              bounds(t), scientific(t.rms, 3), bad(t));
  }
  table.add_rule();
  table.row(bold("all"), "", grouped(d.all.elements), bold(scientific(d.all.largest, 3)),
            bold(scientific(d.all.mean, 3)), bold(bounds(d.all)), scientific(d.all.rms, 3),
            bad(d.all));
  return table;
}

// How often the reference is as far; empty where it is not away at all.
std::string times(double reference, double tested) {
  return tested > 0 ? fmt::format("{:.2f}", reference / tested) : "";
}

}  // namespace

std::string checkpoint_text(const ComparedCheckpoints& compared, const TextStyle& style) {
  const CheckpointDifference& d = compared.difference;
  std::string out =
      paragraph(style, d.first + " and " + d.second + (d.all.largest == 0 ? ": equal" : "")) +
      "\n" + tensor_table(d).text(style);
  Table references(left("reference", 5), right("largest", 4), right("times as far", 5),
                   right("mean", 3), right("times as far", 4), right("Wasserstein", 3),
                   right("times as far", 4));
  for (const CheckpointDifference& r : compared.references) {
    references.row(r.second, scientific(r.all.largest, 3), times(r.all.largest, d.all.largest),
                   scientific(r.all.mean, 3), times(r.all.mean, d.all.mean),
                   scientific(r.all.wasserstein_at_most, 3),
                   times(r.all.wasserstein_at_most, d.all.wasserstein_at_most));
  }
  out += section("Against references", "of all tensors, from " + d.first, references, style);
  if (!d.left_out.empty()) {
    out += "\n" + paragraph(style, "not compared, no floating-point numbers of at most 32 bits: " +
                                       joined(d.left_out, ", "));
  }
  return out;
}

template <>
inline constexpr auto kResults<TensorDifference> = table<TensorDifference>(
    "tensor difference", "How far two tensors of one name are from each other.",
    field<&TensorDifference::name>("of the tensor; empty: all of them"),
    field<&TensorDifference::type>("as safetensors call it"),
    field<&TensorDifference::elements>("that each has"),
    field<&TensorDifference::largest>("absolute difference of an element"),
    field<&TensorDifference::mean>("absolute difference"),
    field<&TensorDifference::wasserstein>("distance of the distributions of values: at least"),
    field<&TensorDifference::wasserstein_at_most>("the same: at most; equal for 8 and 16 bits"),
    field<&TensorDifference::rms>("of the first tensor"),
    field<&TensorDifference::not_finite_first>("elements that are infinite or NaN"),
    field<&TensorDifference::not_finite_second>("the same"));

template <>
inline constexpr auto kResults<CheckpointDifference> = table<CheckpointDifference>(
    "checkpoint difference", "How far two checkpoints are from each other.",
    field<&CheckpointDifference::first>("file"), field<&CheckpointDifference::second>("file"),
    field<&CheckpointDifference::all>("of all tensors: the largest, and means over the elements"),
    field<&CheckpointDifference::tensors>("in the order of the first file"),
    field<&CheckpointDifference::left_out>("tensors that are not compared"));

template <>
inline constexpr auto kResults<ComparedCheckpoints> = table<ComparedCheckpoints>(
    "compared checkpoints", "Two checkpoints, and references for how far they may be apart.",
    schema_version<1>(), constant("kind", "what the document is", "numerics-compare"),
    field<&ComparedCheckpoints::difference>("of the two"),
    field<&ComparedCheckpoints::references>("of the first from each reference"));

Value checkpoint_json(const ComparedCheckpoints& compared) { return answer(compared); }
const Description& checkpoint_document() { return description_of<ComparedCheckpoints>(); }

std::string adam_text(const AdamStudy& study, const TextStyle& style) {
  const AdamSettings& s = study.settings;
  std::string out =
      paragraph(style, "Adam with b1 = {:g}, b2 = {:g}, eps = {:g}", s.b1, s.b2, s.eps) + "\n";
  const bool expected = std::ranges::any_of(
      study.rows, [](const AdamRow& r) { return r.expected_update_norm.has_value(); });
  Table table(left("", 6), left("", 6), right("update norm", 5),
              right("expected", 4).shown_if(expected), right("bimodality", 4), right("cosine", 3),
              right("|r| > 0.8", 3), right("correlation 1", 3), right("10", 1),
              right("below eps", 3), right("|m| / |sqrt v|", 1), right("rms of g", 2));
  std::string last;
  for (const AdamRow& row : study.rows) {
    const AdamFigures& f = row.figures;
    if (!last.empty() && row.layer != last) table.add_rule();
    const auto number = [](double x) { return fmt::format("{:.3f}", x); };
    table.row(row.layer == last ? "" : row.layer, row.at, bold(number(f.update_norm)),
              row.expected_update_norm ? number(*row.expected_update_norm) : "",
              number(f.bimodality), number(f.cosine), percent(f.near_one),
              number(f.autocorrelation.front()), number(f.autocorrelation.back()),
              percent(f.eps_dominated), number(f.variance_ratio),
              fmt::format("{:.2e}", f.gradient_rms));
    last = row.layer;
  }
  out += table.text(style);
  if (!study.remarks.empty()) out += "\n";
  for (const std::string& remark : study.remarks) out += paragraph(style, remark);
  return out;
}

template <>
inline constexpr auto kResults<AdamFigures> = table<AdamFigures>(
    "update statistics", "Of the ratio r of Adam's moments over the components of a layer.",
    field<&AdamFigures::update_norm>("root mean square of r"),
    field<&AdamFigures::bimodality>("(skewness^2 + 1) / kurtosis of r"),
    field<&AdamFigures::cosine>("of r and the gradient"),
    field<&AdamFigures::near_one>("share of components with |r| > 0.8"),
    field<&AdamFigures::autocorrelation>("of the gradient, at lags of 1, 2, 5 and 10 steps"),
    field<&AdamFigures::eps_dominated>("share of components whose root of v is below eps"),
    field<&AdamFigures::variance_ratio>("norm of m over norm of the root of v"),
    field<&AdamFigures::gradient_rms>("root mean square of the gradient"));

template <>
inline constexpr auto kResults<AdamRow> =
    table<AdamRow>("adam row", "One layer at one step, or one simulation.",
                   field<&AdamRow::layer>("layer, or what is simulated"),
                   field<&AdamRow::at>("step, or the value that simulations differ in"),
                   fields_within([](auto& r) { return r.figures; }),
                   field<&AdamRow::expected_update_norm>("closed form; null: none"));

template <>
inline constexpr auto kResults<AdamStudy> = table<AdamStudy>(
    "adam", "What Adam makes of gradients.", schema_version<1>(),
    constant("kind", "what the document is", "numerics-adam"),
    field("b1", "decay of the first moment", [](auto& s) { return s.settings.b1; }),
    field("b2", "decay of the second moment", [](auto& s) { return s.settings.b2; }),
    field("eps", "added to the root of v", [](auto& s) { return s.settings.eps; }),
    field<&AdamStudy::rows>("in the order of the text"),
    field<&AdamStudy::remarks>("sentences; warnings first"));

Value adam_json(const AdamStudy& study) { return answer(study); }
const Description& adam_document() { return description_of<AdamStudy>(); }

std::string vector_text(const VectorStudy& study, const TextStyle& style) {
  Table table(left("table", 2), right("rows", 2), right("width", 2), right("index", 2),
              left("class", 2), right("bound", 2), right("worst error", 2), right("repeats", 2),
              right("huffman", 2), left("best", 2), right("gain", 2));
  for (const VectorRow& r : study.rows) {
    table.row(r.table, grouped(static_cast<std::int64_t>(r.rows)), std::to_string(r.width),
              fmt::format("{:.3f}", r.index), std::string(to_text(r.bound_class)),
              fmt::format("{:g}", r.bound), fmt::format("{:.2g}", r.worst_error),
              fmt::format("{:.2f}", r.repeats_ratio), fmt::format("{:.2f}", r.huffman_ratio),
              std::string(to_text(r.stage)), fmt::format("{:.2f}", r.gain));
  }
  return table.text(style) +
         fmt::format(
             "\nindex: share of the distinct rows that become equal; repeats, huffman: bytes "
             "before over bytes behind.\ngain: time of an exchange at {} over that with a codec of "
             "{} and "
             "{}; below 1 vectors are better sent as they are.\n",
             to_text(study.settings.link), to_text(study.settings.compress),
             to_text(study.settings.decompress));
}

template <>
inline constexpr auto kResults<VectorRow> = table<VectorRow>(
    "compressed table", "One embedding table.", field<&VectorRow::table>("name of its tensor"),
    field<&VectorRow::rows>("vectors"), field<&VectorRow::width>("elements of one"),
    field<&VectorRow::index>("1 - distinct rows behind / before quantisation"),
    field<&VectorRow::bound_class>("how tightly errors are bounded"),
    field<&VectorRow::bound>("of the error of an element"),
    field<&VectorRow::worst_error>("of any element"),
    field<&VectorRow::repeats_ratio>("bytes before over bytes behind, of repeated rows"),
    field<&VectorRow::huffman_ratio>("bytes before over bytes behind, of a prefix code"),
    field<&VectorRow::stage>("with the better ratio"),
    field<&VectorRow::gain>("time of the exchange without over that with it"));

template <>
inline constexpr auto kResults<VectorStudy> = table<VectorStudy>(
    "vectors", "What error-bounded compression makes of embedding tables.", schema_version<1>(),
    constant("kind", "what the document is", "numerics-vectors"),
    field("iteration", "of the training", [](auto& s) { return s.settings.iteration; }),
    field("link_bytes_per_s", "of the exchange", [](auto& s) { return s.settings.link; }),
    field("compress_bytes_per_s", "of the codec", [](auto& s) { return s.settings.compress; }),
    field("decompress_bytes_per_s", "of its inverse",
          [](auto& s) { return s.settings.decompress; }),
    field<&VectorStudy::rows>("in the order of the file"));

Value vector_json(const VectorStudy& study) { return answer(study); }
const Description& vector_document() { return description_of<VectorStudy>(); }

}  // namespace orrery
