#include "whatif/known_division.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "whatif/edit_language.h"

namespace orrery {
namespace {

struct Divided {
  const char* what;
  std::int64_t size;
};

// Ranks that divide every one of them, written out.
std::string common_divisors(const std::vector<Divided>& all) {
  constexpr std::int64_t kMost = 64;
  std::string out;
  for (std::int64_t n = 1; n <= kMost; ++n) {
    bool divides = true;
    for (const Divided& d : all) divides = divides && (d.size == 0 || d.size % n == 0);
    if (divides) out += (out.empty() ? "" : ", ") + std::to_string(n);
  }
  return out;
}

}  // namespace

Result<void> check_tensor_ranks(const KnownDivision& known, const Edit& edit) {
  if (!known.known()) return {};
  if (known.tensor_ranks == 1 && edit.count != 1) {
    return unsupported(
        "no layer of the run is divided: what its ranks would communicate is not recorded",
        to_text(edit), "orrery trace spec --yaml and orrery estimate predict it");
  }
  const std::vector<Divided> divided = {{"heads", known.heads},
                                        {"columns of the feed-forward", known.feed_forward},
                                        {"hidden dimensions", known.hidden}};
  for (const Divided& d : divided) {
    if (d.size % edit.count == 0) continue;
    return bad_input(fmt::format("{} {} cannot be divided by {}", d.size, d.what, edit.count),
                     to_text(edit), "ranks that divide all: " + common_divisors(divided));
  }
  return {};
}

Result<ResizedDimensions> ResizedDimensions::of(const Edit& edit, const KnownDivision& known) {
  ResizedDimensions out;
  out.from_ = edit.from;
  out.to_ = edit.count;
  out.communicated_ = edit.from;
  if (!known.known()) return out;
  const std::int64_t tp = known.tensor_ranks;
  const std::int64_t tokens = known.sequence * known.micro_batch;
  const std::int64_t heads = known.heads / tp;
  const std::array<std::pair<std::int64_t, const char*>, 4> roles = {
      {{known.hidden, "hidden size"},
       {known.feed_forward, "feed-forward"},
       {known.sequence, "sequence"},
       {known.micro_batch, "micro-batch"}}};
  for (const auto& [size, role] : roles) {
    if (size != edit.from) continue;
    if (!out.role_.empty()) {
      return unsupported(fmt::format("{} is the {} and the {}: shapes do not tell them apart", size,
                                     out.role_, role),
                         to_text(edit), "orrery trace spec --yaml and orrery estimate predict it");
    }
    out.role_ = role;
  }
  if (out.role_.empty()) {
    // What is none of them divides others by chance.
    out.multiples_ = false;
    out.changed_.emplace(out.from_, out.to_);
    return out;
  }

  const auto change = [&](std::int64_t size, std::int64_t becomes) {
    if (size > 0) out.changed_.emplace(size, becomes);
  };
  const auto shares = [&](std::int64_t most) {
    for (std::int64_t k = 1; k <= most; ++k) {
      change(k * out.from_, k * out.to_);
      change(k * out.from_ / tp, k * out.to_ / tp);
    }
  };
  const auto keep = [&](std::int64_t size, const char* what) {
    if (size > 1) out.kept_.emplace(size, what);
  };
  const bool of_weights = out.role_ == "hidden size" || out.role_ == "feed-forward";
  if (of_weights && out.to_ % tp != 0) {
    return bad_input(
        fmt::format("{} ranks divide the {}: {} is not a multiple", tp, out.role_, out.to_),
        to_text(edit), fmt::format("{} is", (out.to_ + tp - 1) / tp * tp));
  }
  if (out.role_ == "hidden size") {
    if (known.heads > 0 && known.heads * known.head_size == known.hidden &&
        out.to_ % known.heads != 0) {
      return bad_input(
          fmt::format("{} heads divide the hidden size: {} is not a multiple", known.heads,
                      out.to_),
          to_text(edit),
          fmt::format("{} is", (out.to_ + known.heads - 1) / known.heads * known.heads));
    }
    shares(3);
    if (known.feed_forward % known.hidden == 0) {
      const std::int64_t times = known.feed_forward / known.hidden;
      change(known.feed_forward / tp, times * out.to_ / tp);
    }
  } else if (out.role_ == "feed-forward") {
    out.multiples_ = false;
    out.communicated_ = out.from_ * known.hidden / tp;  // weights
    shares(known.gated ? 2 : 1);
  } else if (out.role_ == "sequence") {
    out.multiples_ = false;
    out.communicated_ = tokens * known.hidden / tp;  // activations
    change(out.from_, out.to_);
    change(tokens, out.to_ * known.micro_batch);
  } else {
    out.multiples_ = false;
    out.communicated_ = tokens * known.hidden / tp;  // activations
    change(out.from_, out.to_);
    change(tokens, out.to_ * known.sequence);
    change(out.from_ * heads, out.to_ * heads);
  }
  if (of_weights) {
    keep(known.sequence, "the sequence");
    keep(known.micro_batch, "the micro-batch");
    keep(tokens, "the tokens of a micro-batch");
  } else {
    keep(known.hidden, "the hidden size");
    keep(known.feed_forward, "the feed-forward");
    keep(known.hidden / tp, "a rank's share of the hidden size");
    keep(known.feed_forward / tp, "a rank's share of the feed-forward");
  }
  if (out.role_ == "feed-forward") keep(known.hidden, "the hidden size");
  keep(known.vocabulary, "the vocabulary");
  keep(known.vocabulary / tp, "a rank's share of the vocabulary");
  for (const auto& [size, becomes] : out.changed_) {
    const auto found = out.kept_.find(size);
    if (found == out.kept_.end() || size == becomes) continue;
    return unsupported(
        fmt::format("{}, which changes with the {}, is {} too: shapes do not tell them apart", size,
                    out.role_, found->second),
        to_text(edit), "orrery trace spec --yaml and orrery estimate predict it");
  }
  return out;
}

std::int64_t ResizedDimensions::operator()(std::int64_t dimension) const {
  if (const auto found = changed_.find(dimension); found != changed_.end()) return found->second;
  if (!multiples_ || dimension <= 0 || dimension % from_ != 0) return dimension;
  return kept_.contains(dimension) ? dimension : dimension / from_ * to_;
}

double ResizedDimensions::elements(double elements) const {
  const auto unit = static_cast<double>(communicated_);
  const bool dimension = changed_.contains(std::llround(elements));
  const bool changes = elements > 0 && (dimension || std::fmod(elements, unit) == 0);
  return changes ? elements / static_cast<double>(from_) * static_cast<double>(to_) : elements;
}

}  // namespace orrery
