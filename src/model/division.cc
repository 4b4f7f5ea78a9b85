#include "model/division.h"

#include <fmt/core.h>

namespace orrery {

std::optional<std::string> exchanged_heads_problem(const Division& d, std::int64_t heads,
                                                   std::int64_t key_heads) {
  const auto whole = [&](std::int64_t ranks) {
    return heads % (d.tp * ranks) == 0 && key_heads % (d.tp * ranks) == 0;
  };
  if (d.head_ranks == 1 || whole(d.head_ranks)) return {};
  std::int64_t most = 1;
  for (std::int64_t ranks = 2; ranks < d.head_ranks && ranks <= key_heads; ++ranks) {
    if (d.cp % ranks == 0 && whole(ranks)) most = ranks;
  }
  const bool all = d.head_ranks == d.cp;
  return fmt::format(
      "{} divides whole heads over tp {} x {} {} = {} ranks: {}; use {}",
      all ? "context_parallel=all-to-all" : "ulysses", d.tp, all ? "cp" : "ulysses", d.head_ranks,
      d.tp * d.head_ranks,
      heads == key_heads
          ? fmt::format("{} attention heads are not a multiple", heads)
          : fmt::format("{} attention heads and {} key-value heads are not both a multiple", heads,
                        key_heads),
      most > 1 ? fmt::format("context_parallel=ring,ulysses={}", most) : "ring or all-gather");
}

}  // namespace orrery
