// What a run most likely did where its row is silent.
//
// The facts are in validation/conventions, embedded in the program, each entry with its source:
//   frameworks.yaml   which framework the words of a row name, and what that framework does
//   sources.yaml      what is peculiar to a source of rows: its cluster, settings it states
//   elsewhere recipes.yaml      what published recipes decide for a model networks.yaml     what
//   words for networks mean
// An entry applies to the rows that its `when` fits. Its keys are columns of a row, or
// `convention`, the framework found so far; its values are patterns: "h100*" (begins so), "2.." and
// "2019..2021" (a number in that range), any other text (equal). `COLUMN_says` asks for whole
// words, in any case. Of a list one pattern must fit; of several keys all. Entries that fit are
// laid over each other in order, a later one over an earlier one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/fields.h"
#include "measured/measured_row.h"
#include "model/transformer/architecture.h"
#include "plan/plan.h"
#include "plan/software.h"

namespace orrery {

inline constexpr std::string_view kUsualSoftware = "megatron-core-0.12";

// What selective recomputation means where the row names no modules.
enum class SelectiveRecomputation {
  attention,
  alternate_products,
  norms_and_activations,
  share_of_layers
};

// How the layers lie on the stages of a pipeline where the row does not say.
enum class StageLayers { even, balanced_parameters, full_then_rest };

// What the blocks of a model have besides their dimensions, where no entry of the catalog says.
struct BlockConvention {
  std::string family = "gpt";
  std::string words;  // said with the row
  NormKind norm = NormKind::layernorm;
  PositionEncoding position_encoding = PositionEncoding::rope;
  bool linear_bias = false;
  bool tie_embeddings = false;  // unless the row says no
  bool operator==(const BlockConvention&) const = default;
};
Fields<BlockConvention> fields_of(const BlockConvention*);

struct RunConvention {
  std::string framework;                               // empty: none that is known
  std::string software = std::string(kUsualSoftware);  // entry of catalog/software
  bool dropout = false;
  std::optional<Kernels> cross_entropy, router;  // whatever the profile says
  std::optional<LaunchPath> launches;
  std::optional<Fp8Scaling> fp8_scaling;
  std::int64_t zero = 1;
  bool sequence_parallel = true;  // where tensor parallelism is
  std::string link;               // text for network_link(), per node; empty: the usual network
  std::string fabric;             // catalog name where the text names no technology
  Overlap overlap;
  std::string overlap_source =
      "gradient reduction and parameter gather overlapped: the default of a plan";
  ContextParallel context_parallel = ContextParallel::ring;
  SelectiveRecomputation selective = SelectiveRecomputation::attention;
  AttentionKernel flash = AttentionKernel::flash_2;  // what "flash" or an empty cell means
  AttentionKernel transformer_engine = AttentionKernel::library;  // what that library chose
  std::int64_t vocab_multiple =
      0;                   // the vocabulary is padded to a multiple of this x tp; 0: it is not
  std::int64_t vocab = 0;  // 0: no assumption
  std::int64_t shard_group = 0;  // accelerators that share one sharded copy; 0: all
  std::string gradients;         // a format, or "as_weights"; empty: the usual one
  StageLayers stage_layers = StageLayers::even;
  std::int64_t chunks = 1;  // virtual stages of a device, where a pipeline states none
  BlockConvention blocks;
  ExpertDispatch dispatch = ExpertDispatch::all_to_all;
  bool packed = false;               // fine-tuning fills its sequences
  std::int64_t document_tokens = 0;  // with documents of so many tokens; 0: of one each
  std::int64_t adapter_rank = 0;     // of fine-tuning with adapters; 0: not known
  double fit_weight = 1;             // of a row in the calibration of steps
  bool judged_apart = false;         // not in the errors over all sources
  std::vector<std::string> assume;   // said with the row
};
Fields<RunConvention> fields_of(const RunConvention*);

// The framework that the row's words name, in its release; empty if none.
std::string framework_of(const MeasuredRow& row);

// By the row's source or, if that is not known, by its framework, and by its recipe. `software`:
// the profile of a row whose source and framework are unknown; with a profile come the other habits
// of its framework.
RunConvention convention_of(const MeasuredRow& row, std::string_view software = kUsualSoftware);

// Whether the rows of a source are left out of the errors over all sources.
bool judged_apart(std::string_view source_id);

// What words for a network mean (networks.yaml).
struct NetworkName {
  std::string says;
  std::string fabric;
  std::optional<BytesPerSecond> card;  // the name is meant only if a card has this rate
  std::optional<BytesPerSecond> link;  // of one link, where a text counts links without a rate
};
Fields<NetworkName> fields_of(const NetworkName*);
const std::vector<NetworkName>& network_names();

// What the validation report remarks on single sources (sources.yaml), by the place where.
std::string source_remark(std::string_view place);

// A published figure of one source with its target (sources.yaml).
struct SourceFigure {
  std::string figure;
  std::string source_id;
  double target = 0;
};
Fields<SourceFigure> fields_of(const SourceFigure*);
const std::vector<SourceFigure>& source_figures();

}  // namespace orrery
