#include "report/traces/recorded_style.h"

#include "units/quantity_text.h"

namespace orrery {

std::array<RecordedPart, kRecordedParts> parts_of(const TemporalBreakdown& b) {
  return {{
      {"compute", "computing", Category::attention_projection, b.compute_ns},
      {"exposed_communication", "exposed communication", Category::exposed_tp,
       b.exposed_communication_ns},
      {"exposed_copy", "exposed copies", Category::embedding, b.exposed_copy_ns},
      {"idle_host_wait", "idle: waits for the host", Category::host, b.idle.own_host_wait_ns()},
      {"idle_other_process", "idle: another process has the device", Category::contention,
       b.idle.other_process_ns},
      {"idle_kernel_wait", "idle: between kernels", Category::normalization, b.idle.kernel_wait_ns},
      {"idle_other", "idle: other", Category::bubble, b.idle.other_ns},
  }};
}

std::string time_text(std::int64_t ns) { return to_text(Seconds(seconds(ns))); }
double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string short_name(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    // "(anonymous namespace)::" is no list of arguments.
    static constexpr std::string_view kAnonymous = "(anonymous namespace)::";
    if (depth == 0 && name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    if (depth == 0 && c == '(' && i > 0 && name[i - 1] != ' ') break;
    if (c == '<') ++depth;
    if (depth == 0) out += c;
    if (c == '>' && depth > 0) --depth;
  }
  return printable(out.empty() ? name : std::string_view(out));
}

std::string path_name(const RecordedTrace& trace, const PathRow& row) {
  const bool of_host = row.bound == CriticalPath::Bound::host ||
                       row.bound == CriticalPath::Bound::data_loading ||
                       row.bound == CriticalPath::Bound::launch_delay;
  return of_host ? printable(trace.texts[row.name]) : short_name(trace.texts[row.name]);
}

}  // namespace orrery
