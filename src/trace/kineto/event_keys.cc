#include "trace/kineto/event_keys.h"

#include <array>
#include <cstddef>

namespace orrery {
namespace {

struct Spelling {
  std::string_view text;
  EventKey key = EventKey::unknown;
};

// A hash table made at compile time; the hash looks at four bytes and the length.
constexpr std::size_t kSlots = 512;

constexpr std::size_t slot(std::string_view text) {
  if (text.empty()) return 0;
  std::size_t hash = text.size();
  for (const std::size_t i : {std::size_t{0}, text.size() / 3, text.size() / 2, text.size() - 1}) {
    hash = hash * 31 + static_cast<unsigned char>(text[i]);
  }
  return hash % kSlots;
}

template <std::size_t N>
constexpr std::array<Spelling, kSlots> table_of(const std::array<Spelling, N>& spellings) {
  std::array<Spelling, kSlots> table{};
  for (const Spelling& spelling : spellings) {
    std::size_t at = slot(spelling.text);
    while (!table[at].text.empty()) at = (at + 1) % kSlots;
    table[at] = spelling;
  }
  return table;
}

constexpr EventKey look_up(const std::array<Spelling, kSlots>& table, std::string_view text) {
  for (std::size_t at = slot(text); !table[at].text.empty(); at = (at + 1) % kSlots) {
    if (table[at].text == text) return table[at].key;
  }
  return EventKey::unknown;
}

constexpr auto kEvent =
    table_of(std::array{Spelling{"ph", EventKey::phase}, Spelling{"cat", EventKey::category},
                        Spelling{"name", EventKey::name}, Spelling{"pid", EventKey::process},
                        Spelling{"tid", EventKey::thread}, Spelling{"ts", EventKey::start},
                        Spelling{"dur", EventKey::duration}, Spelling{"args", EventKey::arguments},
                        Spelling{"id", EventKey::flow_id}});

constexpr auto kArguments =
    table_of(std::array{Spelling{"correlation", EventKey::correlation},
                        Spelling{"External id", EventKey::external_id},
                        Spelling{"external id", EventKey::external_id},
                        Spelling{"Sequence number", EventKey::sequence_number},
                        Spelling{"Fwd thread id", EventKey::forward_thread},
                        Spelling{"Record function id", EventKey::record_function_id},
                        Spelling{"Input Dims", EventKey::input_shapes},
                        Spelling{"Input dims", EventKey::input_shapes},
                        Spelling{"Input type", EventKey::input_types},
                        Spelling{"Input Strides", EventKey::input_strides},
                        Spelling{"Concrete Inputs", EventKey::concrete_inputs},
                        Spelling{"device", EventKey::device},
                        Spelling{"stream", EventKey::stream},
                        Spelling{"grid", EventKey::grid},
                        Spelling{"block", EventKey::block},
                        Spelling{"registers per thread", EventKey::registers},
                        Spelling{"shared memory", EventKey::shared_memory},
                        Spelling{"est. achieved occupancy %", EventKey::occupancy},
                        Spelling{"graph id", EventKey::graph},
                        Spelling{"bytes", EventKey::bytes},
                        Spelling{"wait_on_stream", EventKey::awaited_stream},
                        Spelling{"wait_on_cuda_event_record_corr_id", EventKey::record_correlation},
                        Spelling{"wait_on_cuda_event_id", EventKey::cuda_event},
                        Spelling{"cuda_event_id", EventKey::cuda_event},
                        Spelling{"Collective name", EventKey::collective},
                        Spelling{"dtype", EventKey::data_type},
                        Spelling{"Process Group Name", EventKey::group},
                        Spelling{"Process Group Description", EventKey::group_description},
                        Spelling{"Process Group Ranks", EventKey::group_ranks},
                        Spelling{"Group size", EventKey::group_size},
                        Spelling{"In split size", EventKey::input_splits},
                        Spelling{"Out split size", EventKey::output_splits},
                        Spelling{"In msg nelems", EventKey::input_elements},
                        Spelling{"Out msg nelems", EventKey::output_elements},
                        Spelling{"Global rank start", EventKey::rank_start},
                        Spelling{"Global rank stride", EventKey::rank_stride},
                        Spelling{"Src Rank", EventKey::source},
                        Spelling{"Dst Rank", EventKey::destination},
                        Spelling{"Seq", EventKey::sequence},
                        Spelling{"Is asynchronized op", EventKey::asynchronous},
                        Spelling{"name", EventKey::label},
                        Spelling{"Bytes", EventKey::memory_bytes},
                        Spelling{"Addr", EventKey::memory_address},
                        Spelling{"Device Id", EventKey::memory_device},
                        Spelling{"Device Type", EventKey::memory_device_type},
                        Spelling{"Total Allocated", EventKey::memory_allocated},
                        Spelling{"Total Reserved", EventKey::memory_reserved}});

}  // namespace

EventKey event_key(std::string_view text) { return look_up(kEvent, text); }
EventKey argument_key(std::string_view text) { return look_up(kArguments, text); }

}  // namespace orrery
