// What a source most likely did where its tables are silent.
//
// One row per source (and accelerator where that matters), from the table "What an empty cell most
// likely means" of validation/measured/README.md; what that table leaves open is taken from the
// defaults of the source's software, named at the entry. Every use of an entry is shown with the
// row it was used for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cost/kernel/kernel_parameters.h"
#include "plan/plan.h"

namespace orrery {

enum class Transfers { overlapped, exposed };
enum class SequenceParallelism { never, with_tensor_parallelism };
enum class VocabularyPadding { none, megatron };  // to a multiple of 128 x tp

struct SourceConvention {
  std::string_view source_id = "";                   // empty: any source
  std::string_view software = "megatron-core-0.12";  // entry of catalog/software
  bool dropout = false;
  std::string_view accelerator = "";  // the row's accelerator begins so; empty: any
  std::int64_t zero = 1;
  SequenceParallelism sequence_parallel = SequenceParallelism::with_tensor_parallelism;
  std::string_view link = "";    // text for network_link(), per node
  std::string_view fabric = "";  // catalog name where the text names no technology
  Transfers gradients = Transfers::overlapped;
  Transfers parameters = Transfers::overlapped;
  Transfers tensor_parallel = Transfers::exposed;
  std::string_view tensor_parallel_models = "";  // overlapped for models that begin so, if any
  ContextParallel context_parallel = ContextParallel::ring;
  AttentionKernel flash = AttentionKernel::flash_2;  // what "flash" or an empty cell means
  AttentionKernel transformer_engine = AttentionKernel::library;  // what that library chose
  VocabularyPadding padding = VocabularyPadding::none;
  std::int64_t vocab = 0;            // 0: no assumption
  std::int64_t shard_group = 0;      // accelerators that share one sharded copy; 0: all
  bool narrow_gradients = false;     // reduced in the 16 bits of the weights
  bool balances_parameters = false;  // stages hold as equal parameters as whole layers allow
  std::string_view overlap_source = "";
};

// The first entry that fits; there is always one.
const SourceConvention& convention_of(std::string_view source_id, std::string_view accelerator);

std::span<const SourceConvention> source_conventions();

}  // namespace orrery
