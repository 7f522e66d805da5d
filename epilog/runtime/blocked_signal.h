// Keeps a signal that our own file operations may raise away from the program.
//
// A file that outgrows a limit raises SIGXFSZ, a closed standard error SIGPIPE; both end a program
// by default. While the object lives the signal is blocked for this thread; one that it raised is
// taken off again. errno is kept.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace kojak::measure {

class BlockedSignal {
 public:
  explicit BlockedSignal(int signal) : signal_(signal) {
    sigemptyset(&set_);
    sigaddset(&set_, signal);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, signal) == 1;
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~BlockedSignal() {
    const int saved = errno;
    const timespec none = {0, 0};
    if (!was_pending_) {
      while (sigtimedwait(&set_, nullptr, &none) > 0) {
      }
    }
    if (sigismember(&before_, signal_) == 0) pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
    errno = saved;
  }
  BlockedSignal(const BlockedSignal&) = delete;
  BlockedSignal& operator=(const BlockedSignal&) = delete;

 private:
  int signal_;
  bool was_pending_ = false;
  sigset_t set_, before_;
};

}  // namespace kojak::measure
