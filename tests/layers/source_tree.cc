#include "layers/source_tree.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

namespace orrery::layers {

std::string read_text_file(const std::filesystem::path& path) {
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<SourceFile> source_files(const std::filesystem::path& root, const std::string& folder,
                                     const std::vector<std::string>& endings) {
  std::vector<SourceFile> out;
  if (!std::filesystem::exists(root / folder)) return out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = std::filesystem::relative(entry.path(), root).generic_string();
    const bool wanted = std::any_of(endings.begin(), endings.end(),
                                    [&](const std::string& e) { return path.ends_with(e); });
    if (wanted) out.push_back({path, read_text_file(entry.path())});
  }
  std::sort(out.begin(), out.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return out;
}

std::vector<Include> includes(std::string_view text) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> out;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) {
      out.push_back({match[2], match[1] == "\"", number});
    }
  }
  return out;
}

std::string without_comments_and_strings(std::string_view text) {
  enum class In { code, line_comment, block_comment, string, character, raw_string };
  std::string out;
  out.reserve(text.size());
  In in = In::code;
  std::string raw_end;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool digit_before = i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0;
    if (in == In::code) {
      if (c == '/' && next == '/') {
        in = In::line_comment;
      } else if (c == '/' && next == '*') {
        in = In::block_comment;
      } else if (c == '"' && i > 0 && text[i - 1] == 'R') {
        in = In::raw_string;
        const std::size_t open = text.find('(', i);
        if (open == std::string_view::npos) return out;
        raw_end = ")" + std::string(text.substr(i + 1, open - i - 1)) + "\"";
      } else if (c == '"') {
        in = In::string;
      } else if (c == '\'' && !digit_before) {  // not the separator of 1'000
        in = In::character;
      }
      out += in == In::code ? c : ' ';
      continue;
    }
    out += c == '\n' ? '\n' : ' ';
    switch (in) {
      case In::code:
        break;
      case In::line_comment:
        if (c == '\n') in = In::code;
        break;
      case In::block_comment:
        if (c == '*' && next == '/') {
          out += ' ';
          ++i;
          in = In::code;
        }
        break;
      case In::string:
      case In::character:
        if (c == '\\') {
          out += ' ';
          ++i;
        } else if (c == (in == In::string ? '"' : '\'')) {
          in = In::code;
        }
        break;
      case In::raw_string:
        if (text.substr(i, raw_end.size()) == raw_end) {
          out.append(raw_end.size() - 1, ' ');
          i += raw_end.size() - 1;
          in = In::code;
        }
        break;
    }
  }
  return out;
}

}  // namespace orrery::layers
