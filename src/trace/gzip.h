// Packs bytes as one gzip member (RFC 1952) without a time or a name in it, so that the same bytes
// always give the same file.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

std::string gzip(std::string_view bytes);

}  // namespace orrery
