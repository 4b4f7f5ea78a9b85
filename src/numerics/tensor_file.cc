#include "numerics/tensor_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "document/fields.h"
#include "document/input_memory.h"
#include "document/value.h"
#include "outcome/nearest_name.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

constexpr std::uint64_t kMostHeader = 100'000'000;  // as the safetensors library
constexpr std::size_t kMostDimensions = 32;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48U;

const std::array<ElementType, 15> kTypes = {{{"F64", 8, kFp64},
                                             {"F32", 4, kFloat32},
                                             {"F16", 2, kFp16},
                                             {"BF16", 2, kBf16},
                                             {"F8_E4M3", 1, kFp8E4m3},
                                             {"F8_E5M2", 1, kFp8E5m2},
                                             {"I64", 8, {}},
                                             {"I32", 4, {}},
                                             {"I16", 2, {}},
                                             {"I8", 1, {}},
                                             {"U64", 8, {}},
                                             {"U32", 4, {}},
                                             {"U16", 2, {}},
                                             {"U8", 1, {}},
                                             {"BOOL", 1, {}}}};

const ElementType* type_named(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &ElementType::name);
  return found == kTypes.end() ? nullptr : found;
}

Failure refused(const std::string& tensor, std::string what) {
  return bad_input(std::move(what), "tensor '" + tensor + "'",
                   "the file is damaged, or is not a safetensors file");
}

Result<std::vector<std::uint64_t>> whole_numbers(const Value* list, std::size_t most) {
  if (list == nullptr || list->kind() != Value::Kind::list || list->items().size() > most) {
    return bad_input("expected a list of whole numbers");
  }
  std::vector<std::uint64_t> out;
  for (const Value& item : list->items()) {
    ORRERY_TRY(const std::int64_t n, read_integer(item));
    if (n < 0) return bad_input("expected a list of whole numbers");
    out.push_back(static_cast<std::uint64_t>(n));
  }
  return out;
}

// Sets the number of elements. Error: too many to be true.
Result<void> count(StoredTensor& tensor) {
  tensor.elements = 1;
  for (const std::uint64_t n : tensor.shape) {
    if (n > 0 && tensor.elements > kMostElements / n) {
      return refused(tensor.name, "a shape of more than 2^48 elements");
    }
    tensor.elements *= n;
  }
  return {};
}

// What stands after 'key': in a Python map, up to the comma outside of parentheses.
std::optional<std::string_view> python_value(std::string_view map, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const std::size_t at = map.find(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = map.substr(at + quoted.size());
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const std::size_t end = rest.starts_with('(') ? rest.find(')') : rest.find_first_of(",}");
  if (end == std::string_view::npos) return std::nullopt;
  return rest.starts_with('(') ? rest.substr(1, end - 1) : rest.substr(0, end);
}

}  // namespace

std::string shape_text(const StoredTensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.shape, ", "));
}

Result<std::vector<StoredTensor>> parse_safetensors_header(std::string_view json,
                                                           std::uint64_t begin,
                                                           std::uint64_t file_bytes) {
  ORRERY_TRY(const Document document, parse_json(json, "header"));
  if (document.root.kind() != Value::Kind::map) {
    return bad_input("the header is not a map of tensors", "", "write a safetensors or .npy file");
  }
  const std::uint64_t data = file_bytes - begin;
  std::vector<StoredTensor> out;
  for (const auto& [name, entry] : document.root.members()) {
    if (name == "__metadata__") continue;
    StoredTensor tensor;
    tensor.name = name;
    const Value* type = entry.kind() == Value::Kind::map ? entry.find("dtype") : nullptr;
    if (type == nullptr) return refused(name, "no dtype");
    tensor.type = type_named(type->scalar_text());
    if (tensor.type == nullptr) return refused(name, "unknown dtype '" + type->scalar_text() + "'");
    auto shape = whole_numbers(entry.find("shape"), kMostDimensions);
    if (!shape) return refused(name, "its shape is not a list of at most 32 sizes");
    tensor.shape = std::move(*shape);
    ORRERY_RETURN_IF_ERROR(count(tensor));
    const auto offsets = whole_numbers(entry.find("data_offsets"), 2);
    if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) {
      return refused(name, "its data_offsets are not [begin, end]");
    }
    if ((*offsets)[1] > data) {
      return refused(name,
                     fmt::format("its data ends at byte {}, and the file has {} bytes of data",
                                 (*offsets)[1], data));
    }
    if (tensor.elements * tensor.type->bytes != (*offsets)[1] - (*offsets)[0]) {
      return refused(
          name, fmt::format("{} of {} take {} bytes, and its data_offsets hold {}",
                            shape_text(tensor), tensor.type->name,
                            tensor.elements * tensor.type->bytes, (*offsets)[1] - (*offsets)[0]));
    }
    tensor.offset = begin + (*offsets)[0];
    out.push_back(std::move(tensor));
  }
  std::ranges::sort(out, {}, [](const StoredTensor& t) { return std::pair(t.offset, t.elements); });
  for (std::size_t i = 1; i < out.size(); ++i) {
    const StoredTensor& last = out[i - 1];
    if (last.offset + last.elements * last.type->bytes > out[i].offset) {
      return refused(out[i].name, "its data overlaps that of '" + last.name + "'");
    }
  }
  return out;
}

Result<std::optional<StoredTensor>> parse_npy_header(std::string_view head,
                                                     std::uint64_t file_bytes) {
  constexpr std::size_t kFixed = 8;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(head[i]));
  };
  if (head.size() < kFixed + 4) return std::nullopt;
  const bool is_long = byte(6) >= 2;
  const std::size_t fixed = kFixed + (is_long ? 4 : 2);
  const std::uint64_t length =
      byte(8) | byte(9) << 8U | (is_long ? byte(10) << 16U | byte(11) << 24U : 0);
  if (head.size() - fixed < length) return std::nullopt;
  const std::string_view map = head.substr(fixed, length);
  const auto descr = python_value(map, "descr");
  const auto fortran = python_value(map, "fortran_order");
  const auto shape = python_value(map, "shape");
  const std::string hint = "write a C-ordered array of float16, float32, float64 or integers";
  if (!descr || !fortran || !shape) return bad_input("the .npy header is incomplete", "", hint);
  StoredTensor out;
  constexpr auto kDescribed =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"'<f8'", "F64"},
                                                                    {"'<f4'", "F32"},
                                                                    {"'<f2'", "F16"},
                                                                    {"'<i8'", "I64"},
                                                                    {"'<i4'", "I32"},
                                                                    {"'<i2'", "I16"},
                                                                    {"'|i1'", "I8"},
                                                                    {"'|u1'", "U8"},
                                                                    {"'|b1'", "BOOL"}});
  const auto* described =
      std::ranges::find(kDescribed, *descr, &decltype(kDescribed)::value_type::first);
  if (described == kDescribed.end()) {
    return bad_input("elements " + std::string(*descr) + " are not supported", "descr", hint);
  }
  out.type = type_named(described->second);
  std::string_view rest = *shape;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view size = rest.substr(0, comma);
    while (size.starts_with(' ')) size.remove_prefix(1);
    const auto n = parsed_number<std::uint64_t>(size);
    if (n) {
      out.shape.push_back(*n);
    } else if (!size.empty()) {
      return bad_input("'" + std::string(size) + "' is not a size", "shape", hint);
    }
    if (comma == std::string_view::npos || out.shape.size() > kMostDimensions) break;
    rest.remove_prefix(comma + 1);
  }
  if (*fortran != "False" && out.shape.size() > 1) {
    return bad_input("the array is in Fortran order", "fortran_order", hint);
  }
  ORRERY_RETURN_IF_ERROR(count(out));
  out.offset = fixed + length;
  const std::uint64_t bytes = out.elements * out.type->bytes;
  if (out.offset > file_bytes || bytes != file_bytes - out.offset) {
    return bad_input(
        fmt::format("{} of {} take {} bytes, and the file has {} after its header", shape_text(out),
                    out.type->name, bytes, file_bytes - std::min(file_bytes, out.offset)),
        "", "the file is damaged");
  }
  return out;
}

Result<TensorFile> TensorFile::open(const std::string& path) {
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) {
    return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                std::string("cannot be read: ") + std::strerror(errno), path);
  }
  TensorFile out;
  out.path_ = path;
  out.descriptor_ = std::shared_ptr<int>(new int(opened), [](const int* d) {
    ::close(*d);
    delete d;
  });
  struct stat about{};
  if (::fstat(opened, &about) != 0 || !S_ISREG(about.st_mode)) {
    return fail(ErrorCode::io, "is not a file", path, "write a safetensors or .npy file");
  }
  const auto size = static_cast<std::uint64_t>(about.st_size);
  const auto text = [&](std::uint64_t offset, std::uint64_t bytes) -> Result<std::string> {
    std::string t(bytes, '\0');
    ORRERY_RETURN_IF_ERROR(out.read(offset, std::as_writable_bytes(std::span(t))));
    return t;
  };
  if (size < 8) {
    return bad_input(fmt::format("a file of {} bytes holds no tensors", size), path,
                     "write a safetensors or .npy file");
  }
  constexpr std::uint64_t kNpyHead = 65536;
  ORRERY_TRY(const std::string head, text(0, std::min(size, kNpyHead)));
  if (head.starts_with("\x93NUMPY")) {
    ORRERY_TRY(auto tensor, at(path, parse_npy_header(head, size)));
    if (!tensor)
      return bad_input("the .npy header is cut off or too long", path, "the file is damaged");
    out.tensors_.push_back(std::move(*tensor));
    return out;
  }
  std::uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof length);
  if (length > size - 8 || length > kMostHeader) {
    return bad_input(fmt::format("the header should have {} bytes, and the file has {}{}", length,
                                 size - 8, length > kMostHeader ? "; at most 1e8 are read" : ""),
                     path, "it is cut off, or is not a safetensors or .npy file");
  }
  ORRERY_RETURN_IF_ERROR(at(path, check_input_memory(length, length, "header")));
  ORRERY_TRY(const std::string header, text(8, length));
  ORRERY_TRY(out.tensors_, at(path, parse_safetensors_header(header, 8 + length, size)));
  return out;
}

Result<void> TensorFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(*descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return fail(ErrorCode::io,
                  got < 0 ? std::string("cannot be read: ") + std::strerror(errno)
                          : "ended while it was read",
                  path_);
    }
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

void widen(std::span<const std::byte> bytes, const ElementType& type, std::span<float> out) {
  const FloatFormat& format = *type.format;
  if (type.bytes == 4) {
    std::ranges::copy(bytes, std::as_writable_bytes(out).begin());
    return;
  }
  std::vector<float> numbers;
  if (format != kBf16) {
    numbers.resize(std::size_t{1} << static_cast<unsigned>(format.bits()));
    for (std::uint32_t c = 0; c < numbers.size(); ++c) {
      numbers[c] = static_cast<float>(decoded(c, format));
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (type.bytes == 1) {
      out[i] = numbers[std::to_integer<std::size_t>(bytes[i])];
      continue;
    }
    std::uint16_t code = 0;
    std::memcpy(&code, bytes.data() + 2 * i, 2);
    out[i] = numbers.empty() ? std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16U)
                             : numbers[code];
  }
}

Result<std::vector<float>> read_tensor(const TensorFile& file, std::string_view name) {
  std::vector<std::string> names;
  const StoredTensor* found = nullptr;
  for (const StoredTensor& t : file.tensors()) {
    if (t.name == name || (name.empty() && file.tensors().size() == 1)) found = &t;
    names.push_back(t.name);
  }
  if (found == nullptr) {
    return bad_input(name.empty() ? fmt::format("the file has {} tensors", names.size())
                                  : "there is no tensor '" + std::string(name) + "'",
                     file.path(),
                     name.empty() ? "name one of them" : name_hint(std::string(name), names));
  }
  if (!found->type->format || found->type->bytes > 4) {
    return unsupported(fmt::format("a tensor of {} is not supported", found->type->name),
                       file.path(), "write F32, F16, BF16 or F8");
  }
  const std::uint64_t bytes = found->elements * found->type->bytes;
  ORRERY_RETURN_IF_ERROR(check_input_memory(found->elements * 4, bytes, file.path()));
  std::vector<std::byte> raw(bytes);
  ORRERY_RETURN_IF_ERROR(file.read(found->offset, raw));
  std::vector<float> out(found->elements);
  widen(raw, *found->type, out);
  return out;
}

std::string safetensors_text(std::span<const WrittenTensor> tensors) {
  Value header = Value::map();
  std::uint64_t offset = 0;
  for (const WrittenTensor& t : tensors) {
    Value entry = Value::map();
    entry.set("dtype", Value::text("F32"));
    Value shape = Value::list();
    for (const std::uint64_t n : t.shape) shape.append(Value::number(static_cast<std::int64_t>(n)));
    entry.set("shape", std::move(shape));
    Value offsets = Value::list();
    offsets.append(Value::number(static_cast<std::int64_t>(offset)));
    offset += t.values.size() * sizeof(float);
    offsets.append(Value::number(static_cast<std::int64_t>(offset)));
    entry.set("data_offsets", std::move(offsets));
    header.append_member(t.name, std::move(entry));
  }
  std::string json = to_json(header);
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = json.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  out += json;
  for (const WrittenTensor& t : tensors) {
    if (t.values.empty()) continue;
    const std::size_t at = out.size();
    out.resize(at + t.values.size() * sizeof(float));
    std::memcpy(out.data() + at, t.values.data(), t.values.size() * sizeof(float));
  }
  return out;
}

}  // namespace orrery
