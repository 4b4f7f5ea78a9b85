// One line of progress on a terminal, for whatever takes longer than a moment. Meanwhile Ctrl-C is
// noticed rather than ends the program, unless it is ignored. When the program ends by a signal, what
// it was writing is removed first.
#pragma once

#include <atomic>
#include <chrono>
#include <limits>
#include <string>

#include "units/quantity.h"

namespace orrery::cli {

// Removes unfinished files on Ctrl-C, the end of the terminal and a plain kill, unless whoever
// started the program ignores them (nohup).
void remove_unfinished_files_on_signals();

// Removes unfinished files; the signal then does what it does to any program.
void end_by_signal(int signal);

class Progress {
 public:
  static constexpr Seconds kWithoutEnd{std::numeric_limits<double>::infinity()};
  // Of work that ends after `at_most`, whatever is done.
  explicit Progress(bool wanted, Seconds at_most = kWithoutEnd);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The share that is done, with an estimate of the time that is left.
  void show(double fraction, const std::string& text);
  // The same of work that may end at any time: the share of its time that has passed.
  void show(const std::string& text);
  [[nodiscard]] Seconds elapsed() const;
  // The time is over or Ctrl-C was pressed.
  [[nodiscard]] bool over() const;
  // Turns true at the first Ctrl-C; the second ends the program.
  static const std::atomic<bool>& interrupted();

 private:
  bool wanted_;
  Seconds at_most_;
  bool shown_ = false;
  Seconds shown_at_;
  void (*before_)(int) = nullptr;  // what Ctrl-C did, and does again
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace orrery::cli
