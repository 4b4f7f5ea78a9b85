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
#include "report/drawing/html_page.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/table.h"
#include "report/traces/analysis_tables.h"
#include "report/traces/recorded_style.h"

namespace orrery {
namespace {

constexpr std::size_t kMostBins = 400;  // of a chart over time
constexpr std::size_t kMostBands = 24;
constexpr int kLongestStepName = 56;
constexpr std::array<Category, kPathBounds> kColours = {
    Category::host,       Category::router,    Category::attention_projection,
    Category::exposed_tp, Category::embedding, Category::normalization,
    Category::bubble,     Category::optimizer, Category::exposed_dp};

Category colour_of(PathBound bound) { return kColours[static_cast<std::size_t>(bound)]; }

std::string label_of(PathBound bound) { return spaced(to_text(bound)); }

// Arguments of kernels are cut, names of the host's events are not.
std::string shown_name(std::string_view text, PathBound bound) {
  const bool of_host = bound == PathBound::host || bound == PathBound::data_loading;
  return of_host ? printable(text) : short_name(text);
}

std::vector<PathShare> shown_names(const StepPath& path) {
  std::vector<PathShare> rows = path.names;
  for (PathShare& row : rows) row.name = shown_name(row.name, row.bound);
  return rows;
}

// Rows whose names are shown alike (kernels that differ in template arguments) are one row.
std::vector<PathShare> joined_names(const StepPath& path) {
  std::vector<PathShare> rows;
  std::map<std::tuple<std::string, PathBound, std::int64_t>, std::size_t> place;
  for (const PathShare& one : shown_names(path)) {
    const auto [at, added] = place.try_emplace({one.name, one.bound, one.rank}, rows.size());
    if (added) {
      rows.push_back(one);
      continue;
    }
    rows[at->second].count += one.count;
    rows[at->second].total_ns += one.total_ns;
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &PathShare::total_ns);
  return rows;
}

bool has_other_ranks(const StepPath& path) {
  return std::ranges::any_of(path.ranks, [&](const RankShare& r) { return r.rank != path.rank; });
}

std::int64_t on_others(const StepPath& path) {
  return std::accumulate(path.on_others_ns.begin(), path.on_others_ns.end(), std::int64_t{0});
}

// "waited for stream 7": why stretch `i` began when the one before ended.
std::string why(const StepPath& path, std::size_t i) {
  const PathStretch& stretch = path.stretches[i];
  if (i == 0 || stretch.cause == StretchCause::window) return "the step begins";
  const PathStretch& before = path.stretches[i - 1];
  if (stretch.cause == StretchCause::rank) return fmt::format("waited for rank {}", before.rank);
  if (stretch.cause == StretchCause::launch) return "launched by " + before.on;
  return (stretch.cause == StretchCause::room ? "made room by " : "waited for ") + before.on;
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

Table bounds_table(std::span<const std::int64_t> by_bound_ns, std::int64_t length_ns,
                   std::span<const std::int64_t> on_others_ns) {
  Table table(left("bound by", 9), right("time", 9), right("share", 8),
              right("of it on other ranks", 7).shown_if(!on_others_ns.empty()));
  for (std::size_t b = 0; b < by_bound_ns.size(); ++b) {
    const std::int64_t ns = by_bound_ns[b];
    if (ns == 0) continue;
    const std::int64_t others = on_others_ns.empty() ? 0 : on_others_ns[b];
    table.row(bold(label_of(static_cast<PathBound>(b))), time_text(ns),
              percent(share(ns, length_ns)), others == 0 ? "" : time_text(others));
  }
  return table;
}

Table stretch_table(const StepPath& path, std::size_t rows) {
  Table table(right("at", 9), right("rank", 8).only(has_other_ranks(path) ? Form::any : Form::page),
              left("on", 8), right("for", 9), left("because", 7).at_least(24),
              left("mostly", 6).cut_on_page(kLongestStepName),
              right("operations").only(Form::page));
  for (const std::size_t i : longest_stretches(path, rows)) {
    const PathStretch& stretch = path.stretches[i];
    const std::string longest = shown_name(stretch.longest, stretch.bound);
    table.row(dim(time_text(stretch.begin_ns)), std::to_string(stretch.rank), bold(stretch.on),
              time_text(stretch.end_ns - stretch.begin_ns), why(path, i),
              dim(longest).with_tip(longest), stretch.operations);
  }
  return table;
}

// `ranks`: where the column of ranks stands.
Table name_table(std::span<const PathShare> names, std::int64_t length_ns, std::size_t rows,
                 Form ranks) {
  Table table(left("on the path", 9).cut_on_page(kLongestStepName + 12), left("bound by", 6),
              right("rank", 7).only(ranks), right("count", 6), page_bars(), right("time", 9),
              right("share", 8));
  for (const PathShare& row : names.first(std::min(rows, names.size()))) {
    table.row(cell(row.name).with_tip(row.name), dim(label_of(row.bound)), std::to_string(row.rank),
              row.count, page_bar(row.total_ns, names.front().total_ns, colour_of(row.bound)),
              time_text(row.total_ns), percent(share(row.total_ns, length_ns)));
  }
  return table;
}

std::string bounds_svg(std::span<const std::int64_t> by_bound_ns, std::int64_t length_ns) {
  std::vector<ChartSegment> segments;
  for (std::size_t b = 0; b < by_bound_ns.size(); ++b) {
    const std::int64_t ns = by_bound_ns[b];
    if (ns == 0) continue;
    const std::string label = label_of(static_cast<PathBound>(b));
    segments.push_back(
        {.css_class = std::string(to_text(kColours[b])),
         .value = seconds(ns),
         .label = label,
         .tip = fmt::format("{}: {}, {}", label, time_text(ns), percent(share(ns, length_ns)))});
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
  std::ranges::stable_sort(places, std::ranges::greater(), [](const auto& p) { return p.second; });
  if (places.size() > kMostBands) places.resize(kMostBands);
  std::ranges::sort(places);
  std::map<Place, std::size_t> band_of;
  BandChart chart = {.name = "the critical path over threads and streams",
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

std::string length_text(const StepPath& path) {
  return fmt::format("rank {}, {}: {} of {}", path.rank, printable(path.of),
                     time_text(path.length_ns), time_text(path.end_ns - path.start_ns));
}

}  // namespace

std::vector<std::size_t> longest_stretches(const StepPath& path, std::size_t most) {
  std::vector<std::size_t> order = descending(path.stretches.size(), [&](std::size_t i) {
    return path.stretches[i].end_ns - path.stretches[i].begin_ns;
  });
  order.resize(std::min(order.size(), most));
  std::ranges::sort(order);
  return order;
}

std::string step_path_text(const StepPath& path, std::size_t rows, const TextStyle& style) {
  if (path.operations == 0) return "";
  std::string out = heading("Critical path", times(path), style) + paragraph(style, summary(path));
  if (path.operations == 1) return out;
  const bool others = has_other_ranks(path);
  const std::vector<PathShare> names = joined_names(path);
  out += bounds_table(path.by_bound_ns, path.length_ns,
                      others ? std::span<const std::int64_t>(path.on_others_ns)
                             : std::span<const std::int64_t>())
             .text(style) +
         "\n";
  if (path.stretches.size() > 1) {
    out += stretch_table(path, rows).text(style) +
           and_more(path.stretches.size(), rows, "shorter stretches") + "\n";
  }
  return out +
         name_table(names, path.length_ns, rows, others ? Form::any : Form::page).text(style) +
         and_more(names.size(), rows, "names");
}

std::string step_path_html(const StepPath& path, std::size_t rows) {
  if (path.operations == 0) return "";
  const std::string bounds = bounds_svg(path.by_bound_ns, path.length_ns);
  const std::string remark = times(path) + ". " + summary(path);
  if (path.operations == 1) return html_section("Critical path", remark, bounds);
  return html_section(
      "Critical path", remark,
      bounds + "<h3>Where it is over time: rank, and number of the stream or thread</h3>" +
          places_svg(path) + "<h3>Its longest stretches, in order</h3>" +
          stretch_table(path, rows).html() + "<h3>By name</h3>" +
          name_table(joined_names(path), path.length_ns, rows, Form::page).html());
}

std::string event_path_text(const StepPath& path, const std::string& remark, std::size_t rows,
                            const TextStyle& style) {
  if (path.length_ns == 0) return "";
  const std::vector<PathShare> names = shown_names(path);
  return heading("Critical path", length_text(path) + ", pauses of the host apart", style) +
         remark + bounds_table(path.by_bound_ns, path.length_ns, {}).text(style) + "\n" +
         name_table(names, path.length_ns, rows, Form::none).text(style) +
         and_more(names.size(), rows, "names");
}

std::string event_path_html(const StepPath& path, std::size_t rows) {
  if (path.length_ns == 0) return "";
  return html_section("Critical path",
                      fmt::format("{} in {} steps, pauses of the host apart", length_text(path),
                                  grouped(path.operations - 1)),
                      bounds_svg(path.by_bound_ns, path.length_ns) +
                          name_table(shown_names(path), path.length_ns, rows, Form::none).html());
}

}  // namespace orrery
