#include "trace/collective_instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

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
};

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

std::string group_of(const RecordedTrace& trace, std::size_t event, bool single_stream) {
  const CommunicationDetails* details = details_of(trace, event);
  if (details == nullptr || details->group == 0) {
    if (single_stream) return "stream";
    return fmt::format("stream {}", trace.lanes[trace.lane[event]].thread);
  }
  std::string group(trace.texts[details->group]);
  if (const std::string_view ranks = trace.texts[details->group_ranks];
      !ranks.empty() && ranks != "[]") {
    group += fmt::format(" {}", ranks);
  } else if (details->rank_start != kNotRecorded && details->rank_stride != kNotRecorded) {
    group += fmt::format(" from {} by {}", details->rank_start, details->rank_stride);
  }
  if (is_point_to_point(trace, event) && trace.rank != kNotRecorded) {
    const bool sends = trace.texts[details->collective] == "send";
    const std::int64_t peer = sends ? details->destination : details->source;
    if (peer != kNotRecorded) {
      group += fmt::format(": {} to {}", sends ? trace.rank : peer, sends ? peer : trace.rank);
    }
  }
  return group;
}

bool may_match(const Call& a, const Call& b) {
  const bool volumes = a.volume == kNotRecorded || b.volume == kNotRecorded || a.volume == b.volume;
  return volumes && a.collective == b.collective;
}

// How many cells an alignment may fill, and how near to the diagonal it stays when it is larger.
constexpr std::size_t kLargestAlignment = 64'000'000;
// Ends that differ by this much count half: the clocks of the ranks of one node agree to tens of
// microseconds, and collectives of one group seldom follow faster (validation/traces/README.md).
constexpr double kEndsTogetherNs = 100'000;

double gain(const Call& a, const Call& b) {
  if (!may_match(a, b)) return -1;
  const auto apart = static_cast<double>(std::llabs(a.end_ns - b.end_ns));
  return 1 + 1 / (1 + apart / kEndsTogetherNs);
}

enum class Move : std::uint8_t { both, left, right };

// The moves of the best alignment, from its start: `both` matches, `left` and `right` skip one.
std::vector<Move> align(std::span<const Pending> left, std::span<const Call> right) {
  const std::size_t n = left.size();
  const std::size_t m = right.size();
  const std::size_t band =
      std::max<std::size_t>(kLargestAlignment / (n + 1), (n > m ? n - m : m - n) + 1);
  std::vector<std::vector<Move>> moves(n + 1);
  std::vector<std::size_t> offset(n + 1);
  constexpr double kUnreachable = -1e300;
  std::vector<double> before(m + 1, kUnreachable);
  std::vector<double> here(m + 1, kUnreachable);
  for (std::size_t i = 0; i <= n; ++i) {
    const std::size_t low = i > band ? i - band : 0;
    const std::size_t high = std::min(m, i + band);
    offset[i] = low;
    if (low <= high) moves[i].resize(high - low + 1, Move::left);
    std::fill(here.begin(), here.end(), kUnreachable);
    for (std::size_t j = low; j <= high; ++j) {
      double best = i == 0 && j == 0 ? 0 : kUnreachable;
      Move& move = moves[i][j - low];
      if (i > 0 && before[j] > best) {
        best = before[j];
        move = Move::left;
      }
      if (j > low && here[j - 1] > best) {
        best = here[j - 1];
        move = Move::right;
      }
      if (i > 0 && j > 0 && before[j - 1] > kUnreachable) {
        const double g = gain(left[i - 1].first, right[j - 1]);
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
    const Move move = i == 0 ? Move::right : j == 0 ? Move::left : moves[i][j - offset[i]];
    path.push_back(move);
    if (move != Move::right) --i;
    if (move != Move::left) --j;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// Adds the calls of one more rank to the instances of a group.
void merge(std::vector<Pending>& instances, std::span<const Call> calls) {
  std::vector<Pending> merged;
  merged.reserve(std::max(instances.size(), calls.size()));
  std::size_t i = 0;
  std::size_t j = 0;
  for (const Move move : align(instances, calls)) {
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

CollectiveInstance finished(const Pending& pending, std::string group,
                            std::span<const RecordedTrace> traces) {
  CollectiveInstance instance;
  instance.group = std::move(group);
  instance.collective = pending.first.collective;
  const std::vector<Call>& calls = pending.members;
  std::int64_t shortest = calls[0].end_ns - calls[0].start_ns;
  std::int64_t last_start = calls[0].start_ns;
  bool same_volume = !is_point_to_point(traces[calls[0].trace], calls[0].event);
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
    const std::int64_t transfer =
        same_volume || calls.size() == 1
            ? shortest
            : std::clamp<std::int64_t>(call.end_ns - last_start, 0, duration);
    instance.members.push_back({call.trace, call.event, transfer, duration - transfer});
    instance.transfer_ns = std::min(instance.transfer_ns, transfer);
  }
  std::vector<std::int64_t> starts;
  for (std::uint32_t k = 0; k < calls.size(); ++k) {
    starts.push_back(calls[k].start_ns);
    if (starts[k] > starts[instance.last]) instance.last = k;
  }
  std::sort(starts.begin(), starts.end());
  if (starts.size() > 1) instance.lateness_ns = starts.back() - starts[starts.size() - 2];
  return instance;
}

}  // namespace

bool is_point_to_point(const RecordedTrace& trace, std::size_t event) {
  const CommunicationDetails* details = details_of(trace, event);
  if (details == nullptr) return false;
  const std::string_view collective = trace.texts[details->collective];
  return collective == "send" || collective == "recv";
}

std::vector<CollectiveInstance> collective_instances(std::span<const RecordedTrace> traces) {
  // Of every group the calls of every trace, in order of their start.
  std::map<std::string, std::map<std::uint32_t, std::vector<Call>>> groups;
  const std::vector<bool> single = has_one_anonymous_stream(traces);
  const bool all_single = std::find(single.begin(), single.end(), false) == single.end();
  for (std::uint32_t t = 0; t < traces.size(); ++t) {
    const RecordedTrace& trace = traces[t];
    const std::int64_t shift = trace.base_ns - traces[0].base_ns;
    for (const std::uint32_t e : communication_kernels(trace)) {
      Call call{t, e, trace.name_of(e)};
      call.start_ns = trace.start_ns[e] + shift;
      call.end_ns = trace.end_ns(e) + shift;
      if (const CommunicationDetails* details = details_of(trace, e); details != nullptr) {
        if (details->collective != 0) call.collective = trace.texts[details->collective];
        if (is_point_to_point(trace, e)) call.collective = "send";  // and its receive
        call.volume = common_volume(*details, call.collective);
        call.sequence = details->sequence;
      }
      groups[group_of(trace, e, all_single)][t].push_back(call);
    }
  }

  std::vector<CollectiveInstance> result;
  std::vector<std::tuple<std::int64_t, std::uint32_t, std::uint32_t, std::size_t>> order;
  for (auto& [group, by_trace] : groups) {
    std::vector<Pending> instances;
    const bool sequenced = std::all_of(by_trace.begin(), by_trace.end(), [](const auto& entry) {
      return std::all_of(entry.second.begin(), entry.second.end(),
                         [](const Call& call) { return call.sequence != kNotRecorded; });
    });
    if (sequenced) {
      // A sequence number may occur twice on one rank (a collective of several kernels).
      std::map<std::pair<std::int64_t, std::size_t>, Pending> by_sequence;
      for (const auto& [trace, calls] : by_trace) {
        std::map<std::int64_t, std::size_t> seen;
        for (const Call& call : calls) {
          Pending& pending = by_sequence[{call.sequence, seen[call.sequence]++}];
          if (pending.members.empty()) pending.first = call;
          pending.members.push_back(call);
        }
      }
      for (auto& [sequence, pending] : by_sequence) instances.push_back(std::move(pending));
    } else {
      for (const auto& [trace, calls] : by_trace) merge(instances, calls);
    }
    for (const Pending& pending : instances) {
      const Call& first = pending.members[0];
      order.emplace_back(first.start_ns, first.trace, first.event, result.size());
      result.push_back(finished(pending, group, traces));
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<CollectiveInstance> sorted;
  sorted.reserve(result.size());
  for (const auto& entry : order) sorted.push_back(std::move(result[std::get<3>(entry)]));
  return sorted;
}

}  // namespace orrery
