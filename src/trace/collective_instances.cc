#include "trace/collective_instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "trace/point_to_point.h"

namespace orrery {
namespace {

// One communication kernel, or an instance so far when lists are aligned.
struct Call {
  std::uint32_t trace = 0;
  std::uint32_t event = 0;
  std::string_view collective;
  std::int64_t volume = kNotRecorded;  // elements; kNotRecorded: matches any
  std::int64_t sequence = kNotRecorded;
  std::int64_t start_ns = 0;  // on the clock of the first trace
  std::int64_t end_ns = 0;
  bool sends = false;  // point-to-point
};

enum class Kind : std::uint8_t { collective, point_to_point };

struct Pending {
  Call first;  // stands for the instance
  std::vector<Call> members;
};

const CommunicationDetails* details_of(const RecordedTrace& trace, std::size_t event) {
  const std::uint32_t index = trace.communication[event];
  return index == kNoDetails ? nullptr : &trace.communications[index];
}

// A volume that is the same on both sides of an exchange. All-to-all-v volumes differ by rank.
std::int64_t common_volume(const CommunicationDetails& details, std::string_view collective) {
  if (collective.find("all_to_all") != std::string_view::npos) return kNotRecorded;
  if (details.input_elements == kNotRecorded) return details.output_elements;
  return std::max(details.input_elements, details.output_elements);
}

// The communication kernels of a recording. Names repeat: each is looked at once.
std::vector<std::uint32_t> communication_kernels(const RecordedTrace& trace) {
  enum class Known : std::uint8_t { unseen, yes, no };
  std::vector<Known> known(trace.texts.size(), Known::unseen);
  std::vector<std::uint32_t> kernels;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::kernel) continue;
    Known& name = known[trace.name[e]];
    if (name == Known::unseen) {
      name = is_communication_kernel(trace.name_of(e)) ? Known::yes : Known::no;
    }
    if (name == Known::yes) kernels.push_back(e);
  }
  return kernels;
}

// Streams that communicate without recorded groups. Their numbers tell them apart only where a rank
// has several; a single one is the same on all ranks whatever its number.
std::vector<bool> has_one_anonymous_stream(std::span<const RecordedTrace> traces) {
  std::vector<bool> single;
  for (const RecordedTrace& trace : traces) {
    std::set<std::uint32_t> lanes;
    for (const std::uint32_t e : communication_kernels(trace)) {
      const CommunicationDetails* details = details_of(trace, e);
      if (details == nullptr || details->group == 0) lanes.insert(trace.lane[e]);
    }
    single.push_back(lanes.size() <= 1);
  }
  return single;
}

// The recorded name of a group, and what tells groups of one name apart.
std::string group_name(const RecordedTrace& trace, const CommunicationDetails& details) {
  std::string group(trace.texts[details.group]);
  if (const std::string_view ranks = trace.texts[details.group_ranks];
      !ranks.empty() && ranks != "[]") {
    group += fmt::format(" {}", ranks);
  } else if (details.rank_start != kNotRecorded && details.rank_stride != kNotRecorded) {
    group += fmt::format(" from {} by {}", details.rank_start, details.rank_stride);
  }
  return group;
}

std::string group_of(const RecordedTrace& trace, std::size_t event, bool single_stream) {
  const CommunicationDetails* details = details_of(trace, event);
  if (details == nullptr || details->group == 0) {
    if (single_stream) return "stream";
    return fmt::format("stream {}", trace.lanes[trace.lane[event]].thread);
  }
  std::string group = group_name(trace, *details);
  // To or from nobody knows whom: nothing of another rank matches.
  if (is_point_to_point(trace, event)) group += fmt::format(": rank {}", trace.rank);
  return group;
}

bool may_match(const Call& a, const Call& b) {
  const bool volumes = a.volume == kNotRecorded || b.volume == kNotRecorded || a.volume == b.volume;
  return volumes && a.collective == b.collective;
}

// How many cells an alignment may fill; larger ones are made piece by piece, of which the first
// half of each is kept.
constexpr std::size_t kLargestAlignment = 64'000'000;
constexpr std::size_t kAlignedPiece = 4096;
// What ended this long before the other side begins is of no communication there.
constexpr std::int64_t kLongBeforeNs = 1'000'000'000;
// Ends that differ by this much count half: the clocks of the ranks of one node agree to tens of
// microseconds, and collectives of one group seldom follow faster (validation/traces/README.md).
constexpr double kEndsTogetherNs = 100'000;

// Kernels of one communication overlap, as far as clocks agree after the offset is taken away.
constexpr std::int64_t kClocksApartNs = 2'000'000;

// Whether all ranks of a communication stay until the last has come.
bool holds_all(const Call& call) {
  const auto has = [&](std::string_view part) {
    return call.collective.find(part) != std::string_view::npos;
  };
  if (has("roadcast") || has("Kernel_Reduce_") || call.collective == "reduce") return false;
  return call.collective != "gather" && call.collective != "scatter" && call.collective != "send";
}

// `offset_ns`: how far b's clock is behind; absent where time is no condition.
double gain(const Call& a, const Call& b, std::optional<std::int64_t> offset_ns) {
  if (!may_match(a, b)) return -1;
  if (offset_ns && holds_all(a) &&
      std::max(a.start_ns, b.start_ns + *offset_ns) >
          std::min(a.end_ns, b.end_ns + *offset_ns) + kClocksApartNs) {
    return -1;
  }
  const auto apart = static_cast<double>(std::llabs(a.end_ns - b.end_ns - offset_ns.value_or(0)));
  return 1 + 1 / (1 + apart / kEndsTogetherNs);
}

enum class Move : std::uint8_t { both, left, right };

// Whether matching each with its counterpart is the best alignment: all of these can match, and
// nothing of the right side ends nearer to any of the left than its counterpart. Every other
// alignment then matches fewer, and none of them for more. O(n log n).
bool counterparts_match(std::span<const Pending> left, std::span<const Call> right,
                        std::optional<std::int64_t> offset_ns) {
  if (left.size() != right.size()) return false;
  const std::int64_t shift = offset_ns.value_or(0);
  std::vector<std::int64_t> ends;
  ends.reserve(right.size());
  for (const Call& call : right) ends.push_back(call.end_ns + shift);
  std::ranges::sort(ends);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Call& call = left[i].first;
    if (gain(call, right[i], offset_ns) <= 0) return false;
    const std::int64_t apart = std::llabs(call.end_ns - right[i].end_ns - shift);
    const auto after = std::ranges::lower_bound(ends, call.end_ns);
    if (after != ends.end() && *after - call.end_ns < apart) return false;
    if (after != ends.begin() && call.end_ns - *std::prev(after) < apart) return false;
  }
  return true;
}

// The moves of the best alignment, from its start: `both` matches, `left` and `right` skip one.
// O(n m) time and bytes.
std::vector<Move> align_at_once(std::span<const Pending> left, std::span<const Call> right,
                                std::optional<std::int64_t> offset_ns) {
  const std::size_t n = left.size();
  const std::size_t m = right.size();
  std::vector<Move> moves((n + 1) * (m + 1), Move::left);
  constexpr double kUnreachable = -1e300;
  std::vector<double> before(m + 1, kUnreachable);
  std::vector<double> here(m + 1, kUnreachable);
  for (std::size_t i = 0; i <= n; ++i) {
    for (std::size_t j = 0; j <= m; ++j) {
      double best = i == 0 && j == 0 ? 0 : kUnreachable;
      Move& move = moves[i * (m + 1) + j];
      if (i > 0 && before[j] > best) {
        best = before[j];
        move = Move::left;
      }
      if (j > 0 && here[j - 1] > best) {
        best = here[j - 1];
        move = Move::right;
      }
      if (i > 0 && j > 0 && before[j - 1] > kUnreachable) {
        const double g = gain(left[i - 1].first, right[j - 1], offset_ns);
        if (g > 0 && before[j - 1] + g > best) {
          best = before[j - 1] + g;
          move = Move::both;
        }
      }
      here[j] = best;
    }
    std::swap(before, here);
  }
  std::vector<Move> path;
  for (std::size_t i = n, j = m; i > 0 || j > 0;) {
    const Move move = i == 0 ? Move::right : j == 0 ? Move::left : moves[i * (m + 1) + j];
    path.push_back(move);
    if (move != Move::right) --i;
    if (move != Move::left) --j;
  }
  std::ranges::reverse(path);
  return path;
}

std::vector<Move> align(std::span<const Pending> left, std::span<const Call> right,
                        std::optional<std::int64_t> offset_ns) {
  const std::size_t n = left.size();
  const std::size_t m = right.size();
  if (counterparts_match(left, right, offset_ns)) return std::vector<Move>(n, Move::both);
  if ((n + 1) * (m + 1) <= kLargestAlignment) return align_at_once(left, right, offset_ns);
  std::vector<Move> path;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto take = [&](Move move) {
    path.push_back(move);
    if (move != Move::right) ++i;
    if (move != Move::left) ++j;
  };
  const std::int64_t shift = offset_ns.value_or(0);
  while (i < n && j < m) {
    // No more than one side has above the other: clocks may be seconds apart.
    if (n - i > m - j && left[i].first.end_ns + kLongBeforeNs < right[j].start_ns + shift) {
      take(Move::left);
      continue;
    }
    if (m - j > n - i && right[j].end_ns + shift + kLongBeforeNs < left[i].first.start_ns) {
      take(Move::right);
      continue;
    }
    const bool last = n - i <= kAlignedPiece && m - j <= kAlignedPiece;
    const std::size_t end_i = last ? n : std::min(n, i + kAlignedPiece / 2);
    const std::size_t end_j = last ? m : std::min(m, j + kAlignedPiece / 2);
    for (const Move move :
         align_at_once(left.subspan(i, std::min(kAlignedPiece, n - i)),
                       right.subspan(j, std::min(kAlignedPiece, m - j)), offset_ns)) {
      if (!last && (i >= end_i || j >= end_j)) break;
      take(move);
    }
  }
  path.insert(path.end(), n - i, Move::left);
  path.insert(path.end(), m - j, Move::right);
  return path;
}

// Between which moment of its width most differences lie; of equals what is nearest to 0.
std::int64_t densest(std::vector<std::int64_t> differences) {
  std::ranges::sort(differences);
  std::int64_t best = 0;
  std::size_t most = 0;
  std::size_t from = 0;
  for (std::size_t to = 0; to < differences.size(); ++to) {
    while (differences[to] - differences[from] > kClocksApartNs) ++from;
    const std::int64_t middle = differences[from + (to - from) / 2];
    const std::size_t count = to - from + 1;
    if (count > most || (count == most && std::llabs(middle) < std::llabs(best))) {
      best = middle;
      most = count;
    }
  }
  return best;
}

// Whether the order of these calls alone tells which belongs to which.
bool order_decides(std::span<const Pending> instances, std::span<const Call> calls) {
  const auto described = [](const Call& call) { return call.volume != kNotRecorded; };
  return instances.size() == calls.size() && std::ranges::all_of(calls, described) &&
         std::ranges::all_of(instances,
                             [&](const Pending& pending) { return described(pending.first); });
}

std::vector<Move> matches(std::span<const Pending> instances, std::span<const Call> calls) {
  std::vector<Move> path = align(instances, calls, std::nullopt);
  if (order_decides(instances, calls)) return path;
  std::vector<std::int64_t> differences;
  std::size_t i = 0;
  std::size_t j = 0;
  for (const Move move : path) {
    if (move == Move::both) differences.push_back(instances[i].first.end_ns - calls[j].end_ns);
    if (move != Move::right) ++i;
    if (move != Move::left) ++j;
  }
  if (differences.empty()) return path;
  return align(instances, calls, densest(std::move(differences)));
}

// Adds the calls of one more rank to the instances of a group.
void merge(std::vector<Pending>& instances, std::span<const Call> calls) {
  std::vector<Pending> merged;
  merged.reserve(std::max(instances.size(), calls.size()));
  std::size_t i = 0;
  std::size_t j = 0;
  for (const Move move : matches(instances, calls)) {
    if (move == Move::right) {
      merged.push_back({calls[j], {calls[j]}});
      ++j;
      continue;
    }
    merged.push_back(std::move(instances[i++]));
    if (move == Move::both) merged.back().members.push_back(calls[j++]);
  }
  instances = std::move(merged);
}

// Kernels that are named after sends and receives and say no more: all-to-alls of all these ranks,
// or messages of some.
bool may_be_messages(const Call& call) {
  return call.volume == kNotRecorded && call.collective.find("SendRecv") != std::string_view::npos;
}

// All-to-alls end together on all their ranks, to half a millisecond. Where fewer than nine matches
// of ten do, these are messages between ranks that nothing names, and only kernels that end
// together stay matched: those are given back. Nothing: all-to-alls.
std::optional<std::vector<Pending>> anonymous_messages(const std::vector<Pending>& instances) {
  constexpr std::int64_t kTogetherNs = 500'000;
  std::map<std::uint32_t, std::vector<std::int64_t>> by_trace;
  for (const Pending& pending : instances) {
    for (const Call& call : pending.members) {
      by_trace[call.trace].push_back(pending.members[0].end_ns - call.end_ns);
    }
  }
  std::map<std::uint32_t, std::int64_t> offset;
  for (const auto& [trace, differences] : by_trace) offset[trace] = densest(differences);
  const auto together = [&](const Pending& pending, const Call& call) {
    const Call& first = pending.members[0];
    return std::llabs(first.end_ns + offset[first.trace] - call.end_ns - offset[call.trace]) <=
           kTogetherNs;
  };
  std::size_t matches = 0;
  std::size_t close = 0;
  for (const Pending& pending : instances) {
    for (std::size_t i = 1; i < pending.members.size(); ++i) {
      ++matches;
      if (together(pending, pending.members[i])) ++close;
    }
  }
  if (10 * close >= 9 * matches) return std::nullopt;
  std::vector<Pending> kept;
  for (const Pending& pending : instances) {
    Pending close_ones{pending.first, {pending.members[0]}};
    for (std::size_t i = 1; i < pending.members.size(); ++i) {
      const Call& call = pending.members[i];
      if (together(pending, call)) {
        close_ones.members.push_back(call);
      } else {
        kept.push_back({call, {call}});
      }
    }
    kept.push_back(std::move(close_ones));
  }
  return kept;
}

CollectiveInstance finished(const Pending& pending, std::string group,
                            std::span<const RecordedTrace> traces, Kind kind) {
  CollectiveInstance instance;
  instance.point_to_point = kind == Kind::point_to_point;
  instance.group = std::move(group);
  instance.collective = pending.first.collective;
  const std::vector<Call>& calls = pending.members;
  std::int64_t shortest = calls[0].end_ns - calls[0].start_ns;
  std::int64_t last_start = calls[0].start_ns;
  bool same_volume = kind == Kind::collective;
  const CommunicationDetails* first = details_of(traces[calls[0].trace], calls[0].event);
  for (const Call& call : calls) {
    shortest = std::min(shortest, call.end_ns - call.start_ns);
    last_start = std::max(last_start, call.start_ns);
    const CommunicationDetails* details = details_of(traces[call.trace], call.event);
    if (details == nullptr) continue;
    if (details->group_size != kNotRecorded) instance.ranks = details->group_size;
    if (first != nullptr && (details->input_elements != first->input_elements ||
                             details->output_elements != first->output_elements)) {
      same_volume = false;
    }
  }
  instance.transfer_ns = shortest;
  for (const Call& call : calls) {
    const std::int64_t duration = call.end_ns - call.start_ns;
    const bool waits = !call.sends || call.end_ns >= last_start;
    const std::int64_t transfer =
        calls.size() == 1 || !waits ? duration
        : same_volume               ? shortest
                      : std::clamp<std::int64_t>(call.end_ns - last_start, 0, duration);
    instance.members.push_back(
        {call.trace, call.event, transfer, duration - transfer, waits, call.sends});
    instance.transfer_ns = std::min(instance.transfer_ns, transfer);
  }
  std::vector<std::int64_t> starts;
  for (std::uint32_t k = 0; k < calls.size(); ++k) {
    starts.push_back(calls[k].start_ns);
    if (starts[k] > starts[instance.last]) instance.last = k;
  }
  if (kind == Kind::point_to_point) instance.ranks = 2;
  std::ranges::sort(starts);
  if (starts.size() > 1) instance.lateness_ns = starts.back() - starts[starts.size() - 2];
  return instance;
}

// Puts the kernels of all ranks into lists of what may belong together, and each list in order.
class Matching {
 public:
  explicit Matching(std::span<const RecordedTrace> traces) : traces_(traces) {}

  std::vector<CollectiveInstance> instances() {
    gather();
    match_collectives();
    match_messages();
    std::ranges::sort(order_);
    std::vector<CollectiveInstance> sorted;
    sorted.reserve(result_.size());
    for (const auto& entry : order_) sorted.push_back(std::move(result_[std::get<3>(entry)]));
    return sorted;
  }

 private:
  // Of every trace the calls, in order of their start.
  using Calls = std::map<std::uint32_t, std::vector<Call>>;
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // trace, event

  [[nodiscard]] Call call_of(std::uint32_t t, std::uint32_t event) const {
    const RecordedTrace& trace = traces_[t];
    const std::int64_t shift = trace.base_ns - traces_[0].base_ns;
    Call call{t, event, trace.name_of(event)};
    call.start_ns = trace.start_ns[event] + shift;
    call.end_ns = trace.end_ns(event) + shift;
    return call;
  }

  void gather() {
    const std::vector<bool> single = has_one_anonymous_stream(traces_);
    const bool all_single = std::ranges::find(single, false) == single.end();
    for (std::uint32_t t = 0; t < traces_.size(); ++t) {
      const RecordedTrace& trace = traces_[t];
      for (const PointToPointMessage& message : point_to_point_messages(trace)) {
        add_message(t, message);
      }
      for (const std::uint32_t e : communication_kernels(trace)) {
        if (messages_of_.count({t, e}) != 0) continue;
        Call call = call_of(t, e);
        if (const CommunicationDetails* details = details_of(trace, e); details != nullptr) {
          if (details->collective != 0) call.collective = trace.texts[details->collective];
          if (is_point_to_point(trace, e)) call.collective = "send";  // and its receive
          call.volume = common_volume(*details, call.collective);
          call.sequence = details->sequence;
        }
        groups_[group_of(trace, e, all_single)][t].push_back(call);
      }
    }
  }

  void add_message(std::uint32_t t, const PointToPointMessage& message) {
    const RecordedTrace& trace = traces_[t];
    const CommunicationDetails& details = trace.communications[message.communication];
    Call call = call_of(t, message.kernel);
    call.collective = "send";  // and its receive
    call.volume = common_volume(details, call.collective);
    call.sends = message.direction == PointToPointMessage::Direction::send;
    const std::int64_t from = call.sends ? trace.rank : message.peer;
    const std::int64_t to = call.sends ? message.peer : trace.rank;
    const std::string group = fmt::format("{}: {} to {}", group_name(trace, details), from, to);
    ++messages_of_[{t, message.kernel}];
    pairs_[group][t].push_back(call);
  }

  void match_collectives() {
    for (auto& [group, by_trace] : groups_) {
      std::vector<Pending> instances;
      const bool sequenced = std::ranges::all_of(by_trace, [](const auto& entry) {
        return std::ranges::all_of(entry.second,
                                   [](const Call& call) { return call.sequence != kNotRecorded; });
      });
      if (sequenced) {
        instances = in_sequence(by_trace);
      } else {
        for (const auto& [trace, calls] : by_trace) merge(instances, calls);
      }
      bool are_messages = false;
      if (!instances.empty() && may_be_messages(instances[0].first)) {
        if (auto messages = anonymous_messages(instances)) {
          instances = std::move(*messages);
          are_messages = true;
        }
      }
      for (const Pending& pending : instances) {
        const Call& first = pending.members[0];
        const Kind kind = is_point_to_point(traces_[first.trace], first.event)
                              ? Kind::point_to_point
                              : Kind::collective;
        CollectiveInstance instance = finished(pending, group, traces_, kind);
        instance.point_to_point = instance.point_to_point || are_messages;
        add(first, std::move(instance));
      }
    }
  }

  // A sequence number may occur twice on one rank (a collective of several kernels).
  static std::vector<Pending> in_sequence(const Calls& by_trace) {
    std::map<std::pair<std::int64_t, std::size_t>, Pending> by_sequence;
    for (const auto& [trace, calls] : by_trace) {
      std::map<std::int64_t, std::size_t> seen;
      for (const Call& call : calls) {
        Pending& pending = by_sequence[{call.sequence, seen[call.sequence]++}];
        if (pending.members.empty()) pending.first = call;
        pending.members.push_back(call);
      }
    }
    std::vector<Pending> instances;
    for (auto& [sequence, pending] : by_sequence) instances.push_back(std::move(pending));
    return instances;
  }

  void match_messages() {
    std::map<std::string, std::vector<Pending>> matched;
    std::set<Place> exchanges;  // kernels of several messages, and those they meet
    for (const auto& [group, by_trace] : pairs_) {
      std::vector<Pending>& instances = matched[group];
      for (const auto& [trace, calls] : by_trace) merge(instances, calls);
      for (const Pending& pending : instances) {
        const bool batched = std::ranges::any_of(pending.members, [&](const Call& call) {
          return messages_of_[{call.trace, call.event}] > 1;
        });
        if (!batched) continue;
        for (const Call& call : pending.members) exchanges.insert({call.trace, call.event});
      }
    }
    std::map<Place, std::vector<const Pending*>> exchanged;
    for (const auto& [group, instances] : matched) {
      for (const Pending& pending : instances) {
        const Call& first = pending.members[0];
        if (exchanges.count({first.trace, first.event}) == 0) {
          add(first, finished(pending, group, traces_, Kind::point_to_point));
          continue;
        }
        for (const Call& call : pending.members) {
          exchanged[{call.trace, call.event}].push_back(&pending);
        }
      }
    }
    for (const auto& [place, messages] : exchanged) add_exchange(place, messages);
  }

  void add_exchange(Place place, const std::vector<const Pending*>& messages) {
    const Call self = call_of(place.first, place.second);
    CollectiveInstance instance;
    instance.point_to_point = true;
    instance.collective = "sendrecv";
    std::set<std::int64_t> ranks = {traces_[self.trace].rank};
    std::int64_t last_start = self.start_ns;
    for (const Pending* pending : messages) {
      for (const Call& call : pending->members) {
        if (call.trace == self.trace) continue;
        ranks.insert(traces_[call.trace].rank);
        // The only reason to wait for it is a message to it, which a buffer has taken.
        const bool awaited = !call.sends ? call.start_ns <= self.end_ns : true;
        instance.partners.push_back({call.trace, call.event, awaited, call.sends});
        if (awaited) last_start = std::max(last_start, call.start_ns);
      }
    }
    for (const std::int64_t rank : ranks) {
      instance.group += fmt::format("{}{}", instance.group.empty() ? "among " : ", ", rank);
    }
    const std::int64_t duration = self.end_ns - self.start_ns;
    const std::int64_t transfer = std::clamp<std::int64_t>(self.end_ns - last_start, 0, duration);
    instance.members.push_back({self.trace, self.event, transfer, duration - transfer});
    instance.transfer_ns = transfer;
    add(self, std::move(instance));
  }

  void add(const Call& first, CollectiveInstance instance) {
    order_.emplace_back(first.start_ns, first.trace, first.event, result_.size());
    result_.push_back(std::move(instance));
  }

  std::span<const RecordedTrace> traces_;
  std::map<std::string, Calls> groups_;
  std::map<std::string, Calls> pairs_;  // messages from one rank to another
  std::map<Place, int> messages_of_;
  std::vector<CollectiveInstance> result_;
  std::vector<std::tuple<std::int64_t, std::uint32_t, std::uint32_t, std::size_t>> order_;
};

}  // namespace

bool is_point_to_point(const RecordedTrace& trace, std::size_t event) {
  const CommunicationDetails* details = details_of(trace, event);
  if (details == nullptr) return false;
  const std::string_view collective = trace.texts[details->collective];
  return collective == "send" || collective == "recv";
}

std::vector<CollectiveInstance> collective_instances(std::span<const RecordedTrace> traces) {
  return Matching(traces).instances();
}

}  // namespace orrery
