#include "trace/trace_format.h"

#include <array>

#include "trace/byte_stream.h"
#include "trace/known_formats.h"

namespace orrery {
namespace {

constexpr std::size_t kBeginning = std::size_t{64} << 10U;
constexpr std::string_view kSpace = " \t\r\n";

// Where a text stands as a key: before a colon.
std::size_t find_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t next = text.find_first_not_of(kSpace, at + key.size());
    if (next != std::string_view::npos && text[next] == ':') return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::span<const TraceFormat* const> trace_formats() {
  static constexpr std::array kFormats = {
      &kKineto,           &kHostExecution,     &kChakra,       &kChakraJson,
      &kCommunicatorFile, &kOperationTimeline, &kWorkloadText, &kGraph,
  };
  return kFormats;
}

const TraceFormat kUnknownFormat{
    .key = "unknown", .name = "in no known format", .plural = "files in no known format"};

std::string formats_in_words(const std::function<bool(const TraceFormat&)>& has) {
  std::vector<std::string_view> plurals;
  for (const TraceFormat* format : trace_formats()) {
    if (has(*format)) plurals.push_back(format->plural);
  }
  std::string out;
  for (std::size_t i = 0; i < plurals.size(); ++i) {
    if (i > 0) out += i + 1 == plurals.size() ? " and " : ", ";
    out += plurals[i];
  }
  return out;
}

const TraceFormat* format_of(std::string_view beginning) {
  if (beginning.starts_with("\xef\xbb\xbf")) beginning.remove_prefix(3);
  const TraceFormat* out = &kUnknownFormat;
  std::size_t first = std::string_view::npos;
  for (const TraceFormat* format : trace_formats()) {
    const std::size_t at = format->told_at(beginning);
    if (at >= first) continue;
    first = at;
    out = format;
  }
  return out->confirmed == nullptr || out->confirmed(beginning) ? out : &kUnknownFormat;
}

std::size_t first_key(std::string_view beginning, std::initializer_list<std::string_view> keys) {
  const std::size_t brace = beginning.find_first_not_of(kSpace);
  std::size_t first = std::string_view::npos;
  if (brace == std::string_view::npos || beginning[brace] != '{') return first;
  for (const std::string_view key : keys) first = std::min(first, find_key(beginning, key));
  return first;
}

bool is_list(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(kSpace);
  return first != std::string_view::npos && beginning[first] == '[';
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

Result<const TraceFormat*> format_of_file(const std::string& file) {
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  std::string beginning(kBeginning, '\0');
  ORRERY_TRY(const std::size_t size, stream.read(beginning.data(), beginning.size()));
  beginning.resize(size);
  return format_of(beginning);
}

}  // namespace orrery
