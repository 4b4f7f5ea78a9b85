#include "trace/chakra/readable_text.h"

#include "document/utf8.h"

namespace orrery {

std::string readable_text(std::string_view text) {
  std::string out(text);
  std::size_t from = 0;
  while (const auto bad = first_invalid_utf8(std::string_view(out).substr(from))) {
    from += *bad;
    out[from++] = '?';
  }
  return out;
}

}  // namespace orrery
