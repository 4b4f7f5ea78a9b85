#include "trace/chakra/chakra_file.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "trace/chakra/readable_text.h"
#include "trace/chakra/wire.h"
#include "trace/piece_writer.h"

namespace orrery {
namespace {

constexpr std::uint64_t kMostUnpacked = 8ULL << 30;  // a few MB of gzip can unpack to anything
constexpr std::size_t kReadSize = 1 << 20;
constexpr std::size_t kSample = 256;  // nodes from which the size of a trace is judged
constexpr std::size_t kMostReserved = 1 << 18;
constexpr std::string_view kCut = "is the file cut? --partial uses what is whole";
constexpr std::string_view kEmptyMetadata("\x02\x0a\x00", 3);  // an empty version
constexpr std::string_view kEmptyNode("\x02\x08\x00", 3);      // the id 0

// Takes records from a stream, knowing where each began.
class Records {
 public:
  explicit Records(ByteStream stream) : stream_(std::move(stream)) {}

  [[nodiscard]] std::string where() const {
    return stream_.name() + ": byte " + std::to_string(record_);
  }
  // How many records the file holds, judged from the first `records` of them and its size.
  [[nodiscard]] std::size_t expected(std::size_t records) const {
    const std::uint64_t mean = offset_ / records;
    return static_cast<std::size_t>(stream_.file_size() / std::max<std::uint64_t>(1, mean));
  }
  // Whether this many bytes may be held beside those of the records themselves.
  [[nodiscard]] Result<void> allow(std::uint64_t held) const {
    return stream_.allow(offset_ + size_ - at_ + held);
  }
  // Whether the last error was that the file ends in the middle.
  [[nodiscard]] bool ends_early() const { return ends_early_; }

  // The next record, empty at the end of the file.
  Result<std::string_view> next() {
    ORRERY_TRY(const std::size_t there, fill(1));
    record_ = offset_;
    if (there == 0) {
      if (stream_.truncated()) {
        ends_early_ = true;
        return bad_input("the gzip stream ends too early", where(), std::string(kCut));
      }
      return std::string_view{};
    }
    ORRERY_TRY(const std::uint64_t length, length_of_record());
    if (length == 0) {
      return bad_input("a record of length 0", where(), "other readers would stop here");
    }
    if (offset_ + length > kMostUnpacked) {
      return bad_input("the record would end beyond 8 GiB", where());
    }
    ORRERY_TRY(const std::size_t whole, fill(static_cast<std::size_t>(length)));
    if (whole < length) {
      ends_early_ = true;
      return bad_input("the record says it is " + std::to_string(length) + " bytes long, but " +
                           std::to_string(whole) + " remain",
                       where(),
                       stream_.truncated()
                           ? "the gzip stream ends too early; --partial uses what is whole"
                           : std::string(kCut));
    }
    const std::string_view out(buffer_.data() + at_, static_cast<std::size_t>(length));
    take(static_cast<std::size_t>(length));
    return out;
  }

 private:
  Result<std::uint64_t> length_of_record() {
    std::uint64_t length = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      ORRERY_TRY(const std::size_t there, fill(1));
      if (there == 0) {
        ends_early_ = true;
        return bad_input("the file ends inside the length of a record", where(), std::string(kCut));
      }
      const auto byte = static_cast<std::uint8_t>(buffer_[at_]);
      take(1);
      length |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) {
        if (length > std::numeric_limits<std::uint32_t>::max()) break;
        return length;
      }
    }
    return bad_input("the length of a record does not fit 32 bits", where(),
                     "is this a Chakra trace?");
  }

  void take(std::size_t bytes) {
    at_ += bytes;
    offset_ += bytes;
  }

  // Makes `wanted` bytes available from at_; gives how many there are, which is fewer at the end.
  // Grows by pieces, so that a wrong length costs no memory.
  Result<std::size_t> fill(std::size_t wanted) {
    while (size_ - at_ < wanted) {
      if (at_ > 0) {
        buffer_.erase(0, at_);
        size_ -= at_;
        at_ = 0;
      }
      ORRERY_RETURN_IF_ERROR(allow(0));
      buffer_.resize(size_ + kReadSize);
      ORRERY_TRY(const std::size_t got, stream_.read(buffer_.data() + size_, kReadSize));
      size_ += got;
      if (got == 0) break;
    }
    return std::min(wanted, size_ - at_);
  }

  ByteStream stream_;
  std::string buffer_;
  std::size_t at_ = 0;        // of the next byte in buffer_
  std::size_t size_ = 0;      // bytes in buffer_ that were read
  std::uint64_t offset_ = 0;  // of at_ in the unpacked file
  std::uint64_t record_ = 0;  // where the current record began
  bool ends_early_ = false;
};

// Fields of the messages GlobalMetadata, Node and AttributeProto's values of inputs and outputs.
constexpr std::uint32_t kMetadataVersion = 1;
constexpr std::uint32_t kMetadataAttributes = 2;

constexpr std::uint32_t kId = 1;
constexpr std::uint32_t kNodeName = 2;
constexpr std::uint32_t kType = 3;
constexpr std::uint32_t kControlDependencies = 4;
constexpr std::uint32_t kDataDependencies = 5;
constexpr std::uint32_t kStart = 6;
constexpr std::uint32_t kDuration = 7;
constexpr std::uint32_t kInputs = 8;
constexpr std::uint32_t kOutputs = 9;
constexpr std::uint32_t kAttributes = 10;

constexpr std::uint32_t kValues = 1;
constexpr std::uint32_t kShapes = 2;
constexpr std::uint32_t kTypes = 3;

bool read_metadata(std::string_view record, ChakraTrace& out) {
  WireReader reader(record);
  for (WireField field; reader.next(field);) {
    if (field.type != WireType::counted) continue;
    if (field.number == kMetadataVersion) out.version = field.bytes;
    if (field.number != kMetadataAttributes) continue;
    auto attribute = attribute_of(field.bytes);
    if (!attribute) return false;
    out.attributes.push_back(*std::move(attribute));
  }
  return reader.is_message();
}

bool read_values(std::string_view message, RareValue<ChakraValues>& out) {
  if (!out) out = ChakraValues();
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    if (field.type != WireType::counted) continue;
    if (field.number == kValues) out->values = field.bytes;
    if (field.number == kShapes) out->shapes = field.bytes;
    if (field.number == kTypes) out->types = field.bytes;
  }
  return reader.is_message();
}

// Packed or one by one.
bool read_numbers(const WireField& field, std::vector<std::uint64_t>& out) {
  if (field.type == WireType::varint) out.push_back(field.bits);
  if (field.type != WireType::counted) return true;
  const auto ends = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (out.empty()) {  // a list in many pieces grows as it comes
    out.reserve(static_cast<std::size_t>(std::ranges::count_if(field.bytes, ends)));
  }
  WireReader packed(field.bytes);
  for (std::uint64_t number = 0; packed.next(WireType::varint, number);) out.push_back(number);
  return packed.is_message();
}

// `type` is as it stands, known or not. Fields of another type than the schema's are passed over.
bool read_node(std::string_view record, ChakraNode& out, std::int32_t& type) {
  WireReader reader(record);
  for (WireField field; reader.next(field);) {
    const bool counted = field.type == WireType::counted;
    const bool varint = field.type == WireType::varint;
    bool good = true;
    if (field.number == kAttributes && counted) {
      good = out.attributes.push_back_message(field.bytes, reader.left());
    } else if (field.number == kId && varint) {
      out.id = field.bits;
    } else if (field.number == kNodeName && counted) {
      out.name = field.bytes;
    } else if (field.number == kType && varint) {
      type = static_cast<std::int32_t>(field.bits);
    } else if (field.number == kControlDependencies) {
      good = read_numbers(field, out.control_dependencies);
    } else if (field.number == kDataDependencies) {
      good = read_numbers(field, out.data_dependencies);
    } else if (field.number == kStart && varint) {
      out.start_micros = field.bits;
    } else if (field.number == kDuration && varint) {
      out.duration_micros = field.bits;
    } else if (field.number == kInputs && counted) {
      good = read_values(field.bytes, out.inputs);
    } else if (field.number == kOutputs && counted) {
      good = read_values(field.bytes, out.outputs);
    }
    if (!good) return false;
  }
  if (type >= 0 && type < kChakraNodeTypes) out.type = static_cast<ChakraNodeType>(type);
  return reader.is_message();
}

// What is 0 or empty is left out, as protobuf does.
void append_text(std::uint32_t field, std::string_view text, std::string& out) {
  if (!text.empty()) append_bytes(field, readable_text(text), out);
}

void append_whole(std::uint32_t field, std::uint64_t number, std::string& out) {
  if (number != 0) append_number(field, WireType::varint, number, out);
}

void append_packed(std::uint32_t field, const std::vector<std::uint64_t>& numbers,
                   std::string& out) {
  std::string packed;
  for (const std::uint64_t number : numbers) append_varint(number, packed);
  if (!packed.empty()) append_bytes(field, packed, out);
}

void append_values(std::uint32_t field, const RareValue<ChakraValues>& values, std::string& out) {
  if (!values) return;
  std::string message;
  append_text(kValues, values->values, message);
  append_text(kShapes, values->shapes, message);
  append_text(kTypes, values->types, message);
  append_bytes(field, message, out);
}

void append_attributes(std::uint32_t field, std::span<const ChakraAttribute> attributes,
                       std::string& out) {
  for (const ChakraAttribute& attribute : attributes) {
    std::string message;
    append_attribute(attribute, message);
    append_bytes(field, message, out);
  }
}

// `empty` is the record if nothing differs from its default, for a length of zero ends a file.
void append_record(std::string_view message, std::string_view empty, std::string& out) {
  if (message.empty()) {
    out += empty;
    return;
  }
  append_varint(message.size(), out);
  out += message;
}

// Calls `after` behind each record.
template <class After>
void append_records(const ChakraTrace& trace, std::string& out, const After& after) {
  std::string message;
  append_text(kMetadataVersion, trace.version, message);
  append_attributes(kMetadataAttributes, trace.attributes, message);
  append_record(message, kEmptyMetadata, out);
  for (const ChakraNode& node : trace.nodes) {
    after();
    message.clear();
    append_whole(kId, node.id, message);
    append_text(kNodeName, node.name, message);
    append_whole(kType, static_cast<std::uint64_t>(node.type), message);
    append_packed(kControlDependencies, node.control_dependencies, message);
    append_packed(kDataDependencies, node.data_dependencies, message);
    append_whole(kStart, node.start_micros, message);
    append_whole(kDuration, node.duration_micros, message);
    append_values(kInputs, node.inputs, message);
    append_values(kOutputs, node.outputs, message);
    append_attributes(kAttributes, node.attributes.decoded(), message);
    append_record(message, kEmptyNode, out);
  }
}

}  // namespace

Result<ChakraTrace> read_chakra(ByteStream stream, Incomplete incomplete) {
  const std::string name = stream.name();
  Records records(std::move(stream));
  ORRERY_TRY(const std::string_view first, records.next());
  if (first.empty()) return bad_input("is empty", name, "a Chakra trace begins with its version");
  ChakraTrace out;
  // Text of another format can pass for fields that nobody knows.
  const bool parsed = read_metadata(first, out);
  const bool foreign =
      out.version.empty() && out.attributes.empty() && first != kEmptyMetadata.substr(1);
  if (!parsed || foreign) {
    return bad_input("the first record is not metadata of a Chakra trace", records.where());
  }
  while (true) {
    const auto record = records.next();
    const bool cut = !record && records.ends_early() && incomplete == Incomplete::use_what_is_whole;
    if (!record && !cut) return fail(record.error());
    if (cut || record->empty()) break;
    // Fewer moves of what was read, and no more memory than some files need.
    if (out.nodes.size() == kSample) {
      out.nodes.reserve(std::min(records.expected(kSample) + kSample, kMostReserved));
    }
    // A full vector is copied to one twice as large.
    const std::size_t room = out.nodes.capacity();
    ORRERY_RETURN_IF_ERROR(
        records.allow(sizeof(ChakraNode) * (out.nodes.size() < room ? room : 3 * room)));
    std::int32_t type = 0;
    ChakraNode& node = out.nodes.emplace_back();
    if (!read_node(*record, node, type)) {
      return bad_input("the record is not a node of a Chakra trace", records.where());
    }
    if (type < 0 || type >= kChakraNodeTypes) {
      return bad_input(
          "unknown node type " + std::to_string(type) + " of node " + std::to_string(node.id),
          records.where(), "types are 0 (invalid) to 7 (collective)");
    }
  }
  if (out.nodes.empty()) {
    return bad_input("holds no nodes", name,
                     "a Chakra trace has a record for each operation behind its metadata");
  }
  return out;
}

Result<ChakraTrace> read_chakra(const std::string& file, Incomplete incomplete) {
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  return read_chakra(std::move(stream), incomplete);
}

std::string chakra_bytes(const ChakraTrace& trace) {
  std::string out;
  append_records(trace, out, [] {});
  return out;
}

Result<void> write_chakra(const std::string& file, const ChakraTrace& trace) {
  ORRERY_TRY(PieceWriter writer, PieceWriter::create(file));
  std::string piece;
  append_records(trace, piece, [&] {
    if (piece.size() < kReadSize) return;
    writer.append(piece);
    piece.clear();
  });
  writer.append(piece);
  return writer.finish();
}

}  // namespace orrery
