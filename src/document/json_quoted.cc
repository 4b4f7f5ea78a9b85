#include "document/json_quoted.h"

#include "outcome/printable.h"

namespace orrery {

void append_quoted(std::string_view text, std::string& out) {
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  out += '"';
  while (!text.empty()) {
    const Decoded next = decoded(text);
    const std::size_t escape = next.valid ? kShort.find(text[0]) : std::string_view::npos;
    if (escape != std::string_view::npos) {
      out += '\\';
      out += kLetters[escape];
    } else if (!next.valid) {
      out += kReplacementCharacter;
    } else if (is_control(next.point)) {
      out += "\\u";
      for (const unsigned shift : {12U, 8U, 4U, 0U}) out += kDigits[(next.point >> shift) & 0xFU];
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  out += '"';
}

std::string json_quoted(std::string_view text) {
  std::string out;
  append_quoted(text, out);
  return out;
}

}  // namespace orrery
