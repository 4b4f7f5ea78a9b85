#include "command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace orrery::cli {

int refuse(const Error& error) {
  std::fprintf(stderr, "orrery: %s\n", error.text().c_str());
  return ExitCode::bad_input;
}

int print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return ExitCode::done;
  return refuse(Error{ErrorCode::io, "standard output cannot be written", "", ""});
}

TextStyle text_style() {
  TextStyle style;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  style.colour = terminal && (no_colour == nullptr || *no_colour == '\0') &&
                 (kind == nullptr || std::strcmp(kind, "dumb") != 0);
  winsize size{};
  if (const char* columns = std::getenv("COLUMNS")) {
    std::from_chars(columns, columns + std::strlen(columns), style.width);
  } else if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  }
  if (style.width < 40) style.width = 40;
  if (style.width > 160) style.width = 160;
  return style;
}

Result<Catalog> open_catalog(const Common& common) {
  if (!common.catalog.empty()) return Catalog::from_directory(common.catalog);
  return Catalog::built_in();
}

}  // namespace orrery::cli
