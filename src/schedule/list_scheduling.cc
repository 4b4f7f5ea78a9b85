#include "schedule/list_scheduling.h"

#include <functional>
#include <queue>
#include <vector>

namespace orrery {
namespace {

template <class T>
using EarliestFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

class ListScheduling {
 public:
  ListScheduling(Pipeline placed, const PipelineTimes& times, int in_flight)
      : out_(std::move(placed)),
        times_(times),
        stages_(out_.stages()),
        microbatches_(static_cast<std::size_t>(out_.shape.microbatches)),
        devices_(out_.order.size()) {
    const std::size_t p = devices_.size();
    for (std::size_t a = 0; a < p; ++a) {
      for (std::size_t b = 0; b < p; ++b) {
        hop_.push_back((times.transfer_between(a, b) + times.latency_between(a, b)).count());
      }
    }
    for (auto& order : out_.order) {
      order.reserve(2 * microbatches_ * static_cast<std::size_t>(out_.shape.chunks));
    }
    for (int j = 0; j < in_flight; ++j) admit();
  }

  Pipeline run() {
    start_touched();
    while (!events_.empty()) {
      now_ = events_.top().at;
      while (!events_.empty() && events_.top().at == now_) {
        const Event event = events_.top();
        events_.pop();
        touched_.push_back(event.device);
        if (event.ends) {
          devices_[event.device].busy = false;
          finish(event);
        } else {
          devices_[event.device].ready.push(event.task);
        }
      }
      start_touched();
    }
    return std::move(out_);
  }

 private:
  // In the order of urgency: backward before forward, microbatch, stage from the deepest.
  using Task = std::uint64_t;
  struct Event {
    double at;  // ps
    std::uint32_t device;
    bool ends;  // else the task has arrived at the device
    Task task;
    auto operator<=>(const Event&) const = default;
  };
  struct Device {
    bool busy = false;
    EarliestFirst<Task> ready;
  };

  static constexpr Task kForward = Task{1} << 62;

  [[nodiscard]] Task task(bool forward, std::size_t s, std::size_t j) const {
    return (forward ? kForward : 0) + j * stages_ + (stages_ - 1 - s);
  }

  void admit() {
    if (entered_ < microbatches_) arrive(true, 0, entered_++, now_);
  }

  // The task can begin at `at`, now or later.
  void arrive(bool forward, std::size_t s, std::size_t j, double at) {
    const std::uint32_t device = out_.seat(j, s).device;
    if (at > now_) return events_.push({at, device, false, task(forward, s, j)});
    devices_[device].ready.push(task(forward, s, j));
    touched_.push_back(device);
  }

  // A device twice touched starts once. Which is first matters to nobody: a start changes only the
  // device itself.
  void start_touched() {
    for (const std::uint32_t d : touched_) start(d);
    touched_.clear();
  }

  void start(std::uint32_t d) {
    Device& device = devices_[d];
    if (device.busy || device.ready.empty()) return;
    const Task next = device.ready.top();
    device.ready.pop();
    device.busy = true;
    const bool forward = next >= kForward;
    const std::size_t rest = next - (forward ? kForward : 0);
    const std::size_t j = rest / stages_;
    const std::size_t s = stages_ - 1 - rest % stages_;
    out_.order[d].push_back({forward ? PipelineAction::forward : PipelineAction::backward,
                             out_.seat(j, s).chunk, static_cast<std::uint32_t>(j)});
    const StageTimes& stage = times_.stage[s];
    const double time = times_.on(d, forward ? stage.forward : stage.backward).count();
    events_.push({now_ + time, d, true, next});
  }

  void finish(const Event& event) {
    const bool forward = event.task >= kForward;
    const std::size_t rest = event.task - (forward ? kForward : 0);
    const std::size_t j = rest / stages_;
    const std::size_t s = stages_ - 1 - rest % stages_;
    if (forward && s + 1 == stages_) return arrive(false, s, j, now_);
    if (!forward && s == 0) return admit();
    const std::size_t next = forward ? s + 1 : s - 1;
    const std::size_t to = out_.seat(j, next).device;
    arrive(forward, next, j, now_ + hop_[event.device * devices_.size() + to]);
  }

  Pipeline out_;
  const PipelineTimes& times_;
  std::size_t stages_, microbatches_;
  std::size_t entered_ = 0;
  std::vector<Device> devices_;
  std::vector<std::uint32_t> touched_;
  double now_ = 0;           // ps
  std::vector<double> hop_;  // ps, between every two devices
  EarliestFirst<Event> events_;
};

}  // namespace

Pipeline list_scheduled(Pipeline placed, const PipelineTimes& times, int in_flight) {
  return ListScheduling(std::move(placed), times, in_flight).run();
}

}  // namespace orrery
