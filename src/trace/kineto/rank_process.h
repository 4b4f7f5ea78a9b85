// How the process of a row states its rank in a file of several ranks.
//
// The profiler writes one file per rank. A file of several ranks, as recorded_json writes it, lists
// them in its header ("orreryRanks") and numbers process p of rank r as (r + 1) x 10^7 + p. Numbers
// of processes and devices are smaller than 10^7 on Linux (2^22), and those of 200 ranks stay
// within 32 bits, which viewers need. A process that does not fit, or is not a number, is a text:
// "rank 300 17", "rank 3 Spans".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

inline constexpr std::string_view kRanksKey = "orreryRanks";

// The number of a rank, and its place among the ranks that share a file.
struct PlaceInFile {
  std::int64_t rank = 0;
  std::int64_t place = 0;
  std::int64_t ranks = 1;

  [[nodiscard]] bool shared() const { return ranks > 1; }
};

// The process as a number if it fits, otherwise as a text. `number` is kNotRecorded for a process
// that has only a name.
std::optional<std::int64_t> shared_process(std::int64_t rank, std::int64_t number);
std::string shared_process_text(std::int64_t rank, std::int64_t number, std::string_view name);

struct RankProcess {
  std::int64_t rank = 0;
  std::string process;  // JSON, as in a file of that rank alone
};
// From a JSON number or text; nothing if it states no rank.
std::optional<RankProcess> rank_process(std::string_view token);

// Converts the process of an event from a file of one rank to JSON for a file that ranks share.
// `token` is a JSON number or text, or empty if the event has no process.
std::string shared_process_token(std::string_view token, std::int64_t rank);

// The identifier of an arrow as JSON. Ranks must not share identifiers: number n becomes
// n x ranks + place; an identifier that is not a number, or too large, the text "n rank 3".
std::string shared_flow(std::string_view token, const PlaceInFile& place);

// The name that viewers show for a process: "rank 3 python", or with "host" or "device 0" if the
// process has no name; and back to the recorded name, empty if there was none.
std::string shared_process_name(std::int64_t rank, std::int64_t number, std::string_view name,
                                bool device);
std::string_view recorded_process_name(std::string_view shared, std::int64_t rank);

}  // namespace orrery
