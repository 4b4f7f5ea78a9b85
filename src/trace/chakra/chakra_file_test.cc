#include "trace/chakra/chakra_file.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "document/value.h"
#include "trace/byte_stream.h"
#include "trace/gzip.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

std::string chakra_error(std::string_view bytes) {
  const auto trace = read_chakra_bytes(bytes, "x.et");
  return trace ? "no error" : trace.error().text();
}

// Version "0.0.4" and a node {id 1, name "a", type COMP}.
const std::string kMetadata =
    "\x07\x0a\x05"
    "0.0.4";
const std::string kNode =
    "\x07\x08\x01\x12\x01"
    "a"
    "\x18\x04";

TEST(ChakraFile, ReadsAMicrobenchmarkOfOneCollective) {
  const auto trace =
      read_chakra(kTraces + "astra-sim/et-microbenchmarks/all_reduce/8npus_1MB/all_reduce.0.et");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->version, "0.0.4");
  ASSERT_EQ(trace->nodes.size(), 1U);
  const ChakraNode& node = trace->nodes[0];
  EXPECT_EQ(node.id, 0U);
  EXPECT_EQ(node.name, "all_reduce_8npus_1MB");
  EXPECT_EQ(node.type, ChakraNodeType::collective);
  EXPECT_FALSE(node.is_host());
  EXPECT_EQ(node.integer("comm_type"), 0);  // written although it is zero
  EXPECT_EQ(node.integer("comm_size"), 1'048'576);
  EXPECT_EQ(node.integer("comm_src"), std::nullopt);
}

TEST(ChakraFile, ReadsSendsAndReceivesOfACustomRing) {
  const auto trace = read_chakra(kTraces +
                                 "astra-sim/et-custom-collectives/custom_ring_allreduce_8npus_1MB/"
                                 "custom_allreduce.0.et");
  ASSERT_TRUE(trace) << trace.error().text();
  int sends = 0;
  int receives = 0;
  std::size_t edges = 0;
  for (const ChakraNode& node : trace->nodes) {
    sends += node.type == ChakraNodeType::send ? 1 : 0;
    receives += node.type == ChakraNodeType::receive ? 1 : 0;
    edges += node.data_dependencies.size();
    if (node.type == ChakraNodeType::send) {
      EXPECT_EQ(node.integer("comm_size"), 131'072);
      EXPECT_EQ(node.find("comm_dst")->kind, ChakraKind::int32);
    }
  }
  EXPECT_EQ(trace->nodes.size(), 35U);
  EXPECT_EQ(sends, 14);
  EXPECT_EQ(receives, 14);
  EXPECT_EQ(edges, 34U);
}

TEST(ChakraFile, ReadsConvertedRealTraces) {
  const auto old = read_chakra(kTraces + "chakra/chakra.0.et");
  ASSERT_TRUE(old) << old.error().text();
  std::size_t edges = 0;
  for (const ChakraNode& node : old->nodes) edges += node.data_dependencies.size();
  EXPECT_EQ(old->nodes.size(), 3664U);
  EXPECT_EQ(edges, 181'878U);

  const auto groups = read_chakra(kTraces + "chakra/comm-group-2gpu/chakra_trace.1.et");
  ASSERT_TRUE(groups) << groups.error().text();
  std::vector<std::string_view> names;
  for (const ChakraNode& node : groups->nodes) {
    if (node.type != ChakraNodeType::collective) continue;
    EXPECT_EQ(node.integer("comm_size"), 4'294'967'296);
    names.push_back(node.text("pg_name"));
  }
  EXPECT_THAT(names, ::testing::ElementsAre("1", "2"));
}

TEST(ChakraFile, WritesEveryGoldenFileBackByteForByte) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kTraces)) {
    if (entry.path().extension() != ".et") continue;
    const auto bytes = read_file(entry.path().string());
    ASSERT_TRUE(bytes);
    const auto trace = read_chakra_bytes(*bytes, entry.path().string());
    ASSERT_TRUE(trace) << trace.error().text();
    EXPECT_TRUE(chakra_bytes(*trace) == *bytes) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 125);
}

ChakraTrace trace_of_every_kind() {
  ChakraTrace trace;
  trace.version = "0.0.4";
  ChakraNode node;
  node.id = 18'446'744'073'709'551'615U;
  node.name = "every kind";
  node.type = ChakraNodeType::compute;
  node.control_dependencies = {0, 1U << 31};
  node.start_micros = 1;
  node.duration_micros = 2;
  node.inputs = ChakraValues{"[1]", "[[]]", "['Int']"};
  node.outputs = ChakraValues{};
  for (int i = static_cast<int>(ChakraKind::double_kind); i <= static_cast<int>(ChakraKind::bytes);
       ++i) {
    const auto kind = static_cast<ChakraKind>(i);
    ChakraAttribute one{"a" + std::to_string(i), kind, 1};
    if (i % 2 == 0) one.documentation = "why";
    if (kind == ChakraKind::int64) one = chakra_int64(one.name, -7);
    ChakraAttribute many = one;
    many.bits = 0;
    many.is_list = true;
    ChakraAttribute none = many;
    switch (kind) {
      case ChakraKind::string:
      case ChakraKind::bytes:
        one.bits = 0;
        one.bytes = "text";
        append_bytes(1, "", many.bytes);
        append_bytes(1, "b", many.bytes);
        break;
      case ChakraKind::double_kind:
      case ChakraKind::fixed64:
      case ChakraKind::sfixed64:
        append_bits(WireType::eight_bytes, 3, many.bytes);
        append_bits(WireType::eight_bytes, 4, many.bytes);
        break;
      case ChakraKind::float_kind:
      case ChakraKind::fixed32:
      case ChakraKind::sfixed32:
        append_bits(WireType::four_bytes, 3, many.bytes);
        append_bits(WireType::four_bytes, 4, many.bytes);
        break;
      default:
        append_varint(1, many.bytes);
        append_varint(0, many.bytes);
    }
    for (const auto& attribute : {one, many, none}) node.attributes.push_back(attribute);
  }
  node.attributes.push_back({"unset", ChakraKind::none});
  trace.nodes = {node, ChakraNode{}};
  return trace;
}

TEST(ChakraFile, KeepsEveryKindOfAttribute) {
  const ChakraTrace trace = trace_of_every_kind();
  const auto again = read_chakra_bytes(chakra_bytes(trace), "x.et");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_TRUE(*again == trace);
  EXPECT_EQ(chakra_bytes(*again), chakra_bytes(trace));
}

TEST(ChakraFile, ReadsThroughGzipAndWritesItByName) {
  const auto plain = read_chakra_bytes(kMetadata + kNode, "x.et");
  ASSERT_TRUE(plain);
  const auto packed = read_chakra_bytes(gzip(kMetadata + kNode), "x.et");
  ASSERT_TRUE(packed) << packed.error().text();
  EXPECT_TRUE(*plain == *packed);

  const std::string file = ::testing::TempDir() + "orrery_chakra_file_test.et.gz";
  ASSERT_TRUE(write_chakra(file, *plain));
  EXPECT_TRUE(read_file(file)->starts_with("\x1f\x8b"));
  EXPECT_TRUE(*read_chakra(file) == *plain);
  std::filesystem::remove(file);
}

TEST(ChakraFile, ReadsDependenciesThatAreNotPackedAndSkipsUnknownFields) {
  // id 1, data_dependencies 2 and 3 as two single fields, an unknown field 15.
  const auto trace = read_chakra_bytes(kMetadata + "\x08\x08\x01\x28\x02\x28\x03\x78\x09", "x.et");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_THAT(trace->nodes.at(0).data_dependencies, ::testing::ElementsAre(2, 3));
}

// The bytes of a file with one node, whose record is given without its length.
std::string with_node(const std::string& record) {
  return kMetadata + static_cast<char>(record.size()) + record;
}

TEST(ChakraFile, BringsAttributesIntoTheFormInWhichTheyAreWritten) {
  const auto rewritten = [](const std::string& attribute) {
    const auto trace = read_chakra_bytes(
        with_node("\x08\x01\x52" + std::string(1, static_cast<char>(attribute.size())) + attribute),
        "x.et");
    return trace ? chakra_bytes(*trace).substr(kMetadata.size() + 5) : trace.error().message;
  };
  const std::string canonical = "\x0a\x01n\x48\x05";  // n: int64 5
  EXPECT_EQ(rewritten(canonical), canonical);
  EXPECT_EQ(rewritten("\x48\x05\x0a\x01n"), canonical);  // the name behind its value
  EXPECT_EQ(rewritten("\x0a\x01n\x48\x85\x80" + std::string(1, '\0')), canonical);   // 5, at length
  EXPECT_EQ(rewritten("\x0a\x01n\xc8" + std::string(1, '\0') + "\x05"), canonical);  // so its tag
  EXPECT_EQ(rewritten("\x0a\x01n\x38\x07\x48\x05"), canonical);  // the last value counts
  EXPECT_EQ(rewritten("\x0a\x01n\x9b\x04\x08\x01\x9c\x04\x48\x05"), canonical);  // a group
  EXPECT_EQ(rewritten("\x0a\x01n\x4d\x01\x01\x01\x01\x48\x05"), canonical);      // of another type
  // An int64 list in two parts, packed and one by one.
  EXPECT_EQ(rewritten("\x0a\x01n\x52\x03\x0a\x01\x05\x52\x02\x08\x06"),
            "\x0a\x01n\x52\x04\x0a\x02\x05\x06");
  for (const char* damaged : {"\x0a\x09n", "\x48\x85", "\x0a\x01n\x9b\x04\x08\x01",
                              "\x0a\x01n\x9c\x04", "\x02\x01", "\x0f", "\x52\x03\x0a\x05\x05"}) {
    EXPECT_EQ(rewritten(damaged), "the record is not a node of a Chakra trace") << damaged;
  }
}

TEST(ChakraFile, WritesOnlyUtf8) {
  ChakraTrace trace;
  trace.version = "0.0.4";
  trace.nodes.emplace_back().name = "caf\xe9 caf\xc3\xa9";
  EXPECT_EQ(read_chakra_bytes(chakra_bytes(trace), "x.et")->nodes.at(0).name, "caf? caf\xc3\xa9");
}

TEST(ChakraFile, SaysWhatIsWrongAndAtWhichByte) {
  EXPECT_EQ(chakra_error(""), "x.et: is empty (a Chakra trace begins with its version)");
  EXPECT_EQ(chakra_error(kMetadata),
            "x.et: holds no nodes (a Chakra trace has a record for each operation behind its "
            "metadata)");
  EXPECT_EQ(
      read_chakra_bytes(kMetadata + "\x7f", "x.et", Incomplete::use_what_is_whole).error().message,
      "holds no nodes");
  EXPECT_EQ(chakra_error(kMetadata + "\x7f"
                                     "abc"),
            "x.et: byte 8: the record says it is 127 bytes long, but 3 remain (is the file cut? "
            "--partial uses what is whole)");
  EXPECT_EQ(chakra_error(kMetadata + std::string(1, '\0')),
            "x.et: byte 8: a record of length 0 (other readers would stop here)");
  EXPECT_EQ(chakra_error(kMetadata + "\x80"),
            "x.et: byte 8: the file ends inside the length of a record (is the file cut? --partial "
            "uses what is whole)");
  EXPECT_EQ(chakra_error("\xff\xff\xff\xff\xff\xff"),
            "x.et: byte 0: the length of a record does not fit 32 bits (is this a Chakra trace?)");
  EXPECT_EQ(chakra_error(kMetadata + "\x02\x18\x63"),
            "x.et: byte 8: unknown node type 99 of node 0 (types are 0 (invalid) to 7 "
            "(collective))");
  EXPECT_EQ(chakra_error(kMetadata + "\x02\xff\xff"),
            "x.et: byte 8: the record is not a node of a Chakra trace");
  EXPECT_EQ(chakra_error("{\"schemaVersion\": 1, \"traceEvents\": [], \"padding\": \"" +
                         std::string(200, 'x') + "\"}"),
            "x.et: byte 0: the first record is not metadata of a Chakra trace");
  const std::string packed = gzip(kMetadata + kNode);
  EXPECT_THAT(chakra_error(packed.substr(0, packed.size() / 2)), HasSubstr("gzip"));
}

TEST(ChakraFile, UsesWhatIsWholeOfACutFile) {
  ChakraTrace trace;
  trace.version = "0.0.4";
  for (std::uint64_t id = 1; id <= 3; ++id) {
    trace.nodes.emplace_back();
    trace.nodes.back().id = id;
    trace.nodes.back().name = "n";
    trace.nodes.back().type = ChakraNodeType::compute;
  }
  const std::string bytes = chakra_bytes(trace);
  const std::string packed = gzip(bytes);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    const auto part = read_chakra_bytes(std::string_view(bytes).substr(0, cut), "x.et",
                                        Incomplete::use_what_is_whole);
    if (!part) continue;  // not even its first record is there
    EXPECT_LE(part->nodes.size(), 3u);
    EXPECT_TRUE(std::equal(part->nodes.begin(), part->nodes.end(), trace.nodes.begin()));
  }
  const auto part = read_chakra_bytes(std::string_view(bytes).substr(0, bytes.size() - 1), "x.et",
                                      Incomplete::use_what_is_whole);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->nodes.size(), 2u);
  EXPECT_TRUE(read_chakra_bytes(std::string_view(packed).substr(0, packed.size() - 4), "x.et.gz",
                                Incomplete::use_what_is_whole));
  // Damage in the middle is no cut.
  std::string damaged = bytes;
  damaged[bytes.size() - 4] = '\x7f';
  EXPECT_FALSE(read_chakra_bytes(damaged + "\x01", "x.et", Incomplete::use_what_is_whole));
}

}  // namespace
}  // namespace orrery
