// A Chakra execution trace in memory: one rank's nodes, what they wait for, and their attributes.
//
// Field for field what the format can hold, so that reading and writing lose nothing: every
// attribute keeps the kind it was stored with. Times are whole microseconds, as in the format.
// Attributes that ASTRA-sim's feeder (version 3) reads: is_cpu_op, num_ops (FLOPs), tensor_size and
// comm_size (bytes of this rank's inputs: an all-gather counts its shard, a reduce-scatter the
// whole), comm_type, comm_priority, comm_src, comm_dst, comm_tag, pg_name, involved_dim.
//
// Source: Sridharan et al., arXiv 2305.14516; schema of mlcommons/chakra. Not kept: fields the
// schema does not know.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outcome/enum_names.h"
#include "trace/chakra/chakra_attribute.h"

namespace orrery {

inline constexpr std::int64_t kNsPerMicrosecond = 1000;  // times of nodes are in microseconds

enum class ChakraNodeType : std::uint8_t {
  invalid,
  metadata,
  memory_load,
  memory_store,
  compute,
  send,
  receive,
  collective
};
inline constexpr int kChakraNodeTypes = 8;
// As the schema spells it: "COMM_COLL_NODE".
EnumNames<ChakraNodeType> names_of(ChakraNodeType);

// The values of comm_type.
enum class ChakraCollective : std::uint8_t {
  all_reduce,
  reduce,
  all_gather,
  gather,
  scatter,
  broadcast,
  all_to_all,
  reduce_scatter,
  reduce_scatter_block,
  barrier
};
inline constexpr int kChakraCollectives = 10;
// As the schema spells it: "ALL_REDUCE".
EnumNames<ChakraCollective> names_of(ChakraCollective);

// A value that few nodes have: no larger than a pointer where it is absent.
template <class T>
class RareValue {
 public:
  RareValue() = default;
  RareValue(const RareValue& other)
      : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  RareValue(RareValue&&) noexcept = default;
  RareValue& operator=(const RareValue& other) {
    if (this != &other) value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
    return *this;
  }
  RareValue& operator=(RareValue&&) noexcept = default;
  RareValue& operator=(T value) {
    value_ = std::make_unique<T>(std::move(value));
    return *this;
  }
  ~RareValue() = default;

  explicit operator bool() const { return value_ != nullptr; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  T* operator->() { return value_.get(); }
  bool operator==(const RareValue& other) const {
    if (!value_ || !other.value_) return value_ == other.value_;
    return *value_ == *other.value_;
  }

 private:
  std::unique_ptr<T> value_;
};

// Python or JSON list texts, one entry an input or output of the operator.
struct ChakraValues {
  std::string values;
  std::string shapes;
  std::string types;

  bool operator==(const ChakraValues&) const = default;
};

// What a node may take, two and a half hours: simulated time is whole picoseconds in a double,
// exact up to 2^53 ps, which are 9.007e9 us. And when it may start: later times are damage, or
// negative numbers of a writer that had no sign to give them.
inline constexpr std::uint64_t kLongestNodeMicros = 9'000'000'000;
inline constexpr std::uint64_t kLatestNodeMicros = 4'000'000'000'000'000;
// With the sign that such a writer meant: "-5 microseconds".
std::string node_time_text(std::uint64_t micros);

struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraNodeType type = ChakraNodeType::invalid;
  std::vector<std::uint64_t> control_dependencies;
  std::vector<std::uint64_t> data_dependencies;
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  RareValue<ChakraValues> inputs;
  RareValue<ChakraValues> outputs;
  ChakraAttributes attributes;

  bool operator==(const ChakraNode&) const = default;

  // The attribute of that name, decoded.
  [[nodiscard]] std::optional<ChakraAttribute> find(std::string_view attribute) const;
  // An integer or boolean of any kind; nothing if it is absent or something else.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view attribute) const;
  // A text; empty if absent.
  [[nodiscard]] std::string_view text(std::string_view attribute) const;
  [[nodiscard]] bool is_host() const { return integer("is_cpu_op").value_or(0) != 0; }
};

struct ChakraTrace {
  std::string version;
  std::vector<ChakraAttribute> attributes;
  std::vector<ChakraNode> nodes;

  bool operator==(const ChakraTrace&) const = default;

  // Whether the trace says that a simulation made its start times: its metadata have the attribute
  // times with the text "simulated", which ASTRA-sim's feeder passes over.
  [[nodiscard]] bool has_simulated_times() const;
  void mark_times_simulated();
};

}  // namespace orrery
