// Any bytes as a Chakra trace: an error, or a trace that reads back as itself.
// seeds: validation/traces/astra-sim/et-custom-collectives
// validation/traces/astra-sim/et-microbenchmarks parser: src/trace/chakra/chakra_file.cc
// src/trace/chakra/chakra_attribute.cc
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "outcome/invariant.h"
#include "trace/chakra/chakra_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto trace = orrery::read_chakra(*orrery::ByteStream::of(bytes, "fuzz"));
  const auto part = orrery::read_chakra(*orrery::ByteStream::of(bytes, "fuzz"),
                                        orrery::Incomplete::use_what_is_whole);
  ORRERY_INVARIANT(!trace || part->nodes.size() == trace->nodes.size());
  if (!trace) {
    ORRERY_INVARIANT(!trace.error().message.empty());
    return 0;
  }
  const std::string written = orrery::chakra_bytes(*trace);
  const auto again = orrery::read_chakra(*orrery::ByteStream::of(written, "written"));
  ORRERY_INVARIANT(again.has_value());
  ORRERY_INVARIANT(orrery::chakra_bytes(*again) == written);
  return 0;
}
