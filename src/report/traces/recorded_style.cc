#include "report/traces/recorded_style.h"

#include <fmt/format.h>

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
std::string milliseconds(Seconds time) { return fmt::format("{:.3f}", time.value() * 1e3); }

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

Cell page_bar(double share, Category colour) {
  return bar_of({{.share = share, .css_class = to_text(colour)}});
}
Cell page_bar(std::int64_t ns, std::int64_t longest, Category colour) {
  return page_bar(share(ns, longest), colour);
}

BarSegment page_segment(Seconds time, Seconds longest, std::string_view label, Category colour) {
  return {.share = longest > Seconds(0) ? time / longest : 0,
          .css_class = to_text(colour),
          .tip = fmt::format("{}: {}", label, to_text(time))};
}

bool is_unchanged(Seconds change) {
  constexpr Seconds kHalfOfRecorded{5e-10};
  return change > -kHalfOfRecorded && change < kHalfOfRecorded;
}

Ink ink_of_change(Seconds change) {
  if (is_unchanged(change)) return {.dim = true};
  return {.colour = static_cast<std::uint8_t>(change > Seconds(0) ? 168 : 71)};
}

std::string and_more(std::size_t all, std::size_t shown, std::string_view what) {
  return all > shown ? fmt::format("  and {} more {}; --rows shows more, --json all\n",
                                   grouped(static_cast<std::int64_t>(all - shown)), what)
                     : "";
}

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

}  // namespace orrery
