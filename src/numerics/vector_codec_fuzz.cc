// seeds: tests/seeds/vector_codec
// Any bytes are rows of vectors, or an error.
#include <cstddef>
#include <cstdint>

#include "numerics/vector_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kMostElements = 1 << 24;
  (void)orrery::decompressed_vectors({reinterpret_cast<const char*>(data), size}, kMostElements);
  return 0;
}
