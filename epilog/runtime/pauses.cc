// Functions by which a program gives the processor away or sleeps, defined in front of the C
// library's: what it does in a loop that polls is known then (polling.h).
//
// They forward. Between two polls of a thread whose series is open they take the time before and
// after; those that sleep also elsewhere outside of calls (processor.h). errno, cancellation and
// signals are the next definition's: there is no lock, no allocation and nothing to undo behind it,
// so a thread may be cancelled in it, and a signal handler may leave it by a longjmp. In the shared
// libraries alone: a program that is linked with the archive calls the C library, and its pauses
// count as time between polls. Not poll and ppoll, which AddressSanitizer intercepts.
#include <dlfcn.h>
#include <sched.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "epilog/runtime/polling.h"
#include "epilog/runtime/processor.h"

namespace kojak::measure {
namespace {

// The next definition behind ours; found when the library is loaded, or at a call that comes
// before.
template <class Function>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}
  Function* get() {
    Function* const known = known_.load(std::memory_order_relaxed);
    return known != nullptr ? known : look_up();
  }
  [[gnu::cold, gnu::noinline]] Function* look_up() {
    auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
    known_.store(found, std::memory_order_relaxed);
    return found;
  }

 private:
  const char* name_;
  std::atomic<Function*> known_{nullptr};
};

constinit Next<int()> next_sched_yield("sched_yield");
constinit Next<int(const timespec*, timespec*)> next_nanosleep("nanosleep");
constinit Next<int(clockid_t, int, const timespec*, timespec*)> next_clock_nanosleep(
    "clock_nanosleep");
constinit Next<int(useconds_t)> next_usleep("usleep");
constinit Next<unsigned(unsigned)> next_sleep("sleep");
constinit Next<int(int, fd_set*, fd_set*, fd_set*, timeval*)> next_select("select");

[[gnu::constructor]] void find_next_pauses() {
  pauses_are_seen = true;
  next_sched_yield.look_up();
  next_nanosleep.look_up();
  next_clock_nanosleep.look_up();
  next_usleep.look_up();
  next_sleep.look_up();
  next_select.look_up();
}

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kForEver = std::uint64_t{1} << 62;

std::uint64_t nanoseconds(std::int64_t seconds, std::int64_t nanoseconds) {
  if (seconds < 0 || nanoseconds < 0) return 0;
  constexpr std::int64_t kMost = kForEver / kNsPerSecond - 1;
  return static_cast<std::uint64_t>(seconds < kMost ? seconds : kMost) * kNsPerSecond +
         static_cast<std::uint64_t>(nanoseconds);
}
std::uint64_t nanoseconds(const timespec& time) {
  return nanoseconds(time.tv_sec, time.tv_nsec);
}

// A sleep that was to last so long, or one of nothing: a yield.
template <class Call>
auto paused(std::uint64_t asked, bool sleeps, Call&& call) {
  const PauseMark mark;
  const auto result = call();
  mark.end(asked, sleeps);
  return result;
}

// A sleep outside of series.
template <class Call>
auto slept(Call&& call) {
  if (the_recorder.frame != nullptr) return call();
  const Ticks begin = ticks();
  const auto result = call();
  note_pause(begin);
  return result;
}

}  // namespace
}  // namespace kojak::measure

using namespace kojak::measure;

#define KOJAK_EXPORTED extern "C" __attribute__((visibility("default"), used))

KOJAK_EXPORTED int sched_yield() noexcept {
  auto* const next = next_sched_yield.get();
  if (!PauseMark::is_wanted()) return next();
  return paused(0, false, next);
}

KOJAK_EXPORTED int nanosleep(const timespec* wanted, timespec* left) {
  auto* const next = next_nanosleep.get();
  if (!PauseMark::is_wanted()) return slept([&] { return next(wanted, left); });
  const std::uint64_t asked = wanted != nullptr ? nanoseconds(*wanted) : 0;
  return paused(asked, true, [&] { return next(wanted, left); });
}

KOJAK_EXPORTED int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted,
                                   timespec* left) {
  auto* const next = next_clock_nanosleep.get();
  if (!PauseMark::is_wanted()) return slept([&] { return next(clock, flags, wanted, left); });
  std::uint64_t asked = wanted != nullptr ? nanoseconds(*wanted) : 0;
  timespec now;
  if ((flags & TIMER_ABSTIME) != 0 && clock_gettime(clock, &now) == 0)
    asked = kojak::without(asked, nanoseconds(now));
  return paused(asked, true, [&] { return next(clock, flags, wanted, left); });
}

KOJAK_EXPORTED int usleep(useconds_t wanted) {
  auto* const next = next_usleep.get();
  if (!PauseMark::is_wanted()) return slept([&] { return next(wanted); });
  return paused(std::uint64_t{wanted} * 1'000, true, [&] { return next(wanted); });
}

KOJAK_EXPORTED unsigned sleep(unsigned wanted) {
  auto* const next = next_sleep.get();
  if (!PauseMark::is_wanted()) return slept([&] { return next(wanted); });
  return paused(std::uint64_t{wanted} * kNsPerSecond, true, [&] { return next(wanted); });
}

// As a sleep only where it waits for nothing else.
KOJAK_EXPORTED int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* wanted) {
  auto* const next = next_select.get();
  const bool sleeps = count == 0 && read == nullptr && write == nullptr && except == nullptr;
  if (!sleeps) return next(count, read, write, except, wanted);
  if (!PauseMark::is_wanted()) {
    return slept([&] { return next(count, read, write, except, wanted); });
  }
  // It writes over what it was given.
  const std::uint64_t asked =
      wanted != nullptr ? nanoseconds(wanted->tv_sec, 1'000 * std::int64_t{wanted->tv_usec})
                        : kForEver;
  return paused(asked, true, [&] { return next(count, read, write, except, wanted); });
}
