#include "trace/pytorch_et/host_details.h"

#include <string_view>

#include "trace/kineto/header.h"
#include "trace/launch_links.h"
#include "trace/pytorch_et/python_text.h"

namespace orrery {
namespace {

// As the profiler writes lists: a space behind each comma, none elsewhere. Of lists of numbers.
std::string spaced(std::string_view list) {
  std::string out;
  for (const char c : list) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    out.push_back(c);
    if (c == ',') out.push_back(' ');
  }
  return out;
}

bool is_scalar(std::string_view type) {
  return type == "Int" || type == "Double" || type == "Bool" || type == "ComplexDouble";
}

// "Tensor(float)" to "float", "GenericList[Tensor(float),...]" to "TensorList", "Int" to "Scalar".
std::string profiler_type(std::string_view type) {
  if (type.starts_with("Tensor(") && type.ends_with(")")) {
    type.remove_prefix(7);
    type.remove_suffix(1);
    if (type == "long") return "long int";
    return std::string(type);
  }
  if (type.starts_with("GenericList[Tensor(")) return "TensorList";
  if (is_scalar(type)) return "Scalar";
  return type.starts_with("GenericList[") ? "ScalarList" : "";
}

// Types and concrete inputs as the profiler's lists of texts.
struct Inputs {
  std::string types = "[";
  std::string concrete = "[";
};

Inputs profiler_inputs(const HostValues& inputs) {
  const std::vector<std::string_view> types = json_items(inputs.types);
  const std::vector<std::string_view> values = json_items(inputs.values);
  Inputs out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string type = profiler_type(json_string(types[i]).value_or(""));
    std::string value;
    if (i < values.size() && (type == "Scalar" || type == "ScalarList")) {
      value = python_text(values[i]);
      if (value.find_first_of("\"'\\") != std::string::npos) value.clear();
    }
    if (i > 0) out.types += ", ";
    if (i > 0) out.concrete += ", ";
    out.types += '"' + type + '"';
    out.concrete += '"' + value + '"';
  }
  out.types += ']';
  out.concrete += ']';
  return out;
}

class Adding {
 public:
  Adding(RecordedTrace& trace, const HostTrace& host) : trace_(trace), host_(host) {}

  Result<LinkedHost> add() {
    ORRERY_TRY(const HostTraceLink link, link_host(host_, trace_));
    out_.file = host_.file;
    out_.schema = host_.schema;
    out_.method = link.method;
    out_.operators = static_cast<std::int64_t>(link.operators);
    out_.found = static_cast<std::int64_t>(link.found);
    for (std::size_t i = 0; i < host_.nodes.size(); ++i) {
      const HostNode& node = host_.nodes[i];
      if (node.name.find("process_group:init") != std::string::npos) add_groups(node);
      if (link.event[i] == kNoEvent) continue;
      add_operator(link.event[i], node);
      if (node.name == "record_param_comms") add_communication(link.event[i], node);
    }
    if (out_.communications > 0) describe_kernels();
    return out_;
  }

 private:
  std::uint32_t text(std::string_view of) { return trace_.texts.intern(of); }

  void add_operator(std::uint32_t event, const HostNode& node) {
    const bool has_inputs = node.inputs.types != "[]";
    if (trace_.details[event] == kNoDetails) {
      if (!has_inputs && node.sequence_number < 0) return;
      trace_.details[event] = static_cast<std::uint32_t>(trace_.operators.size());
      trace_.operators.emplace_back();
    }
    OperatorDetails& details = trace_.operators[trace_.details[event]];
    if (details.sequence_number == kNotRecorded && node.sequence_number >= 0) {
      details.sequence_number = node.sequence_number;
    }
    if (details.record_function_id == kNotRecorded && node.record_function_id > 0) {
      details.record_function_id = node.record_function_id;
    }
    const bool is_operator = trace_.kind[event] == EventKind::cpu_operator;
    if (!is_operator || !has_inputs || details.input_shapes != 0) return;
    const Inputs inputs = profiler_inputs(node.inputs);
    details.input_shapes = text(spaced(node.inputs.shapes));
    if (details.input_types == 0) details.input_types = text(inputs.types);
    if (details.concrete_inputs == 0) details.concrete_inputs = text(inputs.concrete);
    if (details.input_strides == 0 && !node.inputs.strides.empty()) {
      details.input_strides = text(spaced(node.inputs.strides));
    }
    ++out_.shapes;
  }

  // record_param_comms: tensors, sequence, group, rank, name, in split, out split, start, stride,
  // size; the group alone or with its description.
  void add_communication(std::uint32_t event, const HostNode& node) {
    if (trace_.communication[event] != kNoDetails) return;
    CommunicationDetails details;
    const std::vector<std::string_view> values = json_items(node.inputs.values);
    if (values.size() >= 10) {
      const std::vector<std::string_view> group = json_items(values[2]);
      details.group = text(json_string(group.empty() ? values[2] : group[0]).value_or(""));
      if (group.size() > 1) details.group_description = text(json_string(group[1]).value_or(""));
      details.collective = text(json_string(values[4]).value_or(""));
      details.input_splits = text(spaced(values[5]));
      details.output_splits = text(spaced(values[6]));
      details.rank_start = json_integer(values[7]).value_or(kNotRecorded);
      details.rank_stride = json_integer(values[8]).value_or(kNotRecorded);
      details.group_size = json_integer(values[9]).value_or(kNotRecorded);
      details.input_elements = tensor_elements(values[0]);
      const std::vector<std::string_view> outputs = json_items(node.outputs.values);
      if (!outputs.empty()) details.output_elements = tensor_elements(outputs[0]);
    }
    if (node.communication != kNoCommunication) {
      const HostCommunication& said = host_.communications[node.communication];
      if (!said.collective.empty()) details.collective = text(said.collective);
      if (!said.group.empty()) details.group = text(said.group);
      details.data_type = text(said.data_type);
      if (said.input_elements >= 0) details.input_elements = said.input_elements;
      if (said.output_elements >= 0) details.output_elements = said.output_elements;
      if (said.group_size >= 0) details.group_size = said.group_size;
    }
    if (details.collective == 0) return;
    trace_.communication[event] = static_cast<std::uint32_t>(trace_.communications.size());
    trace_.communications.push_back(details);
    ++out_.communications;
  }

  // A kernel takes the arguments of the record_param_comms it was launched in.
  void describe_kernels() {
    const LaunchLinks links = launch_links(trace_);
    for (std::uint32_t event = 0; event < trace_.size(); ++event) {
      if (trace_.kind[event] != EventKind::kernel || trace_.communication[event] != kNoDetails ||
          !is_communication_kernel(trace_.name_of(event))) {
        continue;
      }
      std::uint32_t around = links.inner_operator[event];
      while (around != kNoEvent && trace_.communication[around] == kNoDetails) {
        around = links.inner_operator[around];
      }
      if (around == kNoEvent) continue;
      trace_.communication[event] = trace_.communication[around];
      ++out_.communications;
    }
  }

  void add_groups(const HostNode& node) {
    const std::vector<std::string_view> values = json_items(node.inputs.values);
    if (values.empty()) return;
    const std::vector<ProcessGroup> groups =
        process_groups(json_string(values[0]).value_or(std::string()));
    for (const ProcessGroup& group : groups) {
      const bool all = group.description == "default_pg" && group.ranks.empty();
      if (all && group.size > 0 && trace_.world_size == kNotRecorded) {
        trace_.world_size = group.size;
      }
    }
    if (!trace_.groups.empty()) return;
    trace_.groups = groups;
    out_.groups = static_cast<std::int64_t>(groups.size());
  }

  RecordedTrace& trace_;
  const HostTrace& host_;
  LinkedHost out_;
};

}  // namespace

Result<LinkedHost> add_host_details(RecordedTrace& trace, const HostTrace& host) {
  return Adding(trace, host).add();
}

}  // namespace orrery
