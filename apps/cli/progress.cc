#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "command.h"
#include "signals.h"

namespace orrery::cli {
namespace {

std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void note_interrupt(int) {
  interrupt_flag.store(true);
  (void)std::signal(SIGINT, end_by_signal);
}

}  // namespace

Progress::Progress(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO) == 1) {
  before_ = std::signal(SIGINT, note_interrupt);
  if (before_ == SIG_IGN) (void)std::signal(SIGINT, SIG_IGN);
}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  (void)std::signal(SIGINT, before_);
}

void Progress::show(double fraction, const std::string& text) {
  if (!wanted_ || std::chrono::steady_clock::now() - begin_ < std::chrono::milliseconds(300))
    return;
  shown_ = true;
  constexpr int kCells = 24;
  const int full = std::clamp(static_cast<int>(fraction * kCells), 0, kCells);
  std::string bar;
  for (int i = 0; i < kCells; ++i) bar += i < full ? "█" : "░";
  const std::string shown = shortened(printable(text), 70);
  std::fprintf(stderr, "\r\x1b[K%s %3.0f %%  %s", bar.c_str(), 100 * fraction, shown.c_str());
  std::fflush(stderr);
}

const std::atomic<bool>& Progress::interrupted() { return interrupt_flag; }

}  // namespace orrery::cli
