#include "compare/difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace orrery {
namespace {

using Key = std::tuple<LineKind, std::string, std::string>;

// Sums over the lines of one side of a row, of one step.
struct Side {
  double calls = 0;
  double work_s = 0;
  double waiting_s = 0;
  double hidden_s = 0;
  double late_s = 0;
  double latency_s = 0;
  double contribution_s = 0;
};

Side side_of(const StepProfile& profile, const std::vector<std::size_t>& lines) {
  LineTimes sum;
  for (const std::size_t line : lines) {
    const LineTimes& t = profile.lines[line].times;
    sum.calls += t.calls;
    sum.busy_ns += t.busy_ns;
    sum.owned_ns += t.owned_ns;
    sum.waiting_ns += t.waiting_ns;
    sum.late_ns += t.late_ns;
    sum.latency_ns += t.latency_ns;
  }
  return {static_cast<double>(sum.calls) / static_cast<double>(profile.steps),
          profile.per_step_s(sum.busy_ns - sum.waiting_ns),
          profile.per_step_s(sum.waiting_ns),
          profile.per_step_s(sum.hidden_ns()),
          profile.per_step_s(sum.late_ns),
          profile.per_step_s(sum.latency_ns),
          profile.per_step_s(sum.contribution_ns())};
}

void explain(DifferenceRow& row, const StepProfile& first, const StepProfile& second) {
  const Side a = side_of(first, row.first);
  const Side b = side_of(second, row.second);
  row.contribution_first = Seconds(a.contribution_s);
  row.contribution_second = Seconds(b.contribution_s);
  row.calls_first = a.calls;
  row.calls_second = b.calls;
  const auto set = [&](DifferenceCause cause, double seconds) {
    row.causes[static_cast<std::size_t>(cause)] = Seconds(seconds);
  };
  if (row.second.empty()) {
    set(DifferenceCause::only_first, -a.contribution_s);
    return;
  }
  if (row.first.empty()) {
    set(DifferenceCause::only_second, b.contribution_s);
    return;
  }
  // A group that replaced another has other calls by its nature.
  const double calls = row.alignment != Alignment::replaced && a.calls > 0
                           ? (b.calls - a.calls) * a.work_s / a.calls
                           : 0;
  set(DifferenceCause::calls, calls);
  set(DifferenceCause::work, b.work_s - a.work_s - calls);
  set(DifferenceCause::waiting, b.waiting_s - a.waiting_s);
  set(DifferenceCause::overlap, a.hidden_s - b.hidden_s);
  set(DifferenceCause::late, b.late_s - a.late_s);
  set(DifferenceCause::latency, b.latency_s - a.latency_s);
}

// Takes lines out of both sides as long as both have some under a key.
class Aligner {
 public:
  Aligner(const StepProfile& first, const StepProfile& second, std::vector<DifferenceRow>& rows)
      : first_(first), second_(second), rows_(rows) {
    for (std::size_t i = 0; i < first.lines.size(); ++i) left_first_.push_back(i);
    for (std::size_t i = 0; i < second.lines.size(); ++i) left_second_.push_back(i);
  }

  void pair_up(Alignment alignment, Key (*key)(const ProfileLine&)) {
    std::map<Key, std::vector<std::size_t>> waiting;
    for (auto it = left_second_.rbegin(); it != left_second_.rend(); ++it) {
      waiting[key(second_.lines[*it])].push_back(*it);
    }
    std::set<std::size_t> taken;
    std::erase_if(left_first_, [&](std::size_t line) {
      const auto found = waiting.find(key(first_.lines[line]));
      if (found == waiting.end() || found->second.empty()) return false;
      rows_.push_back({.alignment = alignment,
                       .kind = first_.lines[line].kind,
                       .first = {line},
                       .second = {found->second.back()}});
      taken.insert(found->second.back());
      found->second.pop_back();
      return true;
    });
    std::erase_if(left_second_, [&](std::size_t line) { return taken.contains(line); });
  }

  void group_by_context() {
    std::map<std::pair<LineKind, std::string>, DifferenceRow> groups;
    for (const std::size_t line : left_first_) {
      groups[{first_.lines[line].kind, first_.lines[line].context}].first.push_back(line);
    }
    for (const std::size_t line : left_second_) {
      groups[{second_.lines[line].kind, second_.lines[line].context}].second.push_back(line);
    }
    std::set<std::size_t> taken_first;
    std::set<std::size_t> taken_second;
    for (auto& [context, row] : groups) {
      if (context.second.empty() || row.first.empty() || row.second.empty()) continue;
      row.alignment = Alignment::replaced;
      row.kind = context.first;
      taken_first.insert(row.first.begin(), row.first.end());
      taken_second.insert(row.second.begin(), row.second.end());
      rows_.push_back(std::move(row));
    }
    std::erase_if(left_first_, [&](std::size_t line) { return taken_first.contains(line); });
    std::erase_if(left_second_, [&](std::size_t line) { return taken_second.contains(line); });
  }

  void leave_alone() {
    for (const std::size_t line : left_first_) {
      rows_.push_back(
          {.alignment = Alignment::only_first, .kind = first_.lines[line].kind, .first = {line}});
    }
    for (const std::size_t line : left_second_) {
      rows_.push_back({.alignment = Alignment::only_second,
                       .kind = second_.lines[line].kind,
                       .second = {line}});
    }
  }

 private:
  const StepProfile& first_;
  const StepProfile& second_;
  std::vector<DifferenceRow>& rows_;
  std::vector<std::size_t> left_first_;
  std::vector<std::size_t> left_second_;
};

}  // namespace

DifferenceCause DifferenceRow::main_cause() const {
  const double sign = difference() < Seconds(0) ? -1 : 1;
  const auto largest = std::ranges::max_element(
      causes, [&](Seconds a, Seconds b) { return a.value() * sign < b.value() * sign; });
  return static_cast<DifferenceCause>(largest - causes.begin());
}

Difference difference(StepProfile first, StepProfile second) {
  Difference out{std::move(first), std::move(second), {}};
  Aligner aligner(out.first, out.second, out.rows);
  aligner.pair_up(Alignment::same,
                  [](const ProfileLine& line) { return Key(line.kind, line.name, line.detail); });
  aligner.pair_up(Alignment::other_shapes,
                  [](const ProfileLine& line) { return Key(line.kind, line.name, ""); });
  aligner.group_by_context();
  aligner.leave_alone();
  for (DifferenceRow& row : out.rows) explain(row, out.first, out.second);
  std::ranges::stable_sort(out.rows, [](const DifferenceRow& a, const DifferenceRow& b) {
    return std::abs(a.difference().value()) > std::abs(b.difference().value());
  });
  return out;
}

bool same_kernels(const Difference& difference, const DifferenceRow& row) {
  const auto names = [](const StepProfile& profile, const std::vector<std::size_t>& lines) {
    std::set<std::string> out;
    for (const std::size_t line : lines) {
      for (const auto& [kernel, ns] : profile.lines[line].kernels) out.insert(kernel);
    }
    return out;
  };
  return names(difference.first, row.first) == names(difference.second, row.second);
}

}  // namespace orrery
