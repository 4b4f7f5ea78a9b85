#include "replay/graph_from_run.h"

#include <algorithm>
#include <limits>
#include <set>

#include "outcome/invariant.h"
#include "replay/device_work.h"
#include "replay/host_segments.h"
#include "replay/launch_parameters.h"
#include "replay/room_waits.h"
#include "replay/stream_waits.h"
#include "replay/thread_waits.h"
#include "replay/time_slices.h"
#include "timeline/intervals.h"
#include "trace/collective_instances.h"

namespace orrery {
namespace {

// Work that was launched before the recording began: its launch calls are not in the file.
//
// It is assumed to have been in the queues of its streams when the recording began. For each
// stream, up to its first work whose launch is recorded:
//
//   the first work           starts when it was recorded to start: this is the initial condition of
//                            the replay
//   within 20 us of the one  follows it in the queue
//   before
//   within 20 us of the end  waits for that
//   of work on another
//   stream of the device
//   anything else            was not queued; it follows the progress of the host, as work does
//                            whose launch is lost in the middle of a recording
//
// Only the first and the last kind take a recorded start as an input (`placed`); a replay counts
// them. Source: in-order queues of CUDA and HIP streams. O(work log work).

struct QueuedWork {
  std::vector<bool> placed;       // by event: begins when it did in the recording
  std::vector<StreamWait> waits;  // ascending by `to`
};

QueuedWork queued_work(const RecordedTrace& trace, const LaunchedWork& work) {
  QueuedWork queued;
  queued.placed.assign(trace.size(), false);
  for (std::uint32_t lane = 0; lane < work.streams.size(); ++lane) {
    const std::vector<std::uint32_t>& stream = work.streams[lane];
    bool launched_before = false;
    std::int64_t free_ns = 0;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const std::uint32_t e = stream[i];
      const std::int64_t start = trace.start_ns[e];
      const std::int64_t pause = start - free_ns;
      free_ns = i == 0 ? trace.end_ns(e) : std::max(free_ns, trace.end_ns(e));
      if (work.launch_of[e] != kNoEvent) {
        launched_before = true;
        continue;
      }
      if (launched_before || i == 0) {
        queued.placed[e] = true;
        continue;
      }
      if (pause <= kSoonAfterNs) continue;
      const std::uint32_t awaited = work.just_ended(trace, lane, start);
      if (awaited == kNoEvent) {
        queued.placed[e] = true;
      } else {
        queued.waits.push_back({awaited, e});
      }
    }
  }
  std::ranges::sort(queued.waits, {}, &StreamWait::to);
  return queued;
}

// What one recording gives, before it is put into the graph of the run.
struct ReadRecording {
  std::vector<HostThread> threads;
  std::size_t main = 0;
  std::vector<ThreadWait> thread_waits;
  LaunchedWork work;
  DeviceWaits waits;
  QueuedWork queued;
  TimeSlices slices;
  LaunchParameters parameters;
  std::vector<StreamWait> rooms;
};

ReadRecording recording_of(const RecordedTrace& trace) {
  ReadRecording r;
  r.threads = host_threads(trace);
  if (!r.threads.empty()) {
    r.main = main_thread(trace, r.threads);
    r.thread_waits = thread_waits(r.threads, r.main);
  }
  r.work = device_work(trace, r.threads);
  r.waits = device_waits(trace, r.threads, r.work);
  r.queued = queued_work(trace, r.work);
  r.slices = time_slices(trace, r.work);
  r.parameters = launch_parameters(trace, r.work, r.waits, r.slices);
  r.parameters.slice_ns = r.slices.slice_ns;
  r.rooms = room_waits(trace, r.work, r.waits, r.parameters);
  return r;
}

// Puts one recording after another into the graph.
class Assembly {
 public:
  Assembly(std::span<const RecordedTrace> traces, const GraphFromRunOptions& options)
      : traces_(traces), options_(options) {}

  void prepare() {
    for (const RecordedTrace& trace : traces_) {
      recordings_.push_back(recording_of(trace));
      result_.parameters.push_back(recordings_.back().parameters);
      graph().device_clock_ns.push_back(recordings_.back().work.clock_ns);
    }
    zero_ns_ = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t t = 0; t < traces_.size(); ++t) {
      for (const HostThread& thread : recordings_[t].threads) {
        zero_ns_ = std::min(zero_ns_, common_clock(t, thread.segments.front().start_ns));
      }
      for (const auto& stream : recordings_[t].work.streams) {
        if (stream.empty()) continue;
        zero_ns_ = std::min(
            zero_ns_, common_clock(t, recordings_[t].work.started(traces_[t], stream.front())));
      }
    }
  }

  GraphFromRun assembled() {
    graph().nodes.reserve(most_nodes());
    for (std::uint32_t t = 0; t < traces_.size(); ++t) {
      trace_ = t;
      add_threads();
      add_thread_waits();
      add_streams();
      add_stream_waits();
      add_device_waits();
      add_synchronizations();
      add_steps();
    }
    add_rendezvous();
    return std::move(result_);
  }

  [[nodiscard]] bool empty() const { return zero_ns_ == std::numeric_limits<std::int64_t>::max(); }

 private:
  // Nodes of threads and streams; rendezvous, and waits that take time, are few beside them.
  [[nodiscard]] std::size_t most_nodes() const {
    std::size_t nodes = 0;
    for (const ReadRecording& recording : recordings_) {
      for (const HostThread& thread : recording.threads) {
        nodes += thread.segments.size() + thread.calls.size();
      }
      for (const auto& stream : recording.work.streams) nodes += 3 * stream.size();
    }
    return nodes + nodes / 16;
  }

  // The node at whose end a call has launched, and the time from there to the work.
  struct LaunchPoint {
    std::uint32_t node = 0;
    std::int64_t lag_ns = 0;
  };
  // Where segments of threads and events of the device stand in the graph.
  struct Placed {
    std::vector<std::vector<std::uint32_t>> first_of_segment;  // by thread
    std::vector<std::vector<std::uint32_t>> last_of_segment;
    // By event: of a call, where it launches and the node that returns; of work, into works.
    std::vector<LaunchPoint> launch;
    std::vector<std::uint32_t> call;
    std::vector<std::uint32_t> work;
  };

  [[nodiscard]] const RecordedTrace& trace() const { return traces_[trace_]; }
  [[nodiscard]] const ReadRecording& recording() const { return recordings_[trace_]; }
  [[nodiscard]] RunGraph& graph() { return result_.graph; }
  [[nodiscard]] std::int64_t common_clock(std::uint32_t t, std::int64_t time_ns) const {
    return time_ns + (traces_[t].base_ns - traces_[0].base_ns);
  }
  [[nodiscard]] std::int64_t since_zero(std::int64_t time_ns) const {
    return common_clock(trace_, time_ns) - zero_ns_;
  }

  std::uint32_t add_lane(std::uint32_t lane, bool device) {
    graph().lanes.push_back({trace_, lane, device, {}});
    return static_cast<std::uint32_t>(graph().lanes.size() - 1);
  }
  void add_edge(std::uint32_t from, std::uint32_t to, bool across_streams = false) {
    graph().edges.push_back({from, to, across_streams});
  }
  // An edge that takes time: a node on no lane between.
  void add_lag(std::uint32_t from, std::uint32_t to, std::int64_t lag_ns, std::uint32_t event,
               bool across_streams = false) {
    if (lag_ns <= 0) return add_edge(from, to, across_streams);
    const std::uint32_t lag = graph().add({RunNodeKind::latency, trace_, event, kNoLane, lag_ns});
    add_edge(from, lag, across_streams);
    add_edge(lag, to, across_streams);
  }

  void add_threads() {
    if (!placed_.empty()) {  // only the work of earlier recordings is asked for again
      Placed done;
      done.work = std::move(placed_.back().work);
      placed_.back() = std::move(done);
    }
    placed_.push_back({});
    begin_ = kNoEvent;
    Placed& placed = placed_.back();
    placed.launch.resize(trace().size());
    placed.call.assign(trace().size(), kNoEvent);
    placed.work.assign(trace().size(), kNoEvent);
    const std::vector<HostThread>& threads = recording().threads;
    placed.first_of_segment.resize(threads.size());
    placed.last_of_segment.resize(threads.size());
    std::vector<bool> woken(threads.size(), false);
    for (const ThreadWait& wait : recording().thread_waits) {
      if (wait.to_segment == 0) woken[wait.to_thread] = true;
    }
    for (std::uint32_t t = 0; t < threads.size(); ++t) {
      const HostThread& thread = threads[t];
      const std::uint32_t lane = add_lane(thread.lane, false);
      if (!woken[t]) {
        const std::int64_t offset = since_zero(thread.segments.front().start_ns);
        const std::uint32_t begin =
            graph().add({RunNodeKind::host, trace_, kNoEvent, lane, offset});
        if (t == recording().main) begin_ = begin;
      }
      for (const HostSegment& segment : thread.segments) {
        const auto first = static_cast<std::uint32_t>(graph().nodes.size());
        if (segment.call) {
          add_call(segment, lane);
        } else {
          const std::int64_t duration = segment.waits ? 0 : segment.end_ns - segment.start_ns;
          graph().add({RunNodeKind::host, trace_, segment.event, lane, duration});
        }
        placed.first_of_segment[t].push_back(first);
        placed.last_of_segment[t].push_back(static_cast<std::uint32_t>(graph().nodes.size() - 1));
      }
    }
  }

  [[nodiscard]] const Synchronization* synchronization(std::uint32_t call) const {
    const auto& list = recording().waits.synchronizations;
    const auto found = std::ranges::lower_bound(list, call, {}, &Synchronization::call);
    return found == list.end() || found->call != call ? nullptr : &*found;
  }

  // Works launched by a call are known from the device's side; here only the first one's class.
  void add_call(const HostSegment& segment, std::uint32_t lane) {
    const std::uint32_t call = segment.event;
    const std::int64_t duration = segment.end_ns - segment.start_ns;
    const Synchronization* wait = synchronization(call);
    std::int64_t before = duration;  // until the launch, or until it waits
    std::int64_t lag = 0;            // from then to the work
    if (const std::uint32_t work = recording().work.first_work[call]; work != kNoEvent) {
      const std::int64_t ready =
          recording().parameters.after_call_begins(recording().work.of[work], duration);
      before = std::min(ready, duration);
      lag = ready - before;
    } else if (wait != nullptr) {
      before = 0;
    }
    std::int64_t after = duration - before;
    if (wait != nullptr) {
      std::int64_t awaited = segment.start_ns + before;
      for (const std::uint32_t work : wait->awaited) {
        awaited = std::max(awaited, recording().work.ended(trace(), work));
      }
      after = std::max<std::int64_t>(0, segment.end_ns - awaited);
    }
    Placed& placed = placed_.back();
    std::uint32_t node = graph().add({RunNodeKind::call, trace_, call, lane, before});
    placed.launch[call] = {node, lag};
    if (wait != nullptr || after > 0) {
      node = graph().add({RunNodeKind::call, trace_, call, lane, after});
    }
    placed.call[call] = node;
  }

  void add_thread_waits() {
    const Placed& placed = placed_.back();
    for (const ThreadWait& wait : recording().thread_waits) {
      add_lag(placed.last_of_segment[wait.from_thread][wait.from_segment],
              placed.first_of_segment[wait.to_thread][wait.to_segment], wait.lag_ns, kNoEvent);
      ++result_.thread_waits;
    }
  }

  void add_streams() {
    const auto& streams = recording().work.streams;
    for (std::uint32_t l = 0; l < streams.size(); ++l) {
      if (streams[l].empty()) continue;
      const std::uint32_t lane = add_lane(l, true);
      std::int64_t running_until = std::numeric_limits<std::int64_t>::min();
      for (const std::uint32_t e : streams[l]) {
        add_work(e, lane, running_until);
        running_until = std::max(running_until, trace().end_ns(e));
      }
    }
  }

  void add_work(std::uint32_t event, std::uint32_t lane, std::int64_t running_until) {
    const LaunchParameters& parameters = recording().parameters;
    const WorkKind of = recording().work.of[event];
    const bool first = graph().lanes[lane].nodes.empty();
    if (!first) {
      graph().add({RunNodeKind::dispatch, trace_, event, lane,
                   parameters.dispatch_ns[static_cast<std::size_t>(of)]});
    }
    // Work of one stream that overlaps (programmatic launches) takes what it adds.
    const std::int64_t duration = std::max<std::int64_t>(
        0, trace().end_ns(event) - std::max(trace().start_ns[event], running_until));
    const auto node = static_cast<std::uint32_t>(graph().nodes.size());
    if (of == WorkKind::communication) {
      graph().add({RunNodeKind::arrival, trace_, event, lane, 0});
      graph().add({RunNodeKind::transfer, trace_, event, lane, duration});
    } else {
      graph().add({RunNodeKind::work, trace_, event, lane, duration});
    }
    const auto last = static_cast<std::uint32_t>(graph().nodes.size() - 1);
    placed_.back().work[event] = static_cast<std::uint32_t>(graph().works.size());
    graph().works.push_back({trace_, event, node, last});
    add_launch(event, node, first);
  }

  void add_launch(std::uint32_t event, std::uint32_t node, bool first_of_stream) {
    const std::uint32_t call = recording().work.launch_of[event];
    if (call != kNoEvent) {
      const LaunchPoint& launch = placed_.back().launch[call];
      return add_lag(launch.node, node, launch.lag_ns, event);
    }
    ++result_.unlaunched;
    if (!recording().queued.placed[event]) return;
    const std::int64_t start = recording().work.started(trace(), event);
    std::size_t segment = 0;
    const bool anchor = !first_of_stream && !recording().threads.empty();
    if (anchor) segment = recording().threads[recording().main].last_ended_by(start);
    if (!anchor || segment >= recording().threads[recording().main].segments.size()) {
      const std::uint32_t begin =
          graph().add({RunNodeKind::latency, trace_, event, kNoLane, since_zero(start)});
      return add_edge(begin, node);
    }
    ++result_.anchored;
    add_lag(placed_.back().last_of_segment[recording().main][segment], node,
            start - recording().threads[recording().main].segments[segment].end_ns, event);
  }

  void add_stream_waits() {
    if (options_.stream_waits == StreamWaits::dropped) return;
    const Placed& placed = placed_.back();
    for (const auto* waits : {&recording().waits.streams, &recording().queued.waits}) {
      for (const StreamWait& wait : *waits) {
        add_lag(graph().works[placed.work[wait.from]].last,
                graph().works[placed.work[wait.to]].first, recording().parameters.wake_ns, wait.to,
                true);
        ++result_.stream_waits;
      }
    }
  }

  void add_device_waits() {
    const Placed& placed = placed_.back();
    for (const StreamWait& room : recording().rooms) {
      add_edge(graph().works[placed.work[room.from]].last,
               graph().works[placed.work[room.to]].first);
      ++result_.room_waits;
    }
    if (recording().slices.slice_ns == 0) return;
    for (const StreamWait& resumed : recording().slices.resumed) {
      add_lag(graph().works[placed.work[resumed.from]].last,
              graph().works[placed.work[resumed.to]].first, recording().slices.slice_ns,
              resumed.to);
      ++result_.resumed;
    }
  }

  void add_synchronizations() {
    const Placed& placed = placed_.back();
    for (const Synchronization& wait : recording().waits.synchronizations) {
      for (const std::uint32_t work : wait.awaited) {
        add_edge(graph().works[placed.work[work]].last, placed.call[wait.call]);
      }
      ++result_.synchronizations;
    }
  }

  void add_steps() {
    if (recording().threads.empty()) return;
    if (trace_ < options_.steps.size()) return add_asked_step(options_.steps[trace_]);
    const std::size_t main = recording().main;
    const HostThread& thread = recording().threads[main];
    const std::size_t before = graph().steps.size();
    std::int64_t until = std::numeric_limits<std::int64_t>::min();
    for (std::uint32_t e = 0; e < trace().size(); ++e) {
      if (trace().kind[e] != EventKind::annotation || trace().lane[e] != thread.lane) continue;
      if (!trace().name_of(e).starts_with("ProfilerStep")) continue;
      if (trace().end_ns(e) <= until) continue;  // stands in another step
      until = trace().end_ns(e);
      add_step(std::string(trace().name_of(e)), main, {trace().start_ns[e], trace().end_ns(e)});
    }
    if (graph().steps.size() > before) return;
    add_step("recording", main, {thread.segments.front().start_ns, thread.segments.back().end_ns});
  }

  void add_asked_step(std::uint32_t event) {
    const std::vector<HostThread>& threads = recording().threads;
    const auto thread = std::ranges::find_if(
        threads, [&](const HostThread& t) { return t.lane == trace().lane[event]; });
    if (thread == threads.end()) return;
    add_step(std::string(trace().name_of(event)),
             static_cast<std::size_t>(thread - threads.begin()),
             {trace().start_ns[event], trace().end_ns(event)});
  }

  void add_step(std::string name, std::size_t of_thread, Interval window) {
    const HostThread& thread = recording().threads[of_thread];
    const auto& nodes = placed_.back().last_of_segment[of_thread];
    const std::size_t from = thread.last_ended_by(window.start);
    const std::size_t to = thread.last_ended_by(window.end);
    if (to >= nodes.size() || window.end <= window.start) return;
    std::uint32_t before = from < nodes.size() ? nodes[from] : kNoEvent;
    if (before == kNoEvent && of_thread == recording().main) before = begin_;
    graph().steps.push_back({trace_, std::move(name), before, nodes[to], window.start, window.end});
  }

  void add_rendezvous() {
    for (const CollectiveInstance& instance : collective_instances(traces_)) {
      if (!instance.partners.empty()) add_exchange(instance);
      if (instance.members.size() < 2) continue;
      ++result_.rendezvous;
      if (instance.ranks != kNotRecorded &&
          instance.ranks > static_cast<std::int64_t>(instance.members.size())) {
        ++result_.incomplete;
      }
      const std::uint32_t meet = graph().add({RunNodeKind::rendezvous, instance.members[0].trace,
                                              instance.members[0].event, kNoLane, 0});
      for (const CollectiveMember& member : instance.members) {
        const RunWork& nodes = work_of(member.trace, member.event);
        graph().nodes[nodes.last].duration_ns = member.transfer_ns;
        add_edge(nodes.first, meet);
        if (member.waits) add_edge(meet, nodes.last);
      }
    }
  }

  // A kernel of several messages meets each it exchanges with; these need not meet each other.
  void add_exchange(const CollectiveInstance& instance) {
    const CollectiveMember& member = instance.members[0];
    const RunWork& own = work_of(member.trace, member.event);
    const std::uint32_t meet =
        graph().add({RunNodeKind::rendezvous, member.trace, member.event, kNoLane, 0});
    add_edge(own.first, meet);
    add_edge(meet, own.last);
    graph().nodes[own.last].duration_ns = member.transfer_ns;
    std::set<std::uint32_t> met;
    for (const ExchangePartner& partner : instance.partners) {
      const std::uint32_t first = work_of(partner.trace, partner.event).first;
      if (partner.awaited && met.insert(first).second) add_edge(first, meet);
    }
    ++result_.rendezvous;
  }

  [[nodiscard]] const RunWork& work_of(std::uint32_t t, std::uint32_t event) {
    const std::uint32_t work = placed_[t].work[event];
    ORRERY_INVARIANT(work != kNoEvent);
    return graph().works[work];
  }

  std::span<const RecordedTrace> traces_;
  GraphFromRunOptions options_;
  std::vector<ReadRecording> recordings_;
  std::vector<Placed> placed_;
  GraphFromRun result_;
  std::int64_t zero_ns_ = 0;
  std::uint32_t trace_ = 0;
  std::uint32_t begin_ = kNoEvent;
};

}  // namespace

std::int64_t LaunchParameters::after_call_begins(WorkKind of, std::int64_t call_ns) const {
  const std::int64_t launch = launch_ns[static_cast<std::size_t>(of)];
  return std::max<std::int64_t>(0, of == WorkKind::copy ? launch : call_ns + launch);
}

Result<GraphFromRun> graph_from_run(std::span<const RecordedTrace> traces,
                                    const GraphFromRunOptions& options) {
  Assembly assembly(traces, options);
  assembly.prepare();
  if (assembly.empty()) {
    return bad_input("nothing to replay: no operators, calls or device work",
                     traces.empty() ? "" : traces[0].file,
                     "a recording of a profiler with CPU or GPU activities");
  }
  return assembly.assembled();
}

}  // namespace orrery
