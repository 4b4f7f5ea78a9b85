// A file written piece by piece, so that its text need not fit in memory; gzip if its name ends in
// .gz, one member (RFC 1952) without a time or a name in it, so that the same bytes always give the
// same file. The whole file or nothing, as document/new_file.h writes it.
// Errors are kept until it is finished.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "outcome/result.h"

namespace orrery {

class PieceWriter {
 public:
  static Result<PieceWriter> create(const std::string& file);

  PieceWriter(PieceWriter&&) noexcept;
  PieceWriter& operator=(PieceWriter&&) noexcept;
  PieceWriter(const PieceWriter&) = delete;
  PieceWriter& operator=(const PieceWriter&) = delete;
  ~PieceWriter();  // what is not finished is removed

  void append(std::string_view bytes);
  Result<void> finish();

 private:
  struct State;
  explicit PieceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The same of a text in memory.
Result<void> write_at_once(const std::string& file, std::string_view text);

}  // namespace orrery
