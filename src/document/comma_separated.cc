#include "document/comma_separated.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "document/utf8.h"

namespace orrery {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  // The next record, or nothing at the end of the text. After an error, reading goes on at the line
  // after the one where the failed record began.
  Result<std::optional<CommaSeparated::Record>> next() {
    while (!at_end() && line_end() > 0) skip_line_end();
    if (at_end()) return std::optional<CommaSeparated::Record>();
    CommaSeparated::Record record;
    record.line = begun_ = line_;
    const std::size_t begin = at_;
    while (true) {
      auto field = next_field();
      if (!field) {
        resume_after(begin, record.line);
        return fail(std::move(field.error()));
      }
      if (record.fields.size() == kMaxColumns) {
        resume_after(begin, record.line);
        return error("has more than " + std::to_string(kMaxColumns) + " fields", record.line);
      }
      record.fields.push_back(std::move(*field));
      if (at_end()) break;
      if (line_end() > 0) {
        skip_line_end();
        break;
      }
      ++at_;  // skip the comma, where next_field always stops
    }
    if (first_invalid_utf8(text_.substr(begin, at_ - begin))) {
      return error("is not UTF-8 text", record.line);
    }
    return std::optional(std::move(record));
  }

  // The line on which the last record, read or refused, begins.
  [[nodiscard]] int begun() const { return begun_; }

  [[nodiscard]] Failure error(std::string message, int line, std::string hint = "") const {
    return bad_input(std::move(message), name_ + ":" + std::to_string(line), std::move(hint));
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

  // Characters of the line end that begins here; 0 if none does.
  [[nodiscard]] std::size_t line_end() const {
    if (text_[at_] == '\n') return 1;
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') return 2;
    return 0;
  }
  void skip_line_end() {
    at_ += line_end();
    ++line_;
  }

  void resume_after(std::size_t begin, int line) {
    const std::size_t end = text_.find('\n', begin);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    line_ = line + 1;
  }

  Result<std::string> next_field() {
    if (!at_end() && text_[at_] == '"') return quoted_field();
    const std::size_t begin = at_;
    while (!at_end() && text_[at_] != ',' && line_end() == 0) {
      if (text_[at_] == '"') {
        return error("a quote inside a field that is not quoted", line_,
                     "put the whole field in quotes and double the quotes inside it");
      }
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<std::string> quoted_field() {
    const int opened = line_;
    std::string out;
    const std::size_t last = std::min(text_.size(), at_ + kMaxQuotedField);
    for (++at_; at_ < last; ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        out += text_[at_];
        continue;
      }
      ++at_;
      if (!at_end() && text_[at_] == '"') {
        out += '"';
        continue;
      }
      if (!at_end() && text_[at_] != ',' && line_end() == 0) {
        return error("text after the closing quote of a field", line_,
                     "a quote inside a quoted field is written twice");
      }
      return out;
    }
    return error("a quoted field is never closed", opened);
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
  int begun_ = 1;
};

// The format that this text seems to have if it is not comma-separated; empty if it may be.
std::string other_format(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) return "";
  if (text[first] == '{' || text[first] == '[') return "is JSON, not comma-separated text";
  if (text[first] == '<') return "is XML or HTML, not comma-separated text";
  const std::string_view header = text.substr(first, text.find('\n', first) - first);
  if (header.find(',') != std::string_view::npos) return "";
  if (header.find(';') != std::string_view::npos) return "is separated by semicolons, not commas";
  if (header.find('\t') != std::string_view::npos) return "is separated by tabs, not commas";
  return "";
}

}  // namespace

Result<void> CommaSeparated::complete() const {
  if (refused.empty()) return {};
  return bad_input(refused.front().why, name + ":" + std::to_string(refused.front().line));
}

Result<CommaSeparated> parse_comma_separated(std::string_view text, std::string name) {
  CommaSeparated out;
  out.name = std::move(name);
  if (std::string other = other_format(text); !other.empty()) {
    return bad_input(std::move(other), out.name + ":1",
                     "the first line names the columns, with commas between them");
  }
  Reader reader(text, out.name);

  ORRERY_TRY(auto header, reader.next());
  if (!header) return reader.error("is empty", 1, "the first line names the columns");
  out.columns = std::move(header->fields);
  for (std::size_t i = 0; i < out.columns.size(); ++i) {
    if (out.columns[i].empty()) {
      return reader.error("column " + std::to_string(i + 1) + " has no name", header->line);
    }
  }
  std::vector<std::string> sorted = out.columns;
  std::ranges::sort(sorted);
  if (auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    return reader.error("column '" + *twice + "' is named twice", header->line);
  }

  while (true) {
    auto record = reader.next();
    if (record && !*record) return out;
    if (out.records.size() + out.refused.size() == kMaxRecords) {
      out.refused.push_back({reader.begun(), "is record " + std::to_string(kMaxRecords + 1) +
                                                 ": this and all that follow are not read"});
      return out;
    }
    if (!record) {
      const Error& e = record.error();
      out.refused.push_back(
          {reader.begun(), e.hint.empty() ? e.message : e.message + " (" + e.hint + ")"});
      continue;
    }
    if ((*record)->fields.size() != out.columns.size()) {
      out.refused.push_back(
          {(*record)->line, "has " + std::to_string((*record)->fields.size()) +
                                " fields, the header " + std::to_string(out.columns.size()) +
                                " (a field that holds a comma must be in quotes)"});
      continue;
    }
    out.records.push_back(std::move(**record));
  }
}

}  // namespace orrery
