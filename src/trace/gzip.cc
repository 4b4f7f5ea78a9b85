#include "trace/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "outcome/invariant.h"

namespace orrery {

std::string gzip(std::string_view bytes) {
  z_stream deflater{};
  // 15 bits of window, the largest; 16 more: a gzip header and trailer.
  ORRERY_INVARIANT(deflateInit2(&deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                                Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out;
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  char packed[1 << 16];
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    const std::size_t fed = std::min(bytes.size(), kMost);
    deflater.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // C interface
    deflater.avail_in = static_cast<uInt>(fed);
    deflater.next_out = reinterpret_cast<Bytef*>(packed);
    deflater.avail_out = sizeof packed;
    status = deflate(&deflater, fed == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes.remove_prefix(fed - deflater.avail_in);
    out.append(packed, sizeof packed - deflater.avail_out);
  }
  deflateEnd(&deflater);
  return out;
}

}  // namespace orrery
