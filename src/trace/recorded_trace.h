// What one rank recorded: the events of a profiler, in columns, whatever the file's format was.
//
// Every importer of recorded runs fills this; analysis, replay, what-if, comparison and export read
// it. Times are whole nanoseconds since `base_ns` (integers: microseconds since 1970 do not fit a
// double to the nanosecond). Events are sorted by start, longer first among equals, then by their
// place in the file, so that an enclosing event comes before what it encloses; `place` keeps the
// position in the file. Texts that repeat (names, shapes, groups) are interned once.
//
// A lane is one in-order row of the recording: a thread of a process, or a stream of a device.
// Events of host lanes nest; work of device streams follows one after the other.
//
// About 60 bytes an event and one side record for those kinds that carry more. Not kept: counters,
// call stacks beyond python events, and spans a viewer derives ("Trace" rows).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "outcome/enum_names.h"

namespace orrery {

enum class EventKind : std::uint8_t {
  cpu_operator,       // aten::mm, record_param_comms
  annotation,         // of the user, on the host: ProfilerStep#4, "## forward ##"
  runtime_call,       // cudaLaunchKernel, hipMemcpyAsync, cuLaunchKernel
  python_function,    // of recordings with stacks
  kernel,             // on a device stream
  copy,               // on a device stream
  fill,               // memset on a device stream
  synchronization,    // Stream Wait Event, Event Sync, Stream Sync, Context Sync
  event_record,       // device-side times of recorded events
  device_annotation,  // derived by the profiler from the kernels it covers; not work
  overhead,           // of the profiler itself
  other,              // anything else with a duration on the host
};
inline constexpr std::size_t kEventKinds = 12;

// Work that occupies a device stream.
constexpr bool is_device_work(EventKind kind) {
  return kind == EventKind::kernel || kind == EventKind::copy || kind == EventKind::fill;
}

inline constexpr std::uint32_t kNoDetails = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int64_t kNotRecorded = std::numeric_limits<std::int64_t>::min();
// In place of the number of an event: there is none.
inline constexpr std::uint32_t kNoEvent = std::numeric_limits<std::uint32_t>::max();

// Interned texts; index 0 is the empty text.
class TextTable {
 public:
  TextTable();
  TextTable(TextTable&&) = default;
  TextTable& operator=(TextTable&&) = default;
  TextTable(const TextTable&) = delete;
  TextTable& operator=(const TextTable&) = delete;
  ~TextTable() = default;

  std::uint32_t intern(std::string_view text);
  [[nodiscard]] std::string_view operator[](std::uint32_t index) const { return texts_[index]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> index_;
  std::vector<std::string_view> texts_;  // into the keys, whose addresses stay
};

struct Lane {
  bool device = false;
  std::int64_t process = 0;  // of the operating system; on a device lane the device's ordinal
  std::int64_t thread = 0;   // of the operating system; on a device lane the stream
  std::string process_name;  // empty when not recorded, or not a number in the file
  std::string thread_name;
};

// Of a cpu_operator or annotation. Texts are as recorded: [[64, 128], []], ["float", "Scalar"].
struct OperatorDetails {
  std::uint32_t input_shapes = 0;
  std::uint32_t input_types = 0;
  std::uint32_t input_strides = 0;
  std::uint32_t concrete_inputs = 0;
  std::int64_t sequence_number = kNotRecorded;  // links a forward operator to its backward one
  std::int64_t forward_thread = kNotRecorded;
  std::int64_t record_function_id = kNotRecorded;  // links to the host execution trace
};

// Of a kernel.
struct KernelDetails {
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::int32_t registers_per_thread = -1;
  std::int32_t shared_memory_bytes = -1;
  float achieved_occupancy = -1;      // 0 to 1; below 0: not recorded
  std::int64_t graph = kNotRecorded;  // CUDA graph that launched it
};

// Of a copy or fill.
struct CopyDetails {
  std::int64_t bytes = kNotRecorded;
};

// Of a synchronization or event_record.
struct SynchronizationDetails {
  std::int64_t stream = kNotRecorded;          // that waits; -1: all streams of the device
  std::int64_t awaited_stream = kNotRecorded;  // "wait_on_stream"
  std::int64_t record_correlation =
      kNotRecorded;                   // of the cudaEventRecord; -1: outside the recording
  std::int64_t event = kNotRecorded;  // "wait_on_cuda_event_id"
};

// Of a communication, on its kernel and on the operator that started it. Counts are elements of
// this rank: an all-gather takes a shard in and gives the whole out.
struct CommunicationDetails {
  std::uint32_t collective = 0;  // "allreduce", "_allgather_base", "all_to_allv", "send"
  std::uint32_t data_type = 0;   // "BFloat16"
  std::uint32_t group = 0;       // name of the process group: "0"
  std::uint32_t group_description = 0;
  std::uint32_t group_ranks = 0;  // as recorded, cut after 30 ranks with "..."
  std::uint32_t input_splits = 0;
  std::uint32_t output_splits = 0;
  std::int64_t input_elements = kNotRecorded;
  std::int64_t output_elements = kNotRecorded;
  std::int64_t group_size = kNotRecorded;
  std::int64_t rank_start = kNotRecorded;
  std::int64_t rank_stride = kNotRecorded;
  std::int64_t source = kNotRecorded;  // of point-to-point
  std::int64_t destination = kNotRecorded;
  std::int64_t sequence = kNotRecorded;  // "Seq": the same on all ranks of one instance
  bool asynchronous = false;
};

// One allocation, or release (negative bytes), where the memory was profiled.
struct MemoryEvent {
  std::int64_t time_ns = 0;
  std::int64_t address = kNotRecorded;
  std::int64_t bytes = 0;
  std::int64_t allocated_bytes = kNotRecorded;  // of the device, after it
  std::int64_t reserved_bytes = kNotRecorded;
  std::int32_t device = -1;  // ordinal; -1: the host
  std::uint32_t place = 0;   // in the file's list of events
};

struct ProcessGroup {
  std::string name;
  std::string description;
  std::int64_t size = 0;
  std::vector<std::int32_t> ranks;  // empty: all
};

struct RecordedDevice {
  std::string name;  // "NVIDIA H100 80GB HBM3"
  std::int64_t memory_bytes = 0;
  std::int32_t multiprocessors = 0;  // SMs, or compute units
};

struct RecordedTrace {
  // One entry an event.
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int64_t> correlation;  // links a launch to its work; kNotRecorded
  std::vector<std::int64_t> external_id;  // names the operator, or repeats the correlation; by era
  std::vector<std::uint32_t> name;        // into `texts`
  std::vector<std::uint32_t> lane;        // into `lanes`
  std::vector<std::uint32_t> details;     // into the table of its kind; kNoDetails
  std::vector<std::uint32_t> communication;  // into `communications`; kNoDetails
  std::vector<std::uint32_t> place;          // in the file's list of events, from 0
  std::vector<EventKind> kind;

  TextTable texts;
  std::vector<Lane> lanes;
  std::vector<OperatorDetails> operators;
  std::vector<KernelDetails> kernels;
  std::vector<CopyDetails> copies;
  std::vector<SynchronizationDetails> synchronizations;
  std::vector<CommunicationDetails> communications;

  // Arrows of the file from a forward operator to its backward operator: events.
  std::vector<std::array<std::uint32_t, 2>> forward_to_backward;
  std::vector<MemoryEvent> memory;  // in the order of time

  std::string file;          // as given
  std::int64_t base_ns = 0;  // start_ns are relative to this moment since 1970
  std::int64_t rank = kNotRecorded;
  std::int64_t world_size = kNotRecorded;
  std::string backend;  // of communication: "nccl"
  std::vector<ProcessGroup> groups;
  std::vector<RecordedDevice> devices;
  std::int64_t entries = 0;   // of the file's list, with those that were not kept
  std::int64_t left_out = 0;  // events without usable times, and beginnings or ends alone
  std::int64_t unpaired = 0;  // of those: begun and not ended, or ended and not begun
  // What stood in the file more than once and counts once, and kernels that begin before their
  // stream is done with an earlier one (repeated_events.h).
  std::int64_t repeated = 0;
  std::int64_t repeated_kernels = 0;  // of those
  std::int64_t overlapping_kernels = 0;
  bool truncated = false;  // the file ends in the middle; what was whole is here
  bool simulated = false;  // the file says that its times are of a simulation

  [[nodiscard]] std::size_t size() const { return start_ns.size(); }
  [[nodiscard]] std::string_view name_of(std::size_t event) const { return texts[name[event]]; }
  [[nodiscard]] std::int64_t end_ns(std::size_t event) const {
    return start_ns[event] + duration_ns[event];
  }
  // Calls f(column) with every column that has one entry for each event.
  template <class F>
  void for_each_column(const F& f) {
    const auto each = [&](auto&... columns) { (f(columns), ...); };
    each(start_ns, duration_ns, correlation, external_id, name, lane, details, communication, place,
         kind);
  }
  // One more event, of which nothing else is known; its index.
  std::uint32_t append(EventKind of_kind, std::string_view named, std::uint32_t on_lane,
                       std::int64_t starts_ns, std::int64_t takes_ns);
};

// Whether a kernel communicates: NCCL, RCCL, or DeepEP, by its name, in any case. Every other
// kernel computes. Source: definitions of validation/traces/README.md.
bool is_communication_kernel(std::string_view name);
// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, ...)" -> "AllReduce"; of other names
// nothing.
std::optional<std::string_view> collective_of_kernel(std::string_view name);

}  // namespace orrery
