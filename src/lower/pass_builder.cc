#include "lower/pass_builder.h"

#include "lower/cost_context.h"
#include "simulate/simulate.h"
#include "timeline/attribution.h"

namespace orrery {

PassBuilder::PassBuilder(double compute_share_lost, const HostCosts& host)
    : compute_share_lost_(compute_share_lost), host_(host) {
  for (std::size_t k = 0; k < streams_.size(); ++k) {
    streams_[k] = builder_.add_stream({0, static_cast<StreamKind>(k)});
  }
}

void PassBuilder::compute(std::string_view name, Category category, Seconds time, int kernels) {
  kernels_ += kernels;
  const Picoseconds duration = round_to_picoseconds(time);
  last_ = builder_.add(NodeSpec{NodeKind::kernel, category, builder_.intern(name),
                                streams_[static_cast<std::size_t>(StreamKind::compute)], duration},
                       std::span<const NodeIndex>(waits_));
  waits_.clear();
}

std::optional<NodeIndex> PassBuilder::transfer(std::string_view name, StreamKind stream,
                                               Category category, Seconds time, NodeKind kind) {
  if (time.value() <= 0) return std::nullopt;
  ++collectives_;
  std::vector<NodeIndex> after = waits_;  // what the next kernel waits for, this waits for too
  if (last_) after.push_back(*last_);
  return builder_.add(
      NodeSpec{kind, category, builder_.intern(name), streams_[static_cast<std::size_t>(stream)],
               round_to_picoseconds(time)},
      after);
}

void PassBuilder::slowed_compute(std::string_view name, Category category, Seconds time,
                                 Seconds transfer_time) {
  compute(name, category, time);
  const Picoseconds lost = contention(round_to_picoseconds(time),
                                      round_to_picoseconds(transfer_time), compute_share_lost_);
  if (lost > Picoseconds(0)) {
    compute("slowed by communication", Category::contention, Seconds(lost.count() * 1e-12), 0);
  }
}

BlockPass PassBuilder::finish(Picoseconds idle, Picoseconds slowed) {
  builder_.add(NodeSpec{NodeKind::barrier, Category::elementwise, builder_.intern("end of block"),
                        streams_[static_cast<std::size_t>(StreamKind::compute)], Picoseconds(0)},
               std::span<const NodeIndex>(waits_));
  if (slowed > Picoseconds(0)) {
    builder_.add(NodeSpec{NodeKind::kernel, Category::contention,
                          builder_.intern("slowed by communication"),
                          streams_[static_cast<std::size_t>(StreamKind::compute)], slowed});
  }
  if (idle > Picoseconds(0)) {
    builder_.add(NodeSpec{NodeKind::kernel, Category::host, builder_.intern("wait for the host"),
                          streams_[static_cast<std::size_t>(StreamKind::compute)], idle});
  }
  BlockPass pass;
  pass.graph = builder_.build();
  const Timeline timeline = simulate(pass.graph);
  pass.time = timeline.makespan;
  pass.breakdown = attribute(pass.graph, timeline, 0, {});
  pass.host = round_to_picoseconds(host_.launches == LaunchPath::graphs
                                       ? host_.kernel
                                       : host_.kernel * kernels_ + host_.product * modules_ +
                                             host_.collective * collectives_);
  return pass;
}

Picoseconds BlockPass::computing() const {
  Picoseconds sum;
  for (std::size_t i = 0; i < kCategories; ++i) {
    if (!is_exposed_communication(static_cast<Category>(i))) sum += breakdown.time[i];
  }
  return sum;
}

}  // namespace orrery
