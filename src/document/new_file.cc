#include "document/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace orrery {
namespace {

constexpr int kMostLinks = 40;       // as many as Linux follows
constexpr mode_t kAnyoneMay = 0666;  // before the umask is applied

// The unfinished files of the process, for signal handlers to find; the texts are never freed. If
// all slots are taken, a file is written without being listed here.
struct Unfinished {
  enum State : int { free, taken, stands };
  std::atomic<int> state = free;
  std::array<char, 4096> name{};
};
static_assert(std::atomic<int>::is_always_lock_free);
std::array<Unfinished, 16> unfinished_files;

Unfinished* note_unfinished(const std::string& name) {
  for (Unfinished& entry : unfinished_files) {
    if (name.size() >= entry.name.size()) return nullptr;
    int expected = Unfinished::free;
    if (!entry.state.compare_exchange_strong(expected, Unfinished::taken)) continue;
    std::memcpy(entry.name.data(), name.c_str(), name.size() + 1);
    entry.state.store(Unfinished::stands);
    return &entry;
  }
  return nullptr;
}

Failure cannot_be_written(int error, const std::string& file) {
  return fail(ErrorCode::io, std::string("cannot be written: ") + std::strerror(error), file);
}

// Where a file of this name would be written: the end of a chain of symbolic links, also of one
// that points to nothing yet. Absent: through /proc, whose links are open files rather than names.
Result<std::optional<std::filesystem::path>> end_of_links(const std::string& file) {
  std::filesystem::path path = file;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const std::filesystem::path stands_in = std::filesystem::canonical(folder, error);
    if (!error && stands_in.string().starts_with("/proc/")) {
      return std::optional<std::filesystem::path>();
    }
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) return std::optional(path);  // not a link
    path = path.parent_path() / next;
  }
  return cannot_be_written(ELOOP, file);
}

}  // namespace

struct NewFile::State {
  std::string given;
  std::string name;       // after following links
  std::string temporary;  // empty if written directly
  std::FILE* file = nullptr;
  Unfinished* noted = nullptr;
  int error = 0;  // errno of the first write that failed

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (file != nullptr) std::fclose(file);
    if (!temporary.empty()) std::remove(temporary.c_str());
    if (noted != nullptr) noted->state.store(Unfinished::free);
  }

  int open_straight() const { return ::open(given.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC); }

  // A new file.
  int open_beside(const std::filesystem::path& target) {
    static std::atomic<unsigned> number{0};
    name = target.string();
    while (true) {
      const std::string own = "orrery-" + std::to_string(getpid()) + "-" +
                              std::to_string(number.fetch_add(1)) + ".part";
      std::string beside = (target.parent_path() / own).string();
      const int descriptor =
          ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kAnyoneMay);
      if (descriptor < 0 && errno == EEXIST) continue;
      if (descriptor < 0) return descriptor;
      temporary = std::move(beside);
      noted = note_unfinished(temporary);
      return descriptor;
    }
  }
};

NewFile::NewFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
NewFile::NewFile(NewFile&&) noexcept = default;
NewFile& NewFile::operator=(NewFile&&) noexcept = default;
NewFile::~NewFile() = default;

Result<NewFile> NewFile::create(const std::string& file) {
  auto state = std::make_unique<State>();
  state->given = file;
  struct stat about{};
  const bool exists = stat(file.c_str(), &about) == 0;
  if (exists && S_ISDIR(about.st_mode)) return cannot_be_written(EISDIR, file);
  int descriptor = -1;
  if (exists && !S_ISREG(about.st_mode)) {
    descriptor = state->open_straight();
  } else {
    ORRERY_TRY(const std::optional<std::filesystem::path> target, end_of_links(file));
    descriptor = target ? state->open_beside(*target) : state->open_straight();
    // Keep the permissions of the file it replaces, if possible.
    if (exists && target && descriptor >= 0) (void)fchmod(descriptor, about.st_mode & kAnyoneMay);
  }
  if (descriptor < 0) return cannot_be_written(errno, file);
  state->file = fdopen(descriptor, "wb");
  if (state->file == nullptr) {
    const int error = errno;
    close(descriptor);
    return cannot_be_written(error, file);
  }
  return NewFile(std::move(state));
}

void NewFile::append(std::string_view bytes) {
  State& s = *state_;
  if (s.error == 0 && std::fwrite(bytes.data(), 1, bytes.size(), s.file) != bytes.size()) {
    s.error = errno == 0 ? EIO : errno;
  }
}

Result<void> NewFile::finish() {
  State& s = *state_;
  const bool closed = std::fclose(std::exchange(s.file, nullptr)) == 0;
  if (!closed && s.error == 0) s.error = errno;
  if (s.error == 0 && !s.temporary.empty()) {
    if (std::rename(s.temporary.c_str(), s.name.c_str()) == 0) {
      s.temporary.clear();
    } else {
      s.error = errno;
    }
  }
  if (s.error != 0) return cannot_be_written(s.error, s.given);
  return {};
}

void remove_unfinished_files() noexcept {
  for (Unfinished& entry : unfinished_files) {
    if (entry.state.load() == Unfinished::stands) (void)unlink(entry.name.data());
  }
}

}  // namespace orrery
