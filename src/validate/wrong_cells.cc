#include "validate/wrong_cells.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "cluster/accelerator.h"
#include "outcome/error.h"
#include "plan/plan.h"

namespace orrery {
namespace {

constexpr std::size_t kShown = 40;  // characters of a cell

class WrongCells {
 public:
  [[nodiscard]] std::string text() && { return std::move(text_); }

  void add(std::string_view column, const std::string& value, const std::string& right) {
    text_ += (text_.empty() ? "column '" : "; column '") + std::string(column) + "' holds '" +
             value.substr(0, kShown) + "' (" + right + ")";
  }

  // A column of few values, of which an empty cell is none.
  void one_of(std::string_view column, const std::string& value,
              std::initializer_list<std::string_view> values) {
    if (value.empty() || std::find(values.begin(), values.end(), value) != values.end()) return;
    std::string right = "expected ";
    for (const std::string_view known : values) {
      if (known != *values.begin()) right += known == *(values.end() - 1) ? " or " : ", ";
      right += known;
    }
    add(column, value, right);
  }

  // A number that another must divide.
  void divided(std::string_view column, const std::optional<std::int64_t>& whole,
               std::string_view divisor, const std::optional<std::int64_t>& by) {
    if (!whole || !by || *by < 1 || *whole % *by == 0) return;
    add(column, std::to_string(*whole),
        "expected a multiple of " + std::string(divisor) + ", " + std::to_string(*by));
  }

  void known(std::string_view column, const std::string& value, const Error& error) {
    add(column, value, error.message + (error.hint.empty() ? "" : "; " + error.hint));
  }

 private:
  std::string text_;
};

}  // namespace

std::string wrong_cells(const MeasuredRow& row, const Catalog& catalog) {
  WrongCells out;
  out.one_of("phase", row.phase, {"pre-training", "sft", "lora", "layer"});
  if (!row.catalog_model.empty()) {
    const auto model = catalog.find("models", row.catalog_model);
    if (!model) out.known("catalog_model", row.catalog_model, model.error());
  }
  if (!row.accelerator.empty()) {
    const auto accelerator = load_accelerator(catalog, row.accelerator);
    if (!accelerator) out.known("accelerator", row.accelerator, accelerator.error());
  }
  // The catalog may state a head size of its own.
  if (row.catalog_model.empty() && !row.head_dim) {
    out.divided("hidden", row.hidden, "num_heads", row.num_heads);
  }
  out.divided("num_heads", row.num_heads, "num_kv_heads", row.num_kv_heads);
  out.divided("num_heads", row.num_heads, "tp", row.tp);
  if (row.top_k && row.num_experts && *row.top_k > *row.num_experts) {
    out.add("top_k", std::to_string(*row.top_k),
            "expected at most num_experts, " + std::to_string(*row.num_experts));
  }
  std::string feed_forward = row.ffn_kind;
  std::replace(feed_forward.begin(), feed_forward.end(), '_', '-');
  out.one_of("ffn_kind", feed_forward, {"swiglu", "geglu", "gelu", "relu", "squared-relu"});
  if (!row.precision.empty() && !parse_enum<NumberFormat>(row.precision)) {
    out.one_of("precision", row.precision, {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32"});
  }
  out.one_of("sequence_parallel", row.sequence_parallel, {"yes", "no"});
  out.one_of("recompute", row.recompute, {"none", "selective", "full"});
  constexpr std::int64_t kFullySharded = 3;
  if (row.zero_stage && *row.zero_stage > kFullySharded) {
    out.add("zero_stage", std::to_string(*row.zero_stage), "expected 0, 1, 2 or 3");
  }
  out.one_of("attention_kernel", row.attention_kernel,
             {"unfused", "flash", "flash-1", "flash-2", "flash-3", "transformer-engine"});
  out.one_of("status", row.status, {"ok", "oom", "kernel-unavailable", "error"});
  return std::move(out).text();
}

}  // namespace orrery
