// Chakra execution traces (.et); the same as JSON and communicator files, which are recognised but
// not read.
#include <algorithm>
#include <array>

#include "trace/chakra/chakra_check.h"
#include "trace/chakra/chakra_file.h"
#include "trace/chakra/chakra_run.h"
#include "trace/contents_table.h"
#include "trace/known_formats.h"

namespace orrery {
namespace {

// The first record: its length as LEB128, then a message of a version (field 1, a text) and
// attributes (field 2), either of which may be absent. No text format holds a byte 0x12.
bool is_chakra(std::string_view bytes) {
  std::uint64_t length = 0;
  std::size_t at = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    length |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) break;
  }
  if (length < 2 || at + 2 > bytes.size()) return false;
  if (bytes[at] == '\x12') return true;
  const std::uint64_t version = static_cast<unsigned char>(bytes[at + 1]);
  if (bytes[at] != '\x0a' || version >= 0x80) return false;
  if (version + 2 == length) return true;
  return at + 2 + version < bytes.size() && bytes[at + 2 + version] == '\x12';
}

TraceContents contents(const ChakraTrace& trace, const std::string& file) {
  WorkTable work;
  std::array<std::int64_t, kChakraNodeTypes> types{};
  std::int64_t data = 0;
  std::int64_t control = 0;
  std::int64_t starts = 0;
  for (const ChakraNode& node : trace.nodes) {
    ++types[static_cast<std::size_t>(node.type)];
    data += static_cast<std::int64_t>(node.data_dependencies.size());
    control += static_cast<std::int64_t>(node.control_dependencies.size());
    starts += node.start_micros > 0 ? 1 : 0;
    const Seconds time(static_cast<double>(node.duration_micros) * 1e-6);
    const auto bytes = node.integer("comm_size");
    switch (node.type) {
      case ChakraNodeType::compute:
        WorkTable::add_time(work.at(node.is_host() ? "host" : "compute"), time);
        break;
      case ChakraNodeType::collective: {
        const auto kind = node.integer("comm_type");
        if (node.is_host() || !kind || *kind < 0 || *kind >= kChakraCollectives) {
          WorkTable::add_time(work.at("host"), time);
          break;
        }
        TraceWork& row =
            work.at(to_text(static_cast<ChakraCollective>(*kind)), node.text("pg_name"));
        WorkTable::add_time(row, time);
        WorkTable::add_bytes(row, std::max<std::int64_t>(0, bytes.value_or(0)));
        break;
      }
      case ChakraNodeType::send:
      case ChakraNodeType::receive: {
        TraceWork& row = work.at(to_text(node.type), node.text("pg_name"));
        WorkTable::add_time(row, time);
        WorkTable::add_bytes(row, std::max<std::int64_t>(0, bytes.value_or(0)));
        break;
      }
      case ChakraNodeType::memory_load:
      case ChakraNodeType::memory_store:
        WorkTable::add_time(work.at(to_text(node.type)), time);
        break;
      case ChakraNodeType::invalid:
      case ChakraNodeType::metadata:
        break;
    }
  }
  Facts facts;
  if (!trace.version.empty()) facts.text("version", trace.version);
  for (const ChakraAttribute& attribute : trace.attributes) {
    if (attribute.name == "schema" && attribute.is_text()) facts.text("schema", attribute.bytes);
  }
  facts.number("nodes", trace.nodes.size());
  for (int type = 0; type < kChakraNodeTypes; ++type) {
    const std::int64_t n = types[static_cast<std::size_t>(type)];
    if (n > 0) facts.number(std::string(to_text(static_cast<ChakraNodeType>(type))), n);
  }
  facts.number("data_dependencies", data);
  facts.number("control_dependencies", control);
  const ChakraReport report = check_chakra(trace);
  facts.number("absent_dependencies", report.absent);
  facts.number("start_times", starts);
  if (starts > 0) facts.text("times", trace.has_simulated_times() ? "simulated" : "recorded");
  facts.number("findings", report.total);
  if (!report.findings.empty()) {
    facts.text("first_finding", "node " + std::to_string(report.findings[0].node) + ": " +
                                    report.findings[0].message);
  }
  return {file, &kChakra, facts.take(), work.rows()};
}

// {"12": [: an object of numbers and lists.
bool is_communicator_file(std::string_view text) {
  const auto take = [&text](std::string_view token) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const bool found = text.starts_with(token);
    if (found) text.remove_prefix(token.size());
    return found;
  };
  if (!take("{") || !take("\"")) return false;
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  text.remove_prefix(digits);
  return text.starts_with('"') && take("\"") && take(":") && take("[");
}

}  // namespace

const TraceFormat kChakra{
    .key = "chakra",
    .name = "a Chakra execution trace",
    .plural = "Chakra execution traces",
    .ending = ".et",
    .one_file_a_rank = true,
    .may_be_cut = true,
    .instead = kNeedsHostCalls,
    .told_at =
        [](std::string_view beginning) {
          return is_chakra(beginning) ? 0 : std::string_view::npos;
        },
    .chakra = read_chakra_run,
    .contents = [](const std::string& file, Incomplete incomplete) -> Result<TraceContents> {
      ORRERY_TRY(const ChakraTrace trace, read_chakra(file, incomplete));
      return contents(trace, shown_name(file));
    }};

const TraceFormat kChakraJson{.key = "chakra_json",
                              .name = "a Chakra execution trace in JSON",
                              .plural = "Chakra execution traces in JSON",
                              .one_file_a_rank = true,
                              .instead = "give the .et file that it was made of",
                              .told_at = [](std::string_view beginning) {
                                return first_key(beginning, {"\"workload_graph\"", "\"ctrlDeps\""});
                              }};

const TraceFormat kCommunicatorFile{
    .key = "communicators",
    .name = "a communicator file of ASTRA-sim",
    .plural = "communicator files of ASTRA-sim",
    .beside_traces = true,
    .instead = "it goes to the simulator; give the .et files beside it, which hold their groups",
    .told_at = [](std::string_view beginning) {
      return is_communicator_file(beginning) ? 0 : std::string_view::npos;
    }};

}  // namespace orrery
