#include "schedule/schedule.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "outcome/nearest_name.h"
#include "schedule/gpipe.h"
#include "schedule/interleaved_1f1b.h"
#include "schedule/one_forward_one_backward.h"

namespace orrery {

std::span<const Schedule> schedules() {
  static const std::array kSchedules = {kGPipe, kOneForwardOneBackward, kInterleaved1F1B};
  return kSchedules;
}

Result<const Schedule*> find_schedule(std::string_view name) {
  std::string folded(name);
  std::replace(folded.begin(), folded.end(), '-', '_');
  std::vector<std::string> known;
  for (const Schedule& s : schedules()) {
    if (s.name == folded) return &s;
    known.emplace_back(s.name);
  }
  return fail(ErrorCode::not_found, "unknown schedule '" + std::string(name) + "'", "",
              name_hint(name, known));
}

std::vector<int> in_flight_by_order(const Schedule& schedule, const PipelineShape& shape,
                                    int device) {
  std::vector<int> now(static_cast<std::size_t>(shape.chunks));
  std::vector<int> peak = now;
  int held = 0;
  int most = 0;
  for (const PipelineOperation& op : schedule.order(shape, device)) {
    if (op.action == PipelineAction::forward) {
      ++now[op.chunk];
      if (++held > most) {
        most = held;
        peak = now;
      }
    } else if (op.action != PipelineAction::input_gradient) {
      --now[op.chunk];
      --held;
    }
  }
  return peak;
}

namespace {

std::string text(const PipelineOperation& op, int device) {
  const char* letter = op.action == PipelineAction::forward           ? "F"
                       : op.action == PipelineAction::weight_gradient ? "W"
                                                                      : "B";
  return std::string(letter) + std::to_string(op.microbatch) + " of chunk " +
         std::to_string(op.chunk) + " on device " + std::to_string(device);
}

}  // namespace

Result<std::vector<DeviceOperation>> linear_order(const Schedule& schedule,
                                                  const PipelineShape& shape) {
  const auto p = static_cast<std::size_t>(shape.devices);
  const auto m = static_cast<std::size_t>(shape.microbatches);
  const auto stages = static_cast<std::size_t>(shape.virtual_stages());
  std::vector<std::vector<PipelineOperation>> orders(p);
  std::vector<std::size_t> next(p);
  std::vector<std::size_t> stage_of(p * static_cast<std::size_t>(shape.chunks));
  std::size_t total = 0;
  for (std::size_t d = 0; d < p; ++d) {
    orders[d] = schedule.order(shape, static_cast<int>(d));
    total += orders[d].size();
    for (int c = 0; c < shape.chunks; ++c) {
      stage_of[d * static_cast<std::size_t>(shape.chunks) + static_cast<std::size_t>(c)] =
          static_cast<std::size_t>(schedule.virtual_stage(shape, static_cast<int>(d), c));
    }
  }
  std::vector<char> forward_done(stages * m);
  std::vector<char> backward_done(stages * m);
  const auto stage = [&](std::size_t d, const PipelineOperation& op) {
    return stage_of[d * static_cast<std::size_t>(shape.chunks) + op.chunk];
  };
  const auto ready = [&](std::size_t d, const PipelineOperation& op) {
    const std::size_t s = stage(d, op);
    const std::size_t j = op.microbatch;
    switch (op.action) {
      case PipelineAction::forward:
        return s == 0 || forward_done[(s - 1) * m + j] != 0;
      case PipelineAction::backward:
      case PipelineAction::input_gradient:
        return forward_done[s * m + j] != 0 &&
               (s + 1 == stages || backward_done[(s + 1) * m + j] != 0);
      case PipelineAction::weight_gradient:
        return backward_done[s * m + j] != 0;
    }
    return false;
  };

  std::vector<DeviceOperation> out;
  out.reserve(total);
  while (out.size() < total) {
    const std::size_t before = out.size();
    for (std::size_t d = 0; d < p; ++d) {
      while (next[d] < orders[d].size() && ready(d, orders[d][next[d]])) {
        const PipelineOperation& op = orders[d][next[d]++];
        const std::size_t at = stage(d, op) * m + op.microbatch;
        if (op.action == PipelineAction::forward) {
          forward_done[at] = 1;
        } else if (op.action != PipelineAction::weight_gradient) {
          backward_done[at] = 1;
        }
        out.push_back({static_cast<std::uint32_t>(d), op});
      }
    }
    if (out.size() == before) {
      std::string waiting;
      for (std::size_t d = 0; d < p; ++d) {
        if (next[d] == orders[d].size()) continue;
        waiting += (waiting.empty() ? "" : "; ") + text(orders[d][next[d]], static_cast<int>(d));
      }
      return fail(ErrorCode::bad_input, "schedule " + std::string(schedule.name) +
                                            " deadlocks: each of these waits for "
                                            "another: " +
                                            waiting);
    }
  }
  return out;
}

}  // namespace orrery
