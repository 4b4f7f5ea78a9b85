// Protobuf's wire format: a message is a row of numbered fields, each a varint, 4 or 8 bytes, or
// counted bytes, which may be a message again.
//
// Refuses what protobuf refuses: a field of number 0, varints of more than ten bytes (tags and
// counts: five), counts that pass the end, groups that are never closed. Closed groups, which no
// message of this program has, are passed over. Linear; reading copies nothing.
//
// Source: protobuf.dev, Encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace orrery {

static_assert(std::endian::native == std::endian::little);  // as numbers of 4 and 8 bytes stand

enum class WireType : std::uint8_t {
  varint,
  eight_bytes,
  counted,
  group,
  end_of_group,
  four_bytes
};

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t bits = 0;       // of a varint and of 4 or 8 bytes
  std::string_view bytes = {};  // counted
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // The next field that is not a group; false at the end or if the bytes are not a message.
  bool next(WireField& field) {
    while (at_ != end_) {
      if (!read(field) || field.type == WireType::end_of_group) return fail();
      if (field.type != WireType::group) return true;
      if (!pass_group(field.number)) return fail();
    }
    return false;
  }
  // The next number of a packed list.
  bool next(WireType type, std::uint64_t& bits) {
    return at_ != end_ && (number(type, bits) || fail());
  }
  // Whether all that was read is a message.
  [[nodiscard]] bool is_message() const { return !failed_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

 private:
  bool fail() {
    failed_ = true;
    at_ = end_;
    return false;
  }

  bool read(WireField& field) {
    std::uint64_t tag = 0;
    if (!varint(tag, 5)) return false;
    field.number = static_cast<std::uint32_t>(tag) >> 3U;
    field.type = static_cast<WireType>(tag & 7U);
    if (field.number == 0 || field.type > WireType::four_bytes) return false;
    if (field.type == WireType::group || field.type == WireType::end_of_group) return true;
    if (field.type != WireType::counted) return number(field.type, field.bits);
    if (!varint(field.bits, 5) || field.bits > left()) return false;
    field.bytes = {at_, static_cast<std::size_t>(field.bits)};
    at_ += field.bits;
    return true;
  }

  bool number(WireType type, std::uint64_t& bits) {
    if (type == WireType::varint) return varint(bits, 10);
    const std::size_t size = type == WireType::eight_bytes ? 8 : 4;
    if (left() < size) return false;
    bits = 0;
    std::memcpy(&bits, at_, size);
    at_ += size;
    return true;
  }

  bool varint(std::uint64_t& value, unsigned most_bytes) {
    value = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 7 * most_bytes; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool pass_group(std::uint32_t number);

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

void append_varint(std::uint64_t value, std::string& out);
// Fields; a number is written in the bytes of its type, whatever its value.
void append_number(std::uint32_t field, WireType type, std::uint64_t bits, std::string& out);
void append_bytes(std::uint32_t field, std::string_view bytes, std::string& out);
// Without a tag, as in a packed list.
void append_bits(WireType type, std::uint64_t bits, std::string& out);

}  // namespace orrery
