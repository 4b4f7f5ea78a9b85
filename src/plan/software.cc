#include "plan/software.h"

#include <utility>

namespace orrery {

std::span<const EnumName<Kernels>> names_of(Kernels) {
  static constexpr EnumName<Kernels> kNames[] = {{Kernels::fused, "fused"},
                                                 {Kernels::eager, "eager"}};
  return kNames;
}

std::span<const EnumName<GradientAccumulation>> names_of(GradientAccumulation) {
  static constexpr EnumName<GradientAccumulation> kNames[] = {
      {GradientAccumulation::in_product, "in_product"},
      {GradientAccumulation::separate, "separate"}};
  return kNames;
}

std::span<const EnumName<LaunchPath>> names_of(LaunchPath) {
  static constexpr EnumName<LaunchPath> kNames[] = {{LaunchPath::each, "each"},
                                                    {LaunchPath::compiled, "compiled"},
                                                    {LaunchPath::graphs, "graphs"}};
  return kNames;
}

std::span<const EnumName<PipelineTransfers>> names_of(PipelineTransfers) {
  static constexpr EnumName<PipelineTransfers> kNames[] = {
      {PipelineTransfers::overlapped, "overlapped"},
      {PipelineTransfers::overlapped_with_chunks, "overlapped_with_chunks"},
      {PipelineTransfers::blocking, "blocking"}};
  return kNames;
}

std::span<const EnumName<AttentionCopies>> names_of(AttentionCopies) {
  using enum AttentionCopies;
  static constexpr EnumName<AttentionCopies> kNames[] = {{none, "none"},
                                                         {layout, "layout"},
                                                         {kept_layout, "kept_layout"},
                                                         {repeated_keys, "repeated_keys"}};
  return kNames;
}

std::span<const EnumName<HostWaits>> names_of(HostWaits) {
  using enum HostWaits;
  static constexpr EnumName<HostWaits> kNames[] = {
      {never, "never"},
      {transfers, "transfers"},
      {transfers_and_attention, "transfers_and_attention"}};
  return kNames;
}

std::span<const EnumName<ShardTransfers>> names_of(ShardTransfers) {
  using enum ShardTransfers;
  static constexpr EnumName<ShardTransfers> kNames[] = {{in_place, "in_place"},
                                                        {flat, "flat"},
                                                        {copied, "copied"},
                                                        {lists, "lists"},
                                                        {broadcasts, "broadcasts"}};
  return kNames;
}

std::span<const EnumName<PipelineShards>> names_of(PipelineShards) {
  static constexpr EnumName<PipelineShards> kNames[] = {{PipelineShards::chunk, "chunk"},
                                                        {PipelineShards::step, "step"}};
  return kNames;
}

const Fields<HostCosts>& fields_of(const HostCosts*) {
  static const Fields<HostCosts> kTable =
      Fields<HostCosts>("host")
          .optional("launches", &HostCosts::launches, "each, compiled or graphs")
          .optional("kernel", &HostCosts::kernel, "host time to dispatch and launch one kernel")
          .optional("product", &HostCosts::product, "host time of a matrix product beyond that")
          .optional("collective", &HostCosts::collective, "host time of a collective")
          .optional("waits", &HostCosts::waits, "for what the host waits until the device is done");
  return kTable;
}

const Fields<SoftwareProfile>& fields_of(const SoftwareProfile*) {
  static const Fields<SoftwareProfile> kTable =
      Fields<SoftwareProfile>("software profile")
          .required("name", &SoftwareProfile::name, "identifier")
          .required("title", &SoftwareProfile::title, "framework, version and year")
          .optional("norm", &SoftwareProfile::norm, "RMSNorm: one kernel or a chain")
          .optional("activation", &SoftwareProfile::activation, "gate, product and bias")
          .optional("rotary", &SoftwareProfile::rotary, "rotary position embedding")
          .optional("residual", &SoftwareProfile::residual, "bias, dropout and sum")
          .optional("cross_entropy", &SoftwareProfile::cross_entropy, "loss over the vocabulary")
          .optional("optimizer", &SoftwareProfile::optimizer, "optimizer step")
          .optional("attention_copies", &SoftwareProfile::attention_copies,
                    "what is copied around the kernel of attention")
          .optional("attends_in_pieces", &SoftwareProfile::attends_in_pieces,
                    "context parallelism: a kernel for the keys of each rank, summed in fp32")
          .optional("softmax", &SoftwareProfile::softmax,
                    "scale, mask and softmax of unfused attention")
          .optional("recompute_stops_early", &SoftwareProfile::recompute_stops_early,
                    "full recomputation leaves out the last product of a block")
          .optional("accumulation", &SoftwareProfile::accumulation,
                    "how gradients of microbatches are added up")
          .optional("overlaps_input_gradients", &SoftwareProfile::overlaps_input_gradients,
                    "tensor-parallel reduction of input gradients beside the weight gradient")
          .optional("transfers", &SoftwareProfile::transfers,
                    "whether stages compute while activations travel between them")
          .optional("splits_transfers", &SoftwareProfile::splits_transfers,
                    "tensor-parallel ranks each send a piece of an activation they share")
          .optional("clips_gradients", &SoftwareProfile::clips_gradients,
                    "gradient norm and scaling before the optimizer")
          .optional("scales_loss", &SoftwareProfile::scales_loss,
                    "gradients are unscaled and checked for overflow")
          .optional("shard_transfers", &SoftwareProfile::shard_transfers,
                    "how sharded tensors are gathered and reduced")
          .optional("zero", &SoftwareProfile::zero, "the ZeRO stage of a plan that states none")
          .optional("pipeline_zero", &SoftwareProfile::pipeline_zero,
                    "the highest ZeRO stage that it has beside a pipeline")
          .optional("pipeline_shards", &SoftwareProfile::pipeline_shards,
                    "a pipeline holds sharded tensors whole while a chunk is passed, or all step")
          .optional("host", &SoftwareProfile::host, "what launching costs the host")
          .optional("memory", &SoftwareProfile::memory, "what is kept in memory")
          .required("provenance", &SoftwareProfile::provenance, "where the facts come from");
  return kTable;
}

Result<SoftwareProfile> read_software(const Document& document) {
  ORRERY_TRY(SoftwareProfile profile, read<SoftwareProfile>(document));
  for (const auto& [name, time] : {std::pair{"kernel", profile.host.kernel},
                                   {"product", profile.host.product},
                                   {"collective", profile.host.collective}}) {
    if (time < Seconds(0) || time > Seconds(1)) {
      return fail(ErrorCode::bad_input, "host." + std::string(name) + " is out of range",
                  document.name, "a time from 0 to 1 s");
    }
  }
  for (const auto& [key, stage] :
       {std::pair{"zero ", profile.zero}, {"pipeline_zero ", profile.pipeline_zero}}) {
    if (stage >= 0 && stage <= 3) continue;
    return fail(ErrorCode::bad_input, key + std::to_string(stage) + " is not a ZeRO stage",
                document.name, "0, 1, 2 or 3");
  }
  if (std::string problem = memory_facts_problem(profile.memory); !problem.empty()) {
    return fail(ErrorCode::bad_input, std::move(problem), document.name,
                "bytes of one element of the tensor it names");
  }
  return profile;
}

Result<SoftwareProfile> load_software(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("software", name));
  return read_software(document);
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
