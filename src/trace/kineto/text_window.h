// A window over a JSON text that may be larger than memory; finds where values end.
//
// The window holds the bytes that were read but not taken yet; more() extends it. The byte before
// it and kPadding bytes after it may be used too: a reader may enclose a piece of text in brackets
// of its own, and simdjson reads past the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "trace/byte_stream.h"

namespace orrery {

// Bytes of one event or one value of the header; longer ones are refused.
inline constexpr std::size_t kLongestValue = std::size_t{256} << 20U;

class TextWindow {
 public:
  static constexpr std::size_t kBlock = std::size_t{1} << 20U;
  static constexpr std::size_t kPadding = 64;

  explicit TextWindow(ByteStream stream);

  // Reads at least one more byte after the window; false at the end of the text.
  Result<bool> more();
  [[nodiscard]] std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }
  [[nodiscard]] char* data() { return buffer_.data() + begin_; }
  void take(std::size_t bytes) { begin_ += bytes; }

  // The first byte of the window that is not white space; '\0' at the end of the text. Takes
  // nothing.
  Result<char> peek();
  // One complete value from the first byte of the window on; empty if the text ends inside it.
  // Takes nothing.
  Result<std::string_view> value();

  [[nodiscard]] std::uint64_t offset() const { return offset_ + begin_; }  // of the window's start
  // "file: byte 17", for the byte `inside` the window.
  [[nodiscard]] std::string place(std::size_t inside = 0) const;
  [[nodiscard]] const ByteStream& stream() const { return stream_; }

 private:
  ByteStream stream_;
  std::size_t block_ = kBlock / 16;  // bytes to read next; grows up to kBlock
  std::vector<char> buffer_;
  std::size_t begin_ = 1;     // in the buffer
  std::size_t end_ = 1;       // in the buffer
  std::uint64_t offset_ = 0;  // of the buffer's first byte in the text, modulo 2^64
  bool ended_ = false;
};

constexpr bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// One past the end of the JSON value that begins at `from`, found by brackets and quotes only; npos
// if the text ends first. A bare word or number ends at a space, comma or closing bracket.
std::size_t end_of_json_value(std::string_view text, std::size_t from);
// Where the last whole event of a list ends, by counting brackets from the first one on; 0 if none
// is whole.
std::size_t last_whole_event(std::string_view text);

}  // namespace orrery
