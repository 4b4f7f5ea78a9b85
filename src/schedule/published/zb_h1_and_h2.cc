// ZB-H1 and ZB-H2: 1F1B whose weight gradients are postponed until a device would wait.
//
//   ZB-H1, in the memory of 1F1B's fullest device:
//     makespan m (F + B + W) + (p - 1)(F + B - W), + 4 (p - 1) c with a latency c, where W fills
//     the waits; p microbatches between F and W on every device
//   ZB-H2, with twice the forwards ahead, so that no device waits once it has begun:
//     longest device span m (F + B + W) + (p - 1) max(0, F + B - 2 W), + 2 (p - 1) c with a latency
//     c; 2 p - 1 microbatches between F and W on every device
//
// Source: arXiv 2401.10241. The orders are those of unit times.
#include <algorithm>

#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

// Device i runs `ahead(p, i)` forwards; then it repeats: one B, one W if `cap` microbatches are
// between their F and W, and one F. When no forwards are left, it runs one B and as many W as fit
// before the next B. Unit times decide what fits.
struct Rule {
  int (*ahead)(int devices, int device);
  int cap;
};

// One device on the clock of unit times.
struct Device {
  int f = 0, b = 0, w = 0;
  bool after_backward = false;  // a W may be due before the next F
};

Pipeline handcrafted_order(const PipelineShape& shape, const Rule& rule) {
  Pipeline out = placed(shape, 1, loop_virtual_stage);
  const int p = shape.devices;
  const int m = shape.microbatches;
  std::vector<Device> devices(static_cast<std::size_t>(p));
  for (auto& order : out.order) order.reserve(3 * static_cast<std::size_t>(m));
  std::size_t left = 3 * static_cast<std::size_t>(p) * static_cast<std::size_t>(m);
  std::vector<PipelineAction> now(devices.size());
  std::vector<char> runs(devices.size());
  while (left > 0) {
    // All devices choose from what was done before this unit of time.
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const Device& d = devices[i];
      const int ahead = std::min(rule.ahead(p, static_cast<int>(i)), m);
      const bool forward_ready = d.f < m && (i == 0 || devices[i - 1].f > d.f);
      const bool gradient_ready = d.b < d.f && (i + 1 == devices.size() || devices[i + 1].b > d.b);
      runs[i] = 1;
      if (d.f < ahead || (d.f < m && d.after_backward)) {
        const bool full = d.f >= ahead && d.f - d.w >= rule.cap && d.w < d.b;
        now[i] = full ? PipelineAction::weight_gradient : PipelineAction::forward;
        if (!full && !forward_ready) runs[i] = 0;
      } else if (gradient_ready) {
        now[i] = PipelineAction::input_gradient;
      } else {
        now[i] = PipelineAction::weight_gradient;
        if (d.f < m || d.w >= d.b) runs[i] = 0;
      }
    }
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (runs[i] == 0) continue;
      Device& d = devices[i];
      int& count = now[i] == PipelineAction::forward          ? d.f
                   : now[i] == PipelineAction::input_gradient ? d.b
                                                              : d.w;
      out.order[i].push_back({now[i], 0, static_cast<std::uint32_t>(count++), 0, 0});
      if (now[i] == PipelineAction::forward) d.after_backward = false;
      if (now[i] == PipelineAction::input_gradient) d.after_backward = true;
      --left;
    }
  }
  return out;
}

Result<Pipeline> h1_order(const ScheduleRequest& request) {
  return handcrafted_order(request.shape,
                           {[](int p, int i) { return p - i; }, request.shape.devices});
}

Result<Pipeline> h2_order(const ScheduleRequest& request) {
  return handcrafted_order(
      request.shape, {[](int p, int i) { return 2 * (p - i) - 1; }, 2 * request.shape.devices - 1});
}

}  // namespace

const Schedule kZbH1{
    .name = "zb_h1",
    .summary = "1F1B with weight gradients put off, in the same memory (arXiv 2401.10241)",
    .chunks = 1,
    .splits_backward = true,
    .virtual_stage = loop_virtual_stage,
    .pipeline = h1_order};

const Schedule kZbH2{
    .name = "zb_h2",
    .summary = "as ZB-H1 with twice the microbatches in flight and no bubble (arXiv 2401.10241)",
    .chunks = 1,
    .splits_backward = true,
    .virtual_stage = loop_virtual_stage,
    .pipeline = h2_order};

}  // namespace orrery
