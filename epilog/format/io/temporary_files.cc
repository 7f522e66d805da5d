#include "epilog/format/io/temporary_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace kojak {
namespace {

// kReady: the path is whole. Only the thread that took a slot changes its path.
enum SlotState : int { kFree, kTaken, kReady };
struct Slot {
  std::atomic<int> state{kFree};
  char path[1024];
};
std::array<Slot, 16> slots;
static_assert(std::atomic<int>::is_always_lock_free);

// Removes what is in an open folder, and in folders in it. opendir() would ask for memory, which a
// signal handler must not. While entries are removed others move up, so it is read until nothing
// goes any more.
constexpr int kMostFolders = 4;  // one in the other
void empty_folder(int folder, int depth) {
  alignas(dirent64) char entries[4096];
  for (bool removed = true; removed && ::lseek(folder, 0, SEEK_SET) == 0;) {
    removed = false;
    for (long size; (size = ::syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
      for (long at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
        at += entry->d_reclen;
        const char* const name = entry->d_name;
        if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
        if (entry->d_type == DT_DIR && depth < kMostFolders) {
          const int inner = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
          if (inner >= 0) {
            empty_folder(inner, depth + 1);
            ::close(inner);
          }
          removed |= ::unlinkat(folder, name, AT_REMOVEDIR) == 0;
        } else {
          removed |= ::unlinkat(folder, name, 0) == 0;
        }
      }
    }
  }
}
void remove_folder(const char* path) {
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  empty_folder(folder, 1);
  ::close(folder);
  ::rmdir(path);
}

void handle(int signal) {
  remove_temporary_files();
  // The handler was reset when it was called: now the signal has its usual effect.
  ::raise(signal);
}

}  // namespace

void remember_temporary_file(const std::string& path) {
  if (path.size() >= sizeof slots[0].path) return;
  for (Slot& slot : slots) {
    int expected = kFree;
    if (!slot.state.compare_exchange_strong(expected, kTaken)) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.state.store(kReady, std::memory_order_release);
    return;
  }
}

void forget_temporary_file(const std::string& path) {
  for (Slot& slot : slots) {
    if (slot.state.load(std::memory_order_acquire) != kReady || path != slot.path) continue;
    slot.state.store(kFree, std::memory_order_release);
    return;
  }
}

void remove_temporary_files() {
  for (Slot& slot : slots) {
    if (slot.state.load(std::memory_order_acquire) != kReady) continue;
    if (::unlink(slot.path) != 0 && (errno == EISDIR || errno == EPERM)) remove_folder(slot.path);
  }
}

void remove_temporary_files_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = handle;
    action.sa_flags = SA_RESETHAND | SA_NODEFER;
    ::sigaction(signal, &action, nullptr);
  }
}

Result<TemporaryFolder> TemporaryFolder::create(const std::string& parent,
                                                const std::string& name) {
  std::string path = (parent.empty() ? "." : parent) + "/" + name + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    Error error;
    error.code = ExitCode::kOutputFailed;
    error.file = parent.empty() ? "." : parent;
    error.reason = std::string("no temporary folder can be made here: ") + std::strerror(errno);
    error.remedy = "write where there is room and you may write";
    return error;
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)) {
  remember_temporary_file(path_);
}
TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}
TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}
TemporaryFolder::~TemporaryFolder() {
  remove();
}
void TemporaryFolder::remove() {
  if (path_.empty()) return;
  remove_folder(path_.c_str());
  forget_temporary_file(path_);
}

}  // namespace kojak
