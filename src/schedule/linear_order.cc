#include "schedule/linear_order.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "schedule/pipeline_dependencies.h"

namespace orrery {

std::string_view letters(PipelineAction action) {
  static constexpr std::array<std::string_view, kPipelineActions> kLetters = {
      "F", "BW", "B", "W", "FB", "offload", "reload", "S", "T", "I", "G"};
  return kLetters[static_cast<std::size_t>(action)];
}

std::string to_text(const Pipeline& pipeline, const DeviceOperation& operation) {
  const PipelineOperation& op = operation.operation;
  std::string out(letters(op.action));
  if (op.action >= PipelineAction::offload) out += ' ';
  out += std::to_string(op.microbatch);
  if (op.action < PipelineAction::output_layer) {
    out += " of stage " + std::to_string(pipeline.stage_of(operation.device, op.chunk));
  }
  return out + " on device " + std::to_string(operation.device);
}

namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

struct Event {
  PipelineEventKind kind;
  std::size_t stage, microbatch;
};

class Walk {
 public:
  explicit Walk(const Pipeline& pipeline)
      : pipeline_(pipeline),
        events_(pipeline),
        done_(events_.events()),
        first_waiting_(events_.events(), kNobody),
        next_waiting_(pipeline.order.size(), kNobody),
        next_(pipeline.order.size()) {
    out_.reserve(pipeline.operations());
  }

  Result<std::vector<DeviceOperation>> run() {
    for (std::uint32_t d = 0; d < pipeline_.order.size(); ++d) runnable_.push_back(d);
    while (!runnable_.empty()) {
      const std::uint32_t d = runnable_.back();
      runnable_.pop_back();
      advance(d);
    }
    if (out_.size() < pipeline_.operations()) return fail(stuck());
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool whole(const Event& e) const {
    return done_[events_.index(e.kind, e.stage, e.microbatch)] >= events_.operations_of(e.kind);
  }

  // The first event `op` still waits for; false if there is none.
  bool blocked(std::size_t device, const PipelineOperation& op, Event& by) const {
    bool found = false;
    events_.waits(device, op, [&](PipelineEventKind kind, std::size_t s, std::size_t j) {
      const Event e{kind, s, j};
      if (found || whole(e)) return;
      by = e;
      found = true;
    });
    return found;
  }

  void advance(std::uint32_t d) {
    const auto& order = pipeline_.order[d];
    Event by{};
    while (next_[d] < order.size()) {
      const PipelineOperation& op = order[next_[d]];
      if (blocked(d, op, by)) {
        std::uint32_t& first = first_waiting_[events_.index(by.kind, by.stage, by.microbatch)];
        next_waiting_[d] = first;
        first = d;
        return;
      }
      ++next_[d];
      out_.push_back({d, op});
      events_.completes(d, op, [&](PipelineEventKind kind, std::size_t s, std::size_t j) {
        const std::size_t e = events_.index(kind, s, j);
        if (++done_[e] < events_.operations_of(kind)) return;
        for (std::uint32_t w = first_waiting_[e]; w != kNobody; w = next_waiting_[w]) {
          runnable_.push_back(w);
        }
        first_waiting_[e] = kNobody;
      });
    }
  }

  // A device whose list still holds an operation that completes `e`; kNobody if none does.
  [[nodiscard]] std::uint32_t device_that_completes(const Event& e) const {
    for (std::uint32_t d = 0; d < pipeline_.order.size(); ++d) {
      for (std::size_t i = next_[d]; i < pipeline_.order[d].size(); ++i) {
        bool completes = false;
        events_.completes(
            d, pipeline_.order[d][i], [&](PipelineEventKind kind, std::size_t s, std::size_t j) {
              completes |=
                  events_.index(kind, s, j) == events_.index(e.kind, e.stage, e.microbatch);
            });
        if (completes) return d;
      }
    }
    return kNobody;
  }

  // Follows what the first stuck device waits for until a device comes round again.
  [[nodiscard]] Error stuck() const {
    std::uint32_t d = 0;
    while (next_[d] == pipeline_.order[d].size()) ++d;
    std::vector<std::uint32_t> path;
    while (std::ranges::find(path, d) == path.end()) {
      path.push_back(d);
      Event by{};
      blocked(d, pipeline_.order[d][next_[d]], by);
      const std::uint32_t other = device_that_completes(by);
      if (other == kNobody) {
        return {ErrorCode::bad_input, "the schedule never does what " + head(d) + " waits for", "",
                ""};
      }
      d = other;
    }
    std::string cycle;
    for (auto at = std::ranges::find(path, d); at != path.end(); ++at) {
      cycle += head(*at) + " waits for ";
    }
    return {ErrorCode::bad_input,
            "the schedule deadlocks: " + cycle + (path.back() == d ? "itself" : head(d)), "", ""};
  }

  [[nodiscard]] std::string head(std::uint32_t d) const {
    return to_text(pipeline_, {d, pipeline_.order[d][next_[d]]});
  }

  const Pipeline& pipeline_;
  PipelineEvents events_;
  std::vector<std::uint16_t> done_;
  std::vector<std::uint32_t> first_waiting_, next_waiting_;
  std::vector<std::size_t> next_;
  std::vector<std::uint32_t> runnable_;
  std::vector<DeviceOperation> out_;
};

}  // namespace

Result<std::vector<DeviceOperation>> linear_order(const Pipeline& pipeline) {
  return Walk(pipeline).run();
}

}  // namespace orrery
