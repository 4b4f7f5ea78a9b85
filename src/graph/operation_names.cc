#include "graph/operation_names.h"

#include <array>

namespace orrery {

std::span<const EnumName<NodeKind>> names_of(NodeKind) {
  using enum NodeKind;
  static constexpr std::array<EnumName<NodeKind>, 7> kNames = {{{kernel, "kernel"},
                                                                {collective, "collective"},
                                                                {point_to_point, "point_to_point"},
                                                                {copy, "copy"},
                                                                {host, "host"},
                                                                {barrier, "barrier"},
                                                                {block, "block"}}};
  return kNames;
}

std::span<const EnumName<CategoryClass>> names_of(CategoryClass) {
  using enum CategoryClass;
  static constexpr std::array<EnumName<CategoryClass>, 6> kNames = {
      {{computing, "computing"},
       {communication, "communication"},
       {transfer, "transfer"},
       {copy, "copy"},
       {host, "host"},
       {idle, "idle"}}};
  return kNames;
}

std::span<const EnumName<CollectiveKind>> names_of(CollectiveKind) {
  static constexpr std::array kNames = {
      EnumName<CollectiveKind>{CollectiveKind::all_reduce, "all_reduce"},
      EnumName<CollectiveKind>{CollectiveKind::all_gather, "all_gather"},
      EnumName<CollectiveKind>{CollectiveKind::reduce_scatter, "reduce_scatter"},
      EnumName<CollectiveKind>{CollectiveKind::all_to_all, "all_to_all"},
      EnumName<CollectiveKind>{CollectiveKind::broadcast, "broadcast"},
  };
  return kNames;
}

std::span<const EnumName<AttentionKernel>> names_of(AttentionKernel) {
  using enum AttentionKernel;
  static constexpr std::array<EnumName<AttentionKernel>, 5> kNames = {{{unfused, "unfused"},
                                                                       {flash_1, "flash-1"},
                                                                       {flash_2, "flash-2"},
                                                                       {flash_3, "flash-3"},
                                                                       {library, "library"}}};
  return kNames;
}

std::span<const EnumName<Direction>> names_of(Direction) {
  static constexpr std::array<EnumName<Direction>, 2> kNames = {
      {{Direction::forward, "forward"}, {Direction::backward, "backward"}}};
  return kNames;
}

std::span<const EnumName<NumberFormat>> names_of(NumberFormat) {
  static constexpr EnumName<NumberFormat> kNames[] = {
      {NumberFormat::bf16, "bf16"},   {NumberFormat::fp16, "fp16"},   {NumberFormat::fp8, "fp8"},
      {NumberFormat::mxfp8, "mxfp8"}, {NumberFormat::nvfp4, "nvfp4"}, {NumberFormat::fp32, "fp32"},
      {NumberFormat::tf32, "tf32"},   {NumberFormat::fp64, "fp64"}};
  return kNames;
}

}  // namespace orrery
