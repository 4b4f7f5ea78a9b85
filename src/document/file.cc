#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
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

// Of "fabric.yaml:256" the file; of any other text all of it.
std::string_view without_count(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool counted = colon != std::string_view::npos && colon + 1 < text.size() &&
                       text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return counted ? text.substr(0, colon) : text;
}

bool looks_like_a_path(std::string_view text) {
  constexpr std::array<std::string_view, 5> kEndings = {".yaml", ".yml", ".json", ".csv", ".py"};
  return text.find('/') != std::string_view::npos ||
         std::ranges::any_of(kEndings, [&](std::string_view end) { return text.ends_with(end); });
}

// `value` with every relative path of something in `folder` seen from the working directory.
Value seen_from_outside(const Value& value, const std::filesystem::path& folder) {
  Value out = value;
  if (value.kind() == Value::Kind::list) {
    out = Value::list();
    for (const Value& item : value.items()) out.append(seen_from_outside(item, folder));
  } else if (value.kind() == Value::Kind::map) {
    out = Value::map();
    for (const auto& [key, member] : value.members()) {
      out.append_member(key, seen_from_outside(member, folder));
    }
  } else if (const std::string& text = value.scalar_text();
             value.kind() == Value::Kind::text && looks_like_a_path(without_count(text))) {
    std::error_code none;
    if (std::filesystem::exists(folder / without_count(text), none)) {
      out = Value::text((folder / text).lexically_normal().string());
    }
  }
  out.set_line(value.line());
  return out;
}

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
  ORRERY_TRY(Document document, json ? parse_json(text, name) : parse_yaml(text, name));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) document.root = seen_from_outside(document.root, folder);
  return document;
}

Result<void> write_file(const std::string& path, std::string_view text) {
  ORRERY_TRY(NewFile file, NewFile::create(path));
  file.append(text);
  return file.finish();
}

}  // namespace orrery
