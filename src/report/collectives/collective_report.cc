#include "report/collectives/collective_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "document/results.h"
#include "outcome/enum_names.h"
#include "report/drawing/table.h"

namespace orrery {
namespace {

struct VerdictStyle {
  std::string_view words;
  Ink ink;
};
const VerdictStyle& style_of(SizeVerdict verdict) {
  static constexpr auto kStyles =
      std::to_array<VerdictStyle>({{"as expected", {}},
                                   {"slow", {.colour = 203, .bold = true}},
                                   {"faster", {.colour = 71}},
                                   {"wrong values", {.colour = 203, .bold = true}}});
  static_assert(kStyles.size() == enumerators<SizeVerdict>());
  return kStyles[static_cast<std::size_t>(verdict)];
}

BytesPerSecond bus_bandwidth(const CollectiveCheck& c, const CheckedSize& s, Seconds time) {
  return s.measured.payload * c.bus_factor / time;
}

std::string collective_in_words(CollectiveKind kind) {
  std::string out(to_text(kind));
  std::ranges::replace(out, '_', '-');
  return out;
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
  std::string out = fmt::format("{} of {} ranks on {}: ", collective_in_words(c.kind),
                                grouped(c.ranks), counted(c.nodes, "node"));
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
    const VerdictStyle verdict = style_of(s.verdict);
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
    out += wrapped(answer_of(c), 2, style) + "\n" + size_table(c).text(style);
    if (c.causes.empty()) continue;
    out += heading("What would explain it", "one thing wrong, the best explanation first", style);
    for (const LikelyCause& cause : c.causes) {
      out += wrapped(fmt::format("{} (leaves {} of the error unexplained); look at {}", cause.what,
                                 percent(cause.error / c.error), cause.look),
                     2, style);
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
