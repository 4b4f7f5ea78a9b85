// One measured training run: a row of the files in validation/measured.
//
// The columns are those of validation/measured/README.md; every one of them has a member of the
// same name here. An empty cell is an empty string or an empty optional and means "unknown": what
// is then assumed is decided by run_convention.h, not here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/calibration.h"
#include "document/comma_separated.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

inline constexpr double kGibibyte = 1024.0 * 1024 * 1024;

struct MeasuredRow {
  std::string file;  // the row came from
  int line = 0;

  std::string row_id, source_id, source, table, phase, model, catalog_model;
  std::optional<double> parameters_b;  // 1e9 parameters
  std::optional<std::int64_t> num_layers, hidden, num_heads, num_kv_heads, head_dim, ffn_hidden;
  std::string ffn_kind;
  std::optional<std::int64_t> vocab, seq_len, num_experts, top_k, expert_ffn;
  std::string architecture_source;

  std::string accelerator;
  std::optional<double> accelerator_memory_gb;  // as marketed; see scenario_of_row.h
  std::string accelerator_note;
  std::optional<std::int64_t> num_gpus, gpus_per_node;
  std::string intra_node_link, inter_node_link;

  std::string framework, precision, precision_detail;
  std::optional<std::int64_t> tp, pp, vpp, dp, cp, ep, etp;
  std::string sequence_parallel, schedule;
  std::optional<std::int64_t> micro_batch, global_batch, microbatches;
  std::string recompute, recompute_detail;
  std::optional<std::int64_t> zero_stage;
  std::string sharding_detail, offload, attention_kernel;

  std::optional<Seconds> step_time, step_time_min, step_time_max;
  std::optional<double> tokens_per_s_per_gpu, tokens_per_s, samples_per_s;
  std::optional<FlopsPerSecond> tflops_per_gpu;
  std::optional<double> mfu_percent, hfu_percent;
  std::optional<FlopsPerSecond> peak_tflops;
  std::optional<Bytes> memory_per_gpu;
  std::string memory_kind;
  std::optional<double> time_to_train_min;

  std::string variant, status, reading, derived, flops_kind, flops_definition, missing, notes;

  // What only some sources state.
  std::string norm_kernel, softmax_kernel, vocabulary_method, compile, cuda_graphs, cross_entropy;
  std::string async_tp, dp_overlap, pp_overlap, context_parallel, placement;
  std::string token_drop, routing, expert_dispatch, expert_overlap, mtp, tie_embeddings;
  std::string gradient_format, optimizer_shard_group, end_stage_layers;
  std::optional<std::int64_t> dense_layers;

  // Keys of `variant` that are no column, with commas between them.
  std::string unread;

  // "file.csv:12", for messages.
  [[nodiscard]] std::string place() const { return file + ":" + std::to_string(line); }
};

// Every column a file may have, in the order of the README.
const std::vector<std::string>& measured_columns();

// A cell as text, in the unit of its column; equal numbers give equal text. `column` is one of
// measured_columns().
std::string cell_text(const MeasuredRow& row, std::string_view column);

// Rows that can be used, and every row that cannot, with its place and the reason.
struct MeasuredRows {
  std::vector<MeasuredRow> rows;
  std::vector<RowProblem> problems;
};

// Whether a table holds measured runs: it names rows, accelerators and how many of them.
bool is_measured_rows(const CommaSeparated& table);

// Columns may stand in any order; those that describe a run (row_id, accelerator, num_gpus,
// seq_len, tp, pp, micro_batch, global_batch, precision) must be there, and one of step_time_s,
// memory_per_gpu_gib and status; the others may be left out; unknown ones are named and not read. A
// row is left out for: a cell that is no number where the column holds numbers (a unit written
// beside it included), not positive (zero_stage, vpp, etp and percentages may be 0), infinite,
// above 1e18 or below 1e-18; a utilisation above 100 %; a step time outside its own spread; an
// empty row_id; repeating another row. `variant` may hold cells, too: "compile=on mtp=off" fills
// those columns where they are empty. Error: absent columns.
Result<MeasuredRows> measured_rows(CommaSeparated table);

// Takes out the rows that repeat an earlier one and names them: those of one row_id; those equal in
// all cells but the row_id; and those equal in all that describes and measures the run, if a figure
// of four digits or more is among it. Runs that were measured again agree in three digits by
// chance, and where both ran out of memory always: such rows stay. O(rows x columns x log rows).
std::vector<RowProblem> leave_out_repeats(std::vector<MeasuredRow>& rows);

// The same from the text of a file. Errors: also those of parse_comma_separated.
Result<MeasuredRows> parse_measured_rows(std::string_view text, std::string file);

// Reads the file, or standard input for "-".
Result<MeasuredRows> read_measured_rows(const std::string& path);

}  // namespace orrery
