// The judgement of the model on measured steps: what is published, and what a test holds on to.
//
// Errors of steps that no fit had seen (validate/held_out.h) by source and by regime, beside those
// of predictions without this model; how well plans are ranked, and what picking the predicted best
// costs; how often the memory verdict is right; and how many measured steps the intervals of
// estimates hold. Rows of sources that vary too much from run to run (`judged_apart` of a
// convention) are left out of the sums over all sources.
//
//   regret of a group = measured time per sequence of the plan predicted best / of the best one - 1
//   coverage = share of held-out steps inside intervals made of the errors of other sources
#pragma once

#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "validate/held_out.h"
#include "validate/validation.h"

namespace orrery {

struct SchemeErrors {
  std::string name;  // a source, or "h100-sxm" of the axis "accelerator"
  std::string axis;  // "source", "accelerator", "scale", "precision", "model", "framework"
  std::array<ErrorSummary, kSchemes.size()> schemes;
  [[nodiscard]] const ErrorSummary& of(Scheme scheme) const {
    return schemes[static_cast<std::size_t>(scheme)];
  }
};

// A source of fewer rows is in the errors by row, but counts for no median of its own.
inline constexpr int kSmallSource = 10;
// The mean over sources of kSmallSource rows or more of the median error of each; nothing of none.
std::optional<double> error_by_source(const std::vector<SchemeErrors>& parts, Scheme scheme);

struct Regret {
  std::string source_id, group;
  int plans = 0;
  double regret = 0;
  std::string picked, best;  // rows
};

struct Coverage {
  std::string regime;
  int rows = 0;
  double inside = 0;  // share of rows
  double width = 0;   // mean of (high - low) / estimate
  // The same of steps whose source is left out, of the calibration and of the intervals.
  int left_out_rows = 0;
  double left_out_inside = 0;
  double left_out_width = 0;
};

// Regimes and sources of fewer held-out steps count together in the coverage of intervals.
inline constexpr int kFewestSteps = 20;
// What an interval of kIntervalLevel is to hold; a regime outside is named.
inline constexpr double kLeastInside = 0.85;
inline constexpr double kMostInside = 0.95;

// One published figure with its target.
struct Figure {
  std::string name;
  double value = 0;
  std::optional<double> target;
  bool more_is_better = false;
  [[nodiscard]] bool met() const {
    return !target || (more_is_better ? value >= *target : value <= *target);
  }
};

// A held-out step of the scatter plot.
struct JudgedPoint {
  std::string row_id, accelerator;
  Seconds measured, predicted;
};

struct Judgement {
  std::vector<JudgedPoint> points;  // five-fold; today's estimate where nothing was held out
  SchemeErrors all;                 // but the sources judged apart
  std::set<std::string> apart;      // sources that are not in `all`
  std::vector<SchemeErrors> parts;
  std::vector<Regret> regrets;  // by group of kSmallestGroup plans or more; worst first
  Coverage coverage;
  // By kind of model, architecture and scale, source, and whether they extrapolate.
  std::vector<Coverage> coverages;
  std::vector<Figure> figures;
};

// `validation` of the same rows as `held_out`; rows of either that the other lacks are left alone.
Judgement judged(const Validation& validation, std::span<const HeldOutStep> held_out);

// "figure,value" lines.
std::string figures_text(std::span<const Figure> figures);

Value judgement_json(const Judgement& judgement);

}  // namespace orrery
