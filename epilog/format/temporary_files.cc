#include "epilog/format/temporary_files.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

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
    if (slot.state.load(std::memory_order_acquire) == kReady) ::unlink(slot.path);
  }
}

void remove_temporary_files_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = handle;
    action.sa_flags = SA_RESETHAND | SA_NODEFER;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace kojak
