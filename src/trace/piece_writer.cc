#include "trace/piece_writer.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "document/new_file.h"
#include "trace/byte_stream.h"

namespace orrery {

struct PieceWriter::State {
  std::optional<NewFile> file;
  bool packed = false;
  z_stream deflater{};

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (packed) deflateEnd(&deflater);
  }

  void pack(std::string_view bytes, int flush) {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    char out[1 << 16];
    while (true) {
      const std::size_t fed = std::min(bytes.size(), kMost);
      deflater.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // C interface
      deflater.avail_in = static_cast<uInt>(fed);
      deflater.next_out = reinterpret_cast<Bytef*>(out);
      deflater.avail_out = sizeof out;
      const int status = deflate(&deflater, flush);
      bytes.remove_prefix(fed - deflater.avail_in);
      file->append(std::string_view(out, sizeof out - deflater.avail_out));
      const bool done =
          flush == Z_FINISH ? status == Z_STREAM_END : bytes.empty() && deflater.avail_out > 0;
      if (done || (status != Z_OK && status != Z_BUF_ERROR)) return;
    }
  }
};

PieceWriter::PieceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
PieceWriter::PieceWriter(PieceWriter&&) noexcept = default;
PieceWriter& PieceWriter::operator=(PieceWriter&&) noexcept = default;
PieceWriter::~PieceWriter() = default;

Result<PieceWriter> PieceWriter::create(const std::string& file) {
  auto state = std::make_unique<State>();
  ORRERY_TRY(state->file, NewFile::create(file));
  if (file.ends_with(".gz")) {
    state->packed = deflateInit2(&state->deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                 kWindowAndGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!state->packed) return fail(ErrorCode::io, "no memory to pack it", file);
  }
  return PieceWriter(std::move(state));
}

void PieceWriter::append(std::string_view bytes) {
  if (state_->packed) {
    state_->pack(bytes, Z_NO_FLUSH);
  } else {
    state_->file->append(bytes);
  }
}

Result<void> PieceWriter::finish() {
  if (state_->packed) state_->pack({}, Z_FINISH);
  return state_->file->finish();
}

Result<void> write_at_once(const std::string& file, std::string_view text) {
  ORRERY_TRY(PieceWriter writer, PieceWriter::create(file));
  writer.append(text);
  return writer.finish();
}

}  // namespace orrery
