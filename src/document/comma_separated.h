// Text with comma-separated values as records of fields.
//
// RFC 4180: fields are separated by commas, records by CRLF or LF; a field in double quotes may
// hold commas, line ends and doubled quotes; the first record names the columns. A record with more
// or fewer fields than that is refused with its line, and the others are read. Beyond the RFC: a
// UTF-8 byte order mark is skipped, and so are empty lines.
// Not read: other separators, comments. O(bytes), thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "outcome/result.h"

namespace orrery {

struct CommaSeparated {
  struct Record {
    int line = 0;  // 1-based line its first field begins on
    std::vector<std::string> fields;
  };
  std::string name;  // of the file, for messages
  std::vector<std::string> columns;
  std::vector<Record> records;  // each as wide as `columns`
  struct Refused {
    int line = 0;
    std::string why;
  };
  std::vector<Refused> refused;  // more or fewer fields than columns
  // Line and reason of the first refused record, for readers that need all of them.
  [[nodiscard]] Result<std::monostate> complete() const;
};

// Limits against hostile input.
inline constexpr std::size_t kMaxColumns = 1'000;
inline constexpr std::size_t kMaxRecords = 1'000'000;

// Errors, with file and line: text that is not UTF-8; no header; a column named twice or not at
// all; a quote that is never closed, stands inside an unquoted field or is followed by text; the
// limits above.
Result<CommaSeparated> parse_comma_separated(std::string_view text, std::string name);

}  // namespace orrery
