#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "command.h"
#include "document/new_file.h"

namespace orrery::cli {
namespace {

std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void note_interrupt(int) {
  interrupt_flag.store(true);
  (void)std::signal(SIGINT, end_by_signal);
}

}  // namespace

void end_by_signal(int signal) {
  remove_unfinished_files();
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

void remove_unfinished_files_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, end_by_signal) == SIG_IGN) (void)std::signal(signal, SIG_IGN);
  }
}

Progress::Progress(bool wanted, Seconds at_most)
    : wanted_(wanted && isatty(STDERR_FILENO) == 1), at_most_(at_most) {
  before_ = std::signal(SIGINT, note_interrupt);
  if (before_ == SIG_IGN) (void)std::signal(SIGINT, SIG_IGN);
}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  (void)std::signal(SIGINT, before_);
}

Seconds Progress::elapsed() const {
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
}

bool Progress::over() const { return interrupted() || elapsed() > at_most_; }

void Progress::show(const std::string& text) { show(elapsed() / at_most_, text); }

void Progress::show(double fraction, const std::string& text) {
  constexpr Seconds kUnseen(0.3);
  constexpr Seconds kBetween(0.05);
  const Seconds now = elapsed();
  if (!wanted_ || now < kUnseen || now < shown_at_ + kBetween) return;
  shown_ = true;
  shown_at_ = now;
  constexpr int kCells = 24;
  const int full = std::clamp(static_cast<int>(fraction * kCells), 0, kCells);
  std::string bar;
  for (int i = 0; i < kCells; ++i) bar += i < full ? "█" : "░";
  // Too little is done to tell how long the rest takes.
  constexpr double kTelling = 0.02;
  Seconds left = at_most_ - elapsed();
  if (fraction >= kTelling) left = std::min(left, elapsed() * (1 / fraction - 1));
  std::string line = fmt::format("{} {:3.0f} %", bar, 100 * fraction);
  if (left < kWithoutEnd) line += fmt::format("  {:.0f} s left", std::max(0.0, left.value()));
  line += "  " + shortened(printable(text), 70);
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  std::fflush(stderr);
}

const std::atomic<bool>& Progress::interrupted() { return interrupt_flag; }

}  // namespace orrery::cli
