#include "trace/chakra/chakra_conversion.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/edge_lists.h"
#include "trace/chakra/communication_node.h"
#include "trace/chakra/device_order.h"
#include "trace/chakra/host_order.h"
#include "trace/chakra/host_pauses.h"
#include "trace/chakra/process_groups.h"
#include "trace/chakra/synchronization_edges.h"
#include "trace/pytorch_et/python_text.h"
#include "trace/recorded_arguments.h"

namespace orrery {
namespace {

// Floating-point operations and bytes of an operator, from the shapes of its tensors.
//
//   aten::mm, linear, bmm, matmul   2 k per element of the result, with k terms to a sum
//   aten::addmm, baddbmm            2 k + 1
//   all others                      1 per element of the largest tensor
//   bytes                           of all tensors that go in or come out
//
// One multiply-add is 2 operations. With the profiler's trace alone the result is not recorded: the
// sizes of products follow from their inputs, and bytes are those that go in. Not modelled:
// convolutions and attention count as "all others"; reuse in caches.

struct RecordedOperatorWork {
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
};

std::int64_t whole(double value) {
  constexpr double kMost = 9.2e18;  // below 2^63
  return static_cast<std::int64_t>(std::min(value, kMost));
}

// FLOPs of an operator; `json`: the shapes of its inputs. Inputs that are lists of several tensors
// are left out.
double flops(std::string_view name, std::string_view json) {
  std::vector<Shape> inputs;
  double most = 0;
  for (const std::string_view item : json_items(json)) {
    const std::vector<Shape> shapes = tensor_shapes(item);
    inputs.push_back(shapes.size() == 1 ? shapes[0] : Shape());
    if (!inputs.back().empty()) most = std::max(most, elements_of(inputs.back()));
  }
  const auto product = product_shape(name, inputs);
  if (!product) return most;
  // The addition of the first input.
  const double more = name.ends_with("addmm") || name.ends_with("baddbmm") ? 1 : 0;
  return product->groups * product->m * product->n * (2 * product->k + more);
}

// `host` may be null. Zero where no shapes were recorded.
RecordedOperatorWork operator_work(const CallTreeNode& node, const RecordedTrace& recorded,
                                   const HostTrace* host) {
  if (host != nullptr && node.host != kNoNode) {
    const HostNode& h = host->nodes[node.host];
    const double in = static_cast<double>(tensor_bytes(h.inputs));
    const double out = static_cast<double>(tensor_bytes(h.outputs));
    return {whole(flops(h.name, h.inputs.shapes)), whole(in + out)};
  }
  if (node.event == kNoEvent || recorded.details[node.event] == kNoDetails) return {};
  const OperatorDetails& details = recorded.operators[recorded.details[node.event]];
  return {whole(flops(recorded.name_of(node.event), recorded.texts[details.input_shapes])),
          whole(input_bytes(recorded, details))};
}

constexpr std::int64_t kLongestDispatchNs = 20'000;
constexpr std::string_view kThreadName = "[pytorch|profiler|execution_trace|thread]";
constexpr std::string_view kChakraVersion = "0.0.4";

// Rounds times of one row down to whole microseconds without losing what is cut: it is kept for the
// next time of the row.
class KeptRest {
 public:
  // In nanoseconds.
  std::int64_t rounded(std::uint32_t lane, std::int64_t ns) {
    if (rest_.size() <= lane) rest_.resize(lane + std::size_t{1});
    const std::int64_t sum = std::max<std::int64_t>(0, ns) + rest_[lane];
    rest_[lane] = sum % kNsPerMicrosecond;
    return sum - rest_[lane];
  }

 private:
  std::vector<std::int64_t> rest_;  // by lane
};

class Converter {
 public:
  Converter(const RecordedTrace& recorded, const HostTrace* host, const HostTraceLink* link,
            const ChakraConversionOptions& options)
      : recorded_(recorded),
        host_(host),
        options_(options),
        tree_(call_tree(recorded, host, link, options.launching, options.fills)),
        order_(host_order(recorded)) {
    out_.without_launch = tree_.without_launch;
    if (link != nullptr) out_.linked_by = link->method;
  }

  Result<ChakraConversion> convert() {
    metadata();
    if (recorded_.simulated) out_.trace.mark_times_simulated();
    const bool with_pauses = options_.pauses == Pauses::write;
    if (with_pauses) add_unlaunched();
    if (options_.synchronization == SynchronizationDependencies::keep) find_synchronizations();
    if (with_pauses) {
      devices_ = device_order(recorded_, options_.fills);
      pauses_ = host_pauses(recorded_, order_, devices_, synchronizations_);
      order_.own_ns = pauses_.spent_ns;
    }
    nodes_.resize(tree_.nodes.size());
    for (std::uint32_t n = 0; n < tree_.nodes.size(); ++n) describe(n);
    chain_threads();
    add_synchronizations();
    if (with_pauses) add_device_order();
    if (!with_pauses && options_.stream_order == StreamOrder::as_dependencies) add_stream_order();
    add_groups();
    collect();
    return std::move(out_);
  }

 private:
  void metadata() {
    ChakraTrace& trace = out_.trace;
    trace.version = kChakraVersion;
    if (host_ == nullptr) return;
    const auto unsigned_of = [](std::int64_t v) {
      return static_cast<std::uint64_t>(std::max(v, std::int64_t{0}));
    };
    trace.attributes = {
        chakra_text("schema", host_->schema), chakra_uint64("pid", unsigned_of(host_->process)),
        chakra_text("time", host_->time), chakra_uint64("start_ts", unsigned_of(host_->start_ms)),
        chakra_uint64("finish_ts", unsigned_of(host_->finish_ms))};
  }

  [[nodiscard]] bool is_step_marker(std::uint32_t event) const {
    return recorded_.name_of(event).find("ProfilerStep") != std::string_view::npos;
  }

  // The node of the operator whose identity work on a device shares.
  [[nodiscard]] const HostNode* host_node(const CallTreeNode& node) const {
    return host_ == nullptr || node.host == kNoNode ? nullptr : &host_->nodes[node.host];
  }

  void describe(std::uint32_t n) {
    const CallTreeNode& from = tree_.nodes[n];
    ChakraNode& to = nodes_[n];
    to.id = n;
    to.type = ChakraNodeType::compute;
    // Threads do not wait for the process, which is not written.
    if (from.parent != kNoNode && from.parent != 0) to.control_dependencies = {from.parent};
    const HostNode* host = host_node(from);
    const bool timed = from.event != kNoEvent && (from.device || !is_step_marker(from.event));
    if (from.device || (host == nullptr && from.event != kNoEvent)) {
      to.name = recorded_.name_of(from.event);
    } else {
      to.name = host == nullptr ? kThreadName : host->name;
    }
    if (timed) {
      const std::int64_t start = recorded_.base_ns + recorded_.start_ns[from.event];
      std::int64_t spent =
          from.device ? recorded_.duration_ns[from.event] : order_.own_ns[from.event];
      if (from.device && options_.pauses == Pauses::write) {
        if (!late(from.event)) spent += devices_.lag_ns[from.event];
        spent = stream_rest_.rounded(recorded_.lane[from.event], spent);
      }
      to.start_micros =
          static_cast<std::uint64_t>(std::max(start, std::int64_t{0}) / kNsPerMicrosecond);
      to.duration_micros =
          static_cast<std::uint64_t>(std::max(spent, std::int64_t{0}) / kNsPerMicrosecond);
    }
    values(from, host, to);
    if (!from.device && to.inputs && to.name.find("process_group:init") != std::string::npos) {
      std::ranges::move(defined_groups(to.inputs->values).groups, std::back_inserter(groups_));
    }
    identity(from, host, to);
    to.attributes.push_back(chakra_boolean("is_cpu_op", !from.device));
    if (from.device) device_attributes(n, to);
  }

  // Work whose launch was not recorded, as nodes behind all others that hang off nothing.
  void add_unlaunched() {
    for (std::uint32_t e = 0; e < recorded_.size(); ++e) {
      if (!is_device_work(recorded_.kind[e]) || tree_.node_of_event[e] != kNoNode) continue;
      if (recorded_.kind[e] == EventKind::fill && options_.fills == Fills::leave_out) continue;
      tree_.node_of_event[e] = static_cast<std::uint32_t>(tree_.nodes.size());
      tree_.nodes.push_back({.parent = 0, .event = e, .device = true});
    }
    out_.without_launch = 0;
  }

  void values(const CallTreeNode& from, const HostNode* host, ChakraNode& to) const {
    if (host != nullptr) {
      to.inputs = ChakraValues{python_text(host->inputs.values), python_text(host->inputs.shapes),
                               python_text(host->inputs.types)};
      to.outputs =
          ChakraValues{python_text(host->outputs.values), python_text(host->outputs.shapes),
                       python_text(host->outputs.types)};
      return;
    }
    const std::uint32_t event = from.device ? tree_.nodes[from.parent].event : from.event;
    if (event == kNoEvent || recorded_.details[event] == kNoDetails) return;
    const OperatorDetails& details = recorded_.operators[recorded_.details[event]];
    const auto text = [&](std::uint32_t index) {
      const std::string_view json = recorded_.texts[index];
      return is_shallow_json(json) ? python_text(json) : std::string("[]");
    };
    to.inputs = ChakraValues{text(details.concrete_inputs), text(details.input_shapes),
                             text(details.input_types)};
  }

  void identity(const CallTreeNode& from, const HostNode* host, ChakraNode& to) const {
    if (host != nullptr) {
      to.attributes = {chakra_int64("rf_id", host->record_function_id),
                       chakra_int64("fw_parent", host->forward_parent),
                       chakra_int64("seq_id", host->sequence_number),
                       chakra_int64("scope", host->scope),
                       chakra_int64("tid", host->thread),
                       chakra_int64("fw_tid", host->forward_thread),
                       chakra_text("op_schema", host->schema)};
      return;
    }
    const std::uint32_t event = from.device ? tree_.nodes[from.parent].event : from.event;
    const std::uint32_t lane = event == kNoEvent ? from.lane : recorded_.lane[event];
    if (event != kNoEvent && recorded_.details[event] != kNoDetails) {
      const OperatorDetails& details = recorded_.operators[recorded_.details[event]];
      if (details.record_function_id != kNotRecorded) {
        to.attributes.push_back(chakra_int64("rf_id", details.record_function_id));
      }
      if (details.sequence_number != kNotRecorded) {
        to.attributes.push_back(chakra_int64("seq_id", details.sequence_number));
      }
      if (details.forward_thread != kNotRecorded) {
        to.attributes.push_back(chakra_int64("fw_tid", details.forward_thread));
      }
    }
    if (lane != kNoNode) to.attributes.push_back(chakra_int64("tid", recorded_.lanes[lane].thread));
  }

  void device_attributes(std::uint32_t n, ChakraNode& to) {
    const CallTreeNode& from = tree_.nodes[n];
    to.attributes.push_back(
        chakra_int64("stream", recorded_.lanes[recorded_.lane[from.event]].thread));
    // Communication of before the recording: other ranks need not have recorded it.
    if (from.parent == 0) return;
    const auto c = communication_of(tree_, n, recorded_, host_);
    if (!c) {
      if (recorded_.kind[from.event] == EventKind::kernel &&
          is_communication_kernel(recorded_.name_of(from.event))) {
        ++out_.unknown_communication;
      }
      if (options_.work == WorkAttributes::write) work_attributes(from, to);
      return;
    }
    to.type = c->type;
    if (c->type == ChakraNodeType::collective) {
      to.attributes.push_back(chakra_int64("comm_type", static_cast<std::int64_t>(c->collective)));
    }
    to.attributes.push_back(chakra_int64("comm_size", c->bytes));
    if (c->type != ChakraNodeType::collective) {
      const bool sends = c->type == ChakraNodeType::send;
      const std::int64_t self = std::max(recorded_.rank, std::int64_t{0});
      const std::int64_t peer = std::max(c->peer, std::int64_t{0});
      to.attributes.push_back(
          chakra_int32("comm_src", static_cast<std::int32_t>(sends ? self : peer)));
      to.attributes.push_back(
          chakra_int32("comm_dst", static_cast<std::int32_t>(sends ? peer : self)));
      to.attributes.push_back(chakra_int32("comm_tag", static_cast<std::int32_t>(c->tag)));
    }
    if (!c->group.empty()) to.attributes.push_back(chakra_text("pg_name", c->group));
  }

  void work_attributes(const CallTreeNode& from, ChakraNode& to) const {
    const CallTreeNode& parent = tree_.nodes[from.parent];
    const RecordedOperatorWork work = operator_work(parent, recorded_, host_);
    to.attributes.push_back(chakra_int64("num_ops", work.flops));
    to.attributes.push_back(chakra_uint64("tensor_size", static_cast<std::uint64_t>(work.bytes)));
  }

  // Whether `from` began before `to`: edges across threads and from devices never go back in time.
  [[nodiscard]] bool began_before(std::uint32_t from, std::uint32_t to) const {
    return recorded_.start_ns[from] < recorded_.start_ns[to];
  }

  // Whether it is new.
  static bool add_dependency(ChakraNode& node, std::uint64_t id) {
    auto& list = node.data_dependencies;
    if (id == node.id || std::ranges::find(list, id) != list.end()) return false;
    list.push_back(id);
    return true;
  }

  // Walks every thread depth first, children by identifier.
  void chain_threads() {
    const EdgeLists children(tree_.nodes.size(), [&](const auto& add) {
      for (std::uint32_t n = 1; n < tree_.nodes.size(); ++n) add(tree_.nodes[n].parent, n);
    });
    for (const std::uint32_t thread : children[0]) {
      std::uint32_t last_operator = kNoNode;
      std::uint32_t last = kNoNode;
      std::vector<std::uint32_t> open = {thread};
      while (!open.empty()) {
        const std::uint32_t n = open.back();
        open.pop_back();
        chain(n, last_operator, last);
        const auto called = children[n];
        open.insert(open.end(), called.rbegin(), called.rend());
      }
    }
  }

  void chain(std::uint32_t n, std::uint32_t& last_operator, std::uint32_t& last) {
    if (tree_.nodes[n].device && tree_.nodes[n].parent == 0) return;
    if (tree_.nodes[n].device) {
      if (last != kNoNode) add_dependency(nodes_[n], last);
      last = last_operator;
      return;
    }
    const std::uint32_t event = tree_.nodes[n].event;
    if (event != kNoEvent && !pauses_.before_ns.empty()) {
      const std::uint32_t lane = recorded_.lane[event];
      const std::int64_t pause = thread_rest_.rounded(lane, pauses_.before_ns[event]);
      if (pause > 0) add_pause(n, pause);
      nodes_[n].duration_micros = static_cast<std::uint64_t>(
          thread_rest_.rounded(lane, order_.own_ns[event]) / kNsPerMicrosecond);
    }
    if (last_operator != kNoNode) add_dependency(waiting_node(n), last_operator);
    last_operator = n;
    last = n;
    if (event == kNoEvent || order_.after_event[event] == kNoDetails) return;
    const std::uint32_t other = tree_.node_of_event[order_.after_event[event]];
    if (other != kNoNode) add_dependency(waiting_node(n), other);
  }

  // Those that can be written.
  void find_synchronizations() {
    const UnlaunchedWork unlaunched =
        options_.pauses == Pauses::write ? UnlaunchedWork::wait_for : UnlaunchedWork::leave_out;
    for (const SynchronizationEdge& edge : synchronization_edges(recorded_, unlaunched)) {
      const std::uint32_t work = tree_.node_of_event[edge.work];
      const std::uint32_t next = tree_.node_of_event[edge.next_operator];
      if (work == kNoNode || next == kNoNode || !began_before(edge.work, edge.next_operator))
        continue;
      synchronizations_.push_back(edge);
    }
  }

  void add_synchronizations() {
    for (const SynchronizationEdge& edge : synchronizations_) {
      const std::uint32_t next = tree_.node_of_event[edge.next_operator];
      if (add_dependency(waiting_node(next), tree_.node_of_event[edge.work])) {
        ++out_.synchronizations;
      }
    }
  }

  // The node that waits for what an operator waits for: the pause before it, if it has one.
  ChakraNode& waiting_node(std::uint32_t n) {
    const auto pause = pause_of_.find(n);
    return nodes_[pause == pause_of_.end() ? n : pause->second];
  }

  // Puts a pause before an operator, behind all other nodes of the file.
  void add_pause(std::uint32_t n, std::int64_t ns) {
    ChakraNode pause;
    pause.id = nodes_.size();
    pause.name = kChakraPause;
    pause.type = ChakraNodeType::compute;
    pause.control_dependencies = nodes_[n].control_dependencies;
    pause.duration_micros = static_cast<std::uint64_t>(ns / kNsPerMicrosecond);
    const std::int64_t start = recorded_.base_ns + recorded_.start_ns[tree_.nodes[n].event] - ns;
    pause.start_micros =
        static_cast<std::uint64_t>(std::max(start, std::int64_t{0}) / kNsPerMicrosecond);
    if (const auto thread = nodes_[n].find("tid")) pause.attributes.push_back(*thread);
    pause.attributes.push_back(chakra_boolean("is_cpu_op", true));
    pause_of_.emplace(n, static_cast<std::uint32_t>(pause.id));
    nodes_[n].data_dependencies.push_back(pause.id);
    nodes_.push_back(std::move(pause));
  }

  // What work on devices waits for: on its own stream too, or a simulator would serve first what is
  // ready first.
  void add_device_order() {
    add_stream_order();
    for (std::uint32_t e = 0; e < recorded_.size(); ++e) {
      const std::uint32_t n = tree_.node_of_event[e];
      if (n == kNoNode || !tree_.nodes[n].device) continue;
      const auto after = [&](std::uint32_t event) {
        const std::uint32_t other = event == kNoEvent ? kNoNode : tree_.node_of_event[event];
        if (other != kNoNode) add_dependency(nodes_[n], other);
      };
      const bool hangs_off_nothing = tree_.nodes[n].parent == 0;
      after(devices_.after_other[e]);
      if (hangs_off_nothing) after(devices_.after_host[e]);
      if (hangs_off_nothing && devices_.placed[e]) add_beginning(n);
      if (late(e)) add_device_pause(n, devices_.lag_ns[e]);
    }
  }

  // Whether a pause of its own stands before it, rather than in its time.
  [[nodiscard]] bool late(std::uint32_t work) const {
    return devices_.lag_ns[work] > kLongestDispatchNs;
  }

  // Puts a pause before work on a device, behind all other nodes of the file.
  void add_device_pause(std::uint32_t n, std::int64_t ns) {
    ChakraNode pause;
    pause.id = nodes_.size();
    pause.name = kChakraPause;
    pause.type = ChakraNodeType::compute;
    pause.control_dependencies = nodes_[n].control_dependencies;
    pause.data_dependencies = std::exchange(nodes_[n].data_dependencies, {pause.id});
    pause.duration_micros = static_cast<std::uint64_t>(ns / kNsPerMicrosecond);
    pause.start_micros = nodes_[n].start_micros > pause.duration_micros
                             ? nodes_[n].start_micros - pause.duration_micros
                             : 0;
    pause.attributes = {chakra_boolean("is_cpu_op", false)};
    if (const auto stream = nodes_[n].find("stream")) pause.attributes.push_back(*stream);
    nodes_.push_back(std::move(pause));
  }

  // A pause of no time that waits for nothing, so that it begins when it did, before work that
  // began then.
  void add_beginning(std::uint32_t n) {
    ChakraNode beginning;
    beginning.id = nodes_.size();
    beginning.name = kChakraPause;
    beginning.type = ChakraNodeType::compute;
    beginning.start_micros = nodes_[n].start_micros;
    beginning.attributes.push_back(chakra_boolean("is_cpu_op", true));
    nodes_[n].data_dependencies.push_back(beginning.id);
    nodes_.push_back(std::move(beginning));
  }

  void add_stream_order() {
    std::vector<std::uint32_t> last(recorded_.lanes.size(), kNoNode);
    for (std::uint32_t e = 0; e < recorded_.size(); ++e) {
      const std::uint32_t n = tree_.node_of_event[e];
      if (n == kNoNode || !tree_.nodes[n].device) continue;
      std::uint32_t& before = last[recorded_.lane[e]];
      if (before != kNoNode) add_dependency(nodes_[n], before);
      before = n;
    }
  }

  // Those of the profiler's header where no execution trace names them.
  void add_groups() {
    const bool of_execution_trace = !groups_.empty();
    for (const ProcessGroup& group : recorded_.groups) {
      if (of_execution_trace) break;
      groups_.push_back({group.name, {group.ranks.begin(), group.ranks.end()}});
    }
    if (!groups_.empty()) define_groups(out_.trace, groups_);
  }

  // Leaves out nodes that nothing waits for and that wait for nothing, as the process node.
  void collect() {
    std::vector<bool> used(nodes_.size(), false);
    for (const ChakraNode& node : nodes_) {
      for (const auto* list : {&node.control_dependencies, &node.data_dependencies}) {
        for (const std::uint64_t id : *list) used[id] = used[node.id] = true;
      }
    }
    // In place: nodes are the most of what a conversion needs.
    std::erase_if(nodes_, [&](const ChakraNode& node) { return !used[node.id]; });
    out_.trace.nodes = std::move(nodes_);
  }

  const RecordedTrace& recorded_;
  const HostTrace* host_;
  const ChakraConversionOptions& options_;
  CallTree tree_;
  HostOrder order_;
  std::vector<SynchronizationEdge> synchronizations_;
  DeviceOrder devices_;
  HostPauses pauses_;
  KeptRest stream_rest_;
  KeptRest thread_rest_;
  std::unordered_map<std::uint32_t, std::uint32_t> pause_of_;  // nodes
  std::vector<ChakraNode> nodes_;
  std::vector<NamedGroup> groups_;
  ChakraConversion out_;
};

}  // namespace

Result<ChakraConversion> chakra_from(const RecordedTrace& recorded,
                                     const ChakraConversionOptions& options) {
  return Converter(recorded, nullptr, nullptr, options).convert();
}

Result<ChakraConversion> chakra_from(const RecordedTrace& recorded, const HostTrace& host,
                                     const ChakraConversionOptions& options) {
  ORRERY_TRY(const HostTraceLink link, link_host(host, recorded));
  return Converter(recorded, &host, &link, options).convert();
}

}  // namespace orrery
