#include "trace/chakra/chakra_file.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "trace/byte_stream.h"
#include "trace/chakra/chakra_attribute.h"
#include "trace/chakra/readable_text.h"
#include "trace/piece_writer.h"

namespace orrery {
namespace {

namespace messages = chakra_messages;

constexpr std::uint64_t kMostUnpacked = 8ULL << 30;  // a few MB of gzip can unpack to anything
constexpr std::size_t kPiece = 1 << 20;
constexpr std::string_view kCut = "is the file cut? --partial uses what is whole";
constexpr std::string_view kEmptyMetadata("\x02\x0a\x00", 3);  // an empty version
constexpr std::string_view kEmptyNode("\x02\x08\x00", 3);      // the id 0

std::string place(const std::string& name, std::uint64_t byte) {
  return name + ": byte " + std::to_string(byte);
}

// Takes records from a stream, knowing where each began.
class Records {
 public:
  Records(ByteStream stream, std::string name)
      : stream_(std::move(stream)), name_(std::move(name)) {}

  [[nodiscard]] std::string where() const { return place(name_, record_); }
  // Whether the last error was that the file ends in the middle.
  [[nodiscard]] bool ends_early() const { return ends_early_; }

  // The next record, empty at the end of the file.
  Result<std::string_view> next() {
    ORRERY_TRY(const std::size_t there, fill(1));
    record_ = offset_;
    if (there == 0) {
      if (stream_.truncated()) {
        ends_early_ = true;
        return fail(ErrorCode::bad_input, "the gzip stream ends too early", where(),
                    std::string(kCut));
      }
      return std::string_view{};
    }
    ORRERY_TRY(const std::uint64_t length, length_of_record());
    if (length == 0) {
      return fail(ErrorCode::bad_input, "a record of length 0", where(),
                  "other readers would stop here");
    }
    if (offset_ + length > kMostUnpacked) {
      return fail(ErrorCode::bad_input, "the record would end beyond 8 GiB", where());
    }
    ORRERY_TRY(const std::size_t whole, fill(static_cast<std::size_t>(length)));
    if (whole < length) {
      ends_early_ = true;
      return fail(ErrorCode::bad_input,
                  "the record says it is " + std::to_string(length) + " bytes long, but " +
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
        return fail(ErrorCode::bad_input, "the file ends inside the length of a record", where(),
                    std::string(kCut));
      }
      const auto byte = static_cast<std::uint8_t>(buffer_[at_]);
      take(1);
      length |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) {
        if (length > std::numeric_limits<std::uint32_t>::max()) break;
        return length;
      }
    }
    return fail(ErrorCode::bad_input, "the length of a record does not fit 32 bits", where(),
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
      buffer_.resize(size_ + kPiece);
      ORRERY_TRY(const std::size_t got, stream_.read(buffer_.data() + size_, kPiece));
      size_ += got;
      if (got == 0) break;
    }
    return std::min(wanted, size_ - at_);
  }

  ByteStream stream_;
  std::string name_;
  std::string buffer_;
  std::size_t at_ = 0;        // of the next byte in buffer_
  std::size_t size_ = 0;      // bytes in buffer_ that were read
  std::uint64_t offset_ = 0;  // of at_ in the unpacked file
  std::uint64_t record_ = 0;  // where the current record began
  bool ends_early_ = false;
};

template <class Message>
bool parse(Message& message, std::string_view record) {
  message.Clear();
  return message.ParseFromArray(record.data(), static_cast<int>(record.size()));
}

ChakraValues values_of(const messages::Values& message) {
  return {message.values(), message.shapes(), message.types()};
}

std::optional<ChakraNode> node_of(const messages::Node& message) {
  if (message.type() < 0 || message.type() >= kChakraNodeTypes) return std::nullopt;
  ChakraNode out;
  out.id = message.id();
  out.name = message.name();
  out.type = static_cast<ChakraNodeType>(message.type());
  out.control_dependencies.assign(message.control_dependencies().begin(),
                                  message.control_dependencies().end());
  out.data_dependencies.assign(message.data_dependencies().begin(),
                               message.data_dependencies().end());
  out.start_micros = message.start_micros();
  out.duration_micros = message.duration_micros();
  if (message.has_inputs()) out.inputs = values_of(message.inputs());
  if (message.has_outputs()) out.outputs = values_of(message.outputs());
  out.attributes.reserve(static_cast<std::size_t>(message.attributes_size()));
  for (const messages::Attribute& a : message.attributes()) {
    out.attributes.push_back(attribute_of(a));
  }
  return out;
}

void set_message(const ChakraValues& values, messages::Values& message) {
  message.set_values(readable_text(values.values));
  message.set_shapes(readable_text(values.shapes));
  message.set_types(readable_text(values.types));
}

void set_message(const ChakraNode& node, messages::Node& message) {
  message.Clear();
  message.set_id(node.id);
  message.set_name(readable_text(node.name));
  message.set_type(static_cast<std::int32_t>(node.type));
  message.mutable_control_dependencies()->Add(node.control_dependencies.begin(),
                                              node.control_dependencies.end());
  message.mutable_data_dependencies()->Add(node.data_dependencies.begin(),
                                           node.data_dependencies.end());
  message.set_start_micros(node.start_micros);
  message.set_duration_micros(node.duration_micros);
  if (node.inputs) set_message(*node.inputs, *message.mutable_inputs());
  if (node.outputs) set_message(*node.outputs, *message.mutable_outputs());
  for (const ChakraAttribute& a : node.attributes) set_message(a, *message.add_attributes());
}

// `empty` is the record if nothing differs from its default, for a length of zero ends a file.
template <class Message>
void append_record(const Message& message, std::string_view empty, std::string& out) {
  auto length = static_cast<std::uint32_t>(message.ByteSizeLong());
  if (length == 0) {
    out += empty;
    return;
  }
  while (length >= 0x80) {
    out += static_cast<char>(length | 0x80U);
    length >>= 7U;
  }
  out += static_cast<char>(length);
  message.AppendToString(&out);
}

// Calls `after` behind each record.
template <class After>
void append_records(const ChakraTrace& trace, std::string& out, const After& after) {
  messages::GlobalMetadata metadata;
  metadata.set_version(readable_text(trace.version));
  for (const ChakraAttribute& a : trace.attributes) set_message(a, *metadata.add_attributes());
  append_record(metadata, kEmptyMetadata, out);
  messages::Node message;
  for (const ChakraNode& node : trace.nodes) {
    after();
    set_message(node, message);
    append_record(message, kEmptyNode, out);
  }
}

Result<ChakraTrace> read(ByteStream stream, const std::string& name, Incomplete incomplete) {
  Records records(std::move(stream), name);
  ORRERY_TRY(const std::string_view first, records.next());
  if (first.empty()) {
    return fail(ErrorCode::bad_input, "is empty", name, "a Chakra trace begins with its version");
  }
  messages::GlobalMetadata metadata;
  // Text of another format can pass for fields that nobody knows.
  const bool parsed = parse(metadata, first);
  const bool foreign = metadata.version().empty() && metadata.attributes().empty() &&
                       first != kEmptyMetadata.substr(1);
  if (!parsed || foreign) {
    return fail(ErrorCode::bad_input, "the first record is no metadata of a Chakra trace",
                records.where());
  }
  ChakraTrace out;
  out.version = metadata.version();
  for (const messages::Attribute& a : metadata.attributes()) {
    out.attributes.push_back(attribute_of(a));
  }
  messages::Node message;
  while (true) {
    const auto record = records.next();
    const bool cut = !record && records.ends_early() && incomplete == Incomplete::use_what_is_whole;
    if (!record && !cut) return fail(record.error());
    if (cut || record->empty()) break;
    if (!parse(message, *record)) {
      return fail(ErrorCode::bad_input, "the record is no node of a Chakra trace", records.where());
    }
    auto node = node_of(message);
    if (!node) {
      return fail(ErrorCode::bad_input,
                  "unknown node type " + std::to_string(message.type()) + " of node " +
                      std::to_string(message.id()),
                  records.where(), "types are 0 (invalid) to 7 (collective)");
    }
    out.nodes.push_back(std::move(*node));
  }
  if (out.nodes.empty()) {
    return fail(ErrorCode::bad_input, "holds no nodes", name,
                "a Chakra trace has a record for each operation behind its metadata");
  }
  return out;
}

}  // namespace

Result<ChakraTrace> read_chakra(const std::string& file, Incomplete incomplete) {
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  return read(std::move(stream), file == "-" ? "standard input" : file, incomplete);
}

Result<ChakraTrace> read_chakra_bytes(std::string_view bytes, const std::string& name,
                                      Incomplete incomplete) {
  ORRERY_TRY(ByteStream stream, ByteStream::of(bytes, name));
  return read(std::move(stream), name, incomplete);
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
    if (piece.size() < kPiece) return;
    writer.append(piece);
    piece.clear();
  });
  writer.append(piece);
  return writer.finish();
}

}  // namespace orrery
