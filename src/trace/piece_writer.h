// A file written piece by piece, so that its text need not fit in memory; gzip if its name ends in
// .gz (as trace/byte_stream.h packs). The whole file or nothing, as document/new_file.h writes it.
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

}  // namespace orrery
