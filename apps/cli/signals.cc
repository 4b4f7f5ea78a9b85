#include "signals.h"

#include <csignal>

#include "document/new_file.h"

namespace orrery::cli {

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

}  // namespace orrery::cli
