// seeds: catalog/accelerators catalog/fabrics catalog/prices
// Any text is a quantity or an error in one line; a quantity survives being written and read.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "units/quantity_text.h"

namespace orrery {
namespace {

template <class Q>
void check(std::string_view text, Result<Q> (*parse)(std::string_view)) {
  const auto q = parse(text);
  if (!q) {
    if (q.error().text().find('\n') != std::string::npos) std::abort();
    return;
  }
  if (!std::isfinite(q->value())) std::abort();
  const auto again = parse(to_exact_text(*q));
  if (!again || again->value() != q->value()) std::abort();
}

void check_all(std::string_view text) {
  check<Seconds>(text, parse_seconds);
  check<Bytes>(text, parse_bytes);
  check<BytesPerSecond>(text, parse_bytes_per_second);
  check<FlopsPerSecond>(text, parse_flops_per_second);
  check<Hertz>(text, parse_hertz);
  check<Watts>(text, parse_watts);
  check<DollarsPerSecond>(text, parse_dollars_per_second);
  const auto count = parse_count(text);
  if (count && !std::isfinite(*count)) std::abort();
  if (const auto s = parse_seconds(text)) (void)to_text(*s);
  if (const auto b = parse_bytes(text)) (void)to_text(*b);
  if (const auto r = parse_bytes_per_second(text)) (void)to_text(*r);
  if (const auto f = parse_flops_per_second(text)) {
    (void)to_text(*f);
    (void)to_text(*f * Seconds(1));
  }
}

}  // namespace
}  // namespace orrery

// The seeds are catalog entries: what follows a colon is tried as a quantity, and so is all of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  orrery::check_all(text);
  std::size_t begin = 0;
  for (int lines = 0; lines < 100 && begin < text.size(); ++lines) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const auto colon = line.find(": ");
    if (colon != std::string_view::npos) orrery::check_all(line.substr(colon + 2));
    begin = end + 1;
  }
  return 0;
}
