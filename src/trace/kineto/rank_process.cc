#include "trace/kineto/rank_process.h"

#include <fmt/format.h>

#include <charconv>

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
  const auto number = integer_of(token);
  if (!number || *number < kProcessesOfRank) return std::nullopt;
  return RankProcess{*number / kProcessesOfRank - 1, std::to_string(*number % kProcessesOfRank)};
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
