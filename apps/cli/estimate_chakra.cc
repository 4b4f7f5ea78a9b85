#include "estimate_chakra.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "progress.h"
#include "trace/chakra/chakra_file.h"

namespace orrery::cli {
namespace {

// Nodes of all files together; about 100 bytes each on disk.
constexpr double kMostNodes = 1e8;
constexpr std::string_view kPrefix = "step";

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || out < 0) return std::nullopt;
  return out;
}

std::optional<Range> range_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = whole_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : whole_number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return Range{*first, *last};
}

Result<std::vector<Range>> ranges(const std::string& text, std::int64_t ranks) {
  if (text.empty()) return std::vector<Range>{{0, ranks - 1}};
  std::vector<Range> out;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const auto range = range_of(item);
    if (!range) {
      return fail(ErrorCode::bad_input,
                  "'" + std::string(item) + "' is not a rank or range of ranks", "--chakra-ranks",
                  "write 0-7,16");
    }
    if (range->last >= ranks) {
      return fail(
          ErrorCode::bad_input,
          "there is no rank " + std::to_string(range->last) + " among " + std::to_string(ranks),
          "--chakra-ranks", "ranks count from 0");
    }
    out.push_back(*range);
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<std::string> write_step_chakra(StepChakra step, const std::string& folder,
                                      const std::string& ranks, const Common& common) {
  ORRERY_TRY(const std::vector<Range> chosen, ranges(ranks, step.ranks()));
  std::int64_t files = 0;
  for (const Range& r : chosen) files += r.last - r.first + 1;
  const double nodes = static_cast<double>(step.nodes_of_a_rank()) * static_cast<double>(files);
  if (nodes > kMostNodes) {
    return fail(ErrorCode::unsupported,
                std::to_string(files) + " ranks with " + std::to_string(step.nodes_of_a_rank()) +
                    " operations each are more than fit",
                "--chakra", "choose some: --chakra-ranks 0-7");
  }
  const Communicators& groups = step.communicators();
  ORRERY_TRY(const std::string text, communicator_text(groups, step.ranks()));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorCode::io, "cannot be made: " + error.message(), folder);
  Progress progress(!common.quiet);
  std::int64_t done = 0;
  for (const Range& r : chosen) {
    for (std::int64_t rank = r.first; rank <= r.last; ++rank) {
      const std::string file = (std::filesystem::path(folder) /
                                (std::string(kPrefix) + "." + std::to_string(rank) + ".et"))
                                   .string();
      ORRERY_RETURN_IF_ERROR(write_chakra(file, step.trace(rank)));
      progress.show(static_cast<double>(++done) / static_cast<double>(files), "writing " + folder);
    }
  }
  ORRERY_RETURN_IF_ERROR(write_communicators(communicator_file(folder, kPrefix), text));
  return "chakra    " + folder + " (" + std::to_string(files) + (files == 1 ? " rank" : " ranks") +
         ": step.RANK.et" + (groups.empty() ? "" : ", groups: step.groups.json") + ")";
}

}  // namespace orrery::cli
