#include "infer/recorded_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "analyze/recorded_attention.h"
#include "analyze/recorded_message.h"
#include "analyze/recorded_work.h"
#include "analyze/spread.h"
#include "trace/collective_instances.h"
#include "trace/has.h"
#include "trace/kernel_class.h"
#include "trace/launch_links.h"
#include "trace/recorded_arguments.h"
#include "trace/recorded_time.h"

namespace orrery {
namespace {

// Fused operators of training libraries that read their arguments once and write one array: norms
// and softmax, forward and (reading a gradient beside the saved array) backward, and activations.
// Source: apex fused_layer_norm.py, Megatron-LM fused_softmax.py, fused_bias_gelu.py and
// fused_bias_swiglu.py. `moved` of any other operator is nothing.
struct FusedOperator {
  std::string_view of_class;
  Bytes moved;
};
FusedOperator fused_operator(std::string_view name, std::span<const RecordedArgument> arguments) {
  if (name.starts_with("aten::")) return {};
  const auto first = std::ranges::find_if(arguments, [](const RecordedArgument& a) {
    return a.is_tensor() && a.shapes[0].size() >= 2 && element_bytes(a.type) > 0;
  });
  if (first == arguments.end()) return {};
  const auto bytes_of = [](const RecordedArgument& a) {
    return elements_of(a) * static_cast<double>(element_bytes(a.type));
  };
  const double array = bytes_of(*first);
  double read = 0;
  for (const RecordedArgument& a : arguments) read += a.is_tensor() ? bytes_of(a) : 0;
  const bool backward = name.ends_with("Backward");
  const bool norm = has(name, "LayerNorm") || has(name, "RMSNorm") || has(name, "RmsNorm");
  if (norm || has(name, "Softmax")) {
    return {norm ? "normalization" : "softmax", Bytes(backward ? 3 * array : read + array)};
  }
  if (backward) return {};
  if (has(name, "GeLUFunction")) return {"elementwise", Bytes(read + array)};
  if (has(name, "SwiGLUFunction")) return {"elementwise", Bytes(read + array / 2)};
  return {};
}

// What an operator with these arguments does; without a kernel's name, calls or times.
std::optional<RecordedKernel> measured_operator(std::string_view name, std::string_view shapes,
                                                std::span<const RecordedArgument> arguments) {
  RecordedKernel out;
  out.name = name;
  out.shapes = shapes;
  if (const auto attention = recorded_attention(name, arguments)) {
    out.kind = RecordedKernelKind::attention;
    out.of_class = "attention";
    out.attention = attention->shape;
    out.direction = attention->direction;
    out.data_type = attention->type;
    return out;
  }
  const auto work = recorded_work(name, arguments);
  if (!work) {
    const FusedOperator fused = fused_operator(name, arguments);
    if (!(fused.moved > Bytes(0))) return std::nullopt;
    out.kind = RecordedKernelKind::memory_bound;
    out.of_class = fused.of_class;
    out.moved = fused.moved;
    return out;
  }
  out.of_class = to_text(work->operator_class);
  out.data_type = work->type;
  if (work->operator_class == RecordedWorkClass::product) {
    if (name == "aten::_grouped_mm" && arguments.size() >= 2 && arguments[0].is_tensor() &&
        arguments[1].is_tensor() && arguments[0].shapes[0].size() == 2 &&
        arguments[1].shapes[0].size() == 3) {
      // Rows of all groups by one matrix a group; how many rows each has is on the device.
      const Shape& a = arguments[0].shapes[0];
      const Shape& b = arguments[1].shapes[0];
      const auto groups = static_cast<double>(std::max<std::int64_t>(1, b[0]));
      out.product = {static_cast<double>(a[0]) / groups, static_cast<double>(b[2]),
                     static_cast<double>(b[1]), groups};
    } else if (const auto shape = product_shape(name, tensor_shapes(shapes))) {
      out.product = *shape;
    } else {
      return std::nullopt;
    }
    const GemmShape& p = out.product;
    if (!(p.m >= 1 && p.n >= 1 && p.k >= 1 && p.groups >= 1)) return std::nullopt;
    out.kind = RecordedKernelKind::product;
    return out;
  }
  if (work->operator_class == RecordedWorkClass::convolution) {
    out.why = "convolutions have no cost model";
    return out;
  }
  if (work->operator_class == RecordedWorkClass::attention || !(work->bytes > Bytes(0))) {
    return std::nullopt;
  }
  out.kind = RecordedKernelKind::memory_bound;
  out.moved = work->bytes;
  return out;
}

struct Group {
  RecordedKernel row;
  std::vector<std::int64_t> calls_ns;
  std::int64_t pieces = 0;
};

// Rows of all ranks by what makes them one measurement.
using Groups = std::map<std::string, Group>;

class Reader {
 public:
  Reader(const RecordedTrace& trace, const LaunchLinks& links, Groups& groups)
      : trace_(trace), links_(links), groups_(groups) {}

  std::int64_t read() {
    std::int64_t all_ns = 0;
    for (std::uint32_t e = 0; e < trace_.size(); ++e) {
      if (!is_device_work(trace_.kind[e])) continue;
      const bool communicates =
          trace_.kind[e] == EventKind::kernel && is_communication_kernel(trace_.name_of(e));
      if (communicates) continue;
      all_ns += trace_.duration_ns[e];
      add(e);
    }
    for (const auto& [op, call] : calls_) {
      Group& group = group_of(*measured(op), trace_.name_of(call.longest));
      group.calls_ns.push_back(call.ns);
      group.pieces += call.pieces;
    }
    return all_ns;
  }

 private:
  struct Call {
    std::uint32_t longest = 0;  // of its pieces
    std::int64_t ns = 0;
    std::int64_t pieces = 0;
  };
  using Key = std::array<std::uint32_t, 4>;

  const std::optional<RecordedKernel>& measured(std::uint32_t e) {
    static const std::optional<RecordedKernel> kNone;
    if (trace_.details[e] == kNoDetails) return kNone;
    const OperatorDetails& d = trace_.operators[trace_.details[e]];
    if (d.input_shapes == 0) return kNone;
    const auto [it, is_new] =
        known_.try_emplace(Key{trace_.name[e], d.input_shapes, d.input_types, d.concrete_inputs});
    if (is_new) {
      it->second = measured_operator(trace_.name_of(e), trace_.texts[d.input_shapes],
                                     recorded_arguments(trace_, d));
    }
    return it->second;
  }

  void add(std::uint32_t work) {
    const std::string_view kernel = trace_.name_of(work);
    const bool crosses = trace_.kind[work] == EventKind::copy && !has(kernel, "DtoD") &&
                         !has(kernel, "Device -> Device");
    const std::uint32_t direct = links_.operator_of(work);
    std::uint32_t op = crosses ? kNoEvent : direct;
    while (op != kNoEvent && !measured(op)) op = links_.inner_operator[op];
    if (op == kNoEvent) {
      add_other(work, direct, crosses);
      return;
    }
    Call& call = calls_[op];
    if (call.pieces == 0 || trace_.duration_ns[work] > trace_.duration_ns[call.longest]) {
      call.longest = work;
    }
    call.ns += trace_.duration_ns[work];
    ++call.pieces;
  }

  Group& group_of(RecordedKernel row, std::string_view kernel) {
    const std::string type = row.data_type;
    std::string key = fmt::format("{} {} {} {}", row.name, row.shapes, type, row.moved.value());
    if (row.kind == RecordedKernelKind::product || row.kind == RecordedKernelKind::attention) {
      row.format = recorded_format(type, kernel);
      if (!row.format) {
        row.kind = RecordedKernelKind::other;
        row.why = fmt::format("no cost model of {} in '{}'", row.of_class, type);
      }
    }
    if (row.kind == RecordedKernelKind::attention) {
      row.attention_kernel = recorded_attention_kernel(kernel);
      key += row.attention.causal ? " causal" : "";
    }
    const auto [it, is_new] = groups_.try_emplace(key);
    if (is_new) {
      it->second.row = std::move(row);
      it->second.row.kernel = kernel;
    }
    return it->second;
  }

  // One row a class and reason.
  void add_other(std::uint32_t work, std::uint32_t op, bool crosses) {
    RecordedKernel row;
    const std::string_view kernel = trace_.name_of(work);
    if (crosses) {
      row.of_class = "copy";
      row.why = "copies between host and device have no cost model";
    } else if (trace_.kind[work] != EventKind::kernel) {
      row.of_class = to_text(trace_.kind[work]);
      row.why = "their operators or shapes are not recorded";
    } else {
      const std::string_view inner = op == kNoEvent ? "" : trace_.name_of(op);
      const KernelClass c = kernel_class(kernel, inner, "");
      row.of_class = c == KernelClass::matrix_product ? "product" : to_text(c);
      const bool shapes = op != kNoEvent && trace_.details[op] != kNoDetails &&
                          trace_.operators[trace_.details[op]].input_shapes != 0;
      row.why = op == kNoEvent ? "their launch is not recorded"
                : shapes       ? "the work of their operators is not known"
                               : "no shapes are recorded";
    }
    row.name = row.of_class;
    Group& group = groups_[fmt::format("other {} {}", row.of_class, row.why)];
    if (group.row.name.empty()) {
      row.kernel = kernel;
      group.row = std::move(row);
    }
    group.calls_ns.push_back(trace_.duration_ns[work]);
    ++group.pieces;
  }

  const RecordedTrace& trace_;
  const LaunchLinks& links_;
  Groups& groups_;
  std::map<Key, std::optional<RecordedKernel>> known_;
  std::map<std::uint32_t, Call> calls_;
};

std::optional<CollectiveKind> kind_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return CollectiveKind::all_reduce;
    case Collective::all_gather:
      return CollectiveKind::all_gather;
    case Collective::reduce_scatter:
      return CollectiveKind::reduce_scatter;
    case Collective::all_to_all:
      return CollectiveKind::all_to_all;
    case Collective::broadcast:
      return CollectiveKind::broadcast;
    case Collective::reduce:
    case Collective::send_receive:
    case Collective::other:
      return std::nullopt;
  }
  return std::nullopt;
}

struct Transfers {
  RecordedKernel row;
  std::vector<std::int64_t> whole_ns;
  std::int64_t shortest_ns = 0;
  std::int64_t all_ns = 0;
  std::int64_t waiting_ns = 0;
};

std::int64_t add_communications(std::span<const RecordedTrace> run,
                                std::span<const LaunchLinks> links,
                                std::vector<RecordedKernel>& out) {
  std::map<std::string, Transfers> rows;
  std::int64_t all_ns = 0;
  for (const CollectiveInstance& instance : collective_instances(run)) {
    RecordedMessage message;
    std::int64_t ns = 0;
    std::int64_t waiting = 0;
    std::int64_t shortest = 0;
    for (const CollectiveMember& m : instance.members) {
      ns += m.transfer_ns + m.waiting_ns;
      waiting += m.waiting_ns;
      shortest = shortest == 0 ? m.transfer_ns : std::min(shortest, m.transfer_ns);
      if (message.bytes <= 0) message = recorded_message(run[m.trace], links[m.trace], m.event);
    }
    all_ns += ns;
    const std::int64_t ranks = message.ranks > 0 ? message.ranks : instance.ranks;
    const auto key =
        fmt::format("{} {} {} {}", to_text(message.collective), message.type, ranks, message.bytes);
    Transfers& transfers = rows[key];
    if (transfers.row.calls == 0) {
      const CollectiveMember& first = instance.members.front();
      transfers.row.kernel = run[first.trace].name_of(first.event);
      transfers.row.name = to_text(message.collective);
      transfers.row.of_class =
          message.collective == Collective::other ? "communication, other" : transfers.row.name;
      transfers.row.collective = kind_of(message.collective);
      transfers.row.sends = message.collective == Collective::send_receive;
      transfers.row.data_type = message.type;
      transfers.row.ranks = std::max<std::int64_t>(1, ranks);
      const bool known = message.bytes > 0 && ranks > 1;
      transfers.row.kind = known ? RecordedKernelKind::communication : RecordedKernelKind::other;
      if (!known) {
        transfers.row.why = ranks == 1  ? "groups of one rank"
                            : ranks > 1 ? "sizes are not recorded"
                                        : "groups are not recorded";
      }
      transfers.row.moved = Bytes(static_cast<double>(std::max<std::int64_t>(0, message.bytes)));
      transfers.shortest_ns = shortest;
    }
    ++transfers.row.calls;
    transfers.all_ns += ns;
    transfers.waiting_ns += waiting;
    transfers.shortest_ns = std::min(transfers.shortest_ns, shortest);
    if (ranks > 0 && std::cmp_greater_equal(instance.members.size(), ranks)) {
      transfers.whole_ns.push_back(instance.transfer_ns);
    }
  }
  for (auto& [key, transfers] : rows) {
    transfers.row.waiting_included = transfers.whole_ns.empty();
    transfers.row.total = seconds_of_ns(transfers.all_ns);
    transfers.row.waiting = seconds_of_ns(transfers.waiting_ns);
    transfers.row.time = seconds_of_ns(transfers.whole_ns.empty()
                                           ? transfers.shortest_ns
                                           : spread_of(std::move(transfers.whole_ns)).median_ns);
    out.push_back(std::move(transfers.row));
  }
  return all_ns;
}

}  // namespace

std::optional<NumberFormat> recorded_format(std::string_view type, std::string_view kernel) {
  if (type == "c10::BFloat16") return NumberFormat::bf16;
  if (type == "c10::Half") return NumberFormat::fp16;
  if (has(type, "Float8")) return NumberFormat::fp8;
  if (type == "double") return NumberFormat::fp64;
  if (type != "float") return std::nullopt;
  // cuBLAS and CUTLASS: tf32 in the name, or the tensor cores' 16x8x8 step on 32-bit operands.
  const bool tf32 = has(kernel, "tf32") || has(kernel, "TF32") || has(kernel, "s1688") ||
                    has(kernel, "tensorop_s") || has(kernel, "_xf32");
  return tf32 ? NumberFormat::tf32 : NumberFormat::fp32;
}

RecordedKernels recorded_kernels(std::span<const RecordedTrace> run) {
  RecordedKernels out;
  out.ranks = static_cast<std::int64_t>(run.size());
  std::vector<LaunchLinks> links;
  links.reserve(run.size());
  Groups groups;
  std::int64_t all_ns = 0;
  for (const RecordedTrace& trace : run) {
    links.push_back(launch_links(trace));
    all_ns += Reader(trace, links.back(), groups).read();
  }
  for (auto& [key, group] : groups) {
    RecordedKernel row = std::move(group.row);
    const Spread spread = spread_of(std::move(group.calls_ns));
    row.calls = spread.count;
    row.launches = static_cast<double>(group.pieces) / static_cast<double>(spread.count);
    row.time = seconds_of_ns(spread.median_ns);
    row.total = seconds_of_ns(spread.total_ns);
    out.kernels.push_back(std::move(row));
  }
  all_ns += add_communications(run, links, out.kernels);
  out.total = seconds_of_ns(all_ns);
  for (const RecordedKernel& row : out.kernels) out.waiting += row.waiting;
  std::ranges::sort(out.kernels, [](const RecordedKernel& a, const RecordedKernel& b) {
    return std::tuple(-a.total.value(), std::string_view(a.name), std::string_view(a.shapes),
                      a.moved.value()) < std::tuple(-b.total.value(), std::string_view(b.name),
                                                    std::string_view(b.shapes), b.moved.value());
  });
  return out;
}

}  // namespace orrery
