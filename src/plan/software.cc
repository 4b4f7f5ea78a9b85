#include "plan/software.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "schedule/schedule.h"

namespace orrery {

namespace {

constexpr std::int64_t kMostOperations = 100'000;  // of one row of work

bool in_range(const HostWork& work) {
  return std::ranges::all_of(
      std::array{work.kernels, work.operators, work.collectives},
      [](std::int64_t count) { return count >= 0 && count <= kMostOperations; });
}

}  // namespace

Fields<HostWork> fields_of(const HostWork*) {
  return Fields<HostWork>("host work")
      .required<&HostWork::what>("what the operators are for")
      .optional<&HostWork::each>("once a step, for each division of tables or each product")
      .optional<&HostWork::pass>("forward or backward")
      .optional<&HostWork::kernels>("kernels and copies that are launched")
      .optional<&HostWork::operators>("operators that launch nothing")
      .optional<&HostWork::collectives>("collectives of a few bytes");
}

Fields<HostCosts> fields_of(const HostCosts*) {
  return Fields<HostCosts>("host")
      .optional<&HostCosts::launches>("each, compiled or graphs")
      .optional<&HostCosts::kernel>("host time to dispatch and launch one kernel")
      .optional<&HostCosts::dispatch>("host time of an operator that launches nothing")
      .optional<&HostCosts::product>("host time of a matrix product beyond that")
      .optional<&HostCosts::collective>("host time of a collective")
      .optional<&HostCosts::waits>("for what the host waits until the device is done")
      .optional<&HostCosts::expert_launches>(
          "products of a rank's experts: a launch each, or together")
      .optional<&HostCosts::reads_counts>(
          "the host reads back how many tokens each expert or look-ups each table gets")
      .optional<&HostCosts::work>("what else it does in a step of a recommendation model")
      .optional<&HostCosts::graph_modules>("parts of layers that a graph of the layer launches");
}

Fields<SoftwareProfile> fields_of(const SoftwareProfile*) {
  return Fields<SoftwareProfile>("software profile")
      .required<&SoftwareProfile::name>("identifier")
      .required<&SoftwareProfile::title>("framework, version and year")
      .optional<&SoftwareProfile::norm>("RMSNorm: one kernel or a chain")
      .optional<&SoftwareProfile::activation>("gate, product and bias")
      .optional<&SoftwareProfile::rotary>("rotary position embedding")
      .optional<&SoftwareProfile::router>("softmax, top-k and balancing loss of the router")
      .optional<&SoftwareProfile::residual>("bias, dropout and sum")
      .optional<&SoftwareProfile::cross_entropy>("loss over the vocabulary")
      .optional<&SoftwareProfile::convolution>(
          "biases of convolutions, and images between convolutions and group norms")
      .optional<&SoftwareProfile::optimizer>("optimizer step")
      .optional<&SoftwareProfile::attention_copies>("what is copied around the kernel of attention")
      .optional<&SoftwareProfile::attends_in_pieces>(
          "context parallelism: a kernel for the keys of each rank, summed in fp32")
      .optional<&SoftwareProfile::softmax>("scale, mask and softmax of unfused attention")
      .optional<&SoftwareProfile::recompute_stops_early>(
          "full recomputation leaves out the last product of a block")
      .optional<&SoftwareProfile::accumulation>("how gradients of microbatches are added up")
      .optional<&SoftwareProfile::expert_row_multiple>(
          "rows of an expert's products are filled up to a multiple of this")
      .optional<&SoftwareProfile::fp8_scaling>("what scales operands of fp8 products")
      .optional<&SoftwareProfile::overlaps_input_gradients>(
          "tensor-parallel reduction of input gradients beside the weight gradient")
      .optional<&SoftwareProfile::copies_sequence_shards>(
          "activations are copied around tensor-parallel gathers along the sequence")
      .optional<&SoftwareProfile::transfers>(
          "whether stages compute while activations travel between them")
      .optional<&SoftwareProfile::schedules>(
          "pipeline schedules that it has; an empty list: no pipeline")
      .optional<&SoftwareProfile::splits_transfers>(
          "tensor-parallel ranks each send a piece of an activation they share")
      .optional<&SoftwareProfile::clips_gradients>("gradient norm and scaling before the optimizer")
      .optional<&SoftwareProfile::scales_loss>("gradients are unscaled and checked for overflow")
      .optional<&SoftwareProfile::shard_transfers>("how sharded tensors are gathered and reduced")
      .optional<&SoftwareProfile::gradient_exchange>(
          "how replicas exchange gradients that they hold whole")
      .optional<&SoftwareProfile::zero>("the ZeRO stage of a plan that states none")
      .optional<&SoftwareProfile::attention>("the attention kernel of a plan that states none")
      .optional<&SoftwareProfile::pipeline_zero>(
          "the highest ZeRO stage that it has beside a pipeline")
      .optional<&SoftwareProfile::pipeline_shards>(
          "a pipeline holds sharded tensors whole while a chunk is passed, or all step")
      .optional<&SoftwareProfile::host>("what launching costs the host")
      .optional<&SoftwareProfile::memory>("what is kept in memory")
      .required<&SoftwareProfile::provenance>("where the facts come from");
}

Result<SoftwareProfile> read_software(const Document& document) {
  ORRERY_TRY(SoftwareProfile profile, read<SoftwareProfile>(document));
  for (const auto& [name, time] : {std::pair{"kernel", profile.host.kernel},
                                   {"dispatch", profile.host.dispatch},
                                   {"product", profile.host.product},
                                   {"collective", profile.host.collective}}) {
    if (time < Seconds(0) || time > Seconds(1)) {
      return bad_input("host." + std::string(name) + " is out of range", document.name,
                       "a time from 0 to 1 s");
    }
  }
  if (!profile.host.graph_modules.empty() && profile.host.launches != LaunchPath::each) {
    return bad_input("host.graph_modules are given with launches: " +
                         std::string(to_text(profile.host.launches)),
                     document.name, "write launches: each, or leave graph_modules out");
  }
  for (const HostWork& work : profile.host.work) {
    if (in_range(work)) continue;
    return bad_input("host.work: a count of '" + work.what + "' is out of range", document.name,
                     "kernels, operators and collectives from 0 to 100000");
  }
  if (profile.schedules) {
    for (std::string& name : *profile.schedules) {
      ORRERY_TRY(const Schedule* schedule, at(document.name + ": schedules", find_schedule(name)));
      name = schedule->name;
    }
  }
  for (const auto& [key, stage] :
       {std::pair{"zero ", profile.zero}, {"pipeline_zero ", profile.pipeline_zero}}) {
    if (stage >= 0 && stage <= 3) continue;
    return bad_input(key + std::to_string(stage) + " is not a ZeRO stage", document.name,
                     "0, 1, 2 or 3");
  }
  if (profile.expert_row_multiple < 1 || profile.expert_row_multiple > 4096) {
    return bad_input("expert_row_multiple is out of range", document.name, "rows, from 1 to 4096");
  }
  if (profile.provenance.source.empty()) {
    return bad_input("provenance.source is empty", document.name,
                     "the paper, page or file that states the facts of the profile");
  }
  if (std::string problem = memory_facts_problem(profile.memory); !problem.empty()) {
    return bad_input(std::move(problem), document.name,
                     "bytes of one element of the tensor it names");
  }
  return profile;
}

Result<SoftwareProfile> load_software(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("software", name));
  return read_software(document);
}

bool has_schedule(const SoftwareProfile& software, std::string_view schedule) {
  return !software.schedules ||
         std::ranges::find(*software.schedules, schedule) != software.schedules->end();
}

void choose_schedule(Plan& plan, const SoftwareProfile& software) {
  const bool one_chunk = plan.chunks <= 1;
  if (!plan.schedule.empty() || has_schedule(software, one_chunk ? "1f1b" : "interleaved_1f1b")) {
    return;
  }
  for (const std::string& name : *software.schedules) {
    const auto schedule = find_schedule(name);
    const int chunks = schedule ? (*schedule)->chunks : -1;
    if (one_chunk ? chunks == 1 : chunks == 0 || chunks == plan.chunks) {
      plan.schedule = name;
      return;
    }
  }
}

std::string lacking_schedule(const SoftwareProfile& software, const Plan& plan) {
  if (plan.pp == 1) return "";
  const auto schedule = find_schedule(plan.schedule);
  if (!schedule || has_schedule(software, (*schedule)->name)) return "";
  if (software.schedules->empty()) return software.name + " has no pipeline";
  return fmt::format("{} does not have {}, only {}", software.name, (*schedule)->name,
                     fmt::join(*software.schedules, ", "));
}

void blocking_transfers(Plan& plan, const SoftwareProfile& software) {
  const bool blocking =
      software.transfers == PipelineTransfers::blocking ||
      (software.transfers == PipelineTransfers::overlapped_with_chunks && plan.chunks == 1);
  if (blocking) plan.overlap.pipeline = false;
}

std::string software_assumption(const SoftwareProfile& software) {
  return "software: " + software.name;
}

}  // namespace orrery
