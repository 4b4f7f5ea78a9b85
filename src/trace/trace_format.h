// The formats of recorded files: how each is recognised by its content, for names lie, and what it
// can be read as.
//
// A format is one file beside its reader that fills one TraceFormat, its declaration in
// known_formats.h, and its line in trace_formats(). Commands ask a format what it can be read as;
// what is null it cannot.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "trace/incomplete.h"

namespace orrery {

struct ChakraRank;
struct ChakraTrace;
struct GraphFile;
struct KinetoOptions;
struct OperationTimeline;
struct RecordedTrace;
struct TraceContents;

// TraceFormat::instead of what holds operations of devices, but not what the host did.
inline constexpr std::string_view kNeedsHostCalls =
    "only the profiler's traces hold what is needed here, the calls and launches of the host; "
    "orrery trace replay, analyze and diff read it";

// What one file says of every rank of a job.
struct ChakraOfRanks {
  std::int64_t ranks = 0;  // 0: the file does not say how many
  std::function<ChakraTrace(std::int64_t rank)> trace;
};

struct TraceFormat {
  std::string_view key;          // for documents: "kineto"
  std::string_view name;         // for people: "a trace of the PyTorch profiler"
  std::string_view plural;       // "traces of the PyTorch profiler"
  std::string_view ending = {};  // files of this name are of this format if nothing else tells
  bool one_file_a_rank = false;  // else one file holds all ranks
  bool with_recordings = false;  // goes with the recording of the same rank, and not alone
  bool beside_traces = false;    // adds nothing to them: passed over where traces are given
  bool may_be_cut = false;       // what is whole of a cut file can be used
  bool chrome_events = false;    // a recording whose files can be rewritten event by event
  // What to do where a recording is needed and this is given, or this format has no reader.
  std::string_view instead = {};

  // Where, in the first bytes of a file, something stands that tells this format; npos if nothing
  // does. A file has the format that is told first; of equal places that of the first in the list.
  std::size_t (*told_at)(std::string_view beginning) = nullptr;
  // What must hold too, else the format is unknown. Null: nothing.
  bool (*confirmed)(std::string_view beginning) = nullptr;

  // A recording, of one rank or of several.
  Result<std::vector<RecordedTrace>> (*recording)(const std::string& file,
                                                  const KinetoOptions& options) = nullptr;
  // The nodes of Chakra traces, one file a rank.
  Result<std::vector<ChakraRank>> (*chakra)(const std::vector<std::string>& files,
                                            Incomplete incomplete) = nullptr;
  // One file that tells the nodes of every rank.
  Result<ChakraOfRanks> (*chakra_of_ranks)(const std::string& file) = nullptr;
  Result<OperationTimeline> (*operations)(const std::string& file, Incomplete incomplete) = nullptr;
  Result<GraphFile> (*graph)(const std::string& file) = nullptr;
  // For `orrery trace info`, of what is no recording.
  Result<TraceContents> (*contents)(const std::string& file, Incomplete incomplete) = nullptr;
};

// All formats, in the order in which they are listed for people.
std::span<const TraceFormat* const> trace_formats();
// Of files that no format recognises.
extern const TraceFormat kUnknownFormat;

// The plurals of the formats for which `has` holds: "traces of the PyTorch profiler and graphs".
std::string formats_in_words(const std::function<bool(const TraceFormat&)>& has);

// Of the first bytes of a file, unpacked; 64 KiB are enough, fewer may leave it unknown. Never
// null.
const TraceFormat* format_of(std::string_view beginning);

// Of a file, or "-", standard input, which can be read afterwards; each may be gzip. Errors: it
// cannot be read.
Result<const TraceFormat*> format_of_file(const std::string& file);

// For told_at: where the first of these words, quoted, stands as a key (before a colon) in a text
// that begins as a JSON object; npos if none does or it begins otherwise.
std::size_t first_key(std::string_view beginning, std::initializer_list<std::string_view> keys);
// For told_at: whether a text begins as a JSON list.
bool is_list(std::string_view beginning);

// What bytes that are no text of any format are instead, with what to do about it; empty messages
// where nothing is known.
struct ForeignBytes {
  std::string_view message;  // "this is UTF-16"
  std::string_view hint;     // "save it as UTF-8"
};
ForeignBytes foreign_bytes(std::string_view beginning);

}  // namespace orrery
