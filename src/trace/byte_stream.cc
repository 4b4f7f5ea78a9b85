#include "trace/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "document/input_memory.h"

namespace orrery {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10U;
// Of a text that is held whole: the text, the tree of a parser, and what is made of it.
constexpr std::uint64_t kMemoryPerByteOfText = 8;

// What was read of standard input or another pipe, such as a shell's <(...), that was only looked
// at, and what is left of it, wait for the next stream of that name.
constexpr std::size_t kMostOfALook = std::size_t{1} << 20U;
struct Pipe {
  bool spent = false;  // or being read
  int descriptor = -1;
  std::string beginning;
};
struct Pipes {
  std::mutex mutex;
  std::map<std::string, Pipe> of_name;
};
Pipes& pipes() {
  static Pipes all;
  return all;
}

}  // namespace

struct ByteStream::State {
  std::string name;
  bool pipe = false;      // in `pipes`, under its name
  bool only_look = true;  // so far
  std::string looked_at;  // all that was read of it, if it was but a look
  int descriptor = -1;    // of a file
  std::vector<char> block;
  const char* next = nullptr;  // unread bytes of the file
  std::size_t left = 0;
  std::uint64_t taken = 0;
  std::uint64_t size = 0;
  bool gzip = false;
  bool cut = false;
  bool inside_member = false;
  bool ended = false;
  z_stream inflater{};

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (gzip) inflateEnd(&inflater);
    if (pipe && only_look) {
      const std::lock_guard lock(pipes().mutex);
      pipes().of_name[name] = {false, descriptor, std::move(looked_at)};
    } else if (descriptor > STDIN_FILENO) {
      close(descriptor);
    }
  }

  // The pipe that another stream looked at; false if there is none of this name.
  Result<bool> take_pipe() {
    const std::lock_guard lock(pipes().mutex);
    const auto found = pipes().of_name.find(name);
    if (found == pipes().of_name.end()) return false;
    if (found->second.spent) {
      return fail(ErrorCode::io, "is not a regular file and can be read only once", name,
                  "write it to a file first");
    }
    pipe = true;
    found->second.spent = true;
    descriptor = found->second.descriptor;
    looked_at = std::move(found->second.beginning);
    give_back(looked_at);
    return true;
  }

  // Bytes that were read already come first.
  void give_back(std::string_view bytes) {
    block.resize(std::max(kBlock, bytes.size()));
    std::ranges::copy(bytes, block.begin());
    next = block.data();
    left = bytes.size();
    taken = bytes.size();
  }

  void note_look(std::string_view bytes) {
    if (!pipe || !only_look) return;
    only_look = looked_at.size() + bytes.size() <= kMostOfALook;
    if (only_look) {
      looked_at += bytes;
    } else {
      looked_at = std::string();
    }
  }

  // Makes at least `wanted` unread bytes available, fewer only at the end of the file.
  Result<std::size_t> fill(std::size_t wanted) {
    if (descriptor < 0 || left >= wanted) return left;
    if (block.empty()) block.resize(kBlock);
    if (left > 0) std::memmove(block.data(), next, left);
    next = block.data();
    while (left < wanted) {
      const ssize_t got = ::read(descriptor, block.data() + left, block.size() - left);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return fail(ErrorCode::io, std::string("cannot be read: ") + std::strerror(errno), name);
      }
      if (got == 0) break;
      note_look({block.data() + left, static_cast<std::size_t>(got)});
      left += static_cast<std::size_t>(got);
      taken += static_cast<std::uint64_t>(got);
    }
    return left;
  }

  Result<std::size_t> start() {
    ORRERY_TRY(const std::size_t available, fill(2));
    gzip = available >= 2 && static_cast<unsigned char>(next[0]) == 0x1f &&
           static_cast<unsigned char>(next[1]) == 0x8b;
    if (gzip && inflateInit2(&inflater, kWindowAndGzip) != Z_OK) {
      gzip = false;
      throw std::bad_alloc();
    }
    return available;
  }

  Result<std::size_t> copy(char* to, std::size_t wanted) {
    std::size_t done = 0;
    while (done < wanted) {
      ORRERY_TRY(const std::size_t available, fill(1));
      if (available == 0) break;
      const std::size_t n = std::min(wanted - done, available);
      std::memcpy(to + done, next, n);
      next += n;
      left -= n;
      done += n;
    }
    return done;
  }

  Failure damaged(const char* what) const {
    return bad_input("damaged gzip" + (what == nullptr ? std::string() : std::string(": ") + what),
                     name + ": byte " + std::to_string(taken - left), "gzip -t checks a file");
  }

  Result<std::size_t> unpack(char* to, std::size_t wanted) {
    std::size_t done = 0;
    while (done < wanted && !ended) {
      ORRERY_TRY(const std::size_t available, fill(1));
      if (available == 0) {
        cut = cut || inside_member;
        ended = true;
        break;
      }
      const auto room = static_cast<uInt>(std::min(wanted - done, kBlock));
      const auto fed = static_cast<uInt>(std::min(available, kBlock));
      inflater.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));  // zlib's C interface
      inflater.avail_in = fed;
      inflater.next_out = reinterpret_cast<Bytef*>(to + done);
      inflater.avail_out = room;
      inside_member = true;
      const int status = inflate(&inflater, Z_NO_FLUSH);
      next += fed - inflater.avail_in;
      left -= fed - inflater.avail_in;
      done += room - inflater.avail_out;
      if (status == Z_STREAM_END) {
        ORRERY_TRY(const std::size_t after, next_member());
        ended = after == 0;
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return damaged(inflater.msg);
      }
    }
    return done;
  }

  // A member has ended: another one, padding with zeros, or the end must follow.
  Result<std::size_t> next_member() {
    inside_member = false;
    inflateReset(&inflater);
    while (true) {
      ORRERY_TRY(const std::size_t available, fill(2));
      if (available == 0) return std::size_t{0};
      if (static_cast<unsigned char>(next[0]) == 0x1f) return available;
      if (*next != '\0') return damaged("something follows its end");
      ++next;
      --left;
    }
  }
};

ByteStream::ByteStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream& ByteStream::operator=(ByteStream&&) noexcept = default;
ByteStream::~ByteStream() = default;

Result<ByteStream> ByteStream::open(const std::string& file) {
  auto state = std::make_unique<State>();
  const bool standard_input = file == "-";
  state->name = standard_input ? "standard input" : file;
  ORRERY_TRY(const bool looked_at, state->take_pipe());
  if (!looked_at) {
    state->descriptor = standard_input ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (state->descriptor < 0) {
    return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                std::string("cannot be opened: ") + std::strerror(errno), file);
  }
  struct stat about{};
  const bool known = fstat(state->descriptor, &about) == 0;
  if (known && S_ISREG(about.st_mode)) state->size = static_cast<std::uint64_t>(about.st_size);
  const bool is_pipe = known && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
  if (!looked_at && (standard_input || is_pipe)) {
    const std::lock_guard lock(pipes().mutex);
    pipes().of_name[state->name].spent = true;
    state->pipe = true;
  }
  ORRERY_TRY([[maybe_unused]] const std::size_t available, state->start());
  return ByteStream(std::move(state));
}

Result<ByteStream> ByteStream::of(std::string_view bytes, std::string name) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->next = bytes.data();
  state->left = bytes.size();
  state->taken = bytes.size();
  state->size = bytes.size();
  ORRERY_TRY([[maybe_unused]] const std::size_t available, state->start());
  return ByteStream(std::move(state));
}

Result<std::size_t> ByteStream::read(char* to, std::size_t size) {
  return state_->gzip ? state_->unpack(to, size) : state_->copy(to, size);
}

Result<std::string> ByteStream::rest(Incomplete incomplete) {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  const std::uint64_t most = most_bytes_of_text(std::uint64_t{2} << 30U);
  std::string out;
  while (true) {
    const std::size_t before = out.size();
    out.resize(before + kPiece);
    ORRERY_TRY(const std::size_t got, read(out.data() + before, kPiece));
    out.resize(before + got);
    if (got == 0) break;
    ORRERY_RETURN_IF_ERROR(allow(kMemoryPerByteOfText * out.size()));
    if (out.size() > most) {
      return unsupported("is larger than " + std::to_string(most >> 20U) + " MiB, unpacked",
                         state_->name, more_input_memory());
    }
  }
  if (truncated() && incomplete == Incomplete::refuse) {
    return bad_input("the gzip stream ends too early",
                     state_->name + ": byte " + std::to_string(state_->taken));
  }
  return out;
}

Result<void> ByteStream::allow(std::uint64_t held) const {
  if (held <= input_memory()) return {};  // asked for every record: the place costs more
  return check_input_memory(held, taken(), state_->name + ": byte " + std::to_string(taken()));
}

const std::string& ByteStream::name() const { return state_->name; }
bool ByteStream::truncated() const { return state_->cut; }
bool ByteStream::compressed() const { return state_->gzip; }
std::uint64_t ByteStream::taken() const { return state_->taken - state_->left; }
std::uint64_t ByteStream::file_size() const { return state_->size; }

}  // namespace orrery
