// Any bytes as the names of a recording and of a document: what is written of them (JSON, HTML, SVG,
// Perfetto files, text for a terminal, messages) is UTF-8, is JSON where it says so, and holds
// nothing that steers a terminal.
// seeds: tests/seeds/kineto
// parser: src/outcome/printable.cc src/document/json_quoted.cc src/report/drawing/text_style.cc
//   src/report/drawing/html_page.cc
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/json_fault.h"
#include "document/value.h"
#include "outcome/invariant.h"
#include "outcome/printable.h"
#include "report/drawing/html_page.h"
#include "report/drawing/plot_svg.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "trace/perfetto/chrome_json.h"
#include "trace/perfetto/recorded_json.h"

namespace {

// Lines, and nothing else that is not shown.
void check_shown(std::string_view text) {
  while (!text.empty()) {
    const orrery::Decoded next = orrery::decoded(text);
    ORRERY_INVARIANT(next.valid && (next.point == '\n' || !orrery::is_control(next.point)));
    text.remove_prefix(next.bytes);
  }
}

void check_json(const std::string& text) {
  check_shown(text);
  ORRERY_INVARIANT(!orrery::json_fault(text));
}

// As many tags are closed as are opened, and no name opened one.
void check_markup(const std::string& text, const std::string& of_plain_names) {
  check_shown(text);
  const auto count = [](const std::string& s) { return std::ranges::count(s, '<'); };
  ORRERY_INVARIANT(count(text) == count(of_plain_names));
}

std::string page(const std::string& name) {
  return orrery::html_headline(name, name, name) + orrery::html_tile(name, "1 s", name) +
         orrery::html_section(name, name, "");
}

std::string picture(const std::string& name) {
  const orrery::ChartSegment segment{.css_class = "a", .value = 1, .label = name, .tip = name};
  return orrery::stacked_bar_svg(std::vector{segment}) +
         orrery::plot_svg({.name = name,
                           .x = orrery::linear_axis(name, 0, 2, 4),
                           .y = orrery::linear_axis(name, 0, 2, 4),
                           .points = {{1, 1, name, name}}}) +
         orrery::column_chart_svg({.name = name,
                                   .columns = {{name, {segment}}},
                                   .unit = name,
                                   .limit = 2,
                                   .limit_label = name,
                                   .axis = name});
}

orrery::RecordedTrace recording(const std::string& name) {
  orrery::RecordedTrace trace;
  trace.file = name;
  trace.backend = name;
  trace.lanes.push_back({.process_name = name, .thread_name = name});
  trace.devices.push_back({.name = name});
  trace.groups.push_back({.name = name, .description = name, .size = 1, .ranks = {0}});
  trace.append(orrery::EventKind::cpu_operator, name, 0, 0, 1);
  return trace;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string name(reinterpret_cast<const char*>(data), size);
  const orrery::Error error{orrery::ErrorCode::bad_input, name, name, name};
  check_shown(error.text());
  check_json(orrery::to_json(orrery::Value::map().set(name, orrery::Value::text(name))));
  const auto document = orrery::parse_yaml(name, name);
  if (document) check_json(orrery::to_json(document->root));

  const orrery::RecordedTrace trace = recording(name);
  check_json(orrery::recorded_json(std::span(&trace, 1)));
  const orrery::TimelineSpan span{.stream = name,
                                  .name = name,
                                  .category = name,
                                  .start = orrery::Picoseconds(0),
                                  .end = orrery::Picoseconds(1)};
  check_json(orrery::chrome_json(std::span(&span, 1), name));

  check_markup(page(name), page("a"));
  check_shown(picture(name));

  orrery::Table table(orrery::left(""), orrery::right("n"));
  table.row(name, 1);
  check_shown(table.html());
  check_shown(table.text({}));
  check_shown(orrery::terminal_text(name, {}));
  check_shown(orrery::wrapped(name, 2, {}));
  return 0;
}
