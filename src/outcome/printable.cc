#include "outcome/printable.h"

#include <array>

namespace orrery {

Decoded decoded(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t bytes = 0;
  if (lead >= 0xC2 && lead <= 0xDF) bytes = 2;
  if (lead >= 0xE0 && lead <= 0xEF) bytes = 3;
  if (lead >= 0xF0 && lead <= 0xF4) bytes = 4;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t point = lead & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return {};
    point = (point << 6) | (byte(i) & 0x3Fu);
  }
  static constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (point < kSmallest[bytes] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
    return {};
  }
  return {point, bytes, true};
}

bool is_control(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded d = decoded(text);
    if (d.valid && (d.point == '\t' || d.point == '\n')) {
      out += ' ';
    } else if (!d.valid || is_control(d.point)) {
      out += kReplacementCharacter;
    } else {
      out += text.substr(0, d.bytes);
    }
    text.remove_prefix(d.bytes);
  }
  return out;
}

}  // namespace orrery
