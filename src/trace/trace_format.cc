#include "trace/trace_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

#include "trace/byte_stream.h"

namespace orrery {
namespace {

constexpr std::size_t kBeginning = std::size_t{64} << 10U;

// Keys that only one format has at its top, as JSON texts.
constexpr std::array<std::pair<std::string_view, TraceFormat>, 12> kKeys = {{
    {"\"orrery_graph\"", TraceFormat::graph},
    {"\"traceEvents\"", TraceFormat::kineto},
    {"\"deviceProperties\"", TraceFormat::kineto},
    {"\"distributedInfo\"", TraceFormat::kineto},
    {"\"baseTimeNanoseconds\"", TraceFormat::kineto},
    {"\"schemaVersion\"", TraceFormat::kineto},
    {"\"orreryRanks\"", TraceFormat::kineto},
    {"\"workload_graph\"", TraceFormat::chakra_json},
    {"\"ctrlDeps\"", TraceFormat::chakra_json},
    {"\"schema\"", TraceFormat::host_execution},
    {"\"nodes\"", TraceFormat::host_execution},
    {"\"start_ts\"", TraceFormat::host_execution},
}};

// First words of text workloads: ASTRA-sim's parallelism policies, and SimAI's.
constexpr std::array<std::string_view, 9> kPolicies = {"MICRO",
                                                       "DATA",
                                                       "MODEL",
                                                       "HYBRID_DATA_MODEL",
                                                       "HYBRID_MODEL_DATA",
                                                       "HYBRID_DLRM",
                                                       "HYBRID_DLRM_ENHANCED",
                                                       "HYBRID_TRANSFORMER",
                                                       "HYBRID_TRANSFORMER_FWD_IN_BCKWD"};

// Where a text stands as a key: before a colon.
std::size_t find_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + key.size());
    if (next != std::string_view::npos && text[next] == ':') return at;
  }
  return std::string_view::npos;
}

// The format whose key stands first.
TraceFormat format_of_object(std::string_view text) {
  std::size_t first = std::string_view::npos;
  TraceFormat format = TraceFormat::unknown;
  for (const auto& [key, its_format] : kKeys) {
    const std::size_t at = find_key(text, key);
    if (at < first) {
      first = at;
      format = its_format;
    }
  }
  // "nodes" alone is a word of many files.
  const auto has = [&](std::string_view key) {
    return find_key(text, key) != std::string_view::npos;
  };
  if (format == TraceFormat::host_execution && !has("\"schema\"") && !has("\"rf_id\"")) {
    return TraceFormat::unknown;
  }
  return format;
}

// A list of events: of operations, where one of their names stands, else of the profiler (Chrome's
// trace-event format allows the list without an object around it).
TraceFormat format_of_list(std::string_view text) {
  constexpr std::array<std::string_view, 6> kOperations = {
      "\"forward-compute\"",   "\"backward-compute\"", "\"forward-recv\"",
      "\"params-all-gather\"", "\"optimizer\"",        "TP rank "};
  for (const std::string_view operation : kOperations) {
    if (text.find(operation) != std::string_view::npos) return TraceFormat::operation_timeline;
  }
  return text.find("\"ph\"") != std::string_view::npos ? TraceFormat::kineto : TraceFormat::unknown;
}

// The first record: its length as LEB128, then a message of a version (field 1, a text) and
// attributes (field 2), either of which may be absent. No text format holds a byte 0x12.
bool is_chakra(std::string_view bytes) {
  std::uint64_t length = 0;
  std::size_t at = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    length |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) break;
  }
  if (length < 2 || at + 2 > bytes.size()) return false;
  if (bytes[at] == '\x12') return true;
  const std::uint64_t version = static_cast<unsigned char>(bytes[at + 1]);
  if (bytes[at] != '\x0a' || version >= 0x80) return false;
  if (version + 2 == length) return true;
  return at + 2 + version < bytes.size() && bytes[at + 2 + version] == '\x12';
}

}  // namespace

std::string_view name(TraceFormat format) {
  switch (format) {
    case TraceFormat::kineto:
      return "a trace of the PyTorch profiler";
    case TraceFormat::host_execution:
      return "a host execution trace of PyTorch";
    case TraceFormat::chakra:
      return "a Chakra execution trace";
    case TraceFormat::chakra_json:
      return "a Chakra execution trace in JSON";
    case TraceFormat::operation_timeline:
      return "a timeline of operations";
    case TraceFormat::workload_text:
      return "a text workload of ASTRA-sim or SimAI";
    case TraceFormat::graph:
      return "a graph of Orrery";
    case TraceFormat::unknown:
      return "in no known format";
  }
  return "";
}

std::string_view key(TraceFormat format) {
  static constexpr std::array<std::string_view, 8> kKeysOfFormats = {
      "kineto",        "host_execution", "chakra", "chakra_json", "operation_timeline",
      "workload_text", "graph",          "unknown"};
  return kKeysOfFormats[static_cast<std::size_t>(format)];
}

TraceFormat format_of(std::string_view beginning) {
  if (beginning.starts_with("\xef\xbb\xbf")) beginning.remove_prefix(3);
  if (is_chakra(beginning)) return TraceFormat::chakra;
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return TraceFormat::unknown;
  beginning.remove_prefix(first);
  if (beginning.front() == '{') return format_of_object(beginning);
  if (beginning.front() == '[') return format_of_list(beginning);
  const std::string_view word = beginning.substr(0, beginning.find_first_of(": \t\r\n"));
  return std::find(kPolicies.begin(), kPolicies.end(), word) != kPolicies.end()
             ? TraceFormat::workload_text
             : TraceFormat::unknown;
}

ForeignBytes foreign_bytes(std::string_view beginning) {
  struct Mark {
    std::string_view bytes;
    ForeignBytes what;
  };
  using namespace std::string_view_literals;
  // Byte order marks: RFC 2781. Archives by their first bytes, as their formats define them.
  static constexpr ForeignBytes kUtf16 = {"this is UTF-16", "save it as UTF-8"};
  static constexpr std::string_view kUnpack = "unpack it first; of packed files, gzip is read";
  static constexpr std::array<Mark, 8> kMarks = {
      {{"\xff\xfe"sv, kUtf16},
       {"\xfe\xff"sv, kUtf16},
       {"\0\0"sv, {"it begins with zeros", "a crash can leave such a file: record again"}},
       {"\0"sv, kUtf16},
       {"\x1f\x8b"sv, {"this is gzip inside gzip", "unpack it once"}},
       {"\x28\xb5\x2f\xfd"sv, {"this is zstd", kUnpack}},
       {"\xfd\x37\x7a\x58\x5a"sv, {"this is xz", kUnpack}},
       {"PK\x03\x04"sv, {"this is a zip archive", kUnpack}}}};
  for (const Mark& mark : kMarks) {
    if (beginning.starts_with(mark.bytes)) return mark.what;
  }
  if (beginning.size() > 1 && beginning[1] == '\0') return kUtf16;
  return {};
}

Result<TraceFormat> format_of_file(const std::string& file) {
  std::string_view taken;
  if (file == "-") {
    ORRERY_TRY(taken, beginning_of_standard_input());
  }
  ORRERY_TRY(ByteStream stream,
             file == "-" ? ByteStream::of(taken, "standard input") : ByteStream::open(file));
  std::string beginning(kBeginning, '\0');
  ORRERY_TRY(const std::size_t size, stream.read(beginning.data(), beginning.size()));
  beginning.resize(size);
  return format_of(beginning);
}

}  // namespace orrery
