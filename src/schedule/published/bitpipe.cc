// BitPipe: two V-shaped pipelines in opposite directions over the same devices.
//
//   p even, m a multiple of p. Direction 0 has stage s in 0..2p-1 on snake(s), direction 1 is its
//   mirror; half of each unit of p microbatches goes in each direction. On device r, q = p/2, and
//   n = q-r in the first half, r-q+1 in the second; "near" microbatches enter on this half, "far"
//   ones on the other; 1 and 2 are the first and second chunk that they pass:
//     forwards   n x near 1, (q-n) x [far 1, near 1], n x [far 1, far 2],
//                (q-n) x [near 2, far 2], n x near 2
//     backwards  n x near 2, (q-n) x [far 2, near 2], n x [far 2, far 1],
//                (q-n) x [near 1, far 1], n x near 1
//   and together: w = 3q + min(r, p-1-r) forwards, then e = 2p-w times [F, BW]; for each further
//   unit (w-e+1) BW, (e-1) x [F, BW], (w-e+1) F, e x [F, BW]; then the remaining backwards.
//
//   With F and BW of a chunk and BW >= F a device idles (p-2) BW for m = p, and (p-2)(BW - F) more
//   for each further unit. At most p - (q-1-min(i, p-1-i))/2 microbatches are in flight. Weights
//   are held twice.
//
// Source: arXiv 2410.19367 (V-shaped interleaved schedule, fused bidirectionally). Not here: more
// than two chunks a direction; the all-reduce between mirrored devices, which is the plan's.
#include <algorithm>

#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

constexpr auto kBitPipePlacement = bidirectional_virtual_stage<snake_virtual_stage>;

std::vector<std::string> bitpipe_problems(const ScheduleRequest& request) {
  return bidirectional_problems("bitpipe", request.shape);
}

// The forwards or backwards of one device over all units, in order.
class Sequence {
 public:
  Sequence(PipelineAction action, int devices, int device)
      : action_(action), devices_(devices), near_(device < devices / 2 ? 0 : 1) {}

  std::vector<PipelineOperation> unit(int u, int n) {
    out_.clear();
    std::fill(std::begin(next_), std::end(next_), u * devices_);
    const int rest = devices_ / 2 - n;
    const bool forward = action_ == PipelineAction::forward;
    const int first = forward ? 0 : 1;
    const int second = 1 - first;
    for (int k = 0; k < n; ++k) near(first);
    for (int k = 0; k < rest; ++k) far(first), near(first);
    for (int k = 0; k < n; ++k) far(first), far(second);
    for (int k = 0; k < rest; ++k) near(second), far(second);
    for (int k = 0; k < n; ++k) near(second);
    return out_;
  }

 private:
  void near(int chunk) { add(near_, chunk); }
  void far(int chunk) { add(1 - near_, chunk); }
  void add(int direction, int chunk) {
    const int held = 2 * direction + chunk;
    out_.push_back({action_, static_cast<std::uint16_t>(held),
                    static_cast<std::uint32_t>(next_[held]++ + direction * devices_ / 2)});
  }

  PipelineAction action_;
  int devices_;
  int near_;
  int next_[4] = {};
  std::vector<PipelineOperation> out_;
};

Result<Pipeline> bitpipe_order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  Pipeline out = placed(shape, 2, kBitPipePlacement);
  out.route = routes_of_units(shape);
  const int p = shape.devices;
  const int units = shape.microbatches / p;
  for (int device = 0; device < p; ++device) {
    const int n = device < p / 2 ? p / 2 - device : device - p / 2 + 1;
    std::vector<PipelineOperation> forwards, backwards;
    Sequence forward(PipelineAction::forward, p, device);
    Sequence backward(PipelineAction::backward, p, device);
    for (int u = 0; u < units; ++u) {
      const auto f = forward.unit(u, n);
      forwards.insert(forwards.end(), f.begin(), f.end());
      const auto b = backward.unit(u, n);
      backwards.insert(backwards.end(), b.begin(), b.end());
    }
    auto& operations = out.order[static_cast<std::size_t>(device)];
    operations.reserve(forwards.size() + backwards.size());
    auto f = forwards.begin();
    auto b = backwards.begin();
    const auto some = [&](int count, bool with_forward, bool with_backward) {
      for (int k = 0; k < count; ++k) {
        if (with_forward) operations.push_back(*f++);
        if (with_backward) operations.push_back(*b++);
      }
    };
    const int ahead = 3 * p / 2 + std::min(device, p - 1 - device);
    const int each = 2 * p - ahead;
    some(ahead, true, false);
    some(each, true, true);
    for (int u = 1; u < units; ++u) {
      some(ahead - each + 1, false, true);
      some(each - 1, true, true);
      some(ahead - each + 1, true, false);
      some(each, true, true);
    }
    operations.insert(operations.end(), b, backwards.end());
  }
  return out;
}

}  // namespace

const Schedule kBitPipe{
    .name = "bitpipe",
    .summary = "two V-shaped pipelines in opposite directions (arXiv 2410.19367)",
    .chunks = 2,
    .routes = 2,
    .problems = bitpipe_problems,
    .virtual_stage = kBitPipePlacement,
    .pipeline = bitpipe_order};

}  // namespace orrery
