#include "measured/measured_row.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>

#include "calibrate/measurement_cells.h"
#include "document/value.h"
#include "outcome/invariant.h"
#include "outcome/nearest_name.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

using Whole = std::optional<std::int64_t>;
using Real = std::optional<double>;
using Time = std::optional<Seconds>;
using Memory = std::optional<Bytes>;
using Rate = std::optional<FlopsPerSecond>;
using Member = std::variant<std::string MeasuredRow::*, Whole MeasuredRow::*, Real MeasuredRow::*,
                            Time MeasuredRow::*, Memory MeasuredRow::*, Rate MeasuredRow::*>;

struct Column {
  std::string_view name;
  Member member;
  bool required = false;
  bool zero_allowed = false;
};

constexpr bool kRequired = true;
constexpr bool kZeroAllowed = true;

// clang-format off
const std::array kColumns = {
    Column{"row_id", &MeasuredRow::row_id, kRequired},
    Column{"source_id", &MeasuredRow::source_id},
    Column{"source", &MeasuredRow::source},
    Column{"table", &MeasuredRow::table},
    Column{"phase", &MeasuredRow::phase},
    Column{"model", &MeasuredRow::model},
    Column{"catalog_model", &MeasuredRow::catalog_model},
    Column{"parameters_b", &MeasuredRow::parameters_b},
    Column{"num_layers", &MeasuredRow::num_layers},
    Column{"hidden", &MeasuredRow::hidden},
    Column{"num_heads", &MeasuredRow::num_heads},
    Column{"num_kv_heads", &MeasuredRow::num_kv_heads},
    Column{"head_dim", &MeasuredRow::head_dim},
    Column{"ffn_hidden", &MeasuredRow::ffn_hidden},
    Column{"ffn_kind", &MeasuredRow::ffn_kind},
    Column{"vocab", &MeasuredRow::vocab},
    Column{"seq_len", &MeasuredRow::seq_len, kRequired},
    Column{"num_experts", &MeasuredRow::num_experts},
    Column{"top_k", &MeasuredRow::top_k},
    Column{"expert_ffn", &MeasuredRow::expert_ffn},
    Column{"architecture_source", &MeasuredRow::architecture_source},
    Column{"accelerator", &MeasuredRow::accelerator, kRequired},
    Column{"accelerator_memory_gb", &MeasuredRow::accelerator_memory_gb},
    Column{"accelerator_note", &MeasuredRow::accelerator_note},
    Column{"num_gpus", &MeasuredRow::num_gpus, kRequired},
    Column{"gpus_per_node", &MeasuredRow::gpus_per_node},
    Column{"intra_node_link", &MeasuredRow::intra_node_link},
    Column{"inter_node_link", &MeasuredRow::inter_node_link},
    Column{"framework", &MeasuredRow::framework},
    Column{"precision", &MeasuredRow::precision, kRequired},
    Column{"precision_detail", &MeasuredRow::precision_detail},
    Column{"tp", &MeasuredRow::tp, kRequired},
    Column{"pp", &MeasuredRow::pp, kRequired},
    Column{"vpp", &MeasuredRow::vpp, false, kZeroAllowed},
    Column{"dp", &MeasuredRow::dp},
    Column{"cp", &MeasuredRow::cp},
    Column{"ep", &MeasuredRow::ep},
    Column{"etp", &MeasuredRow::etp, false, kZeroAllowed},
    Column{"sequence_parallel", &MeasuredRow::sequence_parallel},
    Column{"schedule", &MeasuredRow::schedule},
    Column{"micro_batch", &MeasuredRow::micro_batch, kRequired},
    Column{"global_batch", &MeasuredRow::global_batch, kRequired},
    Column{"microbatches", &MeasuredRow::microbatches},
    Column{"recompute", &MeasuredRow::recompute},
    Column{"recompute_detail", &MeasuredRow::recompute_detail},
    Column{"zero_stage", &MeasuredRow::zero_stage, false, kZeroAllowed},
    Column{"sharding_detail", &MeasuredRow::sharding_detail},
    Column{"offload", &MeasuredRow::offload},
    Column{"attention_kernel", &MeasuredRow::attention_kernel},
    Column{"step_time_s", &MeasuredRow::step_time},
    Column{"step_time_min_s", &MeasuredRow::step_time_min},
    Column{"step_time_max_s", &MeasuredRow::step_time_max},
    Column{"tokens_per_s_per_gpu", &MeasuredRow::tokens_per_s_per_gpu},
    Column{"tokens_per_s", &MeasuredRow::tokens_per_s},
    Column{"samples_per_s", &MeasuredRow::samples_per_s, false, kZeroAllowed},
    Column{"tflops_per_gpu", &MeasuredRow::tflops_per_gpu},
    Column{"mfu_percent", &MeasuredRow::mfu_percent, false, kZeroAllowed},
    Column{"hfu_percent", &MeasuredRow::hfu_percent, false, kZeroAllowed},
    Column{"peak_tflops", &MeasuredRow::peak_tflops},
    Column{"memory_per_gpu_gib", &MeasuredRow::memory_per_gpu},
    Column{"memory_kind", &MeasuredRow::memory_kind},
    Column{"time_to_train_min", &MeasuredRow::time_to_train_min},
    Column{"variant", &MeasuredRow::variant},
    Column{"status", &MeasuredRow::status},
    Column{"reading", &MeasuredRow::reading},
    Column{"derived", &MeasuredRow::derived},
    Column{"flops_kind", &MeasuredRow::flops_kind},
    Column{"flops_definition", &MeasuredRow::flops_definition},
    Column{"missing", &MeasuredRow::missing},
    Column{"notes", &MeasuredRow::notes},
    Column{"norm_kernel", &MeasuredRow::norm_kernel},
    Column{"softmax_kernel", &MeasuredRow::softmax_kernel},
    Column{"vocabulary_method", &MeasuredRow::vocabulary_method},
    Column{"compile", &MeasuredRow::compile},
    Column{"cuda_graphs", &MeasuredRow::cuda_graphs},
    Column{"cross_entropy", &MeasuredRow::cross_entropy},
    Column{"async_tp", &MeasuredRow::async_tp},
    Column{"dp_overlap", &MeasuredRow::dp_overlap},
    Column{"pp_overlap", &MeasuredRow::pp_overlap},
    Column{"context_parallel", &MeasuredRow::context_parallel},
    Column{"placement", &MeasuredRow::placement},
    Column{"token_drop", &MeasuredRow::token_drop},
    Column{"routing", &MeasuredRow::routing},
    Column{"expert_dispatch", &MeasuredRow::expert_dispatch},
    Column{"expert_overlap", &MeasuredRow::expert_overlap},
    Column{"mtp", &MeasuredRow::mtp},
    Column{"tie_embeddings", &MeasuredRow::tie_embeddings},
    Column{"gradient_format", &MeasuredRow::gradient_format},
    Column{"optimizer_shard_group", &MeasuredRow::optimizer_shard_group},
    Column{"end_stage_layers", &MeasuredRow::end_stage_layers},
    Column{"dense_layers", &MeasuredRow::dense_layers, false, kZeroAllowed},
};
// clang-format on

constexpr double kLargest = 1e18;
constexpr double kSmallest = 1e-18;
constexpr double kTera = 1e12;
constexpr int kTellingDigits = 4;  // figures that agree in so many agree by more than chance

// The unit that the name of a column states.
std::string_view unit_of(std::string_view column) {
  if (column.ends_with("_per_s") || column.ends_with("_per_s_per_gpu")) return " a second";
  if (column.ends_with("_s")) return " of seconds";
  if (column.ends_with("_gib")) return " of GiB";
  if (column.ends_with("_gb")) return " of GB";
  if (column.ends_with("_min")) return " of minutes";
  if (column.ends_with("_percent")) return " of percent";
  if (column.find("tflops") != std::string_view::npos) return " of TFLOP/s";
  if (column.ends_with("_b")) return " of billions";
  return "";
}

// Stores one cell; the error says what was expected.
class Store {
 public:
  Store(MeasuredRow& row, const Column& column, std::string& cell)
      : row_(row), column_(column), cell_(cell) {}

  Result<void> operator()(std::string MeasuredRow::* member) {
    row_.*member = std::move(cell_);
    return {};
  }
  Result<void> operator()(Whole MeasuredRow::* member) {
    return store(member, parsed_number<std::int64_t>(cell_), "a whole number",
                 [](std::int64_t n) { return n; });
  }
  Result<void> operator()(Real MeasuredRow::* member) {
    return real(member, [](double x) { return x; });
  }
  Result<void> operator()(Time MeasuredRow::* member) {
    return real(member, [](double x) { return Seconds(x); });
  }
  Result<void> operator()(Memory MeasuredRow::* member) {
    return real(member, [](double x) { return Bytes(x * kGibibyte); });
  }
  Result<void> operator()(Rate MeasuredRow::* member) {
    return real(member, [](double x) { return FlopsPerSecond(x * kTera); });
  }

 private:
  template <class T, class Convert>
  Result<void> real(std::optional<T> MeasuredRow::* member, Convert convert) {
    std::string expected = "a number" + std::string(unit_of(column_.name)) + " without its unit";
    if (unit_of(column_.name).empty()) expected = "a number";
    return store(member, parsed_number<double>(cell_), expected, convert);
  }

  template <class T, class Number, class Convert>
  Result<void> store(std::optional<T> MeasuredRow::* member, std::optional<Number> value,
                     const std::string& expected, Convert convert) {
    if (cell_.empty()) return {};
    const auto wrong = [&](const std::string& hint) {
      return bad_input(
          "column '" + std::string(column_.name) + "' holds '" + cell_.substr(0, 40) + "'",
          row_.place(), hint);
    };
    if (!value) return wrong("expected " + expected + ", or nothing if it is unknown");
    const double x = static_cast<double>(*value);
    if (!std::isfinite(x) || x > kLargest) return wrong("expected at most 1e18");
    if (x < 0 || (x == 0 && !column_.zero_allowed)) {
      return wrong(column_.zero_allowed ? "expected zero or more" : "expected more than zero");
    }
    if (x > 0 && x < kSmallest) return wrong("expected at least 1e-18");
    row_.*member = convert(*value);
    return {};
  }

  MeasuredRow& row_;
  const Column& column_;
  std::string& cell_;
};

const Column* column_named(std::string_view name) {
  const auto* const found = std::ranges::find(kColumns, name, &Column::name);
  return found == kColumns.end() ? nullptr : &*found;
}

// The columns in the order of the table; null for those not read, which are named in `problems`.
Result<std::vector<const Column*>> columns_of(const CommaSeparated& table,
                                              std::vector<RowProblem>& problems) {
  const std::string place = table.name + ":1";
  std::vector<const Column*> out;
  std::string unknown;
  for (const std::string& name : table.columns) {
    out.push_back(column_named(name));
    if (out.back() == nullptr) {
      const std::string shown = name.substr(0, 80);
      const std::string hint = name_hint(name, measured_columns());
      problems.push_back({place, "unknown column '" + shown + "' is not read" +
                                     (hint.empty() ? "" : " (" + hint + ")")});
      unknown += (unknown.empty() ? "; unknown columns: " : ", ") + shown;
    }
  }
  std::string absent;
  for (const Column& column : kColumns) {
    if (!column.required) continue;
    if (std::ranges::find(out, &column) != out.end()) continue;
    absent += (absent.empty() ? "" : ", ") + std::string(column.name);
  }
  const bool measures = std::ranges::any_of(out, [](const Column* column) {
    return column != nullptr && (column->name == "step_time_s" || column->name == "status" ||
                                 column->name == "memory_per_gpu_gib");
  });
  if (!measures) absent += (absent.empty() ? "" : ", ") + std::string("step_time_s");
  if (!absent.empty()) {
    return bad_input("columns are missing: " + absent + unknown, place,
                     "validation/measured/README.md lists the columns");
  }
  return out;
}

// Where a row was found, not what ran.
constexpr std::array<std::string_view, 7> kProvenance = {
    "row_id", "source", "table", "architecture_source", "reading", "derived", "notes"};
constexpr std::array<std::string_view, 11> kMeasurements = {
    "step_time_s",  "step_time_min_s",    "step_time_max_s",  "tokens_per_s_per_gpu",
    "tokens_per_s", "samples_per_s",      "tflops_per_gpu",   "mfu_percent",
    "hfu_percent",  "memory_per_gpu_gib", "time_to_train_min"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string cell_text(const MeasuredRow& row, const Column& column) {
  const auto text = [](double x) { return fmt::format("{:.12g}", x); };
  return std::visit(
      [&](auto member) -> std::string {
        const auto& cell = row.*member;
        if constexpr (std::is_same_v<std::decay_t<decltype(cell)>, std::string>) {
          return cell;
        } else {
          if (!cell) return "";
          using Cell = std::decay_t<decltype(*cell)>;
          if constexpr (std::is_same_v<Cell, std::int64_t>) return std::to_string(*cell);
          if constexpr (std::is_same_v<Cell, double>) return text(*cell);
          if constexpr (std::is_same_v<Cell, Seconds>) return text(cell->value());
          if constexpr (std::is_same_v<Cell, Bytes>) return text(cell->value() / kGibibyte);
          if constexpr (std::is_same_v<Cell, FlopsPerSecond>) return text(cell->value() / kTera);
          return "";
        }
      },
      column.member);
}

// Fills empty cells from "key=value key=value".
Result<void> read_variant(MeasuredRow& row) {
  for (std::string_view rest = row.variant; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = word.substr(0, equals);
    const Column* column = column_named(key);
    if (column == nullptr) {
      row.unread += (row.unread.empty() ? "" : ", ") + std::string(key.substr(0, 80));
    } else if (cell_text(row, *column).empty()) {
      std::string cell(word.substr(equals + 1));
      ORRERY_RETURN_IF_ERROR(std::visit(Store(row, *column, cell), column->member));
    }
  }
  return {};
}

// Of "0.02840": 3.
int significant_digits(std::string_view number) {
  number = number.substr(0, number.find('e'));
  std::string digits;
  for (const char c : number) {
    if (c >= '0' && c <= '9' && (c != '0' || !digits.empty())) digits += c;
  }
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return static_cast<int>(digits.size());
}

// What no run can have; empty if it can.
std::string impossible(const MeasuredRow& row) {
  for (const auto& [name, percent] :
       {std::pair{"mfu_percent", row.mfu_percent}, std::pair{"hfu_percent", row.hfu_percent}}) {
    if (percent && *percent > 100) {
      return std::string(name) + " is above 100 %: no run does more than its peak";
    }
  }
  constexpr double kRounding = 1e-3;
  if (row.step_time && row.step_time_min && *row.step_time_min > *row.step_time * (1 + kRounding)) {
    return "step_time_min_s is above step_time_s";
  }
  if (row.step_time && row.step_time_max && *row.step_time_max < *row.step_time * (1 - kRounding)) {
    return "step_time_max_s is below step_time_s";
  }
  return "";
}

}  // namespace

const std::vector<std::string>& measured_columns() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Column& column : kColumns) out.emplace_back(column.name);
    return out;
  }();
  return names;
}

std::string cell_text(const MeasuredRow& row, std::string_view column) {
  const Column* found = column_named(column);
  ORRERY_INVARIANT(found != nullptr);
  return cell_text(row, *found);
}

bool is_measured_rows(const CommaSeparated& table) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(table.columns, name) != table.columns.end();
  };
  return has("row_id") && has("accelerator") && has("num_gpus");
}

Result<MeasuredRows> measured_rows(CommaSeparated table) {
  MeasuredRows out;
  ORRERY_TRY(const std::vector<const Column*> columns, columns_of(table, out.problems));
  add_refused_records(table, out.problems);
  out.rows.reserve(table.records.size());
  for (CommaSeparated::Record& record : table.records) {
    MeasuredRow row;
    row.file = table.name;
    row.line = record.line;
    std::string wrong;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == nullptr) continue;
      auto stored = std::visit(Store(row, *columns[i], record.fields[i]), columns[i]->member);
      if (!stored && wrong.empty()) {
        wrong = stored.error().message + " (" + stored.error().hint + ")";
      }
    }
    if (auto stored = read_variant(row); !stored && wrong.empty()) {
      wrong = stored.error().message + " (" + stored.error().hint + ")";
    }
    if (wrong.empty() && row.row_id.empty()) wrong = "row_id is empty";
    if (wrong.empty()) wrong = impossible(row);
    if (wrong.empty()) {
      out.rows.push_back(std::move(row));
    } else {
      out.problems.push_back({row.place(), std::move(wrong)});
    }
  }
  for (RowProblem& problem : leave_out_repeats(out.rows)) {
    out.problems.push_back(std::move(problem));
  }
  return out;
}

std::vector<RowProblem> leave_out_repeats(std::vector<MeasuredRow>& rows) {
  std::vector<RowProblem> problems;
  std::map<std::string, std::string> ids;       // to the file
  std::map<std::string, std::string> contents;  // to row_id
  std::vector<MeasuredRow> kept;
  kept.reserve(rows.size());
  for (MeasuredRow& row : rows) {
    const std::string id = row.row_id.substr(0, 80);
    std::string whole = "all";
    std::string run = "run";
    bool telling = false;
    for (const Column& column : kColumns) {
      if (column.name == "row_id") continue;
      // Lengths keep cells apart whatever they hold.
      const std::string text = cell_text(row, column);
      const std::string cell = std::to_string(text.size()) + ":" + text;
      whole += cell;
      if (!is_one_of(kProvenance, column.name)) run += cell;
      telling |=
          is_one_of(kMeasurements, column.name) && significant_digits(text) >= kTellingDigits;
    }
    const auto [named, is_new] = ids.try_emplace(row.row_id, row.file);
    if (!is_new) {
      problems.push_back(
          {row.place(), "row_id '" + id + "' stands " +
                            (named->second == row.file ? std::string("twice")
                                                       : "in " + named->second + " too")});
      continue;
    }
    const auto same = contents.find(whole);
    const auto same_run = telling ? contents.find(run) : contents.end();
    if (same != contents.end() || same_run != contents.end()) {
      const auto& first = same != contents.end() ? same->second : same_run->second;
      problems.push_back({row.place(), "is row '" + first + "' again"});
      continue;
    }
    contents.emplace(std::move(whole), id);
    contents.emplace(std::move(run), id);
    kept.push_back(std::move(row));
  }
  rows = std::move(kept);
  return problems;
}

Result<MeasuredRows> parse_measured_rows(std::string_view text, std::string file) {
  ORRERY_TRY(CommaSeparated table, parse_comma_separated(text, std::move(file)));
  return measured_rows(std::move(table));
}

Result<MeasuredRows> read_measured_rows(const std::string& path) {
  ORRERY_TRY(const std::string text, read_file(path));
  return parse_measured_rows(text, path == "-" ? "standard input" : path);
}

}  // namespace orrery
