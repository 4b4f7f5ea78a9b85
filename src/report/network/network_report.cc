#include "report/network/network_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "document/results.h"
#include "outcome/enum_names.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"

namespace orrery {
namespace {

// As libraries of communication write their names: "all-reduce".
std::string words_of(auto name) { return spaced(to_text(name), '-'); }

std::string wiring_of(const LevelFigures& level) {
  if (level.wiring != LevelWiring::switched) return std::string(to_text(level.wiring));
  return level.rails ? "rails" : "switched";
}

// How far flows are from the closed form; empty where they agree.
std::string disagreement(const AlgorithmTimes& a) {
  if (!a.closed_form || std::abs(a.flows / *a.closed_form - 1) <= kAgree) return "";
  return fmt::format(
      "{}: flows take {:.2f} times the closed form; the links of level {} are busy "
      "{} of the time",
      words_of(a.algorithm), a.flows / *a.closed_form, a.busiest, percent(a.busiest_share));
}

// Whole units or sites are not always two equal halves.
std::string bisection_of(const NetworkFigures& n) {
  const std::int64_t fewer = n.bisection_accelerators;
  const std::int64_t others = n.accelerators - fewer;
  const std::string rate = to_text(n.bisection);
  if (fewer == 0 || fewer == others) {
    return fmt::format("half of the accelerators send {} to the other half", rate);
  }
  return fmt::format("{} of the accelerators send {} to the other {}", grouped(fewer), rate,
                     grouped(others));
}

}  // namespace

std::string network_text(const NetworkFigures& n, const TextStyle& style) {
  std::string out = paragraph(
      style,
      "{}: {} accelerators, {} switches, {} links; {} ({} of what their ports send); the "
      "longest path has {} links and takes {}",
      n.cluster, grouped(n.accelerators), grouped(n.switches), grouped(n.links), bisection_of(n),
      percent(n.bisection_share), n.diameter, to_text(n.longest_latency));
  Table table(left("site", 9).telling_rows_apart().shown_if(!n.levels.front().site.empty()),
              left("level", 9).telling_rows_apart(), left("wiring", 4), right("unit", 9),
              right("units", 8), right("switches", 8), right("links", 7), right("a link", 6),
              right("unit below", 8), right("oversubscribed", 9), right("latency", 6));
  for (const LevelFigures& l : n.levels) {
    table.row(l.site, l.name, wiring_of(l), l.unit, l.units, l.switches, l.links, l.link, l.uplinks,
              fmt::format("1:{:g}", std::round(1000 * l.oversubscription) / 1000), l.latency);
  }
  return out + "\n" + table.text(style);
}

std::string collective_text(const CollectiveComparison& c, const TextStyle& style) {
  std::string out = paragraph(style, "{} of {} among {} ranks of {}: the library takes {} ({}, {})",
                              words_of(c.kind), to_text(c.payload), grouped(c.ranks), c.cluster,
                              to_text(c.library.time), words_of(c.library_algorithm),
                              words_of(c.library.protocol));
  Table table(left("algorithm", 9).telling_rows_apart(), right("closed form", 7), right("flows", 9),
              right("hashed", 6), right("planned", 5), right("bus bandwidth", 8),
              left("busiest level", 4), right("busy", 3));
  for (const AlgorithmTimes& a : c.algorithms) {
    table.row(words_of(a.algorithm), a.closed_form ? cell(*a.closed_form) : dim("none"),
              bold(a.flows), a.hashed, a.planned, c.payload * c.bus_factor / a.flows, a.busiest,
              percent(a.busiest_share));
  }
  out += "\n" + table.text(style);
  for (const AlgorithmTimes& a : c.algorithms) {
    if (const std::string said = disagreement(a); !said.empty())
      out += "\n" + paragraph(style, said);
  }
  if (c.kind == CollectiveKind::all_to_all && c.ranks > kMostExchangeRanks) {
    out += "\n" +
           wrapped(fmt::format("direct, pairwise and pxn have no row: with a flow for each pair of "
                               "ranks they are simulated up to {} ranks (--ranks {})",
                               kMostExchangeRanks, kMostExchangeRanks),
                   2, style);
  }
  return out;
}

std::string shared_fabric_text(const SharedFabric& s, const TextStyle& style) {
  Table table(left("job", 9).telling_rows_apart(), left("model", 4), right("accelerators", 5),
              right("from", 3), right("step alone", 6), right("step beside the others", 7),
              right("slow-down", 9));
  for (const SharedJob& j : s.jobs) {
    table.row(j.placement.name, j.model, j.placement.accelerators, j.placement.first, j.alone,
              j.shared, bold(fmt::format("{:.2f}", j.slow_down())));
  }
  std::string out = paragraph(style, "{} on {}", counted(std::ssize(s.jobs), "job"), s.fabric);
  out += "\n" + table.text(style);
  constexpr double kNoticed = 1.005;
  bool first = true;
  for (const JobPair& p : s.pairs) {
    if (std::max(p.slow_a, p.slow_b) < kNoticed) continue;
    out += (first ? "\n" : "") +
           paragraph(style, "{} and {} slow each other {:.2f} and {:.2f} times on level {}{}", p.a,
                     p.b, p.slow_a, p.slow_b, p.level, first ? ": keep them apart first" : "");
    first = false;
  }
  if (first && s.pairs.size() > 0) out += "\n" + paragraph(style, "no two of them slow each other");
  for (const SharedJob& j : s.jobs) {
    if (j.assumed.empty()) continue;
    out += heading("Assumed of " + j.placement.name, "defaults that were filled in", style) +
           paragraph(style, joined(j.assumed, " · "));
  }
  return out;
}

template <>
inline constexpr auto kResults<LevelFigures> = table<LevelFigures>(
    "network level", "A level of a network, from the inside out.",
    optional_field("site", "whose accelerators see the level, where sites differ",
                   [](auto& l) { return l.site.empty() ? std::nullopt : std::optional(l.site); }),
    field<&LevelFigures::name>("level", "its name"),
    field<&LevelFigures::wiring>("how the units below are joined"),
    field<&LevelFigures::rails>("its switches join accelerators of equal place alone"),
    field<&LevelFigures::unit>("unit_accelerators", "below one unit of the level"),
    field<&LevelFigures::units>("of the level"), field<&LevelFigures::switches>("of all units"),
    field<&LevelFigures::links>("in one direction"),
    field<&LevelFigures::link>("link_bytes_per_s", "of the narrowest link"),
    field<&LevelFigures::uplinks>("unit_below_bytes_per_s", "that one unit below sends over it"),
    field<&LevelFigures::oversubscription>("1: full bisection"),
    field<&LevelFigures::latency>("latency_s", "of a message between two units below"));

template <>
inline constexpr auto kResults<NetworkFigures> = table<NetworkFigures>(
    "network", "The network of a cluster as a graph.", schema_version<1>(),
    constant("kind", "what the document is", "network"),
    field<&NetworkFigures::cluster>("its name"),
    field<&NetworkFigures::accelerators>("vertices that compute"),
    field<&NetworkFigures::switches>("all other vertices"),
    field<&NetworkFigures::links>("in one direction"),
    field<&NetworkFigures::bisection>("bisection_bytes_per_s",
                                      "from one half of the accelerators, as near as whole units "
                                      "or sites come to it, to the others"),
    field<&NetworkFigures::bisection_share>("of what the ports of one half send"),
    field<&NetworkFigures::diameter>("links of the longest shortest path"),
    field<&NetworkFigures::longest_latency>("longest_latency_s", "of a message over it"),
    field<&NetworkFigures::levels>("from the inside out"));

template <>
inline constexpr auto kResults<AlgorithmTimes> = table<AlgorithmTimes>(
    "algorithm times", "One algorithm at every fidelity.",
    field<&AlgorithmTimes::algorithm>("its name"),
    field<&AlgorithmTimes::closed_form>("closed_form_s", "null: the cost model does not have it"),
    field<&AlgorithmTimes::flows>("flows_s", "flows spread over all paths"),
    field<&AlgorithmTimes::hashed>("hashed_s", "one path a flow, by a hash (ECMP)"),
    field<&AlgorithmTimes::planned>("planned_s", "one path a flow, planned"),
    field<&AlgorithmTimes::busiest>("busiest_level", "whose link has most to carry"),
    field<&AlgorithmTimes::busiest_share>("of the time in which that link is busy"),
    field("agree", "the closed form and the flows are within 10 %; true where there is none",
          [](auto& a) { return disagreement(a).empty(); }));

template <>
inline constexpr auto kResults<CollectiveComparison> = table<CollectiveComparison>(
    "collective", "A collective by every algorithm that offers it.", schema_version<1>(),
    constant("kind", "what the document is", "collective"),
    field<&CollectiveComparison::cluster>("its name"),
    field<&CollectiveComparison::kind>("collective", "that is compared"),
    field<&CollectiveComparison::ranks>("the first of the cluster"),
    field<&CollectiveComparison::payload>("payload_bytes", "as nccl-tests count it"),
    field<&CollectiveComparison::bus_factor>("bus bandwidth = factor x payload / time"),
    field("library_s", "what the communication library takes, by the cost model",
          [](auto& c) { return c.library.time; }),
    field<&CollectiveComparison::library_algorithm>(
        "that it chooses; of an all-to-all, how its messages travel: direct or pxn"),
    field("library_protocol", "that it chooses", [](auto& c) { return c.library.protocol; }),
    field<&CollectiveComparison::algorithms>("the fastest by flows first"));

template <>
inline constexpr auto kResults<SharedJob> = table<SharedJob>(
    "shared job", "A job beside others.",
    field("name", "of the job", [](auto& j) { return j.placement.name; }),
    field<&SharedJob::model>("that it trains"),
    field("accelerators", "that it has", [](auto& j) { return j.placement.accelerators; }),
    field("first", "its first accelerator", [](auto& j) { return j.placement.first; }),
    field("every", "it has every n-th node", [](auto& j) { return j.placement.every; }),
    field<&SharedJob::closed>("closed_form_s", "a step by closed forms, on its part of the fabric"),
    field<&SharedJob::alone>("alone_s", "a step by flows, alone on the fabric"),
    field<&SharedJob::shared>("shared_s", "a step beside all others, on average"),
    field("slow_down", "shared_s / alone_s", [](auto& j) { return j.slow_down(); }),
    field<&SharedJob::assumed>("sentences about its step; empty: its plan was stated"));

template <>
inline constexpr auto kResults<JobPair> =
    table<JobPair>("pair of jobs", "Two jobs beside each other and no other.",
                   field<&JobPair::a>("one"), field<&JobPair::b>("the other"),
                   field<&JobPair::slow_a>("slow_down_a", "of the one beside the other"),
                   field<&JobPair::slow_b>("slow_down_b", "of the other beside the one"),
                   field<&JobPair::level>("whose links they share most; empty: none"));

template <>
inline constexpr auto kResults<SharedFabric> = table<SharedFabric>(
    "shared fabric", "Several jobs on one fabric.", schema_version<1>(),
    constant("kind", "what the document is", "cluster"), field<&SharedFabric::fabric>("its name"),
    field<&SharedFabric::jobs>("in the order of the file"),
    field<&SharedFabric::pairs>("those that slow each other most first"));

Value network_json(const NetworkFigures& network) { return answer(network); }
const Description& network_document() { return description_of<NetworkFigures>(); }
Value collective_json(const CollectiveComparison& comparison) { return answer(comparison); }
const Description& collective_document() { return description_of<CollectiveComparison>(); }

Value shared_fabric_json(const SharedFabric& shared) { return answer(shared); }
const Description& shared_fabric_document() { return description_of<SharedFabric>(); }

namespace {

struct SizeStyle {
  std::string_view words;
  Ink ink;
};
const SizeStyle& style_of(SizeVerdict verdict) {
  static constexpr auto kStyles =
      std::to_array<SizeStyle>({{"as expected", {}},
                                {"slow", {.colour = 203, .bold = true}},
                                {"faster", {.colour = 71}},
                                {"wrong values", {.colour = 203, .bold = true}}});
  static_assert(kStyles.size() == enumerators<SizeVerdict>());
  return kStyles[static_cast<std::size_t>(verdict)];
}

BytesPerSecond bus_bandwidth(const CollectiveCheck& c, const CheckedSize& s, Seconds time) {
  return s.measured.payload * c.bus_factor / time;
}

std::int64_t count_of(const CollectiveCheck& c, SizeVerdict verdict) {
  return std::ranges::count(c.sizes, verdict, &CheckedSize::verdict);
}

std::string answer_of(const CollectiveCheck& c) {
  const std::int64_t wrong = count_of(c, SizeVerdict::wrong_values);
  const std::int64_t slow = count_of(c, SizeVerdict::slow);
  const auto of_all = [&](std::int64_t n) {
    return fmt::format("{} of {}", grouped(n), counted(std::ssize(c.sizes), "size"));
  };
  std::string out = fmt::format("{} of {} ranks on {}: ", words_of(c.kind), grouped(c.ranks),
                                counted(c.nodes, "node"));
  if (wrong > 0) out += "wrong values in " + of_all(wrong) + "; ";
  if (slow > 0) return out + of_all(slow) + " slower than on a healthy system";
  if (2 * count_of(c, SizeVerdict::fast) > std::ssize(c.sizes)) {
    return out + "most sizes are faster than the cluster can be; did the test run on another one?";
  }
  return out + (wrong > 0 ? "no size is slow" : "as it should be");
}

Table size_table(const CollectiveCheck& c) {
  Table table(right("size", 9), right("measured", 8), right("expected", 8), left("", 1),
              right("off", 7), right("bus bandwidth", 5), right("expected", 5), left("", 9));
  for (const CheckedSize& s : c.sizes) {
    const SizeStyle verdict = style_of(s.verdict);
    table.row(to_text(s.measured.payload), cell(to_text(s.measured.time), verdict.ink), s.expected,
              dim(fmt::format("{} to {}", to_text(s.low), to_text(s.high))),
              cell(signed_percent(s.ratio() - 1), verdict.ink),
              bus_bandwidth(c, s, s.measured.time), bus_bandwidth(c, s, s.expected),
              cell(verdict.words, verdict.ink));
  }
  return table;
}

}  // namespace

std::string collectives_text(const CheckedCollectives& checked, const TextStyle& style) {
  std::string out;
  for (const CollectiveCheck& c : checked.tests) {
    if (!out.empty()) out += "\n";
    out += paragraph(style, answer_of(c)) + "\n" + size_table(c).text(style);
    if (c.causes.empty()) continue;
    out += heading("What would explain it", "one thing wrong, the best explanation first", style);
    for (const LikelyCause& cause : c.causes) {
      out += paragraph(style, "{} (leaves {} of the error unexplained); look at {}", cause.what,
                       percent(cause.error / c.error), cause.look);
    }
  }
  return out;
}

template <>
inline constexpr auto kResults<CheckedSize> = table<CheckedSize>(
    "checked size", "A payload of a measured collective beside what is expected.",
    field("line", "of the file",
          [](auto& s) { return static_cast<std::int64_t>(s.measured.line); }),
    field("payload_bytes", "as nccl-tests print it", [](auto& s) { return s.measured.payload; }),
    field("measured_s", "out of place", [](auto& s) { return s.measured.time; }),
    field("in_place_s", "the same in place; null: not measured",
          [](auto& s) { return s.measured.in_place; }),
    field("wrong_values", "elements with wrong values", [](auto& s) { return s.measured.wrong; }),
    field<&CheckedSize::expected>("expected_s", "by the model"),
    field<&CheckedSize::low>("low_s", "healthy systems take less in one of twenty sizes"),
    field<&CheckedSize::high>("high_s", "healthy systems take more in one of twenty sizes"),
    field<&CheckedSize::algorithm>("that the library is expected to choose"),
    field<&CheckedSize::protocol>("the same"),
    field<&CheckedSize::verdict>("against the interval"));

template <>
inline constexpr auto kResults<LikelyCause> = table<LikelyCause>(
    "likely cause", "One thing that may be wrong with the system.",
    field<&LikelyCause::what>("a sentence"), field<&LikelyCause::look>("where to look"),
    field<&LikelyCause::error>("median |ln(measured / expected)| if it is so"));

template <>
inline constexpr auto kResults<CollectiveCheck> = table<CollectiveCheck>(
    "collective check", "A measured collective beside what is expected.",
    field<&CollectiveCheck::kind>("collective", "that was measured"),
    field<&CollectiveCheck::ranks>("that took part"), field<&CollectiveCheck::nodes>("hosts"),
    field<&CollectiveCheck::bus_factor>("bus bandwidth = factor x payload / time"),
    field("sick", "a size is slow or has wrong values", [](auto& c) { return c.sick(); }),
    field<&CollectiveCheck::error>("median |ln(measured / expected)|"),
    field<&CollectiveCheck::sizes>("in the order of the file"),
    field<&CollectiveCheck::causes>("the most likely first"));

template <>
inline constexpr auto kResults<CheckedCollectives> = table<CheckedCollectives>(
    "collectives", "Measured collectives of a cluster beside what is expected.",
    schema_version<1>(), constant("kind", "what the document is", "check"),
    field<&CheckedCollectives::cluster>("that they are compared with"),
    field<&CheckedCollectives::tests>("in the order of the file"));

Value collectives_json(const CheckedCollectives& checked) { return answer(checked); }
const Description& collectives_document() { return description_of<CheckedCollectives>(); }

}  // namespace orrery
