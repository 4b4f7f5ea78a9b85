// What a run most likely did where its row is silent: merged from what its framework does
// (framework_conventions.h) and what is peculiar to its source (source_conventions.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "cost/kernel/kernel_parameters.h"
#include "plan/plan.h"

namespace orrery {

enum class Transfers { overlapped, exposed };
enum class SequenceParallelism { never, with_tensor_parallelism };
enum class VocabularyPadding { none, megatron };  // to a multiple of 128 x tp

inline constexpr std::string_view kUsualSoftware = "megatron-core-0.12";

// What selective recomputation means where the row gives no details.
enum class SelectiveRecomputation { attention, alternate_products, share_of_layers };

struct RunConvention {
  std::string_view framework = "";             // empty: none that is known
  std::string_view software = kUsualSoftware;  // entry of catalog/software
  bool dropout = false;
  std::int64_t zero = 1;
  SequenceParallelism sequence_parallel = SequenceParallelism::with_tensor_parallelism;
  std::string_view link = "";    // text for network_link(), per node; empty: the usual network
  std::string_view fabric = "";  // catalog name where the text names no technology
  Transfers gradients = Transfers::overlapped;
  Transfers parameters = Transfers::overlapped;
  Transfers tensor_parallel = Transfers::exposed;
  std::string_view tensor_parallel_models = "";  // overlapped for models that begin so, if any
  ContextParallel context_parallel = ContextParallel::ring;
  SelectiveRecomputation selective = SelectiveRecomputation::attention;
  AttentionKernel flash = AttentionKernel::flash_2;  // what "flash" or an empty cell means
  AttentionKernel transformer_engine = AttentionKernel::library;  // what that library chose
  VocabularyPadding padding = VocabularyPadding::none;
  std::int64_t vocab = 0;            // 0: no assumption
  std::int64_t shard_group = 0;      // accelerators that share one sharded copy; 0: all
  bool narrow_gradients = false;     // reduced in the 16 bits of the weights
  bool balances_parameters = false;  // stages hold as equal parameters as whole layers allow
  std::string_view overlap_source =
      "gradient reduction and parameter gather overlapped: the default of a plan";
};

}  // namespace orrery
