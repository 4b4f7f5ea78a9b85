#include "report/numerics/checkpoint_report.h"

#include <fmt/format.h>

#include "document/results.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"

namespace orrery {
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
      wrapped(d.first + " and " + d.second + (d.all.largest == 0 ? ": equal" : ""), 2, style) +
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
    std::string names;
    for (const std::string& name : d.left_out) names += (names.empty() ? "" : ", ") + name;
    out += "\n" + wrapped("not compared, no floating-point numbers of at most 32 bits: " + names, 2,
                          style);
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

}  // namespace orrery
