#include "trace/chakra/chakra_run.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "outcome/parsed_number.h"
#include "parallel/parallel_for.h"
#include "trace/chakra/chakra_file.h"

namespace orrery {

std::optional<std::int64_t> rank_of_chakra(std::string_view file) {
  if (file.ends_with(".gz")) file.remove_suffix(3);
  if (!file.ends_with(".et")) return std::nullopt;
  file.remove_suffix(3);
  const auto rank = parsed_number<std::int64_t>(file.substr(file.rfind('.') + 1));
  return rank && *rank >= 0 && *rank < 1'000'000'000 ? rank : std::nullopt;
}

std::vector<std::int64_t> chakra_ranks(const std::vector<std::string>& files) {
  std::vector<std::int64_t> out;
  std::unordered_set<std::int64_t> seen;
  for (const std::string& file : files) {
    const auto rank = rank_of_chakra(file);
    if (!rank || !seen.insert(*rank).second) {
      out.resize(files.size());
      std::iota(out.begin(), out.end(), 0);
      return out;
    }
    out.push_back(*rank);
  }
  return out;
}

Result<ChakraRun> read_chakra_run(const std::vector<std::string>& files, Incomplete incomplete) {
  const std::vector<std::int64_t> ranks = chakra_ranks(files);
  std::vector<Result<ChakraTrace>> traces(files.size());
  parallel_for(files.size(), threads_to_use(0),
               [&](std::size_t i) { traces[i] = read_chakra(files[i], incomplete); });
  ChakraRun out;
  for (std::size_t i = 0; i < files.size(); ++i) {
    ORRERY_TRY(ChakraTrace trace, std::move(traces[i]));
    out.push_back({ranks[i], files[i] == "-" ? "standard input" : files[i], std::move(trace)});
  }
  std::ranges::sort(out, {}, &ChakraRank::rank);
  return out;
}

}  // namespace orrery
