#include "report/plans/python_functions.h"

#include <fmt/format.h>

#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

#include "cost/kernel/kernel_parameters.h"
#include "document/result_key.h"
#include "document/results.h"
#include "report/plans/plan_reports.h"

namespace orrery {
namespace {

// A field of the shape `Shape`; nothing of kernels of another shape.
template <class Shape, auto kMember>
constexpr auto kOfShape = [](const AskedKernel& asked) {
  const auto* shape = std::get_if<Shape>(&asked.kernel.shape);
  return shape != nullptr ? std::optional(shape->*kMember) : std::nullopt;
};
template <auto kMember>
constexpr auto kOfProduct = kOfShape<GemmShape, kMember>;
template <auto kMember>
constexpr auto kOfAttention = kOfShape<AttentionShape, kMember>;

std::string_view kind_of(const AskedKernel& asked) {
  static constexpr std::array<std::string_view, 3> kKinds = {"memory", "product", "attention"};
  static_assert(std::is_same_v<decltype(asked.kernel.shape),
                               std::variant<std::monostate, GemmShape, AttentionShape>>);
  return kKinds[asked.kernel.shape.index()];
}

}  // namespace

template <>
inline constexpr auto kResults<AskedKernel> = table<AskedKernel>(
    "kernel", "A kernel whose time a function gives.",
    field("kind", "product, attention or memory: bound by the bytes it moves",
          [](auto& k) { return kind_of(k); }),
    field("predicted_s", "what the cost model says", [](auto& k) { return k.predicted; }),
    field("accelerator", "its name", [](auto& k) { return k.accelerator; }),
    field("format", "of a product or attention", [](auto& k) { return k.kernel.format; }),
    field("flops", "of all pieces", [](auto& k) { return k.kernel.flops; }),
    field("bytes", "read and written by one launch; of products, beyond what the shape says",
          [](auto& k) { return k.kernel.bytes / k.kernel.launches; }),
    optional_field("m", "rows of the result", kOfProduct<&GemmShape::m>),
    optional_field("n", "columns of the result", kOfProduct<&GemmShape::n>),
    optional_field("k", "the depth", kOfProduct<&GemmShape::k>),
    optional_field("groups", "independent products in one launch", kOfProduct<&GemmShape::groups>),
    optional_field("accumulates", "adds to a result in fp32", kOfProduct<&GemmShape::accumulates>),
    optional_field("direction", "of attention: forward or backward",
                   [](auto& k) {
                     return kind_of(k) == "attention" ? std::optional(k.kernel.direction)
                                                      : std::nullopt;
                   }),
    optional_field("algorithm", "of attention: unfused, flash-1, ...",
                   [](auto& k) {
                     return kind_of(k) == "attention" ? std::optional(k.kernel.attention)
                                                      : std::nullopt;
                   }),
    optional_field("batch", "sequences", kOfAttention<&AttentionShape::batch>),
    optional_field("queries", "positions", kOfAttention<&AttentionShape::queries>),
    optional_field("keys", "positions they see, before masks", kOfAttention<&AttentionShape::keys>),
    optional_field("heads", "of queries", kOfAttention<&AttentionShape::heads>),
    optional_field("kv_heads", "of keys and values", kOfAttention<&AttentionShape::kv_heads>),
    optional_field("query_key_dim", "elements of a head",
                   kOfAttention<&AttentionShape::query_key_dim>),
    optional_field("value_dim", "elements of a head", kOfAttention<&AttentionShape::value_dim>),
    optional_field("window", "tokens that a query sees at most; 0: all",
                   kOfAttention<&AttentionShape::window>),
    optional_field("causal", "whether later keys are masked",
                   kOfAttention<&AttentionShape::causal>));

namespace {

struct Known {
  Kernel kernel;
  Seconds predicted;
  std::string accelerator;
  bool operator==(const Known&) const = default;
};

struct Hash {
  std::size_t operator()(const Known& known) const {
    std::size_t out = std::hash<std::string>()(known.accelerator);
    for (const double part :
         {known.predicted.value(), known.kernel.flops.value(), known.kernel.bytes.value()}) {
      out = out * 31 + std::hash<double>()(part);
    }
    return out;
  }
};

class FunctionTimes : public KernelTimes {
 public:
  FunctionTimes(std::function<Result<double>(const AskedKernel&)> function, std::string file)
      : function_(std::move(function)), file_(std::move(file)) {}

  Seconds time(const Kernel& kernel, Seconds predicted, const std::string& accelerator) override {
    Known key{kernel, predicted, accelerator};
    {
      const std::lock_guard lock(mutex_);
      if (failure_) return predicted;
      if (const auto found = known_.find(key); found != known_.end()) return found->second;
    }
    const AskedKernel asked{kernel, predicted, accelerator};
    Result<double> value = function_(asked);
    if (value && !(*value > 0)) {
      value =
          bad_input(fmt::format("kernel_time returned {}, which is not above 0 s", *value), file_);
    }
    const std::lock_guard lock(mutex_);
    if (!value) {
      if (!failure_) {
        failure_ = value.error();
        failure_->message += " (of the kernel " + to_json(kernel_json(asked)) + ")";
      }
      return predicted;
    }
    return known_.emplace(std::move(key), Seconds(*value)).first->second;
  }

  [[nodiscard]] Result<void> outcome() const override {
    const std::lock_guard lock(mutex_);
    if (failure_) return fail(*failure_);
    return {};
  }

  [[nodiscard]] std::string source() const override {
    return "kernel times: from kernel_time in " + file_;
  }

 private:
  const std::function<Result<double>(const AskedKernel&)> function_;
  const std::string file_;
  mutable std::mutex mutex_;
  std::unordered_map<Known, Seconds, Hash> known_;
  std::optional<Error> failure_;
};

}  // namespace

std::optional<Value> kernel_key(const AskedKernel& asked, std::string_view key) {
  return answer_key(asked, key);
}

Value kernel_json(const AskedKernel& asked) { return answer(asked); }

std::shared_ptr<KernelTimes> kernel_times(
    std::function<Result<double>(const AskedKernel&)> function, std::string file) {
  return std::make_shared<FunctionTimes>(std::move(function), std::move(file));
}

Result<std::shared_ptr<KernelTimes>> python_kernel_times(const std::string& file,
                                                         Interpreters where,
                                                         const PythonLimits& limits) {
  ORRERY_TRY(std::shared_ptr<UserFunctions> functions,
             UserFunctions::load_file(file, 1, where, limits));
  if (!functions->has("kernel_time")) {
    return bad_input("does not define kernel_time", file,
                     "write def kernel_time(kernel): return kernel.predicted_s");
  }
  return kernel_times(
      [functions = std::move(functions)](const AskedKernel& asked) {
        return functions->call("kernel_time", [&](std::string_view key) {
          const auto value = kernel_key(asked, key);
          return value ? std::optional(to_json(*value)) : std::nullopt;
        });
      },
      file);
}

Result<Judge> python_judge(const std::string& file, int count, Interpreters where,
                           const PythonLimits& limits, const Subject& subject) {
  ORRERY_TRY(std::shared_ptr<UserFunctions> functions,
             UserFunctions::load_file(file, count, where, limits));
  const bool judges = functions->has("objective");
  const bool allows = functions->has("constraint");
  if (!judges && !allows) {
    return bad_input("defines neither objective nor constraint", file,
                     "write def objective(step): return step.step_time_s");
  }
  return Judge([functions = std::move(functions), judges, allows,
                subject](const Estimate& e) -> Result<std::optional<double>> {
    const EstimateExtras extras;
    const KeyText key = [&](std::string_view name) -> std::optional<std::string> {
      const auto value = estimate_json_key(e, subject, extras, name);
      return value ? std::optional(to_json(*value)) : std::nullopt;
    };
    if (allows) {
      ORRERY_TRY(const double allowed, functions->call("constraint", key));
      if (allowed == 0) return std::optional<double>();
    }
    if (!judges) return std::optional(e.step_time.value());
    ORRERY_TRY(const double value, functions->call("objective", key));
    return std::optional(value);
  });
}

}  // namespace orrery
