// Any bytes as YAML: an error or a tree that reads back as itself.
// seeds: catalog
// parser: src/document/yaml.cc src/document/document_builder.cc
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "document/value.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = orrery::parse_yaml(text, "fuzz");
  if (!document) {
    ORRERY_INVARIANT(!document.error().message.empty());
    return 0;
  }
  const std::string written = orrery::to_yaml(document->root);
  const auto again = orrery::parse_yaml(written, "written");
  ORRERY_INVARIANT(again.has_value());
  ORRERY_INVARIANT(orrery::to_yaml(again->root) == written);
  return 0;
}
