#include "numerics/tensor_file.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "document/value.h"

namespace orrery {
namespace {

std::string written(const std::string& name, const std::string& bytes) {
  const std::string file = testing::TempDir() + name;
  EXPECT_TRUE(write_file(file, bytes).has_value());
  return file;
}

std::string refusal(const std::string& bytes) {
  const std::string file = written("refused.safetensors", bytes);
  const auto opened = TensorFile::open(file);
  if (opened) return "";
  std::string text = opened.error().text();
  EXPECT_EQ(text.substr(0, file.size()), file);
  return text.substr(file.size() + 2);
}

// A safetensors file with this header and so many bytes of data.
std::string with_header(const std::string& json, std::size_t data = 16) {
  const std::uint64_t length = json.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  return out + json + std::string(data, '\0');
}

std::string npy(const std::string& map, const std::string& data) {
  const auto length = static_cast<char>(map.size());
  return std::string("\x93NUMPY\x01\x00", 8) + length + '\0' + map + data;
}

TEST(TensorFile, ReadsWhatItWrites) {
  const std::vector<WrittenTensor> tensors = {
      {"a", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"b.weight", {1}, {-0.5F}}, {"empty", {0, 4}, {}}};
  const auto file = TensorFile::open(written("some.safetensors", safetensors_text(tensors)));
  ASSERT_TRUE(file.has_value()) << file.error().text();
  ASSERT_EQ(file->tensors().size(), 3);
  for (const WrittenTensor& t : tensors) {
    const auto values = read_tensor(*file, t.name);
    ASSERT_TRUE(values.has_value()) << values.error().text();
    EXPECT_EQ(*values, t.values);
  }
  EXPECT_EQ(shape_text(file->tensors().front()), "[2, 3]");
  EXPECT_THAT(read_tensor(*file, "b.weigth").error().text(),
              testing::EndsWith("there is no tensor 'b.weigth' (did you mean 'b.weight'?)"));
  EXPECT_THAT(read_tensor(*file, "").error().text(),
              testing::EndsWith("the file has 3 tensors (name one of them)"));
}

TEST(TensorFile, WidensNarrowTypes) {
  const std::string json = R"({"__metadata__":{"format":"pt"},
      "h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},
      "b":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]},
      "e":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[6,7]},
      "f":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[7,8]},
      "i":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})";
  std::string bytes = with_header(json, 0);
  bytes += std::string("\x00\x3c\xff\x7b\xc0\x3f\x7e\xfb", 8) + std::string(8, '\1');
  const auto file = TensorFile::open(written("narrow.safetensors", bytes));
  ASSERT_TRUE(file.has_value()) << file.error().text();
  EXPECT_EQ(*read_tensor(*file, "h"), (std::vector<float>{1, 65504}));
  EXPECT_EQ(*read_tensor(*file, "b"), (std::vector<float>{1.5F}));
  EXPECT_EQ(*read_tensor(*file, "e"), (std::vector<float>{448}));
  EXPECT_EQ(*read_tensor(*file, "f"), (std::vector<float>{-57344}));
  EXPECT_THAT(read_tensor(*file, "i").error().text(),
              testing::EndsWith("a tensor of I64 is not supported (write F32, F16, BF16 or F8)"));
}

TEST(TensorFile, ReadsNpy) {
  std::string data(8, '\0');
  const std::vector<float> numbers = {2.5F, -1};
  std::memcpy(data.data(), numbers.data(), data.size());
  const auto file = TensorFile::open(
      written("x.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n", data)));
  ASSERT_TRUE(file.has_value()) << file.error().text();
  EXPECT_EQ(file->tensors().front().shape, (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(*read_tensor(*file, ""), numbers);
}

TEST(TensorFile, RefusesHeadersThatLie) {
  EXPECT_EQ(refusal("abc"),
            "a file of 3 bytes holds no tensors (write a safetensors or .npy file)");
  EXPECT_EQ(refusal(std::string(8, '\x7f')),
            "the header should have 9187201950435737471 bytes, and the file has 0; at most 1e8 are "
            "read (it is cut off, or is not a safetensors or .npy file)");
  EXPECT_EQ(refusal(with_header("{}").substr(0, 9)),
            "the header should have 2 bytes, and the file has 1 (it is cut off, or is not a "
            "safetensors or .npy file)");
  EXPECT_EQ(refusal(with_header("[]")),
            "the header is not a map of tensors (write a safetensors or .npy file)");
  const std::string damaged = " (the file is damaged, or is not a safetensors file)";
  EXPECT_EQ(refusal(with_header(R"({"w":1})")), "tensor 'w': no dtype" + damaged);
  EXPECT_EQ(refusal(with_header(R"({"w":{"dtype":"F31"}})")),
            "tensor 'w': unknown dtype 'F31'" + damaged);
  EXPECT_EQ(refusal(with_header(R"({"w":{"dtype":"F32","shape":[-1]}})")),
            "tensor 'w': its shape is not a list of at most 32 sizes" + damaged);
  EXPECT_EQ(refusal(with_header(R"({"w":{"dtype":"F32","shape":[4294967296,4294967296]}})")),
            "tensor 'w': a shape of more than 2^48 elements" + damaged);
  EXPECT_EQ(refusal(with_header(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4]}})")),
            "tensor 'w': its data_offsets are not [begin, end]" + damaged);
  EXPECT_EQ(refusal(with_header(R"({"w":{"dtype":"F32","shape":[5],"data_offsets":[0,20]}})")),
            "tensor 'w': its data ends at byte 20, and the file has 16 bytes of data" + damaged);
  EXPECT_EQ(refusal(with_header(R"({"w":{"dtype":"F32","shape":[5],"data_offsets":[0,16]}})")),
            "tensor 'w': [5] of F32 take 20 bytes, and its data_offsets hold 16" + damaged);
  EXPECT_EQ(refusal(with_header(R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                                    "w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})")),
            "tensor 'w': its data overlaps that of 'v'" + damaged);
  const std::string hint = " (write a C-ordered array of float16, float32, float64 or integers)";
  EXPECT_EQ(refusal(npy("{}", "")), "the .npy header is incomplete" + hint);
  EXPECT_EQ(refusal(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "")),
            "descr: elements '>f4' are not supported" + hint);
  EXPECT_EQ(refusal(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "")),
            "fortran_order: the array is in Fortran order" + hint);
  EXPECT_EQ(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }", "")),
            "shape: 'x' is not a size" + hint);
  EXPECT_EQ(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "abc")),
            "[2] of F32 take 8 bytes, and the file has 3 after its header (the file is damaged)");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12)),
            "the .npy header is cut off or too long (the file is damaged)");
  EXPECT_THAT(TensorFile::open("/nonexistent").error().text(),
              testing::HasSubstr("cannot be read"));
  EXPECT_EQ(TensorFile::open(testing::TempDir()).error().message, "is not a file");
}

}  // namespace
}  // namespace orrery
