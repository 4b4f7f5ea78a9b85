#include "infer/kernel_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/recorded_accelerator.h"
#include "cluster/cluster.h"
#include "cost/collective/collective.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {
namespace {

// Prices rows on one accelerator.
class Pricing {
 public:
  Pricing(KernelModel model, CollectiveParameters collectives, std::string accelerator,
          const Catalog& catalog)
      : model_(std::move(model)),
        collectives_(std::move(collectives)),
        accelerator_(std::move(accelerator)),
        catalog_(catalog) {}

  // Nothing where there is no model: `why` is set.
  std::optional<Seconds> price(RecordedKernel& row) {
    switch (row.kind) {
      case RecordedKernelKind::product:
        return model_.gemm(row.product, *row.format);
      case RecordedKernelKind::attention:
        return model_.attention(row.attention, row.attention_kernel, row.direction, *row.format);
      case RecordedKernelKind::memory_bound:
        return model_.memory_bound(row.moved) +
               model_.parameters().memory_floor * std::max(0.0, row.launches - 1);
      case RecordedKernelKind::communication:
        return communication(row);
      case RecordedKernelKind::other:
        return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::optional<Seconds> communication(RecordedKernel& row) {
    const Cluster* cluster = cluster_of(row.ranks);
    if (cluster == nullptr || (!row.collective && !row.sends)) {
      row.why = cluster == nullptr
                    ? fmt::format("{} ranks are not a whole number of servers", row.ranks)
                    : fmt::format("no cost model of {}", row.name);
      return std::nullopt;
    }
    if (row.sends) return point_to_point(row.moved, cluster->levels.front(), collectives_);
    std::vector<std::int64_t> domain;
    for (const FabricLevel& level : cluster->levels) domain.push_back(level.accelerators);
    const GroupShape group = group_shape(static_cast<int>(row.ranks), 1, domain);
    return collective(*row.collective, row.moved, group, cluster->levels, collectives_).time;
  }

  const Cluster* cluster_of(std::int64_t ranks) {
    if (ranks < 2 || ranks > kMaxAccelerators) return nullptr;
    const auto [it, is_new] = clusters_.try_emplace(ranks);
    if (is_new) {
      auto made = parse_cluster_name(fmt::format("{}:{}", accelerator_, ranks), catalog_);
      if (made) it->second = std::move(*made);
    }
    return it->second ? &*it->second : nullptr;
  }

  KernelModel model_;
  CollectiveParameters collectives_;
  std::string accelerator_;
  const Catalog& catalog_;
  std::map<std::int64_t, std::optional<Cluster>> clusters_;
};

std::string class_name(const RecordedKernel& row) {
  if (row.kind == RecordedKernelKind::product) {
    return fmt::format("product {}", name_of(*row.format));
  }
  if (row.kind == RecordedKernelKind::attention) {
    return fmt::format("attention {}", to_text(row.direction));
  }
  return row.of_class;
}

ErrorSummary errors_of(const std::vector<const ComparedKernel*>& rows) {
  std::vector<double> errors;
  errors.reserve(rows.size());
  for (const ComparedKernel* row : rows) errors.push_back(row->error());
  return error_summary(errors);
}

void compare_classes(KernelComparison& out) {
  struct Rows {
    ComparedClass summary;
    std::vector<const ComparedKernel*> with_error;
  };
  // Rows of one name with and without a prediction are two classes.
  std::map<std::pair<std::string, bool>, Rows> classes;
  std::vector<const ComparedKernel*> all;
  for (const ComparedKernel& row : out.kernels) {
    Rows& rows = classes[{class_name(row.recorded), row.predicted.has_value()}];
    ComparedClass& c = rows.summary;
    if (c.rows == 0) c.why = row.recorded.why;
    ++c.rows;
    c.calls += row.recorded.calls;
    const auto calls = static_cast<double>(row.recorded.calls);
    const Seconds total = row.recorded.total - row.recorded.waiting;
    c.total += total;
    // Without a prediction nothing is compared: the time as it was.
    c.recorded += row.predicted ? row.recorded.time * calls : total;
    if (!row.predicted) continue;
    c.predicted += *row.predicted * calls;
    if (row.recorded.waiting_included || !(row.recorded.time > Seconds(0))) continue;
    out.covered += total;
    rows.with_error.push_back(&row);
    all.push_back(&row);
  }
  for (auto& [key, rows] : classes) {
    rows.summary.name = key.first;
    if (!rows.with_error.empty()) rows.summary.errors = errors_of(rows.with_error);
    out.classes.push_back(std::move(rows.summary));
  }
  std::ranges::stable_sort(out.classes, [](const ComparedClass& a, const ComparedClass& b) {
    return a.total.value() > b.total.value();
  });
  if (!all.empty()) out.errors = errors_of(all);
}

}  // namespace

Result<KernelComparison> kernel_comparison(std::span<const RecordedTrace> run,
                                           const Catalog& catalog, const std::string& accelerator) {
  if (run.empty()) return bad_input("nothing is recorded");
  std::optional<Accelerator> found;
  if (!accelerator.empty()) {
    ORRERY_TRY(found, load_accelerator(catalog, accelerator));
  } else {
    found = recorded_accelerator(catalog, run.front());
  }
  if (!found) {
    const RecordedDevice* recorded = recorded_device(run.front());
    const std::string device = recorded == nullptr ? "" : recorded->name;
    return fail(ErrorCode::not_found,
                device.empty() ? std::string("the recording names no accelerator")
                               : fmt::format("the catalog has no '{}'", device),
                run.front().file, "--accelerator NAME says which; orrery catalog accelerators");
  }
  RecordedKernels recorded = recorded_kernels(run);
  if (recorded.kernels.empty()) {
    return bad_input("no kernels, copies or fills are recorded", run.front().file,
                     "record with ProfilerActivity.CUDA");
  }
  ORRERY_TRY(KernelParameters parameters, load_kernel_parameters(catalog, *found));
  ORRERY_TRY(CollectiveParameters collectives,
             load_collective_parameters(catalog, found->architecture, std::nullopt));
  KernelComparison out;
  out.accelerator = found->name;
  out.total = recorded.total;
  out.waiting = recorded.waiting;
  for (const KernelAssumption& a : parameters.assumed) {
    const bool concerns = std::ranges::any_of(recorded.kernels, [&](const RecordedKernel& row) {
      return row.format && a.concerns(*row.format, row.attention_kernel);
    });
    if (concerns) out.assumed.push_back(a.text);
  }
  Pricing pricing(KernelModel(std::move(parameters)), std::move(collectives), found->name, catalog);
  for (RecordedKernel& row : recorded.kernels) {
    ComparedKernel compared;
    compared.predicted = pricing.price(row);
    compared.recorded = std::move(row);
    out.kernels.push_back(std::move(compared));
  }
  compare_classes(out);
  return out;
}

}  // namespace orrery
