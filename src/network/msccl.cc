#include "network/msccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "network/contributions.h"
#include "network/msccl_file.h"

namespace orrery {
namespace {

constexpr std::size_t kMostHeld = 1U << 27;  // bytes of all contributions together
// Chunks that all steps move, and messages that they wait for.
constexpr std::size_t kMostWork = 4'000'000;

// One chunk: which of the data's chunks it is, and whose contributions it holds.
struct Chunk {
  std::uint32_t part = 0;
  Contributions of;
};
using Chunks = std::vector<std::optional<Chunk>>;

// The last message of each connection that something waits for, by the connection's number.
using Waits = std::map<std::uint32_t, std::uint32_t>;
void wait_for(Waits& waits, const Waits& more) {
  for (const auto& [connection, round] : more) {
    auto [known, added] = waits.emplace(connection, round);
    if (!added) known->second = std::max(known->second, round);
  }
}

class MscclRun {
 public:
  MscclRun(const MscclFile& file, const std::string& where)
      : file_(file), where_(where), gpus_(file.gpus.size()) {}

  Result<Program> run() {
    ORRERY_RETURN_IF_ERROR(fill_buffers());
    program_.kind = file_.kind;
    program_.ranks = static_cast<std::uint32_t>(gpus_);
    program_.parts = static_cast<std::uint32_t>(file_.chunks);
    program_.part_share = 1 / static_cast<double>(file_.chunks);
    program_.rounds.emplace_back();  // the beginning, which what waits for nothing stands behind
    for (std::size_t g = 0; g < gpus_; ++g) {
      for (std::size_t b = 0; b < file_.gpus[g].blocks.size(); ++b) ready_.push_back({g, b});
    }
    for (; !ready_.empty(); ready_.pop_front()) ORRERY_RETURN_IF_ERROR(advance(ready_.front()));
    for (std::size_t g = 0; g < gpus_; ++g) {
      for (std::size_t b = 0; b < file_.gpus[g].blocks.size(); ++b) {
        const MscclBlock& block = file_.gpus[g].blocks[b];
        const std::size_t done = state_[g].blocks[b].done;
        if (done == block.steps.size()) continue;
        return refuse(block.steps[done],
                      fmt::format("waits for ever: GPU {}, block {}, step {}", g, b, done));
      }
    }
    for (const auto& [ends, channel] : channels_) {
      if (channel.sent.empty()) continue;
      return bad_input(fmt::format("GPU {} sends {} messages to GPU {} that it does not receive",
                                   std::get<0>(ends), channel.sent.size(), std::get<1>(ends)),
                       where_);
    }
    ORRERY_RETURN_IF_ERROR(judge());
    return std::move(program_);
  }

 private:
  struct Place {
    std::size_t gpu = 0;
    std::size_t block = 0;
  };
  struct Block {
    std::size_t done = 0;      // steps
    std::vector<Waits> after;  // what has arrived when each of them has ended
    std::multimap<std::size_t, std::size_t>
        waiting;  // blocks of its GPU, by the step they wait for
  };
  struct Gpu {
    Chunks buffers[3];
    std::vector<Block> blocks;
  };
  struct Message {
    Chunks what;
    std::uint32_t connection = 0;
    std::uint32_t round = 0;
  };
  struct Channel {
    std::deque<Message> sent;   // and not received
    std::deque<Place> waiting;  // blocks that wait for one more
  };
  using Ends = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // from, to, channel

  Failure refuse(const MscclStep& step, std::string message) const {
    return bad_input(std::move(message), fmt::format("{}:{}", where_, step.line));
  }

  // ---- buffers ----

  // Chunks of a rank in the smaller of input and output.
  [[nodiscard]] std::int64_t own_chunks() const {
    return file_.chunks / static_cast<std::int64_t>(gpus_);
  }
  [[nodiscard]] std::int64_t input_chunks() const {
    return file_.kind == CollectiveKind::all_gather ? own_chunks() : file_.chunks;
  }
  [[nodiscard]] std::int64_t output_chunks() const {
    return file_.kind == CollectiveKind::reduce_scatter ? own_chunks() : file_.chunks;
  }
  [[nodiscard]] std::uint32_t part_of_input(std::size_t gpu, std::int64_t chunk) const {
    const auto first =
        file_.kind == CollectiveKind::all_gather   ? static_cast<std::int64_t>(gpu) * own_chunks()
        : file_.kind == CollectiveKind::all_to_all ? static_cast<std::int64_t>(gpu) * file_.chunks
                                                   : 0;
    return static_cast<std::uint32_t>(first + chunk);
  }

  Result<void> fill_buffers() {
    const std::size_t words = (gpus_ + 63) / 64;
    std::size_t held = 0;
    for (std::size_t g = 0; g < gpus_; ++g) {
      Gpu& gpu = state_.emplace_back();
      gpu.blocks.resize(file_.gpus[g].blocks.size());
      const std::int64_t least[] = {input_chunks(), output_chunks(), 0};
      for (std::size_t b = 0; b < 3; ++b) {
        const auto size = static_cast<std::size_t>(std::max(least[b], file_.gpus[g].chunks[b]));
        held += size * (sizeof(Chunk) + 8 * words);
        if (held > kMostHeld) {
          return unsupported("has too many chunks on too many GPUs to be run", where_,
                             "fewer chunks per loop");
        }
        gpu.buffers[b].resize(size);
      }
      for (std::int64_t c = 0; c < input_chunks(); ++c) {
        Chunk chunk{part_of_input(g, c), Contributions(gpus_)};
        chunk.of.add(g);
        *find(g, MscclBuffer::i, c) = std::move(chunk);
      }
    }
    return {};
  }

  // Nothing if the buffer has no such chunk.
  std::optional<Chunk>* find(std::size_t gpu, MscclBuffer buffer, std::int64_t chunk) {
    const std::int64_t own = static_cast<std::int64_t>(gpu) * own_chunks();
    if (chunk < 0) return nullptr;
    if (file_.in_place && file_.kind == CollectiveKind::all_reduce && buffer == MscclBuffer::o) {
      buffer = MscclBuffer::i;
    }
    if (file_.in_place && file_.kind == CollectiveKind::all_gather && buffer == MscclBuffer::i) {
      if (chunk >= input_chunks()) return nullptr;
      return find_in(gpu, MscclBuffer::o, own + chunk);
    }
    if (file_.in_place && file_.kind == CollectiveKind::reduce_scatter &&
        buffer == MscclBuffer::o) {
      if (chunk >= output_chunks()) return nullptr;
      return find_in(gpu, MscclBuffer::i, own + chunk);
    }
    return find_in(gpu, buffer, chunk);
  }
  std::optional<Chunk>* find_in(std::size_t gpu, MscclBuffer buffer, std::int64_t chunk) {
    Chunks& all = state_[gpu].buffers[static_cast<std::size_t>(buffer)];
    return chunk < std::ssize(all) ? &all[static_cast<std::size_t>(chunk)] : nullptr;
  }

  Result<Chunks> load(std::size_t gpu, const MscclStep& step, MscclBuffer buffer,
                      std::int64_t first) {
    Chunks out;
    for (std::int64_t c = first; c < first + step.chunks; ++c) {
      const std::optional<Chunk>* chunk = find(gpu, buffer, c);
      if (chunk == nullptr) {
        return refuse(step,
                      fmt::format("GPU {} has no chunk {} of buffer {}", gpu, c, to_text(buffer)));
      }
      if (!*chunk) {
        return refuse(step, fmt::format("GPU {} reads chunk {} of buffer {}, which nothing wrote",
                                        gpu, c, to_text(buffer)));
      }
      out.push_back(*chunk);
    }
    return out;
  }
  Result<void> store(std::size_t gpu, const MscclStep& step, MscclBuffer buffer, std::int64_t first,
                     Chunks what) {
    for (std::int64_t c = 0; c < step.chunks; ++c) {
      std::optional<Chunk>* chunk = find(gpu, buffer, first + c);
      if (chunk == nullptr) {
        return refuse(step, fmt::format("GPU {} has no chunk {} of buffer {}", gpu, first + c,
                                        to_text(buffer)));
      }
      *chunk = std::move(what[static_cast<std::size_t>(c)]);
    }
    return {};
  }
  Result<Chunks> add(std::size_t gpu, const MscclStep& step, Chunks a, const Chunks& b) const {
    for (std::size_t c = 0; c < a.size(); ++c) {
      if (a[c]->part != b[c]->part) {
        return refuse(step, fmt::format("GPU {} adds chunk {} of the data to chunk {}", gpu,
                                        a[c]->part, b[c]->part));
      }
      if (a[c]->of.overlaps(b[c]->of)) {
        return refuse(step,
                      fmt::format("GPU {} adds a contribution to chunk {} twice", gpu, a[c]->part));
      }
      a[c]->of.add(b[c]->of);
    }
    return a;
  }

  // ---- steps ----

  // Steps of a block that can be taken. One that must wait stands with what it waits for, which makes
  // it ready again, so that no step is tried more often than steps end and messages come.
  Result<void> advance(Place place) {
    const MscclBlock& block = file_.gpus[place.gpu].blocks[place.block];
    Block& state = state_[place.gpu].blocks[place.block];
    while (state.done < block.steps.size()) {
      ORRERY_TRY(const bool taken, take(place, block, block.steps[state.done]));
      if (!taken) break;
      const auto [first, last] = state.waiting.equal_range(state.done++);
      for (auto next = first; next != last; ++next) ready_.push_back({place.gpu, next->second});
      state.waiting.erase(first, last);
    }
    return {};
  }

  // False if it must wait.
  Result<bool> take(Place place, const MscclBlock& block, const MscclStep& step) {
    using Type = MscclStepType;
    const std::size_t g = place.gpu;
    Block& state = state_[g].blocks[place.block];
    const bool receives = step.type != Type::s && step.type != Type::nop &&
                          step.type != Type::cpy && step.type != Type::re;
    const bool sends = step.type == Type::s || step.type == Type::rcs || step.type == Type::rrs ||
                       step.type == Type::rrcs;
    const bool adds = step.type == Type::rrs || step.type == Type::rrc || step.type == Type::rrcs ||
                      step.type == Type::re;
    Block* other = nullptr;
    const auto wanted = static_cast<std::size_t>(step.waits_step);
    if (step.waits_block >= 0) {
      other = &state_[g].blocks[static_cast<std::size_t>(step.waits_block)];
      if (other->done <= wanted) {
        other->waiting.emplace(wanted, place.block);
        return false;
      }
    }
    Channel* incoming = nullptr;
    if (receives) {
      if (block.receive < 0) return refuse(step, "receives in a block that has no sender");
      incoming = &channels_[Ends{block.receive, static_cast<std::int64_t>(g), block.channel}];
      if (incoming->sent.empty()) {
        incoming->waiting.push_back(place);
        return false;
      }
    }
    Waits waits;
    if (!state.after.empty()) waits = state.after.back();
    if (other != nullptr) wait_for(waits, other->after[wanted]);
    work_ += static_cast<std::size_t>(step.chunks) + waits.size();
    if (work_ > kMostWork) {
      return unsupported("moves too many chunks, or waits for too many messages, to be run", where_,
                         "fewer steps, or fewer chunks in a step");
    }
    Chunks data;
    if (incoming != nullptr) {
      Message& message = incoming->sent.front();
      if (std::ssize(message.what) != step.chunks) {
        return refuse(step, fmt::format("receives {} chunks where GPU {} sends {}", step.chunks,
                                        block.receive, message.what.size()));
      }
      wait_for(waits, {{message.connection, message.round}});
      data = std::move(message.what);
      incoming->sent.pop_front();
    }
    if (step.type != Type::nop && (!receives || adds)) {
      ORRERY_TRY(Chunks source, load(g, step, step.source, step.source_chunk));
      if (receives) {
        ORRERY_TRY(data, add(g, step, std::move(source), data));
      } else {
        data = std::move(source);
      }
    }
    if (step.type == Type::re) {
      ORRERY_TRY(const Chunks target, load(g, step, step.target, step.target_chunk));
      ORRERY_TRY(data, add(g, step, std::move(data), target));
    }
    if (step.type != Type::s && step.type != Type::rrs && step.type != Type::nop) {
      ORRERY_RETURN_IF_ERROR(store(g, step, step.target, step.target_chunk, data));
    }
    if (sends) {
      if (block.send < 0 || block.send == static_cast<std::int64_t>(g)) {
        return refuse(step, "sends in a block that has no receiver");
      }
      send(g, block, std::move(data), waits);
    }
    state.after.push_back(std::move(waits));
    return true;
  }

  // `waits` then includes the message: a block sends one after the other.
  void send(std::size_t g, const MscclBlock& block, Chunks data, Waits& waits) {
    const Ends ends{static_cast<std::int64_t>(g), block.send, block.channel};
    const auto connection =
        static_cast<std::uint32_t>(connections_.emplace(ends, connections_.size()).first->second);
    Round round;
    round.sends.push_back({.from = static_cast<std::uint32_t>(g),
                           .to = static_cast<std::uint32_t>(block.send),
                           .count = static_cast<std::uint32_t>(data.size())});
    for (const auto& [other, before] : waits) round.after.push_back(before);
    if (round.after.empty()) round.after.push_back(0);
    std::ranges::sort(round.after);
    const auto number = static_cast<std::uint32_t>(program_.rounds.size());
    program_.rounds.push_back(std::move(round));
    // What the message waited for has arrived before it has.
    waits = {{connection, number}};
    Channel& channel = channels_[ends];
    channel.sent.push_back({std::move(data), connection, number});
    if (channel.waiting.empty()) return;
    ready_.push_back(channel.waiting.front());
    channel.waiting.pop_front();
  }

  // ---- the result ----

  Result<void> judge() {
    for (std::size_t g = 0; g < gpus_; ++g) {
      for (std::int64_t c = 0; c < output_chunks(); ++c) {
        const std::optional<Chunk>& chunk = *find(g, MscclBuffer::o, c);
        const auto [part, of] = promised(g, c);
        if (chunk && chunk->part == part && chunk->of == of) continue;
        return bad_input(fmt::format("does not compute an {}: GPU {} ends without all of chunk {}",
                                     in_words(), g, c),
                         where_);
      }
    }
    return {};
  }
  [[nodiscard]] std::string in_words() const {
    std::string out(to_text(file_.kind));
    std::ranges::replace(out, '_', '-');
    return out;
  }
  [[nodiscard]] Chunk promised(std::size_t g, std::int64_t c) const {
    Chunk out{static_cast<std::uint32_t>(c), Contributions(gpus_)};
    switch (file_.kind) {
      case CollectiveKind::reduce_scatter:
        out.part += static_cast<std::uint32_t>(static_cast<std::int64_t>(g) * own_chunks());
        [[fallthrough]];
      case CollectiveKind::all_reduce:
        for (std::size_t r = 0; r < gpus_; ++r) out.of.add(r);
        break;
      case CollectiveKind::all_gather:
      case CollectiveKind::all_to_all: {
        const auto from = static_cast<std::size_t>(c / own_chunks());
        out.of.add(from);
        if (file_.kind == CollectiveKind::all_to_all) {
          out.part =
              part_of_input(from, static_cast<std::int64_t>(g) * own_chunks() + c % own_chunks());
        }
        break;
      }
      case CollectiveKind::broadcast:
        break;  // no file says so
    }
    return out;
  }

  const MscclFile& file_;
  const std::string& where_;
  std::size_t gpus_;
  std::vector<Gpu> state_;
  std::map<Ends, Channel> channels_;
  std::map<Ends, std::size_t> connections_;
  std::deque<Place> ready_;  // blocks whose next step may be taken
  std::size_t work_ = 0;
  Program program_;
};

}  // namespace

Result<Program> read_msccl(std::string_view text, const std::string& where) {
  ORRERY_TRY(const MscclFile file, parse_msccl(text, where));
  return MscclRun(file, where).run();
}

}  // namespace orrery
