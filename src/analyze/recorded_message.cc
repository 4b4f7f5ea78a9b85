#include "analyze/recorded_message.h"

#include <algorithm>
#include <array>
#include <utility>

#include "trace/recorded_arguments.h"

namespace orrery {
namespace {

// Lower-case letters only: "_allgather_base" -> "allgatherbase".
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c + 32);
    if (c >= 'a' && c <= 'z') letters += c;
  }
  return letters;
}

struct TypeName {
  std::string_view in_kernels;  // "_f16_", of NCCL since 2.19, or "_half", before
  std::string_view of_pytorch;  // on operators
  std::string_view name;        // in NCCL arguments
};
constexpr std::array<TypeName, 14> kTypes = {{
    {"bf16", "c10::BFloat16", "BFloat16"},
    {"bfloat", "c10::BFloat16", "BFloat16"},
    {"f16", "c10::Half", "Half"},
    {"half", "c10::Half", "Half"},
    {"f32", "float", "Float"},
    {"float", "float", "Float"},
    {"f64", "double", "Double"},
    {"double", "double", "Double"},
    {"i64", "long int", "Long"},
    {"int64", "long int", "Long"},
    {"i32", "int", "Int"},
    {"", "unsigned char", "Byte"},
    {"", "signed char", "Char"},
    {"", "bool", "Bool"},
}};

const TypeName* type_where(std::string_view TypeName::* field, std::string_view value) {
  const auto* it = std::ranges::find_if(
      kTypes, [&](const TypeName& t) { return !(t.*field).empty() && t.*field == value; });
  return it == kTypes.end() ? nullptr : it;
}

// "ncclDevKernel_AllReduce_Sum_f16_RING_LL(...)" -> f16.
const TypeName* type_in_kernel(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find('('));
  while (!kernel.empty()) {
    const std::size_t cut = std::min(kernel.find('_'), kernel.size());
    if (const TypeName* found = type_where(&TypeName::in_kernels, kernel.substr(0, cut))) {
      return found;
    }
    kernel.remove_prefix(std::min(cut + 1, kernel.size()));
  }
  return nullptr;
}

// No message has more elements or ranks; larger numbers are damage, and could not be multiplied.
constexpr double kMostElements = 1e12;
constexpr std::int64_t kMostRanks = 10'000'000;

RecordedMessage from_arguments(const CommunicationDetails& details, const TextTable& texts) {
  RecordedMessage message = {.collective = collective_of(texts[details.collective]),
                             .type = std::string(texts[details.data_type]),
                             .ranks = details.group_size};
  std::int64_t elements = details.input_elements;
  if (message.collective == Collective::all_gather && details.output_elements > 0) {
    elements = details.output_elements;
  }
  if (elements <= 0) elements = details.output_elements;
  if (const std::int64_t width = element_bytes(message.type);
      width > 0 && elements >= 0 && static_cast<double>(elements) <= kMostElements) {
    message.bytes = elements * width;
  }
  return message;
}

// The innermost annotation "nccl:..." around a call, among the events shortly before it.
std::uint32_t mark_around(const RecordedTrace& trace, std::uint32_t call) {
  constexpr std::uint32_t kLookedAt = 256;
  for (std::uint32_t back = 1; back <= std::min(call, kLookedAt); ++back) {
    const std::uint32_t e = call - back;
    if (trace.lane[e] == trace.lane[call] && trace.kind[e] == EventKind::annotation &&
        trace.end_ns(e) >= trace.end_ns(call) && trace.name_of(e).starts_with("nccl:")) {
      return e;
    }
  }
  return kNoEvent;
}

// The last whole number among the values of record_param_comms is the size of its group; what may
// follow it is whether the call is asynchronous (torch/csrc/distributed/c10d/ParamCommsUtils.hpp).
std::int64_t group_size(const std::vector<RecordedArgument>& arguments) {
  constexpr std::size_t kWithGroupSize = 8;  // arguments; earlier versions had fewer, and no size
  if (arguments.size() < kWithGroupSize) return kNotRecorded;
  for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) {
    if (it->value.empty() || it->value.front() == '[') continue;
    const std::vector<std::int64_t> number = whole_numbers(it->value);
    if (number.size() == 1 && number[0] > 0 && number[0] <= kMostRanks) return number[0];
  }
  return kNotRecorded;
}

void add_from_host(RecordedMessage& message, const RecordedTrace& trace, const LaunchLinks& links,
                   std::uint32_t call) {
  const std::uint32_t mark = mark_around(trace, call);
  const std::uint32_t op = links.inner_operator[call];
  if (mark != kNoEvent && message.collective == Collective::other) {
    message.collective = collective_of(trace.name_of(mark));
  }
  // NCCL runs an all-to-all as sends and receives of one kernel.
  if (mark != kNoEvent && message.collective == Collective::send_receive &&
      collective_of(trace.name_of(mark)) == Collective::all_to_all) {
    message.collective = Collective::all_to_all;
  }
  double elements = 0;
  for (const std::uint32_t e : {mark, op}) {
    if (e == kNoEvent || trace.details[e] == kNoDetails) continue;
    const auto arguments = recorded_arguments(trace, trace.operators[trace.details[e]]);
    if (arguments.empty()) continue;
    if (message.type.empty()) {
      if (const TypeName* t = type_where(&TypeName::of_pytorch, arguments[0].type)) {
        message.type = t->name;
      }
    }
    elements = std::max(elements, elements_of(arguments[0]));
    if (trace.name_of(e) == "record_param_comms") message.ranks = group_size(arguments);
  }
  const std::int64_t width = element_bytes(message.type);
  if (width <= 0 || elements <= 0 || elements > kMostElements) return;
  // The inputs of an all-gather are shards.
  if (message.collective != Collective::all_gather) {
    message.bytes = static_cast<std::int64_t>(elements) * width;
  } else if (message.ranks != kNotRecorded) {
    message.bytes = static_cast<std::int64_t>(elements) * width * message.ranks;
  }
}

}  // namespace

Collective collective_of(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, Collective>, 9> kParts = {{
      {"allreduce", Collective::all_reduce},
      {"allgather", Collective::all_gather},
      {"reducescatter", Collective::reduce_scatter},
      {"alltoall", Collective::all_to_all},
      {"broadcast", Collective::broadcast},
      {"sendrecv", Collective::send_receive},
      {"reduce", Collective::reduce},
      {"send", Collective::send_receive},
      {"recv", Collective::send_receive},
  }};
  const std::string letters = letters_of(text);
  for (const auto& [part, collective] : kParts) {
    if (letters.find(part) != std::string::npos) return collective;
  }
  return Collective::other;
}

double bus_factor(Collective collective, std::int64_t ranks) {
  if (ranks < 1) return 1;
  const auto n = static_cast<double>(ranks);
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (n - 1) / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return (n - 1) / n;
    default:
      return 1;
  }
}

RecordedMessage recorded_message(const RecordedTrace& trace, const LaunchLinks& links,
                                 std::size_t kernel) {
  if (trace.communication[kernel] != kNoDetails) {
    const CommunicationDetails& details = trace.communications[trace.communication[kernel]];
    if (details.collective != 0) return from_arguments(details, trace.texts);
  }
  RecordedMessage message = {.collective = collective_of(trace.name_of(kernel)), .type = {}};
  if (const TypeName* type = type_in_kernel(trace.name_of(kernel))) message.type = type->name;
  if (links.call[kernel] != kNoEvent) {
    add_from_host(message, trace, links, links.call[kernel]);
  }
  return message;
}

}  // namespace orrery
