// A file being written: the whole file or nothing, under its name only when it is finished. Until
// then it stands beside it under a name of its own, orrery-PROCESS-NUMBER.part, that no other file
// has. A symbolic link stays: what it points to is replaced. What is no regular file (a device, a
// pipe, whatever a path through /proc/self/fd such as /dev/stdout names) cannot be replaced: it is
// opened and written straight.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

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
  ~NewFile();  // what is not finished is removed

  // Errors are kept until the file is finished.
  void append(std::string_view bytes);
  Result<std::monostate> finish();

 private:
  struct State;
  explicit NewFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Removes what stands unfinished, for a handler of signals that ends the process afterwards: calls
// nothing that such a handler may not.
void remove_unfinished_files() noexcept;

}  // namespace orrery
