#include "trace/trace_contents.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "trace/contents_table.h"

namespace orrery {

TraceWork& WorkTable::at(std::string_view kind, std::string_view group) {
  TraceWork& work = rows_[{std::string(kind), std::string(group)}];
  work.kind = kind;
  work.group = group;
  ++work.count;
  return work;
}

void WorkTable::add_bytes(TraceWork& work, std::int64_t bytes) {
  std::int64_t sum = 0;
  const bool over = __builtin_add_overflow(work.bytes.value_or(0), bytes, &sum);
  work.bytes = over ? std::numeric_limits<std::int64_t>::max() : sum;
}

void WorkTable::add_time(TraceWork& work, Seconds time) {
  work.time = work.time.value_or(Seconds(0)) + time;
}

std::vector<TraceWork> WorkTable::rows() const {
  std::vector<TraceWork> out;
  for (const auto& [key, work] : rows_) out.push_back(work);
  // Kind and group are unique, so the order is total.
  const auto size = [](const TraceWork& w) {
    return std::tuple(-w.time.value_or(Seconds(0)).value(), -w.bytes.value_or(0), -w.count,
                      std::string_view(w.kind), std::string_view(w.group));
  };
  std::ranges::sort(out, {}, size);
  return out;
}

std::string shown_name(const std::string& file) { return file == "-" ? "standard input" : file; }

Result<TraceContents> read_contents(const std::string& file, const TraceFormat& format,
                                    Incomplete incomplete) {
  if (format.contents != nullptr) return format.contents(file, incomplete);
  const auto read = [](const TraceFormat& f) {
    return f.recording != nullptr || f.contents != nullptr;
  };
  return unsupported("is " + std::string(format.name), shown_name(file),
                     "orrery trace info reads " + formats_in_words(read));
}

}  // namespace orrery
