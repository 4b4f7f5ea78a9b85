#include "lower/pass_builder.h"

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
  kernels_ += launches;
  last_time_ = round_to_picoseconds(price(activity, groups_, costs_));
  last_ = add(NodeKind::kernel, name, category, StepStream::compute, last_time_,
              {{.what = activity}}, waits_);
  waits_.clear();
}

std::optional<NodeIndex> PassBuilder::transfer(std::string_view name, StepStream stream,
                                               Category category, const Activity& activity,
                                               NodeKind kind) {
  const Seconds time = price(activity, groups_, costs_);
  if (time <= Seconds(0)) return std::nullopt;
  ++collectives_;
  std::vector<NodeIndex> after = waits_;  // what the next kernel waits for, this waits for too
  if (last_) after.push_back(*last_);
  return add(kind, name, category, stream, round_to_picoseconds(time), {{.what = activity}}, after);
}

void PassBuilder::slowed_compute(std::string_view name, Category category, const Activity& activity,
                                 Seconds transfer_time) {
  compute(name, category, activity, 1);
  const Picoseconds lost =
      contention(last_time_, round_to_picoseconds(transfer_time), compute_share_lost_);
  if (lost <= Picoseconds(0)) return;
  last_ = add(NodeKind::kernel, kSlowed, Category::contention, StepStream::compute, lost,
              stated(lost), waits_);
}

BlockPass PassBuilder::finish(Picoseconds idle, Picoseconds slowed) {
  add(NodeKind::barrier, "end of block", Category::elementwise, StepStream::compute, {}, {},
      waits_);
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
  pass.host = round_to_picoseconds(host.launches == LaunchPath::graphs
                                       ? host.kernel
                                       : host.kernel * kernels_ + host.product * modules_ +
                                             host.collective * collectives_);
  return pass;
}

Picoseconds BlockPass::computing() const { return time - exposed_communication(breakdown); }

}  // namespace orrery
