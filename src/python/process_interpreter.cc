#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "document/json_quoted.h"
#include "document/value.h"
#include "python/interpreter.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLine = 16UL << 20U;
constexpr std::string_view kKey = "key ";

// Whether a line ends an evaluation (python/interpreter.h).
bool is_answer(std::string_view line) {
  return line.starts_with("value ") || line.starts_with("error ") || line.starts_with("functions ");
}

class InProcess : public Interpreter {
 public:
  InProcess(pid_t process, int socket) : process_(process), socket_(socket) {}
  InProcess(const InProcess&) = delete;
  InProcess& operator=(const InProcess&) = delete;
  ~InProcess() override {
    ::close(socket_);
    end();
  }

  Result<std::string> load(const std::string& source, const std::string& file,
                           const PythonLimits& limits) override {
    // Starting takes as long as it takes; sixty seconds are a machine that does not start it at
    // all.
    constexpr Seconds kStart(60);
    return ask(fmt::format("[{}, {}, {}]\n", json_quoted(source), json_quoted(file), limits.memory),
               nullptr, limits.time + kStart);
  }
  Result<std::string> call(const std::string& function, const std::string&, const KeyText& record,
                           const PythonLimits& limits) override {
    return ask("[" + json_quoted(function) + "]\n", &record, limits.time);
  }
  [[nodiscard]] bool lost() const override { return process_ == 0; }

 private:
  Result<std::string> ask(std::string request, const KeyText* record, Seconds most) {
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(most.value()));
    while (true) {
      ORRERY_RETURN_IF_ERROR(send_all(request, most, until));
      ORRERY_TRY(std::string line, line_by(most, until));
      // Whoever writes more than a line at a time would have it read as the answer to what is asked
      // next.
      if (!read_.empty()) return not_as_expected();
      if (is_answer(line)) return line;
      if (!line.starts_with(kKey)) return not_as_expected();
      const auto key = parse_json(std::string_view(line).substr(kKey.size()), "key");
      if (!key || !key->root.is_scalar()) return not_as_expected();
      const auto found = record != nullptr ? (*record)(key->root.scalar_text()) : std::nullopt;
      request = json_quoted(found ? *found : "") + "\n";
      if (!found) request = "null\n";
    }
  }

  Result<void> send_all(std::string_view text, Seconds most, Clock::time_point until) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        text.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN) {
        ORRERY_RETURN_IF_ERROR(wait(POLLOUT, most, until));
      } else if (errno != EINTR) {
        return crashed();
      }
    }
    return {};
  }

  Result<std::string> line_by(Seconds most, Clock::time_point until) {
    while (true) {
      if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
        std::string line = read_.substr(0, end);
        read_.erase(0, end + 1);
        return line;
      }
      if (read_.size() > kLongestLine) {
        end();
        return bad_input("the answer has no end");
      }
      ORRERY_RETURN_IF_ERROR(wait(POLLIN, most, until));
      std::array<char, 65536> piece{};
      const ssize_t got = ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
      if (got > 0) {
        read_.append(piece.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        return crashed();
      }
    }
  }

  Result<void> wait(short event, Seconds most, Clock::time_point until) {
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) {
        end();
        return bad_input(fmt::format("TimeLimit: takes longer than {} s", most.value()));
      }
      pollfd one{socket_, event, 0};
      const int ready = ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left, 1000)));
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) return crashed();
    }
  }

  Failure not_as_expected() {
    end();
    return bad_input("the interpreter does not answer as expected");
  }

  Failure crashed() {
    const int status = end();
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
      return bad_input(fmt::format("the interpreter crashed: {}", ::strsignal(WTERMSIG(status))));
    }
    if (WIFEXITED(status)) {
      return bad_input(fmt::format("the interpreter ended with exit code {}", WEXITSTATUS(status)));
    }
    return bad_input("the interpreter ended");
  }

  // Ends the process, unless it has ended by itself; gives its status.
  int end() {
    if (process_ == 0) return 0;
    int status = 0;
    // What crashed is about to end by itself.
    for (int i = 0; i < 50; ++i) {
      if (::waitpid(process_, &status, WNOHANG) == process_) {
        process_ = 0;
        return status;
      }
      if (i == 0 && !closing()) break;
      ::usleep(2000);
    }
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
  }
  // Whether the other side has closed the socket.
  [[nodiscard]] bool closing() const {
    char one = 0;
    return ::recv(socket_, &one, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  }

  pid_t process_;
  int socket_;
  std::string read_;
};

}  // namespace

Result<std::unique_ptr<Interpreter>> interpreter_in_process() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::io, std::string("no socket can be made: ") + std::strerror(errno));
  }
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&how);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  // Ctrl-C is for the program that asks; its end closes the socket, which ends the interpreter.
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  std::string source = std::string(kBootstrap) + kProcessLoop;
  std::string name = "python3";
  std::string option = "-c";
  std::array<char*, 4> arguments = {name.data(), option.data(), source.data(), nullptr};
  pid_t process = 0;
  const int failed =
      ::posix_spawnp(&process, name.c_str(), &files, &how, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&how);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return fail(ErrorCode::not_found,
                std::string("python3 cannot be started: ") + std::strerror(failed), "",
                "install python3");
  }
  return std::make_unique<InProcess>(process, ends[0]);
}

}  // namespace orrery
