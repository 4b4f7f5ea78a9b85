#include "lower/pass_builder.h"

#include <algorithm>
#include <utility>

#include "simulate/simulate.h"
#include "timeline/attribution.h"

namespace orrery {
namespace {

OperationParts stated(Picoseconds time) {
  return {{.what = StatedTime{Seconds(time.count() * 1e-12)}}};
}

}  // namespace

PassBuilder::PassBuilder(double compute_share_lost, const CostContext& costs,
                         std::span<const Group> groups)
    : compute_share_lost_(compute_share_lost), costs_(costs), groups_(groups) {
  add_streams(builder_, 0, kBlockStreams);
}

NodeIndex PassBuilder::add(NodeKind kind, std::string_view name, Category category,
                           StepStream stream, Picoseconds duration, OperationParts parts,
                           std::span<const NodeIndex> after) {
  const OperationIndex operation = builder_.intern(Operation{.kind = kind,
                                                             .category = index(category),
                                                             .name = builder_.intern(name),
                                                             .parts = std::move(parts)});
  return builder_.add({operation, StreamIndex(static_cast<std::size_t>(stream)), duration}, after);
}

void PassBuilder::compute(std::string_view name, Category category, const Activity& activity,
                          int launches) {
  launch(launches, 0);
  last_time_ = costs_.rounded(price(activity, groups_, costs_));
  if (waits()) under_way_[half_] = Picoseconds(0);
  last_ = add(NodeKind::kernel, name, category, StepStream::compute, last_time_,
              {{.what = activity}}, waits_[half_]);
  waits_[half_].clear();
  Picoseconds& beside = under_way_[1 - half_];
  if (beside <= Picoseconds(0)) return;
  lose(beside, compute_share_lost_);
  beside -= std::min(beside, last_time_);
}

void PassBuilder::launch_as_graph(bool graph) {
  if (graph && !launched_graph_[half_]) {
    launched_graph_[half_] = true;
    ++modules_;
    ++kernels_;
  }
  graph_ = graph;
}

void PassBuilder::launch(int kernels, int collectives) {
  if (graph_) return;
  kernels_ += kernels;
  collectives_ += collectives;
}

void PassBuilder::lose(Picoseconds transfer_time, double share_lost) {
  const Picoseconds lost = costs_.contention(last_time_, transfer_time, share_lost);
  if (lost <= Picoseconds(0)) return;
  last_ = add(NodeKind::kernel, kSlowed, Category::contention, StepStream::compute, lost,
              stated(lost), waits_[half_]);
}

std::optional<NodeIndex> PassBuilder::transfer(std::string_view name, StepStream stream,
                                               Category category, const Activity& activity,
                                               NodeKind kind) {
  const Seconds time = price(activity, groups_, costs_);
  if (time <= Seconds(0)) return std::nullopt;
  const std::size_t ordinal = transfers_++;
  if (std::ranges::find(carried_, ordinal, &Carried::ordinal) != carried_.end()) {
    return std::nullopt;
  }
  launch(0, 1);
  // What the next kernel waits for, this waits for too.
  std::vector<NodeIndex> after = waits_[half_];
  if (last_) after.push_back(*last_);
  const Picoseconds duration = costs_.rounded(time);
  const NodeIndex node = add(kind, name, category, stream, duration, {{.what = activity}}, after);
  emitted_.push_back({ordinal, name, stream, category, activity, half_, duration, node});
  under_way_[half_] += duration;
  return node;
}

std::vector<PassBuilder::Carried> PassBuilder::unfinished(std::optional<NodeIndex> late) const {
  std::vector<Carried> out;
  for (const Carried& c : emitted_) {
    const auto& waits = waits_[c.half];
    if (c.node == late || std::ranges::find(waits, c.node) != waits.end()) out.push_back(c);
  }
  return out;
}

void PassBuilder::carry(std::vector<Carried> carried) {
  carried_ = std::move(carried);
  for (Carried& c : carried_) {
    ++collectives_;
    c.node =
        add(NodeKind::collective, c.name, c.category, c.stream, c.time, {{.what = c.activity}});
    under_way_[c.half] += c.time;
  }
}

void PassBuilder::wait_for_other_half(NodeIndex node) {
  wait_for(node);
  Picoseconds& left = under_way_[1 - half_];
  left = Picoseconds(0);
  for (const Carried& c : emitted_) {
    if (c.half != half_ && c.node > node) left += c.time;
  }
}

void PassBuilder::slowed_compute(std::string_view name, Category category, const Activity& activity,
                                 Seconds transfer_time, std::optional<double> share_lost) {
  compute(name, category, activity, 1);
  lose(costs_.rounded(transfer_time), share_lost.value_or(compute_share_lost_));
}

BlockPass PassBuilder::finish(Picoseconds idle, Picoseconds slowed) {
  waits_[0].insert(waits_[0].end(), waits_[1].begin(), waits_[1].end());
  add(NodeKind::barrier, "end of block", Category::elementwise, StepStream::compute, {}, {},
      waits_[0]);
  if (slowed > Picoseconds(0)) {
    add(NodeKind::kernel, kSlowed, Category::contention, StepStream::compute, slowed,
        stated(slowed));
  }
  if (idle > Picoseconds(0)) {
    add(NodeKind::kernel, "wait for the host", Category::host, StepStream::compute, idle,
        stated(idle));
  }
  BlockPass pass;
  pass.graph = builder_.build();
  const Timeline timeline = simulate(pass.graph);
  pass.time = timeline.makespan;
  pass.breakdown = attribute(pass.graph, timeline, 0, {});
  const HostCosts& host = costs_.software.host;
  pass.host = costs_.rounded(host.launches == LaunchPath::graphs
                                 ? host.kernel
                                 : host.kernel * kernels_ + host.product * modules_ +
                                       host.collective * collectives_ + host.dispatch * operators_);
  return pass;
}

Picoseconds BlockPass::computing() const { return time - exposed_communication(breakdown); }

}  // namespace orrery
