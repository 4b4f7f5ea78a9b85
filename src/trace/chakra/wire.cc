#include "trace/chakra/wire.h"

#include <vector>

namespace orrery {

bool WireReader::pass_group(std::uint32_t number) {
  constexpr std::size_t kDeepest = 100;  // as protobuf
  std::vector<std::uint32_t> open = {number};
  for (WireField field; !open.empty();) {
    if (open.size() > kDeepest || !read(field)) return false;
    if (field.type == WireType::group) open.push_back(field.number);
    if (field.type != WireType::end_of_group) continue;
    if (field.number != open.back()) return false;
    open.pop_back();
  }
  return true;
}

void append_varint(std::uint64_t value, std::string& out) {
  char bytes[10];
  std::size_t size = 0;
  for (; value >= 0x80; value >>= 7U) bytes[size++] = static_cast<char>(value | 0x80U);
  bytes[size++] = static_cast<char>(value);
  out.append(bytes, size);
}

void append_bits(WireType type, std::uint64_t bits, std::string& out) {
  if (type == WireType::varint) return append_varint(bits, out);
  char bytes[8];
  std::memcpy(bytes, &bits, 8);
  out.append(bytes, type == WireType::eight_bytes ? 8 : 4);
}

void append_number(std::uint32_t field, WireType type, std::uint64_t bits, std::string& out) {
  append_varint(field << 3U | static_cast<std::uint32_t>(type), out);
  append_bits(type, bits, out);
}

void append_bytes(std::uint32_t field, std::string_view bytes, std::string& out) {
  append_varint(field << 3U | static_cast<std::uint32_t>(WireType::counted), out);
  append_varint(bytes.size(), out);
  out += bytes;
}

}  // namespace orrery
