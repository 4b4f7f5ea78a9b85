#include "trace/piece_writer.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

namespace orrery {
namespace {

constexpr int kWindowAndGzip = 15 + 16;  // zlib: the largest window, and gzip's header and trailer

}  // namespace

struct PieceWriter::State {
  std::string name;
  std::string temporary;
  std::FILE* file = nullptr;
  bool packed = false;
  int error = 0;  // errno of the first write that failed
  z_stream deflater{};

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (packed) deflateEnd(&deflater);
    if (file == nullptr) return;
    std::fclose(file);
    std::remove(temporary.c_str());
  }

  void write(const char* bytes, std::size_t size) {
    if (error == 0 && std::fwrite(bytes, 1, size, file) != size) error = errno == 0 ? EIO : errno;
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
      write(out, sizeof out - deflater.avail_out);
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
  state->name = file;
  state->temporary = file + ".part";
  state->file = std::fopen(state->temporary.c_str(), "wb");
  if (state->file == nullptr) {
    return fail(ErrorCode::io, std::string("cannot be written: ") + std::strerror(errno), file);
  }
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
    state_->write(bytes.data(), bytes.size());
  }
}

Result<std::monostate> PieceWriter::finish() {
  if (state_->packed) state_->pack({}, Z_FINISH);
  const bool closed = std::fclose(std::exchange(state_->file, nullptr)) == 0;
  if (!closed && state_->error == 0) state_->error = errno;
  const bool named =
      state_->error == 0 && std::rename(state_->temporary.c_str(), state_->name.c_str()) == 0;
  if (named) return std::monostate{};
  const int error = state_->error == 0 ? errno : state_->error;
  std::remove(state_->temporary.c_str());
  return fail(ErrorCode::io, std::string("cannot be written: ") + std::strerror(error),
              state_->name);
}

}  // namespace orrery
