// seeds: tests/seeds/tensor_file
// Any bytes, as a header of safetensors or the beginning of a .npy file, are tensors that lie within
// their file and do not overlap, or an error in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "numerics/tensor_file.h"

namespace {

constexpr std::uint64_t kFileBytes = 4096;

void check(const orrery::StoredTensor& tensor) {
  if (tensor.type == nullptr || tensor.offset > kFileBytes ||
      tensor.elements > kFileBytes / tensor.type->bytes ||
      tensor.offset + tensor.elements * tensor.type->bytes > kFileBytes) {
    std::abort();
  }
}

void check(const orrery::Error& error) {
  if (error.text().find('\n') != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tensors = orrery::parse_safetensors_header(text, 8, kFileBytes);
  if (tensors) {
    std::uint64_t end = 0;
    for (const orrery::StoredTensor& t : *tensors) {
      check(t);
      if (t.offset < end) std::abort();
      end = t.offset + t.elements * t.type->bytes;
    }
  } else {
    check(tensors.error());
  }
  const auto npy = orrery::parse_npy_header(text, kFileBytes);
  if (!npy) {
    check(npy.error());
  } else if (*npy) {
    check(**npy);
  }
  return 0;
}
