// The C++ files of the repository as text, for the tests that read source.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::layers {

struct SourceFile {
  std::string path;  // from the repository root, with '/'
  std::string text;
};

// Every file of `folder` (from `root`) whose name ends in one of `endings`, sorted by path.
std::vector<SourceFile> source_files(const std::filesystem::path& root, const std::string& folder,
                                     const std::vector<std::string>& endings);

std::string read_text_file(const std::filesystem::path& path);

struct Include {
  std::string path;  // as between the quotes or angle brackets
  bool quoted = false;
  int line = 0;
};

std::vector<Include> includes(std::string_view text);

// The text with comments and the contents of string literals blanked out, line breaks kept.
std::string without_comments_and_strings(std::string_view text);

}  // namespace orrery::layers
