// seeds: tests/seeds/msccl
// parser: src/network/msccl_file.cc
// Whatever is read as an algorithm file is refused in words or computes its collective.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "network/msccl.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = orrery::read_msccl({reinterpret_cast<const char*>(data), size}, "fuzz.xml");
  if (!program && program.error().text().empty()) __builtin_trap();
  return 0;
}
