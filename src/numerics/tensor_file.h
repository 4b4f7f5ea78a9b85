// Tensors in files: safetensors, read and written, and .npy, read.
//
//   safetensors   8 bytes: length of the header, little-endian;
//                 a JSON map of name -> {dtype, shape, data_offsets: [begin, end)}, and "__metadata__";
//                 the data, offsets counted from its beginning
//   .npy          "\x93NUMPY", version, length, a Python map of descr, fortran_order, shape; the data
//
// Sources: the format section of the safetensors repository (huggingface/safetensors, README.md);
// numpy.lib.format, versions 1.0 to 3.0. A header that does not fit its file is refused: offsets
// that pass its end, overlap, or hold another number of bytes than the shape says. Only headers are
// held in memory. Left out: big-endian and structured arrays, arrays in Fortran order of several
// dimensions, and the packed types of less than 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/float_format.h"
#include "outcome/result.h"

namespace orrery {

struct ElementType {
  std::string_view name;  // as safetensors call it: "BF16"
  std::uint64_t bytes;
  std::optional<FloatFormat> format;  // none: whole numbers or truth values
};

struct StoredTensor {
  std::string name;
  const ElementType* type = nullptr;
  std::vector<std::uint64_t> shape;
  std::uint64_t offset = 0;  // of its first byte in the file
  std::uint64_t elements = 1;
};

// "[128, 64]"
std::string shape_text(const StoredTensor& tensor);

// The tensors that a header lists, in the order of their data. `begin`: where the data begins in a
// file of `file_bytes`. Errors name the tensor.
Result<std::vector<StoredTensor>> parse_safetensors_header(std::string_view json,
                                                           std::uint64_t begin,
                                                           std::uint64_t file_bytes);
// The tensor, with an empty name, of a file that begins with `head`; nothing: `head` ends too early,
// which is an error where it is the whole file.
Result<std::optional<StoredTensor>> parse_npy_header(std::string_view head,
                                                     std::uint64_t file_bytes);

class TensorFile {
 public:
  // By content: .npy, or else safetensors. Errors: io, or a header that is refused.
  static Result<TensorFile> open(const std::string& path);
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const { return tensors_; }
  // Error: io, or an end of the file that came after it was opened. Safe from several threads.
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string path_;
  std::shared_ptr<int> descriptor_;
  std::vector<StoredTensor> tensors_;
};

// The elements of a tensor that `bytes` hold, as fp32; types of at most 32 bits with a format.
void widen(std::span<const std::byte> bytes, const ElementType& type, std::span<float> out);

// A tensor as fp32; an empty name: the only one of the file. Errors: no such tensor, whole numbers,
// more than input_memory().
Result<std::vector<float>> read_tensor(const TensorFile& file, std::string_view name);

// A file of fp32 tensors with these names and shapes.
struct WrittenTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::vector<float> values;
};
std::string safetensors_text(std::span<const WrittenTensor> tensors);

}  // namespace orrery
