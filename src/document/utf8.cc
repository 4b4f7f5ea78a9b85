#include "document/utf8.h"

namespace orrery {

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i);
    std::size_t length = 0;
    unsigned least_second = 0x80;
    unsigned most_second = 0xBF;
    if (lead >= 0x01 && lead <= 0x7F) {
      length = 1;
    } else if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3;
      if (lead == 0xE0) least_second = 0xA0;
      if (lead == 0xED) most_second = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4;
      if (lead == 0xF0) least_second = 0x90;
      if (lead == 0xF4) most_second = 0x8F;
    } else {
      return i;
    }
    if (length > 1 && (byte(i + 1) < least_second || byte(i + 1) > most_second)) return i;
    for (std::size_t k = 2; k < length; ++k) {
      if (byte(i + k) < 0x80 || byte(i + k) > 0xBF) return i;
    }
    i += length;
  }
  return std::nullopt;
}

}  // namespace orrery
