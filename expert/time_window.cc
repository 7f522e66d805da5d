#include "expert/time_window.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

extern char** environ;

namespace kojak::expert {

Result<TimeWindow> TimeWindow::open(const std::string& filter, const std::string& trace,
                                    const std::optional<std::string>& from,
                                    const std::optional<std::string>& to) {
  const auto failed = [&](int error) {
    return Error{.code = ExitCode::kOutputFailed,
                 .file = filter,
                 .offset = {},
                 .record = {},
                 .field = {},
                 .reason = std::string("it cannot be run: ") + std::strerror(error),
                 .remedy = "install elg_filter beside expert, or cut the trace with it first"};
  };
  std::vector<std::string> words{filter, "--quiet", "-o", "-"};
  if (from) words.push_back("--from=" + *from);
  if (to) words.push_back("--to=" + *to);
  words.insert(words.end(), {"--", trace});  // whatever its name begins with
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t process = 0;
  const int error =
      ::posix_spawn(&process, filter.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return failed(error);
  }
  return TimeWindow(ends[0], process);
}

TimeWindow::TimeWindow(TimeWindow&& other) noexcept
    : pipe_(std::exchange(other.pipe_, -1)), process_(std::exchange(other.process_, 0)) {}

TimeWindow::~TimeWindow() {
  finish();
}

int TimeWindow::finish() {
  if (pipe_ >= 0) ::close(std::exchange(pipe_, -1));
  if (process_ == 0) return 0;
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace kojak::expert
