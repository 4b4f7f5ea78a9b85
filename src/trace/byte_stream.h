// The bytes of a file or of standard input in blocks, unpacked on the way if they are gzip.
//
// Files larger than memory pass through one block at a time. gzip is known by its first two bytes
// (RFC 1952), whatever the name says; several members after each other count as one stream, as
// gzip(1) has it. A gzip stream that ends before its trailer, as a killed writer leaves it, gives
// what can be unpacked and then says truncated(); damage inside it is an error with its place.
// The other way: piece_writer.h.
//
// Standard input and other pipes can be looked at, up to a megabyte, and then be read from their
// beginning, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "outcome/result.h"
#include "trace/incomplete.h"

namespace orrery {

// For zlib: 15 bits of window, the largest; 16 more say a gzip header and trailer.
inline constexpr int kWindowAndGzip = 15 + 16;

class ByteStream {
 public:
  // A path, or "-" for standard input.
  static Result<ByteStream> open(const std::string& file);
  // Of bytes in memory that outlive the stream; `name` stands in errors.
  static Result<ByteStream> of(std::string_view bytes, std::string name);

  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  ~ByteStream();

  // Fills up to `size` bytes; fewer only at the end, 0 after it.
  Result<std::size_t> read(char* to, std::size_t size);

  // All that is left. Errors: more than 2 GiB, or than an input of this size may hold, where
  // --max-input raises both (document/input_memory.h); a gzip stream that ends too early unless
  // what is whole of it is wanted.
  Result<std::string> rest(Incomplete incomplete = Incomplete::refuse);

  // Whether this many bytes of memory may be held of what was read so far (input_memory.h).
  [[nodiscard]] Result<void> allow(std::uint64_t held) const;

  [[nodiscard]] const std::string& name() const;  // for errors: "standard input" for "-"
  [[nodiscard]] bool truncated() const;           // the gzip stream ended too early
  [[nodiscard]] bool compressed() const;          // it is gzip
  [[nodiscard]] std::uint64_t taken() const;      // bytes of the file consumed so far
  [[nodiscard]] std::uint64_t file_size() const;  // 0 if unknown, as of standard input

 private:
  struct State;
  explicit ByteStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace orrery
