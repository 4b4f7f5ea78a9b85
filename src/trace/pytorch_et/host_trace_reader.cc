// Reads an execution trace with simdjson, node by node; values stay as text, checked.
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

#include "trace/pytorch_et/host_trace.h"
#include "trace/pytorch_et/python_text.h"

namespace orrery {
namespace {

namespace json = simdjson::ondemand;

// Schemas whose meaning is known; what follows "-chakra." is the version of the wrapping only.
constexpr std::array<std::string_view, 6> kSchemas = {"1.0.1", "1.0.2", "1.0.3",
                                                      "1.0.4", "1.1.0", "1.1.1"};

// Thrown nowhere: simdjson's errors are values; the first one ends the reading.
class HostTraceReader {
 public:
  HostTraceReader(std::shared_ptr<const std::string> bytes, std::string name)
      : name_(std::move(name)), bytes_(std::move(bytes)) {}

  Result<HostTrace> read() {
    const std::size_t first = bytes_->find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return bad_input("is empty", name_);
    if ((*bytes_)[first] != '{') {
      return bad_input("is not a JSON object", name_, "an execution trace begins with {");
    }
    const auto error = document();
    if (!problem_.message.empty()) return fail(std::move(problem_));
    if (error != simdjson::SUCCESS) return fail(json_error(error));
    if (trace_.schema.empty()) {
      return bad_input("is not an execution trace of PyTorch: it has no \"schema\"", name_);
    }
    ORRERY_RETURN_IF_ERROR(check_schema());
    if (!has_nodes_) return bad_input("has no \"nodes\"", name_);
    ORRERY_RETURN_IF_ERROR(check_tree());
    trace_.file = name_;
    trace_.bytes = bytes_;
    return std::move(trace_);
  }

 private:
  // The byte at which reading stopped.
  std::string place() {
    std::size_t offset = bytes_->size();
    const char* at = nullptr;
    // A document that was never begun has no location.
    if (begun_ && document_.current_location().get(at) == simdjson::SUCCESS &&
        at >= bytes_->data()) {
      offset = std::min(offset, static_cast<std::size_t>(at - bytes_->data()));
    }
    return name_ + ": byte " + std::to_string(offset);
  }

  Error json_error(simdjson::error_code error) {
    const char last = (*bytes_)[bytes_->find_last_not_of(" \t\r\n")];
    if (last != '}' || error == simdjson::INCOMPLETE_ARRAY_OR_OBJECT ||
        error == simdjson::UNCLOSED_STRING) {
      return {ErrorCode::bad_input, "the JSON is cut: it ends in the middle",
              name_ + ": byte " + std::to_string(bytes_->size()), ""};
    }
    const bool type = error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR ||
                      error == simdjson::NUMBER_OUT_OF_RANGE;
    return {ErrorCode::bad_input,
            type ? "a value has another type than execution traces have here"
                 : std::string("is not JSON: ") + simdjson::error_message(error),
            place(), ""};
  }

  simdjson::error_code refuse(std::string message, std::string hint = "") {
    problem_ = {ErrorCode::bad_input, std::move(message), place(), std::move(hint)};
    return simdjson::UNEXPECTED_ERROR;
  }

  // Gives `take` the key and the value of every member.
  template <class Take>
  static simdjson::error_code for_each(json::object& object, const Take& take) {
    for (auto field : object) {
      std::string_view key;
      json::value value;
      if (const auto error = field.unescaped_key().get(key)) return error;
      if (const auto error = field.value().get(value)) return error;
      if (const auto error = take(key, value)) return error;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code document() {
    const simdjson::padded_string_view padded(bytes_->data(), bytes_->size(), bytes_->capacity());
    if (const auto error = parser_.iterate(padded).get(document_)) return error;
    begun_ = true;
    json::object root;
    if (const auto error = document_.get_object().get(root)) return error;
    const auto take = [&](std::string_view key, json::value value) { return header(key, value); };
    if (const auto error = for_each(root, take)) return error;
    // Behind the last token there is no place.
    return document_.current_location().error() == simdjson::SUCCESS ? simdjson::TAPE_ERROR
                                                                     : simdjson::SUCCESS;
  }

  simdjson::error_code header(std::string_view key, json::value value) {
    if (key == "schema") return text(value, trace_.schema);
    if (key == "pid") return value.get_int64().get(trace_.process);
    if (key == "time") return text(value, trace_.time);
    if (key == "start_ts") return value.get_int64().get(trace_.start_ms);
    if (key == "finish_ts") return value.get_int64().get(trace_.finish_ms);
    if (key != "nodes") return simdjson::SUCCESS;
    has_nodes_ = true;
    json::array nodes;
    if (const auto error = value.get_array().get(nodes)) return error;
    for (auto element : nodes) {
      json::object node;
      if (const auto error = element.get_object().get(node)) return error;
      if (const auto error = read_node(node)) return error;
    }
    return simdjson::SUCCESS;
  }

  static simdjson::error_code text(json::value value, std::string& out) {
    std::string_view view;
    if (const auto error = value.get_string().get(view)) return error;
    out = view;
    return simdjson::SUCCESS;
  }

  // Whole numbers are written as such; since some writers quote them, texts of digits count too.
  static simdjson::error_code integer(json::value value, std::int64_t& out) {
    json::json_type type = json::json_type::null;
    if (const auto error = value.type().get(type)) return error;
    if (type == json::json_type::string) {
      std::string_view view;
      if (const auto error = value.get_string().get(view)) return error;
      const auto number = json_integer(view);
      if (!number) return simdjson::INCORRECT_TYPE;
      out = *number;
      return simdjson::SUCCESS;
    }
    std::uint64_t large = 0;
    if (value.get_int64().get(out) == simdjson::SUCCESS) return simdjson::SUCCESS;
    if (const auto error = value.get_uint64().get(large)) return error;
    out = static_cast<std::int64_t>(large);
    return simdjson::SUCCESS;
  }

  simdjson::error_code list(json::value value, std::string_view& out) {
    json::array array;
    if (const auto error = value.get_array().get(array)) return error;
    if (const auto error = array.raw_json().get(out)) return error;
    while (!out.empty() && out.back() != ']') out.remove_suffix(1);
    if (!is_shallow_json(out)) return refuse("a list of values is not JSON, or nests too deep");
    return simdjson::SUCCESS;
  }

  static simdjson::error_code identifier(json::value value, std::uint64_t& out, bool& known) {
    std::int64_t number = 0;
    const auto error = integer(value, number);
    out = static_cast<std::uint64_t>(number);
    known = true;
    return error;
  }

  simdjson::error_code values(json::value value, HostValues& out) {
    json::object object;
    if (const auto error = value.get_object().get(object)) return error;
    return for_each(object, [&](std::string_view key, json::value part) {
      if (key == "values") return list(part, out.values);
      if (key == "shapes") return list(part, out.shapes);
      if (key == "types") return list(part, out.types);
      return key == "strides" ? list(part, out.strides) : simdjson::SUCCESS;
    });
  }

  simdjson::error_code read_node(json::object object) {
    HostNode node;
    bool has_id = false;
    bool has_parent = false;
    HostCommunication communication;
    const auto error = for_each(object, [&](std::string_view key, json::value value) {
      if (key == "id") return identifier(value, node.id, has_id);
      if (key == "parent" || key == "ctrl_deps") return identifier(value, node.parent, has_parent);
      if (key == "name") return text(value, node.name);
      if (key == "inputs") return inputs_or_outputs(value, node.inputs);
      if (key == "outputs") return inputs_or_outputs(value, node.outputs);
      if (key == "input_shapes") return list(value, node.inputs.shapes);
      if (key == "input_types") return list(value, node.inputs.types);
      if (key == "output_shapes") return list(value, node.outputs.shapes);
      if (key == "output_types") return list(value, node.outputs.types);
      if (key == "attrs") return attributes(value, node, communication);
      return attribute(key, value, node, communication);
    });
    if (error != simdjson::SUCCESS) return error;
    const std::string count = "node " + std::to_string(trace_.nodes.size());
    if (!has_id) return refuse(count + " of the list has no \"id\"");
    if (!has_parent) {
      return refuse("node " + std::to_string(node.id) + " names no parent",
                    "\"ctrl_deps\", or \"parent\" before schema 1.0.2");
    }
    if (node.name.empty()) return refuse("node " + std::to_string(node.id) + " has no name");
    if (!communication.collective.empty() || !communication.group.empty()) {
      node.communication = static_cast<std::uint32_t>(trace_.communications.size());
      trace_.communications.push_back(std::move(communication));
    }
    trace_.nodes.push_back(std::move(node));
    return simdjson::SUCCESS;
  }

  simdjson::error_code inputs_or_outputs(json::value value, HostValues& out) {
    json::json_type type = json::json_type::null;
    if (const auto error = value.type().get(type)) return error;
    return type == json::json_type::array ? list(value, out.values) : values(value, out);
  }

  simdjson::error_code attributes(json::value value, HostNode& node, HostCommunication& c) {
    json::array array;
    if (const auto error = value.get_array().get(array)) return error;
    for (auto element : array) {
      json::object object;
      if (const auto error = element.get_object().get(object)) return error;
      std::string name;
      const auto error = for_each(object, [&](std::string_view key, json::value part) {
        if (key == "name") return text(part, name);
        // The value is written behind the name.
        return key == "value" ? attribute(name, part, node, c) : simdjson::SUCCESS;
      });
      if (error != simdjson::SUCCESS) return error;
    }
    return simdjson::SUCCESS;
  }

  static simdjson::error_code attribute(std::string_view key, json::value value, HostNode& node,
                                        HostCommunication& c) {
    if (key == "rf_id") return integer(value, node.record_function_id);
    if (key == "fw_parent") return integer(value, node.forward_parent);
    if (key == "seq_id") return integer(value, node.sequence_number);
    if (key == "scope") return integer(value, node.scope);
    if (key == "tid") return integer(value, node.thread);
    if (key == "fw_tid") return integer(value, node.forward_thread);
    if (key == "op_schema") return text(value, node.schema);
    if (key == "collective_name") return text(value, c.collective);
    if (key == "dtype") return text(value, c.data_type);
    if (key == "pg_name") return text(value, c.group);
    if (key == "in_msg_nelems") return integer(value, c.input_elements);
    if (key == "out_msg_nelems") return integer(value, c.output_elements);
    if (key == "pg_size") return integer(value, c.group_size);
    return simdjson::SUCCESS;
  }

  Result<void> check_schema() const {
    const std::string_view version =
        std::string_view(trace_.schema).substr(0, trace_.schema.find('-'));
    if (std::ranges::find(kSchemas, version) != kSchemas.end()) return {};
    return unsupported("unknown schema '" + trace_.schema + "'", name_,
                       "known: 1.0.1 to 1.0.4, 1.1.0, 1.1.1");
  }

  // Sorts the nodes and sees that they are a tree.
  Result<void> check_tree() {
    std::vector<HostNode>& nodes = trace_.nodes;
    const auto node_place = [&](const HostNode& n) {
      return name_ + ": node " + std::to_string(n.id);
    };
    std::ranges::stable_sort(nodes, {}, &HostNode::id);
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      if (nodes[i].id == nodes[i - 1].id) {
        return bad_input("two nodes have this id", node_place(nodes[i]));
      }
    }
    const auto index_of = [&](std::uint64_t id) {
      const auto it = std::ranges::lower_bound(nodes, id, {}, &HostNode::id);
      return it != nodes.end() && it->id == id ? static_cast<std::size_t>(it - nodes.begin())
                                               : nodes.size();
    };
    // 0: not seen, 1: on the way up from the current node, 2: leads to a root.
    std::vector<std::uint8_t> state(nodes.size(), 0);
    std::vector<std::size_t> way;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      way.clear();
      std::size_t at = i;
      while (state[at] == 0) {
        state[at] = 1;
        way.push_back(at);
        const HostNode& node = nodes[at];
        if (node.parent == node.id) break;
        const std::size_t up = index_of(node.parent);
        // The root may name a parent that is nobody: 0.
        if (up == nodes.size() && (node.parent == 0 || node.is_process())) break;
        if (up == nodes.size()) {
          return bad_input("its parent " + std::to_string(node.parent) + " is absent",
                           node_place(node));
        }
        if (state[up] == 1) return bad_input("is its own ancestor", node_place(node));
        at = up;
      }
      for (const std::size_t seen : way) state[seen] = 2;
    }
    return {};
  }

  std::string name_;
  std::shared_ptr<const std::string> bytes_;
  json::parser parser_;
  json::document document_;
  HostTrace trace_;
  Error problem_;
  bool has_nodes_ = false;
  bool begun_ = false;
};

}  // namespace

Result<HostTrace> read_host_trace(ByteStream stream) {
  const std::string name = stream.name();
  ORRERY_TRY(std::string text, stream.rest());
  auto bytes = std::make_shared<std::string>(std::move(text));
  bytes->reserve(bytes->size() + simdjson::SIMDJSON_PADDING);
  return HostTraceReader(std::move(bytes), name).read();
}

Result<HostTrace> read_host_trace(const std::string& file) {
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  return read_host_trace(std::move(stream));
}

}  // namespace orrery
