#include "trace/workload_text/workload_text.h"

#include <algorithm>
#include <utility>

#include "document/input_memory.h"
#include "outcome/nearest_name.h"
#include "outcome/parsed_number.h"
#include "trace/byte_stream.h"

namespace orrery {
namespace {

constexpr std::size_t kColumns = 12;
constexpr std::size_t kMostLayers = 10'000'000;
// Of memory: what a layer takes with the nodes made of it, and an accelerator in lists of groups.
constexpr std::uint64_t kMemoryOfLayer = 2000;
constexpr std::uint64_t kMemoryOfAccelerator = 40;
constexpr std::int64_t kMostMicroseconds = 9'000'000'000;  // two and a half hours
constexpr std::string_view kBlanksOfLine = " \t\r";

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanksOfLine), line.size()));
    if (line.empty()) return out;
    const std::size_t end = std::min(line.find_first_of(kBlanksOfLine), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

struct Collective {
  std::string_view name;
  std::optional<ChakraCollective> collective;
};
constexpr std::array<Collective, 5> kCollectiveNames = {
    {{"NONE", std::nullopt},
     {"ALLREDUCE", ChakraCollective::all_reduce},
     {"ALLGATHER", ChakraCollective::all_gather},
     {"REDUCESCATTER", ChakraCollective::reduce_scatter},
     {"ALLTOALL", ChakraCollective::all_to_all}}};

class WorkloadParser {
 public:
  // `read`: the bytes of the file, packed if it is.
  WorkloadParser(std::string_view text, std::string name, std::uint64_t read)
      : text_(text), read_(read), name_(std::move(name)) {}

  Result<TextWorkload> parse() {
    ORRERY_TRY(const auto header, line("the policy"));
    ORRERY_TRY([[maybe_unused]] const bool policy, read_header(header));
    ORRERY_TRY(const auto count, line("the number of layers"));
    const auto layers = count.empty() ? std::nullopt : parsed_number<std::int64_t>(count[0]);
    if (!layers || *layers < 0 || static_cast<std::uint64_t>(*layers) > kMostLayers) {
      return bad_input("no number of layers", place(),
                       "line 2 of a workload says how many layers follow");
    }
    ORRERY_RETURN_IF_ERROR(
        check_input_memory(kMemoryOfLayer * static_cast<std::uint64_t>(*layers), read_, place()));
    for (std::int64_t i = 0; i < *layers; ++i) {
      ORRERY_TRY(const auto columns,
                 line("layer " + std::to_string(i + 1) + " of " + std::to_string(*layers)));
      ORRERY_TRY(WorkloadLayer layer, read_layer(columns));
      out_.layers.push_back(std::move(layer));
    }
    if (const auto more = next(); !more.empty()) {
      return bad_input("a layer more than the " + std::to_string(*layers) + " that line 2 says",
                       place());
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string place() const { return name_ + ":" + std::to_string(line_); }

  // The words of the next line that has any; empty at the end.
  std::vector<std::string_view> next() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      auto out = words(text_.substr(0, end));
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_;
      if (!out.empty()) return out;
    }
    return {};
  }

  Result<std::vector<std::string_view>> line(const std::string& what) {
    auto out = next();
    if (out.empty()) return bad_input("the file ends where " + what + " was expected", place());
    return out;
  }

  Result<bool> read_header(const std::vector<std::string_view>& header) {
    std::string_view policy = header[0];
    if (policy.ends_with(':')) policy.remove_suffix(1);
    if (std::ranges::find(kWorkloadPolicies, policy) == kWorkloadPolicies.end()) {
      const std::vector<std::string> known(kWorkloadPolicies.begin(), kWorkloadPolicies.end());
      return bad_input("unknown policy '" + std::string(policy.substr(0, 60)) + "'", place(),
                       name_hint(policy.substr(0, 60), known));
    }
    out_.policy = policy;
    simai_ = policy.starts_with("HYBRID_TRANSFORMER");
    for (std::size_t i = 1; i + 1 < header.size(); ++i) {
      std::string_view key = header[i];
      if (key.ends_with(':')) key.remove_suffix(1);
      std::int64_t* to = key == "model_parallel_NPU_group" ? &out_.tensor
                         : key == "ep"                     ? &out_.expert
                         : key == "pp"                     ? &out_.pipeline
                         : key == "all_gpus"               ? &out_.accelerators
                                                           : nullptr;
      if (to == nullptr) continue;
      const auto value = parsed_number<std::int64_t>(header[i + 1]);
      if (!value || *value < 1) {
        return bad_input(
            std::string(key) + " is '" + std::string(header[i + 1].substr(0, 40)) + "'", place(),
            "a whole number above zero");
      }
      *to = *value;
    }
    const std::uint64_t most = std::uint64_t{1} << 50U;  // no product of it overflows
    ORRERY_RETURN_IF_ERROR(check_input_memory(
        kMemoryOfAccelerator * std::min(static_cast<std::uint64_t>(out_.accelerators), most), read_,
        place()));
    const std::int64_t t = std::max(out_.tensor, std::int64_t{1});
    const std::int64_t p = std::max(out_.pipeline, std::int64_t{1});
    if (out_.accelerators > 0 &&
        (t > out_.accelerators || p > out_.accelerators / t || out_.accelerators % (t * p) != 0)) {
      return bad_input(std::to_string(t) + " tensor-parallel ranks x " + std::to_string(p) +
                           " stages do not divide " + std::to_string(out_.accelerators) + " GPUs",
                       place());
    }
    return simai_;
  }

  Result<std::int64_t> time(std::string_view word) const {
    const auto value = parsed_number<std::int64_t>(word);
    const std::int64_t most = simai_ ? kMostMicroseconds * 1000 : kMostMicroseconds;
    if (!value || *value < 0 || *value > most) {
      return bad_input("'" + std::string(word.substr(0, 40)) + "' is not a time", place(),
                       simai_ ? "whole nanoseconds" : "whole microseconds");
    }
    return simai_ ? *value : *value * 1000;
  }

  Result<WorkloadPart> part(const std::vector<std::string_view>& columns, std::size_t at,
                            WorkloadGroup usual) const {
    WorkloadPart out;
    ORRERY_TRY(out.time_ns, time(columns[at]));
    std::string_view word = columns[at + 1];
    out.group = simai_ ? usual : WorkloadGroup::all;
    if (word.ends_with("_DP_EP")) {
      out.group = WorkloadGroup::expert_data;
      word.remove_suffix(6);
    } else if (word.ends_with("_EP")) {
      out.group = WorkloadGroup::expert;
      word.remove_suffix(3);
    }
    const auto known = std::ranges::find(kCollectiveNames, word, &Collective::name);
    if (known == kCollectiveNames.end()) {
      return bad_input("unknown collective '" + std::string(columns[at + 1].substr(0, 40)) + "'",
                       place(), "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL");
    }
    out.collective = known->collective;
    const auto bytes = parsed_number<std::int64_t>(columns[at + 2]);
    if (!bytes || *bytes < 0) {
      return bad_input(
          "'" + std::string(columns[at + 2].substr(0, 40)) + "' is not a number of bytes", place());
    }
    out.bytes = *bytes;
    return out;
  }

  Result<WorkloadLayer> read_layer(const std::vector<std::string_view>& columns) const {
    if (columns.size() < kColumns) {
      return bad_input(
          "a layer of " + std::to_string(columns.size()) + " columns", place(),
          "12: name, reserved, three times time, collective and bytes, and the update");
    }
    WorkloadLayer out;
    out.name = columns[0];
    ORRERY_TRY(out.forward, part(columns, 2, WorkloadGroup::tensor));
    ORRERY_TRY(out.input_gradient, part(columns, 5, WorkloadGroup::tensor));
    ORRERY_TRY(out.weight_gradient, part(columns, 8, WorkloadGroup::data));
    ORRERY_TRY(out.update_ns, time(columns[11]));
    return out;
  }

  std::string_view text_;
  std::uint64_t read_;
  std::string name_;
  int line_ = 0;
  bool simai_ = false;
  TextWorkload out_;
};

}  // namespace

Result<TextWorkload> read_workload(const std::string& file) {
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  ORRERY_TRY(const std::string text, stream.rest());
  return WorkloadParser(text, stream.name(), stream.taken()).parse();
}

Result<TextWorkload> parse_workload(std::string_view text, const std::string& name) {
  return WorkloadParser(text, name, text.size()).parse();
}

}  // namespace orrery
