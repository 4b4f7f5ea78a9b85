// Edits that ask the cost model how long kernels would take.
//
//   resize A to B   every dimension A of a tensor becomes B, and those that change with it, as far
//                   as they are known (whatif/known_division.h; else multiples of A, in
//                   proportion): hidden size, feed-forward size, sequence, micro-batch
//   accelerator X   the same kernels, or those selected, on another accelerator
//   price WHERE     matrix products take what the model says, on the recorded accelerator
//
// The first two scale the recorded time with a ratio of two predictions, so that what the model
// gets wrong of this kernel cancels:
//
//   t' = t * cost(new) / cost(recorded)
//
//   matrix products      cost/kernel: tiles, waves, roofline, with the shapes of their inputs;
//                        without shapes, the peak rates of their format
//   attention,           resized: elements of the inputs, of attention squared along the sequence
//   convolution          as far as it is the resized dimension; other accelerator: peak rates
//   all other kernels    bytes: elements of the inputs; other accelerator: bandwidth of memory
//   communications       resized: in proportion, as far as their volume is a multiple of A
//   copies               resized: as all other kernels; other accelerator: unchanged
//
// Resizing without a known accelerator uses FLOPs alone. Times of the host stay. Operations of a
// predicted step are priced by themselves, as said below.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "analyze/recorded_accelerator.h"
#include "analyze/recorded_attention.h"
#include "cost/kernel/kernel_model.h"
#include "lower/price.h"
#include "replay/graph_run.h"
#include "replay/simulated_recording.h"
#include "trace/recorded_arguments.h"
#include "whatif/edit_language.h"
#include "whatif/edit_verb.h"
#include "whatif/edited_run.h"
#include "whatif/known_division.h"
#include "whatif/known_edits.h"
#include "whatif/network_edits.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

// Edits of a predicted step that ask the cost model: its operations say what they depend on besides
// the machine (graph/operation.h), so that they can be priced again (lower/price.h).
//
//   accelerator CLUSTER   t' = t * price(operation, CLUSTER) / predicted time of the operation
//   price WHERE           t' = predicted time of the operation, of matrix products
//
// Kernels, communications and copies are priced again; stated times (waits for the host, losses
// that a simulation found) and operations without parts keep their time. On the cluster of the
// prediction nothing changes. On another the step is about the one that `orrery estimate` predicts
// there: shapes, kernels, the places of groups and the schedule stay as they were chosen for the
// first cluster, as do the losses of computing beside communication.

NodeIndex node_of(const PredictedOperations& operations, const RunWork& work) {
  return NodeIndex(static_cast<std::size_t>(operations.nodes[work.trace][work.event]));
}

// Whether groups and messages of the step lie on the levels of a cluster as they do on its own.
Result<void> check_levels(const Graph& graph, const Cluster& cluster, const Edit& edit) {
  const auto fits = [&](const Group& group) {
    const std::vector<int>& members = group.shape.members;
    if (members.empty()) return group.shape.size <= 1;
    if (members.size() != cluster.levels.size() || members.front() < 1 ||
        members.back() != group.shape.size || !std::ranges::is_sorted(members)) {
      return false;
    }
    for (std::size_t l = 0; l < members.size(); ++l) {
      if (members[l] > cluster.levels[l].accelerators) return false;
    }
    return true;
  };
  const auto groups = graph.groups();
  bool all = std::ranges::all_of(groups, fits);
  for (const Operation& operation : graph.operations()) {
    for (const OperationPart& part : operation.parts) {
      const auto* message = std::get_if<Message>(&part.what);
      all = all && (message == nullptr || message->level < cluster.levels.size());
    }
  }
  if (all) return {};
  return bad_input(
      fmt::format("the groups of the step do not lie on the {} fabric level{} of {}",
                  cluster.levels.size(), cluster.levels.size() == 1 ? "" : "s", cluster.name),
      to_text(edit), "estimate on this cluster, which places the groups again");
}

// Errors: an unknown cluster; one on which the groups of the step do not lie as they did; nothing
// selected.
Result<void> price_on_cluster(EditedRun& run, AppliedEdit& edit, const EditContext& context) {
  const Graph& graph = context.operations->graph;
  ORRERY_TRY(const Cluster cluster, parse_cluster(edit.edit.name, context.catalog));
  ORRERY_RETURN_IF_ERROR(check_alike(cluster, "another cluster for the same step"));
  ORRERY_RETURN_IF_ERROR(check_levels(graph, cluster, edit.edit));
  ORRERY_TRY(const CostContext costs, cost_context(cluster, context.catalog));
  const std::vector<double> priced = priced_durations(graph, costs);
  for (const std::uint32_t w : run.selected(edit.edit.where)) {
    const NodeIndex n = node_of(*context.operations, run.graph().works[w]);
    const double predicted = graph.duration(n).count();
    if (graph.operation(n).parts.empty() || predicted <= 0) continue;
    run.set_duration_ns(w, scaled_ns(run.duration_ns(w), priced[n.value()] / predicted));
    ++edit.changed;
  }
  if (edit.changed > 0) {
    edit.assumed.push_back(fmt::format(
        "operations take what the cost model says of them on {}; shapes, kernels, the places of "
        "groups and what overlaps stay as predicted",
        cluster.name));
  }
  return changed_something(edit);
}

// Errors: no matrix product is selected.
Result<void> price_as_predicted(EditedRun& run, AppliedEdit& edit, const EditContext& context) {
  const Graph& graph = context.operations->graph;
  for (const std::uint32_t w : run.selected(edit.edit.where)) {
    const NodeIndex n = node_of(*context.operations, run.graph().works[w]);
    const OperationParts& parts = graph.operation(n).parts;
    const bool product = std::ranges::any_of(parts, [](const OperationPart& part) {
      const auto* kernel = std::get_if<Kernel>(&part.what);
      return kernel != nullptr && std::holds_alternative<GemmShape>(kernel->shape);
    });
    if (!product) continue;
    run.set_duration_ns(w, nanoseconds(graph.duration(n)));
    ++edit.changed;
  }
  if (edit.changed > 0)
    edit.assumed.emplace_back("matrix products take the time predicted of them");
  return changed_something(edit);
}

// The format of an operator's first tensor; 16-bit where nothing is recorded.
NumberFormat format_of(std::string_view types) {
  const auto has = [&](std::string_view word) {
    return types.find(word) != std::string_view::npos;
  };
  if (has("Float8")) return NumberFormat::fp8;
  if (has("BFloat16")) return NumberFormat::bf16;
  if (has("Half")) return NumberFormat::fp16;
  if (has("double")) return NumberFormat::fp64;
  if (has("float")) return NumberFormat::fp32;
  return NumberFormat::bf16;
}

std::optional<FlopsPerSecond> rate(const Accelerator& accelerator, NumberFormat format) {
  if (const auto peak = accelerator.peak(format)) return peak;
  // Accelerators without bf16 run it as fp16.
  return format == NumberFormat::bf16 ? accelerator.peak(NumberFormat::fp16) : std::nullopt;
}

// One accelerator with its kernels.
struct Device {
  Accelerator accelerator;
  KernelModel model;
};

Result<Device> device_of(const Accelerator& accelerator, const Catalog& catalog) {
  ORRERY_TRY(KernelParameters parameters, load_kernel_parameters(catalog, accelerator));
  return Device{accelerator, KernelModel(std::move(parameters))};
}

// The attention that launched a work, where its shapes are recorded.
std::optional<RecordedAttention> attention_of(const EditedRun& run, const RunWork& work) {
  const RecordedTrace& trace = run.traces()[work.trace];
  const std::uint32_t op = run.links(work.trace).inner_operator[work.event];
  if (op == kNoEvent || trace.kind[op] != EventKind::cpu_operator ||
      trace.details[op] == kNoDetails) {
    return std::nullopt;
  }
  return recorded_attention(trace.name_of(op),
                            recorded_arguments(trace, trace.operators[trace.details[op]]));
}

std::vector<Shape> resized(std::vector<Shape> shapes, const ResizedDimensions& change) {
  for (Shape& shape : shapes) {
    for (std::int64_t& n : shape) n = change(n);
  }
  return shapes;
}

// "4096 to 8192, 512 to 1024 and 3 more"
std::string text_of(const std::map<std::int64_t, std::int64_t>& dimensions) {
  constexpr std::size_t kMost = 6;
  std::string out;
  std::size_t said = 0;
  for (const auto& [from, to] : dimensions) {
    if (said++ < kMost) out += fmt::format("{}{} to {}", out.empty() ? "" : ", ", from, to);
  }
  return said > kMost ? out + fmt::format(" and {} more", said - kMost) : out;
}

double product_flops(const GemmShape& s) { return 2 * s.groups * s.m * s.n * s.k; }

// Accelerators of the recordings; empty where one is not known.
std::vector<std::optional<Device>> recorded_devices(const EditedRun& run, const Catalog& catalog) {
  std::vector<std::optional<Device>> out;
  for (const RecordedTrace& trace : run.traces()) {
    std::optional<Device> device;
    if (const auto found = recorded_accelerator(catalog, trace)) {
      if (auto loaded = device_of(*found, catalog)) device = std::move(*loaded);
    }
    out.push_back(std::move(device));
  }
  return out;
}

Result<void> apply_resize(EditedRun& run, AppliedEdit& edit, EditContext& context) {
  if (edit.edit.from == edit.edit.count) {
    edit.assumed.emplace_back("dimensions are as recorded");
    return {};
  }
  ORRERY_TRY(const ResizedDimensions change, ResizedDimensions::of(edit.edit, context.known));
  const auto devices = recorded_devices(run, context.catalog);
  const auto latencies = assumed_latencies_ns(run);
  std::map<std::int64_t, std::int64_t> dimensions;
  std::size_t products = 0;
  std::size_t others = 0;
  std::size_t communications = 0;
  for (std::uint32_t w = 0; w < run.graph().works.size(); ++w) {
    const RunWork& work = run.graph().works[w];
    const WorkSubject s = run.subject(work);
    const std::int64_t t = run.duration_ns(w);
    if (run.communicates(work)) {
      if (!s.volume || !s.element) continue;
      const double elements = *s.volume / *s.element;
      const double now = change.elements(elements);
      if (now == elements) continue;
      const std::int64_t a =
          std::min(t, latencies.at(fmt::format("{}\n{}", s.collective, s.group)));
      run.set_duration_ns(w, a + scaled_ns(t - a, now / elements));
      ++communications;
      continue;
    }
    const std::vector<Shape> before = tensor_shapes(s.shapes);
    const std::vector<Shape> after = resized(before, change);
    if (before == after) continue;
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t d = 0; d < before[i].size(); ++d) {
        if (before[i][d] != after[i][d]) dimensions.emplace(before[i][d], after[i][d]);
      }
    }
    const auto old_product = product_shape(s.op, before);
    const auto new_product = product_shape(s.op, after);
    double ratio = elements_of(after) / elements_of(before);
    if (old_product && new_product) {
      const auto& device = devices[work.trace];
      const NumberFormat format = format_of(s.types);
      ratio = device ? device->model.gemm(*new_product, format) /
                           device->model.gemm(*old_product, format)
                     : product_flops(*new_product) / product_flops(*old_product);
      ++products;
    } else {
      ++others;
    }
    run.set_duration_ns(w, scaled_ns(t, ratio));
  }
  edit.changed = products + others + communications;
  if (edit.changed == 0) {
    return bad_input(
        fmt::format("no recorded shape has a dimension that is {} or a multiple", edit.edit.from),
        to_text(edit.edit), "shapes are recorded where the profiler is told to (record_shapes)");
  }
  edit.assumed.push_back(fmt::format(
      "{}dimensions {}", change.role().empty() ? "" : change.role() + ": ", text_of(dimensions)));
  edit.assumed.push_back(
      fmt::format("{} matrix products by the cost model, {} other kernels by the elements of their "
                  "inputs, {} communications by their volume; the host's work stays",
                  products, others, communications));
  return {};
}

Result<void> apply_accelerator(EditedRun& run, AppliedEdit& edit, EditContext& context) {
  if (context.operations != nullptr) return price_on_cluster(run, edit, context);
  const Catalog& catalog = context.catalog;
  ORRERY_TRY(const Accelerator wanted, load_accelerator(catalog, edit.edit.name));
  ORRERY_TRY(const Device target, device_of(wanted, catalog));
  const auto devices = recorded_devices(run, catalog);
  std::size_t products = 0;
  std::size_t attentions = 0;
  std::size_t by_rate = 0;
  std::size_t by_bandwidth = 0;
  std::string recorded_name;
  for (std::size_t t = 0; t < devices.size(); ++t) {
    if (devices[t]) {
      recorded_name = devices[t]->accelerator.name;
      continue;
    }
    const RecordedTrace& trace = run.traces()[t];
    return fail(ErrorCode::not_found,
                trace.devices.empty()
                    ? "the recording does not name its accelerator"
                    : fmt::format("the catalog has no '{}'", trace.devices.front().name),
                trace.file, "orrery catalog accelerators lists them");
  }
  for (std::uint32_t w = 0; w < run.graph().works.size(); ++w) {
    const RunWork& work = run.graph().works[w];
    const WorkSubject s = run.subject(work);
    if (run.communicates(work) || s.kernel_class == KernelClass::copy) continue;
    if (!run.selects(edit.edit.where, work)) continue;
    const Device& source = *devices[work.trace];
    const NumberFormat format = format_of(s.types);
    const auto old_rate = rate(source.accelerator, format);
    const auto new_rate = rate(target.accelerator, format);
    const auto product = product_shape(s.op, tensor_shapes(s.shapes));
    const bool computes = s.kernel_class == KernelClass::matrix_product ||
                          s.kernel_class == KernelClass::attention ||
                          s.kernel_class == KernelClass::convolution;
    double ratio = source.accelerator.memory.bandwidth / target.accelerator.memory.bandwidth;
    if (computes && product) {
      const Seconds before = source.model.gemm(*product, format);
      ratio = before > Seconds(0) ? target.model.gemm(*product, format) / before : 1;
      ++products;
    } else if (const auto attention = s.kernel_class == KernelClass::attention
                                          ? attention_of(run, work)
                                          : std::nullopt) {
      const AttentionKernel kernel = recorded_attention_kernel(s.kernel);
      const Seconds before =
          source.model.attention(attention->shape, kernel, attention->direction, format);
      const Seconds after =
          target.model.attention(attention->shape, kernel, attention->direction, format);
      ratio = before > Seconds(0) ? after / before : 1;
      ++attentions;
    } else if (computes && old_rate && new_rate) {
      ratio = *old_rate / *new_rate;
      ++by_rate;
    } else {
      ++by_bandwidth;
    }
    run.set_duration_ns(w, scaled_ns(run.duration_ns(w), ratio));
    ++edit.changed;
  }
  edit.assumed.push_back(fmt::format(
      "from {} to {}: {} matrix products and {} attentions by the cost model, {} other kernels "
      "that compute by peak rates, {} by the bandwidth of memory; the host, copies and the network "
      "stay",
      recorded_name, wanted.name, products, attentions, by_rate, by_bandwidth));
  return {};
}

Result<void> apply_price(EditedRun& run, AppliedEdit& edit, EditContext& context) {
  if (context.operations != nullptr) return price_as_predicted(run, edit, context);
  const auto devices = recorded_devices(run, context.catalog);
  std::size_t others = 0;
  for (const std::uint32_t w : run.selected(edit.edit.where)) {
    const RunWork& work = run.graph().works[w];
    const WorkSubject s = run.subject(work);
    const auto product = product_shape(s.op, tensor_shapes(s.shapes));
    if (!product || run.communicates(work) || s.kernel_class != KernelClass::matrix_product) {
      ++others;
      continue;
    }
    const auto& device = devices[work.trace];
    if (!device) {
      return bad_input("the recording does not name an accelerator of the catalog",
                       to_text(edit.edit), "set WHERE to TIME says what kernels take");
    }
    const Seconds time = device->model.gemm(*product, format_of(s.types));
    run.set_duration_ns(w, scaled_ns(1, time.value() * 1e9));
    ++edit.changed;
  }
  if (edit.changed == 0) {
    return bad_input("no matrix product with recorded shapes is selected", to_text(edit.edit),
                     "shapes are recorded where the profiler is told to");
  }
  edit.assumed.push_back(fmt::format(
      "{} matrix products take what the cost model says of their shapes; {} other works keep their "
      "times",
      edit.changed, others));
  return {};
}

std::optional<EditConflict> resized_twice(const Edit& before, const Edit& edit) {
  const bool again =
      before.verb == edit.verb && (before.from == edit.from || before.count == edit.from);
  if (!again) return std::nullopt;
  return EditConflict{": both count from what is recorded", "write one of them"};
}

std::optional<EditConflict> priced_after_change(const Edit& before, const Edit&) {
  if (!before.verb->changes_kernels) return std::nullopt;
  return EditConflict{
      ", which it would undo: recorded shapes are priced on the recorded accelerator",
      "write price first"};
}

}  // namespace

const EditVerb kResizeEdit{.verb = "resize",
                           .form = "resize N to N",
                           .operand = EditOperand::count_to_count,
                           .asks_division = true,
                           .changes_kernels = true,
                           .conflict = resized_twice,
                           .apply = apply_resize};

const EditVerb kAcceleratorEdit{.verb = "accelerator",
                                .form = "accelerator NAME [WHERE]",
                                .reach = EditReach::durations,
                                .operand = EditOperand::name,
                                .where = EditPart::may,
                                .changes_kernels = true,
                                .conflict = counted_twice,
                                .apply = apply_accelerator};

const EditVerb kPriceEdit{.verb = "price",
                          .form = "price WHERE",
                          .reach = EditReach::durations,
                          .where = EditPart::must,
                          .conflict = priced_after_change,
                          .apply = apply_price};

}  // namespace orrery
