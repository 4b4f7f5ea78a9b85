// How a file of several ranks says which rank a row belongs to: by its process.
//
// The profiler writes one rank a file. A file of several, as recorded_json writes it, names them in
// its header ("orreryRanks") and numbers process p of rank r as (r + 1) x 10^7 + p: numbers of
// processes and devices are smaller on Linux (2^22), and those of 200 ranks stay within 32 bits,
// which viewers need. What does not fit, or is no number, is a text: "rank 300 17", "rank 3 Spans".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

inline constexpr std::string_view kRanksKey = "orreryRanks";

// Of a rank in a file: its number, and its place among the ranks that share the file.
struct PlaceInFile {
  std::int64_t rank = 0;
  std::int64_t place = 0;
  std::int64_t ranks = 1;

  [[nodiscard]] bool shared() const { return ranks > 1; }
};

// As a number where it fits, else as a text. `number` is kNotRecorded of a process that has only a
// name.
std::optional<std::int64_t> shared_process(std::int64_t rank, std::int64_t number);
std::string shared_process_text(std::int64_t rank, std::int64_t number, std::string_view name);

struct RankProcess {
  std::int64_t rank = 0;
  std::string process;  // as JSON, as a file of that rank alone has it
};
// Of a JSON number or text; nothing if it is of no rank.
std::optional<RankProcess> rank_process(std::string_view token);

// The process of an event of a file of one rank as JSON, in the file that ranks share; `token` is a
// JSON number or text, or empty where the event has none.
std::string shared_process_token(std::string_view token, std::int64_t rank);

// Arrows join events of one identifier, which ranks must not share: number n becomes
// n x ranks + place, and what is no number, or too large, the text "n rank 3". As JSON.
std::string shared_flow(std::string_view token, const PlaceInFile& place);

// The names of processes are for viewers: "rank 3 python"; "host" and "device 0" stand in for what
// has no name. Back to the recorded one, empty if there was none.
std::string shared_process_name(std::int64_t rank, std::int64_t number, std::string_view name,
                                bool device);
std::string_view recorded_process_name(std::string_view shared, std::int64_t rank);

}  // namespace orrery
