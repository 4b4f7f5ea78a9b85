// A file that is written either completely or not at all. Until it is finished, it lies in the same
// folder under the unique name orrery-PROCESS-NUMBER.part; then it is renamed. A symbolic link is
// kept and the file it points to is replaced. A file that is not regular (a device, a pipe, or a
// path through /proc/self/fd such as /dev/stdout) cannot be replaced and is written directly.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "outcome/result.h"

namespace orrery {

class NewFile {
 public:
  // Errors: io, with `file` as the place.
  static Result<NewFile> create(const std::string& file);

  NewFile(NewFile&&) noexcept;
  NewFile& operator=(NewFile&&) noexcept;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // removes an unfinished file

  // Errors are kept until the file is finished.
  void append(std::string_view bytes);
  Result<void> finish();

 private:
  struct State;
  explicit NewFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Removes unfinished files. For signal handlers that end the process: calls only functions that are
// async-signal-safe.
void remove_unfinished_files() noexcept;

}  // namespace orrery
