#include "epilog/runtime/run_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epilog/format/io/run_file.h"
#include "epilog/runtime/blocked_signal.h"
#include "epilog/runtime/keeper.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {
namespace {

// Says that the library is here, in whatever program: what was not recorded may be told from that.
__attribute__((constructor)) void tell_program() {
  if (run_file() == nullptr) return;
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = '\0';
  const char* const slash = strrchr(path, '/');
  tell_run(run_file::kProgram, slash != nullptr ? slash + 1 : path);
}

}  // namespace

const char* run_file() {
  const char* const path = secure_getenv(run_file::kVariable);
  return path != nullptr && path[0] == '/' ? path : nullptr;
}

namespace {

bool tell(const char* path, const char* word, const char* text) {
  char line[4700];
  const int size = snprintf(line, sizeof line - 1, "%s %s", word, text);
  if (size <= 0) return false;
  std::size_t length =
      size < static_cast<int>(sizeof line) - 1 ? static_cast<std::size_t>(size) : sizeof line - 2;
  for (std::size_t i = 0; i < length; ++i) {
    if (line[i] == '\n') line[i] = ' ';
  }
  line[length++] = '\n';
  const BlockedSignal blocked(SIGXFSZ);
  // One write, so that lines of several processes do not mix.
  const int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  const bool written = fd >= 0 && write(fd, line, length) == static_cast<ssize_t>(length);
  if (fd >= 0) close(fd);
  return written || keeper_tells(line, length);
}

}  // namespace

bool tell_run(const char* word, const char* text) {
  const char* const path = run_file();
  return path == nullptr || on_own_stack([&] { return tell(path, word, text); });
}

void tell_run_of_abort(int code) {
  char text[64];
  snprintf(text, sizeof text, "%u %d", the_session.run.rank, code);
  tell_run(run_file::kAbort, text);
}

}  // namespace kojak::measure
