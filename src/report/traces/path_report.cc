#include "report/traces/path_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "lower/step_category.h"
#include "report/drawing/figures.h"
#include "report/drawing/html_parts.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/table.h"
#include "report/drawing/time_chart_svg.h"
#include "report/traces/recorded_style.h"

namespace orrery {
namespace {

constexpr Ink kBold = {.bold = true};
constexpr Ink kDim = {.dim = true};
constexpr std::size_t kMostBins = 400;  // of a chart over time
constexpr std::size_t kMostBands = 24;
constexpr int kLongestName = 56;
constexpr std::array<Category, kPathBounds> kColours = {
    Category::host,       Category::router,    Category::attention_projection,
    Category::exposed_tp, Category::embedding, Category::normalization,
    Category::bubble,     Category::optimizer, Category::exposed_dp};

Category colour_of(PathBound bound) { return kColours[static_cast<std::size_t>(bound)]; }

std::string label_of(PathBound bound) {
  std::string label(to_text(bound));
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

// Arguments of kernels are cut, names of the host's events are not.
std::string shown_name(std::string_view text, PathBound bound) {
  const bool of_host = bound == PathBound::host || bound == PathBound::data_loading;
  return of_host ? printable(text) : short_name(text);
}

// Rows whose names are shown alike (kernels that differ in template arguments) are one row.
std::vector<PathShare> shown_names(const StepPath& path) {
  std::vector<PathShare> rows;
  std::map<std::tuple<std::string, PathBound, std::int64_t>, std::size_t> place;
  for (const PathShare& one : path.names) {
    std::string shown = shown_name(one.name, one.bound);
    const auto [at, added] = place.try_emplace({shown, one.bound, one.rank}, rows.size());
    if (added) {
      rows.push_back(one);
      rows.back().name = std::move(shown);
      continue;
    }
    rows[at->second].count += one.count;
    rows[at->second].total_ns += one.total_ns;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const PathShare& a, const PathShare& b) { return a.total_ns > b.total_ns; });
  return rows;
}

bool has_other_ranks(const StepPath& path) {
  return std::any_of(path.ranks.begin(), path.ranks.end(),
                     [&](const RankShare& r) { return r.rank != path.rank; });
}

std::int64_t on_others(const StepPath& path) {
  return std::accumulate(path.on_others_ns.begin(), path.on_others_ns.end(), std::int64_t{0});
}

// "waited for stream 7": why stretch `i` began when the one before ended.
std::string why(const StepPath& path, std::size_t i) {
  const PathStretch& stretch = path.stretches[i];
  if (i == 0) return "the step begins";
  const PathStretch& before = path.stretches[i - 1];
  switch (stretch.cause) {
    case StretchCause::window:
      return "the step begins";
    case StretchCause::launch:
      return "launched by " + before.on;
    case StretchCause::other_stream:
    case StretchCause::device:
    case StretchCause::other_thread:
      return "waited for " + before.on;
    case StretchCause::rank:
      return fmt::format("waited for rank {}", before.rank);
    case StretchCause::room:
      return "made room by " + before.on;
  }
  return "";
}

// Of a path of one operation there is nothing more to tell.
std::string only_operation(const StepPath& path) {
  const PathStretch& only = path.stretches.front();
  return fmt::format("One operation alone, {} on {}, bound by: {}.",
                     shown_name(only.longest, only.bound), only.on, label_of(only.bound));
}

std::string summary(const StepPath& path) {
  if (path.operations == 1) return only_operation(path);
  const auto stretches = static_cast<std::int64_t>(path.stretches.size());
  std::string out = fmt::format(
      "{} operations one after the other, in {} stretch{} of one thread or stream each.",
      grouped(path.operations), grouped(stretches), stretches == 1 ? "" : "es");
  if (has_other_ranks(path)) {
    out += fmt::format(" {} of the time passes on other ranks:",
                       percent(share(on_others(path), path.length_ns)));
    std::size_t shown = 0;
    for (const RankShare& rank : path.ranks) {
      if (rank.rank == path.rank || shown == 4) continue;
      out += fmt::format("{} rank {} {}", shown == 0 ? "" : ",", rank.rank,
                         percent(share(rank.total_ns, path.length_ns)));
      ++shown;
    }
    out += path.ranks.size() > shown + 1 ? ", and more." : ".";
  }
  return out;
}

std::string times(const StepPath& path) {
  if (!path.recorded_ns) {
    return fmt::format("rank {}: {} simulated of {}", path.rank, time_text(path.length_ns),
                       printable(path.of));
  }
  return fmt::format("rank {}: {} replayed, {} recorded of {}", path.rank,
                     time_text(path.length_ns), time_text(*path.recorded_ns), printable(path.of));
}

std::string and_more(std::size_t all, std::size_t shown, std::string_view what) {
  return all > shown ? fmt::format("  and {} more {}; --rows shows more, --json all\n",
                                   grouped(static_cast<std::int64_t>(all - shown)), what)
                     : "";
}

std::string bounds_text(const StepPath& path, const TextStyle& style) {
  const bool others = has_other_ranks(path);
  std::vector<Column> columns = {left("bound by", 9), right("time", 9), right("share", 8)};
  if (others) columns.push_back(right("of it on other ranks", 7));
  Table table(std::move(columns));
  for (std::size_t b = 0; b < kPathBounds; ++b) {
    const std::int64_t ns = path.by_bound_ns[b];
    if (ns == 0) continue;
    std::vector<Cell> cells = {{.text = label_of(static_cast<PathBound>(b)), .ink = kBold},
                               {.text = time_text(ns)},
                               {.text = percent(share(ns, path.length_ns))}};
    if (others) {
      cells.push_back({.text = path.on_others_ns[b] == 0 ? "" : time_text(path.on_others_ns[b])});
    }
    table.add_row(std::move(cells));
  }
  return table.text(style);
}

std::string stretches_text(const StepPath& path, std::size_t rows, const TextStyle& style) {
  if (path.stretches.size() < 2) return "";
  const bool others = has_other_ranks(path);
  std::vector<Column> columns = {right("at", 9)};
  if (others) columns.push_back(right("rank", 8));
  for (Column& column : std::vector<Column>{
           left("on", 8), right("for", 9),
           Column{.title = "because", .importance = 7, .shortest = 24}, left("mostly", 6)}) {
    columns.push_back(std::move(column));
  }
  Table table(std::move(columns));
  for (const std::size_t i : longest_stretches(path, rows)) {
    const PathStretch& stretch = path.stretches[i];
    std::vector<Cell> cells = {{.text = time_text(stretch.begin_ns), .ink = kDim}};
    if (others) cells.push_back({.text = std::to_string(stretch.rank)});
    cells.push_back({.text = stretch.on, .ink = kBold});
    cells.push_back({.text = time_text(stretch.end_ns - stretch.begin_ns)});
    cells.push_back({.text = why(path, i)});
    cells.push_back({.text = shown_name(stretch.longest, stretch.bound), .ink = kDim});
    table.add_row(std::move(cells));
  }
  return table.text(style) + and_more(path.stretches.size(), rows, "shorter stretches") + "\n";
}

std::string names_text(const StepPath& path, std::size_t rows, const TextStyle& style) {
  const bool others = has_other_ranks(path);
  std::vector<Column> columns = {left("on the path", 9), left("bound by", 6)};
  if (others) columns.push_back(right("rank", 7));
  for (Column& column :
       std::vector<Column>{right("count", 6), right("time", 9), right("share", 8)}) {
    columns.push_back(std::move(column));
  }
  Table table(std::move(columns));
  const std::vector<PathShare> all = shown_names(path);
  for (std::size_t i = 0; i < std::min(rows, all.size()); ++i) {
    const PathShare& row = all[i];
    std::vector<Cell> cells = {{.text = row.name}, {.text = label_of(row.bound), .ink = kDim}};
    if (others) cells.push_back({.text = std::to_string(row.rank)});
    cells.push_back({.text = grouped(row.count)});
    cells.push_back({.text = time_text(row.total_ns)});
    cells.push_back({.text = percent(share(row.total_ns, path.length_ns))});
    table.add_row(std::move(cells));
  }
  return table.text(style) + and_more(all.size(), rows, "names");
}

std::string bounds_svg(const StepPath& path) {
  std::vector<ChartSegment> segments;
  for (std::size_t b = 0; b < kPathBounds; ++b) {
    const std::int64_t ns = path.by_bound_ns[b];
    if (ns == 0) continue;
    const std::string label = label_of(static_cast<PathBound>(b));
    segments.push_back({.css_class = std::string(to_text(kColours[b])),
                        .value = seconds(ns),
                        .label = label,
                        .tip = fmt::format("{}: {}, {}", label, time_text(ns),
                                           percent(share(ns, path.length_ns)))});
  }
  return stacked_bar_svg(segments);
}

// Where the path is over time: a band for every thread and stream it touches, those with most of
// it.
std::string places_svg(const StepPath& path) {
  using Place = std::pair<std::int64_t, std::string>;
  std::map<Place, std::int64_t> total;
  for (const PathStretch& s : path.stretches) total[{s.rank, s.on}] += s.end_ns - s.begin_ns;
  std::vector<std::pair<Place, std::int64_t>> places(total.begin(), total.end());
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (places.size() > kMostBands) places.resize(kMostBands);
  std::sort(places.begin(), places.end());
  std::map<Place, std::size_t> band_of;
  BandChart chart = {.name = "the critical path over threads and streams",
                     .css_classes = {},
                     .bands = {},
                     .seconds = seconds(path.length_ns)};
  for (const Category colour : kColours) chart.css_classes.emplace_back(to_text(colour));
  for (const auto& [place, ns] : places) {
    band_of[place] = chart.bands.size();
    // Short enough for the margin: "0: 7" of stream 7.
    const bool numbered =
        place.second.starts_with("stream ") || place.second.starts_with("thread ");
    const std::string brief =
        numbered ? place.second.substr(place.second.find(' ') + 1) : place.second;
    chart.bands.push_back({.label = fmt::format("{}: {}", place.first, brief),
                           .tip = fmt::format("rank {}, {}: {} of the path", place.first,
                                              place.second, time_text(ns)),
                           .shares = std::vector<std::vector<double>>(
                               kPathBounds, std::vector<double>(kMostBins, 0.0))});
  }
  const double bin = static_cast<double>(path.length_ns) / static_cast<double>(kMostBins);
  for (const PathStretch& s : path.stretches) {
    const auto band = band_of.find({s.rank, s.on});
    if (band == band_of.end()) continue;
    auto& shares = chart.bands[band->second].shares[static_cast<std::size_t>(s.bound)];
    const double begin = static_cast<double>(s.begin_ns) / bin;
    const double end = static_cast<double>(s.end_ns) / bin;
    for (auto i = static_cast<std::size_t>(begin); i < kMostBins; ++i) {
      const double from = std::max(begin, static_cast<double>(i));
      const double to = std::min(end, static_cast<double>(i + 1));
      if (to <= from) break;
      shares[i] = std::min(1.0, shares[i] + to - from);
    }
  }
  return band_chart_svg(chart);
}

}  // namespace

std::vector<std::size_t> longest_stretches(const StepPath& path, std::size_t most) {
  std::vector<std::size_t> order(path.stretches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= most) return order;
  const auto length = [&](std::size_t i) {
    return path.stretches[i].end_ns - path.stretches[i].begin_ns;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
  order.resize(most);
  std::sort(order.begin(), order.end());
  return order;
}

std::string step_path_text(const StepPath& path, std::size_t rows, const TextStyle& style) {
  if (path.operations == 0) return "";
  std::string first =
      heading("Critical path", times(path), style) + wrapped(summary(path), 2, style);
  if (path.operations == 1) return first;
  return first + bounds_text(path, style) + "\n" + stretches_text(path, rows, style) +
         names_text(path, rows, style);
}

std::string step_path_html(const StepPath& path, std::size_t rows) {
  if (path.operations == 0) return "";
  if (path.operations == 1) {
    return html_section("Critical path", times(path) + ". " + summary(path), bounds_svg(path));
  }
  std::vector<HtmlRow> stretches;
  for (const std::size_t i : longest_stretches(path, rows)) {
    const PathStretch& s = path.stretches[i];
    const std::string full = shown_name(s.longest, s.bound);
    stretches.push_back({.cells = {time_text(s.begin_ns), std::to_string(s.rank), s.on,
                                   time_text(s.end_ns - s.begin_ns), why(path, i),
                                   shortened(full, kLongestName), grouped(s.operations)},
                         .css_class = {},
                         .tips = {"", "", "", "", "", full}});
  }
  std::vector<HtmlRow> names;
  const std::vector<PathShare> all = shown_names(path);
  for (std::size_t i = 0; i < std::min(rows, all.size()); ++i) {
    const PathShare& row = all[i];
    names.push_back(
        {.cells = {shortened(row.name, kLongestName + 12), label_of(row.bound),
                   std::to_string(row.rank),
                   fmt::format("{:.1f} {}", 100 * share(row.total_ns, all.front().total_ns),
                               to_text(colour_of(row.bound))),
                   time_text(row.total_ns), percent(share(row.total_ns, path.length_ns)),
                   grouped(row.count)},
         .css_class = {},
         .tips = {row.name}});
  }
  return html_section(
      "Critical path", times(path) + ". " + summary(path),
      bounds_svg(path) +
          "<h3>Where it is over time: rank, and number of the stream or thread</h3>" +
          places_svg(path) + "<h3>Its longest stretches, in order</h3>" +
          html_table({{"at", true},
                      {"rank", true},
                      {"on"},
                      {"for", true},
                      {"because"},
                      {"mostly"},
                      {"operations", true}},
                     stretches) +
          "<h3>By name</h3>" +
          html_table({{"on the path"},
                      {"bound by"},
                      {"rank", true},
                      {"", false, true},
                      {"time", true},
                      {"share", true},
                      {"count", true}},
                     names));
}

}  // namespace orrery
