// Text with comma-separated values as records of fields.
//
// RFC 4180: fields are separated by commas, records by CRLF or LF; a field in double quotes may
// contain commas, line ends and doubled quotes; the first record names the columns. A record that
// cannot be read (more or fewer fields than columns, a quote in the wrong place, bytes that are not
// UTF-8) is refused with its line; reading continues at the line after its first one. Beyond the
// RFC, a UTF-8 byte order mark and empty lines are skipped. Not supported: other separators,
// comments. O(bytes), thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"

namespace orrery {

struct CommaSeparated {
  struct Record {
    int line = 0;  // 1-based line of its first field
    std::vector<std::string> fields;
  };
  std::string name;  // of the file, for messages
  std::vector<std::string> columns;
  std::vector<Record> records;  // each as wide as `columns`
  struct Refused {
    int line = 0;
    std::string why;
  };
  std::vector<Refused> refused;
  // Line and reason of the first refused record, for readers that need all of them.
  [[nodiscard]] Result<void> complete() const;
};

// Limits against hostile input.
inline constexpr std::size_t kMaxColumns = 1'000;
inline constexpr std::size_t kMaxRecords = 1'000'000;      // further records are refused together
inline constexpr std::size_t kMaxQuotedField = 1'000'000;  // bytes; longer means an unclosed quote

// Errors, with file and line: the text is JSON or has another separator; the header is absent or
// cannot be read; a column has no name or one that is used twice; there are too many columns.
Result<CommaSeparated> parse_comma_separated(std::string_view text, std::string name);

}  // namespace orrery
