#include "trace/kineto/rank_process.h"

#include <fmt/format.h>

#include <charconv>

#include "document/json_word.h"
#include "trace/kineto/number_text.h"
#include "trace/recorded_trace.h"

namespace orrery {
namespace {

constexpr std::int64_t kProcessesOfRank = 10'000'000;
constexpr std::int64_t kNumberedRanks = 200;
constexpr std::string_view kRank = "rank ";

// What stands behind "rank 3 ", and the 3.
std::optional<RankProcess> behind_rank(std::string_view text) {
  if (!text.starts_with(kRank)) return std::nullopt;
  text.remove_prefix(kRank.size());
  RankProcess out;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.rank);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || out.rank < 0 || !text.starts_with(' ')) return std::nullopt;
  out.process = text.substr(1);
  return out;
}

}  // namespace

std::optional<std::int64_t> shared_process(std::int64_t rank, std::int64_t number) {
  if (number < 0 || number >= kProcessesOfRank || rank < 0 || rank >= kNumberedRanks) {
    return std::nullopt;
  }
  return (rank + 1) * kProcessesOfRank + number;
}

std::string shared_process_text(std::int64_t rank, std::int64_t number, std::string_view name) {
  return fmt::format("{}{} {}", kRank, rank,
                     number == kNotRecorded ? std::string(name) : std::to_string(number));
}

std::optional<RankProcess> rank_process(std::string_view token) {
  if (token.starts_with('"')) {
    token.remove_prefix(1);
    if (token.ends_with('"')) token.remove_suffix(1);
    auto out = behind_rank(token);
    if (out) out->process = "\"" + out->process + "\"";
    return out;
  }
  const auto number = is_json_word(token) ? integer_of(token) : std::nullopt;
  if (!number || *number < kProcessesOfRank) return std::nullopt;
  return RankProcess{*number / kProcessesOfRank - 1, std::to_string(*number % kProcessesOfRank)};
}

std::string shared_process_token(std::string_view token, std::int64_t rank) {
  if (token.empty()) return fmt::format("\"{}{} \"", kRank, rank);
  if (token.front() == '"') return fmt::format("\"{}{} {}", kRank, rank, token.substr(1));
  const std::int64_t number = integer_of(token).value_or(kNotRecorded);
  const auto shared = shared_process(rank, number);
  return shared ? std::to_string(*shared)
                : fmt::format("\"{}\"", shared_process_text(rank, number, ""));
}

std::string shared_flow(std::string_view token, const PlaceInFile& place) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53U;  // in every reader of JSON
  const bool digits = token.find_first_not_of("0123456789") == std::string_view::npos;
  const auto number = digits ? integer_of(token) : std::nullopt;
  if (number && *number >= 0 && *number < kExact / place.ranks - 1) {
    return std::to_string(*number * place.ranks + place.place);
  }
  if (token.size() > 1 && token.front() == '"') token = token.substr(1, token.size() - 2);
  return fmt::format("\"{} {}{}\"", token, kRank, place.rank);
}

std::string shared_process_name(std::int64_t rank, std::int64_t number, std::string_view name,
                                bool device) {
  if (!name.empty()) return fmt::format("{}{} {}", kRank, rank, name);
  return device ? fmt::format("{}{} device {}", kRank, rank, number)
                : fmt::format("{}{} host", kRank, rank);
}

std::string_view recorded_process_name(std::string_view shared, std::int64_t rank) {
  const std::string before = fmt::format("{}{} ", kRank, rank);
  if (!shared.starts_with(before)) return shared;
  shared.remove_prefix(before.size());
  return shared == "host" || shared.starts_with("device ") ? std::string_view() : shared;
}

}  // namespace orrery
