#include "report/traces/recording_remarks.h"

#include <fmt/format.h>

#include "report/drawing/figures.h"

namespace orrery {
namespace {

// What is counted of all ranks, and where it is.
struct Counted {
  std::int64_t sum = 0;
  std::string where;  // " of rank 3", " of 2 ranks"; empty of a run of one
};

template <class Of>
Counted count_of(std::span<const RecordedTrace> ranks, const Of& of) {
  Counted out;
  std::int64_t with_any = 0;
  std::int64_t last = 0;
  for (const RecordedTrace& trace : ranks) {
    const std::int64_t n = of(trace);
    if (n == 0) continue;
    out.sum += n;
    ++with_any;
    last = trace.rank;
  }
  if (ranks.size() > 1 && with_any == 1) out.where = fmt::format(" of rank {}", last);
  if (with_any > 1) out.where = fmt::format(" of {} ranks", with_any);
  return out;
}

std::string copies(const Counted& kernels, const Counted& all) {
  const std::int64_t others = all.sum - kernels.sum;
  std::string of;
  if (kernels.sum > 0) of = "of kernels";
  if (kernels.sum > 0 && others > 0) of = fmt::format("({} of kernels) of", grouped(kernels.sum));
  if (of.empty() || others > 0) of += std::string(of.empty() ? "of" : "") + " events";
  return fmt::format("{}{}{} {} left out: what stands more than once in a file counts once.",
                     all.sum == 1 ? "1 copy " : grouped(all.sum) + " copies ", of, all.where,
                     all.sum == 1 ? "was" : "were");
}

}  // namespace

std::vector<std::string> recording_remarks(std::span<const RecordedTrace> ranks) {
  std::vector<std::string> out;
  const Counted timeless =
      count_of(ranks, [](const RecordedTrace& t) { return t.left_out - t.unpaired; });
  if (timeless.sum > 0) {
    out.push_back(fmt::format("{}{} without usable times {} left out.",
                              counted(timeless.sum, "event"), timeless.where,
                              timeless.sum == 1 ? "was" : "were"));
  }
  const Counted halves = count_of(ranks, [](const RecordedTrace& t) { return t.unpaired; });
  if (halves.sum > 0) {
    out.push_back(fmt::format(
        "{}{} {} left out: a beginning without its end, or an end without its beginning.",
        halves.sum == 1 ? "1 half" : grouped(halves.sum) + " halves", halves.where,
        halves.sum == 1 ? "was" : "were"));
  }
  const Counted repeated = count_of(ranks, [](const RecordedTrace& t) { return t.repeated; });
  const Counted kernels =
      count_of(ranks, [](const RecordedTrace& t) { return t.repeated_kernels; });
  if (repeated.sum > 0) out.push_back(copies(kernels, repeated));
  const Counted overlapping =
      count_of(ranks, [](const RecordedTrace& t) { return t.overlapping_kernels; });
  if (overlapping.sum > 0) {
    out.push_back(fmt::format(
        "{}{} {} another on {} stream by more than 1 us, which a device does only where "
        "dependent kernels launch early: are the times right?",
        counted(overlapping.sum, "kernel"), overlapping.where,
        overlapping.sum == 1 ? "overlaps" : "overlap", overlapping.sum == 1 ? "its" : "their"));
  }
  return out;
}

std::string undefined_groups_sentence(std::span<const std::string> groups) {
  return "Groups that no file defines are taken for all ranks: '" + joined(groups, "', '") + "'";
}

}  // namespace orrery
