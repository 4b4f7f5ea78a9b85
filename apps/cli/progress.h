// One line of progress on a terminal, for whatever takes longer than a moment. Meanwhile Ctrl-C is
// noticed rather than ends the program, unless it is ignored.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

namespace orrery::cli {

class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(double fraction, const std::string& text);
  // Turns true at the first Ctrl-C; the second ends the program.
  static const std::atomic<bool>& interrupted();

 private:
  bool wanted_;
  bool shown_ = false;
  void (*before_)(int) = nullptr;  // what Ctrl-C did, and does again
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace orrery::cli
