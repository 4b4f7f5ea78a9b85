// DualPipe: microbatches enter from both ends, forwards paired with full backwards.
//
//   p even, m even, m >= 2p. Device r holds stage r of the way down and stage p-1-r of the way up;
//   the first m/2 microbatches go down. Its order: the eight steps of dualpipe_steps.h with H = p/2
//   and r counted from the nearer end.
//
//   The middle devices idle (p/2 - 1)(FB + BW - 3W), the others as much or less, where FB is the
//   time of a forward and a full backward as one (forward_and_backward). p + 1 microbatches are in
//   flight on every device. Weights are held twice.
//
// Source: arXiv 2412.19437. Not modelled here: the overlap inside a pair with its all-to-all; it is
// part of the stated time.
#include <algorithm>

#include "schedule/dualpipe_steps.h"
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

constexpr auto kPlacement = bidirectional_virtual_stage<loop_virtual_stage>;

std::vector<std::string> problems(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  std::vector<std::string> out;
  if (shape.devices % 2 != 0) {
    out.push_back("dualpipe runs two directions over an even number of devices, not " +
                  std::to_string(shape.devices));
  }
  if (shape.microbatches % 2 != 0) {
    out.push_back("dualpipe sends half of the microbatches each way: " +
                  std::to_string(shape.microbatches) + " microbatches are not a multiple of 2");
  }
  if (shape.microbatches < 2 * shape.devices) {
    out.push_back(
        "dualpipe needs two microbatches a device: " + std::to_string(shape.microbatches) +
        " microbatches are below " + std::to_string(2 * shape.devices));
  }
  return out;
}

Result<Pipeline> order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  Pipeline out = placed(shape, 2, kPlacement);
  const int p = shape.devices;
  const auto half = static_cast<std::size_t>(shape.microbatches / 2);
  out.route.assign(2 * half, 1);
  std::fill_n(out.route.begin(), half, std::uint16_t{0});
  const DualPipePhase down{0, 0};
  const DualPipePhase up{1, static_cast<std::uint32_t>(half)};
  for (int r = 0; r < p; ++r) {
    const DualPipePhase from_first[2] = {down, up};
    const DualPipePhase from_last[2] = {up, down};
    out.order[static_cast<std::size_t>(r)] = dualpipe_steps(
        p / 2, std::min(r, p - 1 - r), static_cast<int>(half), r < p / 2 ? from_first : from_last);
  }
  return out;
}

}  // namespace

const Schedule kDualPipe{
    .name = "dualpipe",
    .summary = "both directions at once, forwards paired with backwards (arXiv 2412.19437)",
    .chunks = 1,
    .routes = 2,
    .splits_backward = true,
    .pairs_passes = true,
    .problems = problems,
    .virtual_stage = kPlacement,
    .pipeline = order};

}  // namespace orrery
