#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "document/input_memory.h"
#include "document/new_file.h"
#include "document/value.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

// yaml-cpp holds up to 240 bytes for each byte of a text without line breaks.
constexpr std::size_t kLargestDocument = std::size_t{4} << 20U;

struct Close {
  void operator()(std::FILE* f) const {
    if (f != stdin) std::fclose(f);
  }
};

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  limit = most_bytes_of_text(limit);
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_directory(path, ignored)) {
    return fail(ErrorCode::io, "is a directory, not a file", path);
  }
  const std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin
                                                           : std::fopen(path.c_str(), "rb"));
  if (!file) {
    return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                std::string("cannot be read: ") + std::strerror(errno), path);
  }
  std::string out;
  char buffer[1 << 16];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    if (out.size() + n > limit) {
      return bad_input("is larger than " + to_exact_text(Bytes(static_cast<double>(limit))), path,
                       more_input_memory());
    }
    out.append(buffer, n);
  }
  if (std::ferror(file.get()) != 0) {
    return fail(ErrorCode::io, std::string("cannot be read: ") + std::strerror(errno), path);
  }
  return out;
}

Result<Document> read_document(const std::string& path) {
  ORRERY_TRY(const std::string text, read_file(path, kLargestDocument));
  const std::string name = path == "-" ? "standard input" : path;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json =
      path.ends_with(".json") || (path == "-" && first != std::string::npos && text[first] == '{');
  return json ? parse_json(text, name) : parse_yaml(text, name);
}

Result<void> write_file(const std::string& path, std::string_view text) {
  ORRERY_TRY(NewFile file, NewFile::create(path));
  file.append(text);
  return file.finish();
}

}  // namespace orrery
