// What attention computes, and how unevenly, where rows are made of documents (plan/documents.h).
//
// A causal query at position i of its document sees min(i, w) keys (w: the window), so that a
// document of l tokens has f(l) = l^2 / 2 pairs, w^2 / 2 + (l - w) w beyond a window. Of a row of T
// positions with lengths l of mean E[l]:
//
//   packed, padded  pairs = e T E[f(l)] / E[l]                     e: share of positions in use
//   concatenated    pairs = E[ g(min(l, T, w), l) ] / E[l],        g(a, l) = integral over x from 0
//                   to a of (T - x)(l - x) = T l a - (T + l) a^2 / 2 + a^3 / 3
//
// (a stream cut at any place: two tokens at distance x are of one document with the probability
// E[max(l - x, 0)] / E[l]). Padding is computed: a padded row costs all of its f(T) pairs.
//
// The ranks that wait for each other have rows of their own, so that the one with the most pairs
// sets the pace. On a sample of rows, filled with documents in an order that is always the same:
//
//   pairs of a row       of its busiest of c context-parallel ranks, times c; round a ring the sum
//                        over its steps of the busiest rank of each
//   of a step            E[max over replicas of the sum over the rows between two waits], of rows
//                        drawn independently: the sum's distribution by convolution on a grid, the
//                        maximum's by F(x)^n
//
// Context-parallel groups by length (`context_groups: by-length`; FlexSP, arXiv 2412.01523; hybrid
// data parallelism of ByteScale, arXiv 2502.21231): each of cp ranks has T / cp positions of a
// microbatch, and a document is divided over as few ranks as can hold it: the least divisor d of cp
// with l <= d T / cp. Documents of one d are packed into rows of d T / cp positions, so that with
// x_d, their share of all positions,
//
//   pairs of a rank  = sum over d of x_d pairs(rows of d T / cp) / d
//   bytes it exchanges = sum over d of x_d bytes(d)                 (lower/context_groups.cc)
//
// These are the means over ranks and microbatches. FlexSP's integer program and ByteScale's scheduler
// divide documents so that all groups end together; its relaxation to fractions, in which every
// document takes the cheapest group that holds it, is that mean. What whole documents leave uneven is
// not modelled, so that the time is a lower bound and a gain over fixed groups an upper one.
//
// An uneven rank is priced as one with proportionally more pairs. Not modelled: uneven microbatches
// inside a pipeline, steps of a ring of more than 128 ranks or under a window, a batch that is
// sorted or balanced by length, padding of a document to a multiple of the ranks.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "model/model.h"
#include "plan/plan.h"

namespace orrery {

// Which rows wait for which.
struct RowDivision {
  std::int64_t pieces = 1;  // context-parallel ranks that each have some queries of a row
  ContextBalance balance = ContextBalance::zigzag;
  bool in_steps = false;      // keys and values go round a ring
  std::int64_t replicas = 1;  // that wait for each other
  std::int64_t together = 1;  // rows of one between two waits
  auto operator<=>(const RowDivision&) const = default;
};

class DocumentRows {
 public:
  // Documents must be stated and free of problems. O(a few hundred rows), the same for the same
  // lengths.
  DocumentRows(const Documents& documents, std::int64_t sequence_length);
  // In context-parallel groups of as many of `ranks` as each document needs.
  DocumentRows(const Documents& documents, std::int64_t sequence_length, std::int64_t ranks);

  // Documents that the same number of ranks hold.
  struct Group {
    std::int64_t ranks = 1;
    double share = 0;  // of all positions
    std::unique_ptr<DocumentRows> rows = nullptr;
  };
  // By context_group_sizes (lower/rank_layout.h); none where all ranks share every row.
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

  // Share of positions that are tokens of a document.
  [[nodiscard]] double efficiency() const { return efficiency_; }
  [[nodiscard]] double documents_per_row() const;
  // Tokens of the longest that a row can have.
  [[nodiscard]] double longest() const { return longest_; }
  // Pairs of tokens within documents, of those within a causal row; mean over rows.
  [[nodiscard]] double real_pairs(const AttentionCore& attention) const;
  // The same of what kernels compute.
  [[nodiscard]] double computed_pairs(const AttentionCore& attention) const;
  // Of the operator's model FLOPs of a whole row, those of tokens of documents.
  [[nodiscard]] double real_share(const Operator& op) const;
  // Pairs of the rank that sets the pace over those of the mean; 1 and more. Thread-safe.
  [[nodiscard]] double unevenness(const AttentionCore& attention,
                                  const RowDivision& division) const;

 private:
  [[nodiscard]] std::vector<double> row_pairs(double window, const RowDivision& division) const;

  Documents documents_;
  double length_;  // of a row
  double efficiency_ = 1;
  double longest_ = 0;
  double mean_ = 0;  // tokens of a document
  std::vector<Group> groups_ = {};
  std::vector<std::vector<double>> sample_;  // lengths of the pieces of a row, in order
  struct Asked {
    double window = 0;
    RowDivision division;
    auto operator<=>(const Asked&) const = default;
  };
  mutable std::mutex mutex_;
  mutable std::map<Asked, double> unevenness_;
};

// Attention of the model's layers without a window, where there are such.
AttentionCore widest_attention(const Model& model);

// How the plan's ranks wait for each other around attention.
RowDivision row_division(const Training& training, const Plan& plan, bool reduces_each_microbatch);

// The expected largest of `n` sums of `m` values that are drawn independently, each of these with
// the same probability.
double expected_largest_sum(std::span<const double> values, std::int64_t m, std::int64_t n);

}  // namespace orrery
