// Any bytes as TOML: an error or a tree that can be written as JSON.
// seeds: tests/launch/published tests/seeds/toml
// parser: src/document/toml.cc
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "document/toml.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = orrery::parse_toml(text, "fuzz");
  if (!document) {
    ORRERY_INVARIANT(!document.error().message.empty());
    return 0;
  }
  ORRERY_INVARIANT(orrery::parse_json(orrery::to_json(document->root), "written").has_value());
  return 0;
}
