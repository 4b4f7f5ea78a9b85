// 1F1B-V: 1F1B on a V, two chunks per device, whole backwards, two thirds of the memory of 1F1B.
//
//   The building block, in slots of one forward of a chunk (a backward takes two): of microbatch 0
//   the forwards F0 on device i at i and F1 at 2p-1-i, then from slot 2p (2p+3 if 3 divides p) the
//   backwards B1 of devices 0..p-1 and B0 of p-1..0 one after another, with three slots left out
//   whenever p + 2 and the backwards so far are together a multiple of three. Microbatch j follows
//   6j slots later: no two operations have the same slot modulo 6. Then, in the order of the slots,
//   every operation moves to the earliest free slot after everything it waits for and after the
//   previous operation of the same kind; a forward moves only while the device holds less than the
//   peak of the pattern. The order of the slots is the order of the device.
//
//   Peak, of m >= 2p: 2 ceil(2p/3) microbatches of a chunk, 2 more if 3 divides p.
//
// Source: arXiv 2405.15362 (1F1B-V). The order is made for backwards twice as long
// as forwards and no latency, then runs under any times.
#include <algorithm>
#include <array>

#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

constexpr std::size_t kPeriod = 6;

enum Kind : std::uint8_t { f0, f1, b1, b0 };
constexpr std::array kKinds = {f0, f1, b1, b0};
constexpr bool is_forward(Kind kind) { return kind < b1; }
constexpr std::size_t slots_of(Kind kind) { return is_forward(kind) ? 1 : 2; }

struct Cell {
  Kind kind = f0;
  std::uint32_t microbatch = 0;
  bool begins = false;  // an operation begins here
};

class VSlots {
 public:
  explicit VSlots(const PipelineShape& shape)
      : p_(static_cast<std::size_t>(shape.devices)),
        m_(static_cast<std::size_t>(shape.microbatches)),
        first_(4 * p_) {
    building_block();
    length_ = *std::ranges::max_element(first_) + kPeriod * (m_ - 1) + 3;
    repeat();
  }

  Pipeline reordered(Pipeline out) {
    for (std::size_t t = 0; t < length_; ++t) {
      for (std::size_t d = 0; d < p_; ++d) {
        const Cell cell = pattern_[d * length_ + t];
        if (cell.begins) move(d, t, cell.kind, cell.microbatch);
      }
    }
    for (std::size_t d = 0; d < p_; ++d) {
      out.order[d].reserve(4 * m_);
      for (std::size_t t = 0; t < length_; ++t) {
        const Cell& cell = moved_[d * length_ + t];
        if (!cell.begins) continue;
        out.order[d].push_back(
            {is_forward(cell.kind) ? PipelineAction::forward : PipelineAction::backward,
             static_cast<std::uint16_t>(cell.kind == f1 || cell.kind == b1), cell.microbatch});
      }
    }
    return out;
  }

 private:
  // The slot of the first microbatch's operation.
  std::size_t& first(Kind kind, std::size_t d) { return first_[kind * p_ + d]; }
  std::size_t& end(Kind kind, std::size_t d, std::size_t j) {
    return end_[(kind * p_ + d) * m_ + j];
  }

  void building_block() {
    for (std::size_t d = 0; d < p_; ++d) {
      first(f0, d) = d;
      first(f1, d) = 2 * p_ - 1 - d;
    }
    std::size_t now = 2 * p_ + (p_ % 3 == 0 ? 3 : 0);
    std::size_t count = (3 - (p_ + 2) % 3) % 3;
    const auto next = [&] {
      const std::size_t here = now;
      now += 2;
      if (++count % 3 == 0) now += 3;
      return here;
    };
    for (std::size_t d = 0; d < p_; ++d) first(b1, d) = next();
    for (std::size_t d = p_; d-- > 0;) first(b0, d) = next();
  }

  void repeat() {
    pattern_.resize(p_ * length_);
    taken_.resize(p_ * length_);
    moved_.resize(p_ * length_);
    held_.resize(p_ * length_);
    end_.resize(4 * p_ * m_);
    for (std::size_t d = 0; d < p_; ++d) {
      std::vector<int> change(length_);
      for (const Kind kind : kKinds) {
        for (std::size_t j = 0; j < m_; ++j) {
          const std::size_t t = first(kind, d) + kPeriod * j;
          pattern_[d * length_ + t] = {kind, static_cast<std::uint32_t>(j), true};
          take(d, t, kind, 1);
          // A forward holds from its slot on, a backward frees in its second.
          change[t + slots_of(kind) - 1] += is_forward(kind) ? 1 : -1;
        }
      }
      int held = 0;
      for (std::size_t t = 0; t < length_; ++t) {
        held_[d * length_ + t] = held += change[t];
        peak_ = std::max(peak_, held);
      }
    }
  }

  void take(std::size_t d, std::size_t t, Kind kind, char taken) {
    for (std::size_t k = 0; k < slots_of(kind); ++k) taken_[d * length_ + t + k] = taken;
  }

  [[nodiscard]] bool fits(std::size_t d, std::size_t t, Kind kind) const {
    const char* at = &taken_[d * length_ + t];
    return at[0] == 0 && (is_forward(kind) || at[1] == 0);
  }

  // The earliest slot after everything the operation waits for and the one of its kind before it.
  std::size_t earliest(std::size_t d, Kind kind, std::size_t j) {
    std::size_t out = j > 0 ? end(kind, d, j - 1) : 0;
    const bool up = kind == f1 || kind == b0;  // towards device 0
    if (up ? d + 1 < p_ : d > 0) {
      out = std::max(out, end(kind, up ? d + 1 : d - 1, j));
    } else if (kind != f0) {
      out = std::max(out, end(kind == f1 ? f0 : kind == b1 ? f1 : b1, d, j));
    }
    return out;
  }

  void move(std::size_t d, std::size_t t, Kind kind, std::size_t j) {
    int* held = &held_[d * length_];
    take(d, t, kind, 0);
    std::size_t to = earliest(d, kind, j);
    if (is_forward(kind)) {
      std::size_t place = t;
      while (place > to && held[place - 1] < peak_) --place;
      to = place;
    }
    while (!fits(d, to, kind)) ++to;
    take(d, to, kind, 1);
    const std::size_t last = slots_of(kind) - 1;
    for (std::size_t k = to + last; k < t + last; ++k) held[k] += is_forward(kind) ? 1 : -1;
    moved_[d * length_ + to] = {kind, static_cast<std::uint32_t>(j), true};
    end(kind, d, j) = to + slots_of(kind);
  }

  std::size_t p_, m_;
  std::vector<std::size_t> first_;  // of every kind and device
  std::size_t length_ = 0;          // of the grid, in slots
  std::vector<Cell> pattern_, moved_;
  std::vector<char> taken_;
  std::vector<int> held_;  // microbatches of a chunk after each slot
  int peak_ = 0;
  std::vector<std::size_t> end_;  // of every kind, device and microbatch
};

Result<Pipeline> one_forward_one_backward_v_order(const ScheduleRequest& request) {
  return VSlots(request.shape).reordered(placed(request.shape, 1, snake_virtual_stage));
}

}  // namespace

const Schedule kOneForwardOneBackwardV{
    .name = "1f1b_v",
    .summary = "1F1B on a V in two thirds of its memory (arXiv 2405.15362)",
    .chunks = 2,
    .virtual_stage = snake_virtual_stage,
    .pipeline = one_forward_one_backward_v_order};

}  // namespace orrery
