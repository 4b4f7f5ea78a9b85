#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "document/value.h"

namespace orrery {
namespace {

struct Close {
  void operator()(std::FILE* f) const {
    if (f != stdin) std::fclose(f);
  }
};

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
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
      return fail(ErrorCode::bad_input, "is larger than " + std::to_string(limit >> 20) + " MiB",
                  path);
    }
    out.append(buffer, n);
  }
  if (std::ferror(file.get()) != 0) {
    return fail(ErrorCode::io, std::string("cannot be read: ") + std::strerror(errno), path);
  }
  return out;
}

Result<Document> read_document(const std::string& path) {
  ORRERY_TRY(const std::string text, read_file(path));
  const std::string name = path == "-" ? "standard input" : path;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json =
      path.ends_with(".json") || (path == "-" && first != std::string::npos && text[first] == '{');
  return json ? parse_json(text, name) : parse_yaml(text, name);
}

Result<std::monostate> write_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".part";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) {
    return fail(ErrorCode::io, std::string("cannot be written: ") + std::strerror(errno), path);
  }
  const bool wrote = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (wrote && closed && std::rename(temporary.c_str(), path.c_str()) == 0) {
    return std::monostate{};
  }
  const int error = errno;
  std::remove(temporary.c_str());
  return fail(ErrorCode::io, std::string("cannot be written: ") + std::strerror(error), path);
}

}  // namespace orrery
