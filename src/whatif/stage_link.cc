#include "whatif/stage_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/recorded_accelerator.h"
#include "cost/collective/collective.h"
#include "trace/recorded_arguments.h"
#include "units/quantity_text.h"
#include "whatif/edit_language.h"

namespace orrery {
namespace {

struct SentTensor {
  Bytes volume;
  std::string from;  // the operator that tells
};

// What an embedding gives, [vocabulary, h] looked up with [b, s]; else the largest input of the
// first operator of the second layer that has one.
std::optional<SentTensor> sent_tensor(const EditedRun& run, const TrainingPasses& passes) {
  std::optional<SentTensor> of_layer;
  const TrainingParts& parts = passes.parts;
  for (std::uint32_t w = 0; w < run.graph().works.size(); ++w) {
    const RunWork& work = run.graph().works[w];
    if (work.trace != 0 || passes.launched_by[w] == kNoEvent) continue;
    const std::uint32_t part = passes.part_of[work.first];
    if (parts.is_between(part) || parts.is_backward(part) || parts.depth_of(part) > 2) continue;
    const WorkSubject s = run.subject(work);
    const std::vector<Shape> shapes = tensor_shapes(s.shapes);
    if (shapes.empty()) continue;
    const Bytes of_element = element_of(s.types);
    if (parts.depth_of(part) == 0 && s.op.find("embedding") != std::string_view::npos &&
        shapes.size() >= 2 && shapes[0].size() == 2) {
      const double n = elements_of(std::vector{shapes[1]}) * static_cast<double>(shapes[0][1]);
      if (n > 0) return SentTensor{of_element * n, std::string(s.op)};
    }
    if (of_layer || parts.depth_of(part) != 2) continue;
    double largest = 0;
    for (const Shape& shape : shapes) largest = std::max(largest, elements_of(std::vector{shape}));
    if (largest > 0) of_layer = SentTensor{of_element * largest, std::string(s.op)};
  }
  return of_layer;
}

const FabricLevel& level_of(const Cluster& cluster, std::int64_t accelerators) {
  return *std::find_if(cluster.levels.begin(), std::prev(cluster.levels.end()),
                       [&](const FabricLevel& l) { return l.accelerators >= accelerators; });
}

}  // namespace

Seconds RecordedNetwork::send(Bytes volume, std::int64_t ranks) const {
  return point_to_point(volume, level_of(cluster, apart * ranks), parameters);
}

Seconds RecordedNetwork::all_reduce(Bytes volume, std::int64_t ranks) const {
  std::vector<std::int64_t> domains;
  for (const FabricLevel& level : cluster.levels) domains.push_back(level.accelerators);
  return collective(CollectiveKind::all_reduce, volume,
                    group_shape(static_cast<int>(ranks), apart, domains), cluster.levels,
                    parameters)
      .time;
}

Result<RecordedNetwork> recorded_network(const EditedRun& run, const Edit& edit,
                                         const Catalog& catalog, std::int64_t ranks) {
  RecordedNetwork out;
  if (edit.rate) return out;
  const RecordedTrace& trace = run.traces()[0];
  const auto accelerator = recorded_accelerator(catalog, trace);
  if (!accelerator) {
    return bad_input("the recording does not name an accelerator of the catalog", to_text(edit),
                     "say how fast its ranks are joined: link 50GB/s latency 5us");
  }
  // A count that is a whole number of servers and racks of every kind.
  constexpr std::int64_t kWholeServers = 1152;
  out.apart =
      std::max({std::int64_t{1}, trace.world_size, static_cast<std::int64_t>(run.traces().size())});
  const std::int64_t needed = out.apart * ranks;
  if (needed > kMaxAccelerators - kWholeServers) {
    return bad_input(fmt::format("{} ranks would be {}", ranks, needed), to_text(edit),
                     fmt::format("at most {}", kMaxAccelerators));
  }
  const std::int64_t accelerators = (needed + kWholeServers - 1) / kWholeServers * kWholeServers;
  ORRERY_TRY(out.cluster,
             parse_cluster_name(fmt::format("{}:{}", accelerator->name, accelerators), catalog));
  ORRERY_TRY(out.parameters,
             load_collective_parameters(catalog, accelerator->architecture, out.cluster.host_path));
  out.name =
      fmt::format("{} of {}, whose usual servers have {} each", level_of(out.cluster, needed).name,
                  accelerator->name, out.cluster.accelerators_per_node);
  return out;
}

std::vector<std::uint32_t> main_streams(const EditedRun& run) {
  std::vector<std::map<std::uint32_t, std::size_t>> kernels(run.traces().size());
  for (const RunWork& work : run.graph().works) {
    if (!run.communicates(work)) ++kernels[work.trace][run.graph().nodes[work.last].lane];
  }
  std::vector<std::uint32_t> out;
  for (const auto& by_lane : kernels) {
    const auto most = std::ranges::max_element(
        by_lane, [](const auto& a, const auto& b) { return a.second < b.second; });
    out.push_back(most == by_lane.end() ? kNoLane : most->first);
  }
  return out;
}

std::string_view first_type(std::string_view types) {
  const std::size_t begin = types.find_first_not_of("[\"' ");
  if (begin == std::string_view::npos) return {};
  return types.substr(begin, types.find_first_of("\"',]", begin) - begin);
}

Bytes element_of(std::string_view types) {
  const std::int64_t bytes = element_bytes(first_type(types));
  return Bytes(bytes > 0 ? static_cast<double>(bytes) : 2);
}

Result<StageLink> stage_link(const EditedRun& run, const TrainingPasses& passes, const Edit& edit,
                             const Catalog& catalog) {
  StageLink link;
  std::string what = "as said";
  if (edit.size) {
    link.volume = *edit.size;
  } else if (const auto sent = sent_tensor(run, passes)) {
    link.volume = sent->volume;
    what = fmt::format("the tensor of {}", sent->from);
  } else {
    return bad_input("what a stage sends to the next is not recorded", to_text(edit),
                     "say: send SIZE, the bytes of one microbatch; or record shapes "
                     "(record_shapes=True)");
  }
  const auto sentence = [&](const std::string& path) {
    return fmt::format("a microbatch sends {} ({}) between stages in {}: {}", to_text(link.volume),
                       what, to_text(link.time), path);
  };
  if (edit.rate) {
    const Seconds latency = edit.time.value_or(Seconds(0));
    link.time = latency + link.volume / *edit.rate;
    link.assumed =
        sentence(fmt::format("{} and {} of latency", to_text(*edit.rate), to_text(latency)));
    return link;
  }
  ORRERY_TRY(const RecordedNetwork network, recorded_network(run, edit, catalog, edit.count));
  link.time = network.send(link.volume, edit.count);
  link.assumed = sentence(network.name);
  return link;
}

}  // namespace orrery
