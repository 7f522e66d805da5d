#include "epilog/runtime/processor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "epilog/format/blocked.h"
#include "epilog/format/run_property_keys.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/polling.h"
#include "epilog/runtime/processor_limit.h"
#include "epilog/runtime/run_properties.h"

namespace kojak::measure {
namespace {

constexpr Ticks kNotesPerSecond = 10;  // at most
Ticks note_interval = kNever, interval = kNever;
// "nanoseconds it ran, nanoseconds it waited for a processor, how often it got one", of the thread
// that opens it.
constexpr const char* kStatistics = "/proc/thread-self/schedstat";
constexpr std::size_t kMostProcessors = 8192;
// So many threads keep it open: descriptors are the program's.
constexpr std::uint32_t kMostKept = 64;
constexpr rlim_t kHighest = 768;  // where they lie, if the process may have so many

bool is_ours(const ThreadReadings& readings) {
  struct stat found;
  return readings.file >= 0 && fstat(readings.file, &found) == 0 &&
         found.st_ino == readings.inode && found.st_dev == readings.device;
}

// Where the program's own descriptors are not; negative if there is none.
int moved_up(int fd) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  const rlim_t lowest = limit.rlim_cur / 4 * 3;
  return fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(lowest < kHighest ? lowest : kHighest));
}

// One that is not kept must be closed.
int open_statistics(const LocalTrace& trace, ThreadReadings& readings) {
  if (is_ours(readings)) return readings.file;
  readings.file = -1;
  const int fd = open(kStatistics, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || trace.thread >= kMostKept) return fd;
  struct stat found;
  const int moved = fstat(fd, &found) == 0 ? moved_up(fd) : -1;
  if (moved < 0) return fd;
  close(fd);
  readings.file = moved;
  readings.device = found.st_dev;
  readings.inode = found.st_ino;
  return moved;
}

// Nanoseconds without a processor.
bool read_wanted(int fd, std::uint64_t& wanted) {
  char text[96];
  const ssize_t size = pread(fd, text, sizeof text - 1, 0);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* p = text;
  while (*p >= '0' && *p <= '9') ++p;
  if (p == text || *p++ != ' ') return false;
  wanted = 0;
  for (; *p >= '0' && *p <= '9'; ++p) wanted = 10 * wanted + static_cast<std::uint64_t>(*p - '0');
  return true;
}

}  // namespace

bool read_thread_clock(std::uint64_t& ran) {
  timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return false;
  ran = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
        static_cast<std::uint64_t>(time.tv_nsec);
  return true;
}

namespace {

// The clock first: what the file tells is as old as the last tick, unless somebody has just asked.
bool read_thread(LocalTrace& trace, ThreadReading& now) {
  rusage usage;
  if (!read_thread_clock(now.ran)) return false;
  now.wanted = raw(kUnknown64);
  ThreadReadings& readings = trace.readings;
  if (!readings.unreadable) {
    const int fd = open_statistics(trace, readings);
    readings.unreadable = fd < 0 || !read_wanted(fd, now.wanted);
    if (fd >= 0 && fd != readings.file) close(fd);
  }
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  now.preempted = static_cast<std::uint64_t>(usage.ru_nivcsw);
  now.switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
  now.faults = static_cast<std::uint64_t>(usage.ru_majflt);
  now.blocks = static_cast<std::uint64_t>(usage.ru_inblock + usage.ru_oublock);
  now.slept = the_recorder.slept;
  return true;
}

// "0-3,8"; false if the kernel does not tell.
bool list_processors(char* to, std::size_t size) {
  unsigned long set[kMostProcessors / (8 * sizeof(unsigned long))] = {};
  const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
  if (bytes <= 0) return false;
  constexpr std::size_t kBits = 8 * sizeof *set;
  const auto in = [&](std::size_t i) {
    return i < kMostProcessors && (set[i / kBits] >> (i % kBits) & 1) != 0;
  };
  std::size_t length = 0;
  for (std::size_t i = 0; i < kMostProcessors; ++i) {
    if (!in(i)) continue;
    std::size_t last = i;
    while (in(last + 1)) ++last;
    const int more =
        last == i
            ? snprintf(to + length, size - length, "%s%zu", length != 0 ? "," : "", i)
            : snprintf(to + length, size - length, "%s%zu-%zu", length != 0 ? "," : "", i, last);
    if (more < 0 || length + static_cast<std::size_t>(more) >= size) return false;
    length += static_cast<std::size_t>(more);
    i = last;
  }
  return length != 0;
}

ThreadTime between(const ThreadReading& a, const ThreadReading& b) {
  const bool known = a.wanted != raw(kUnknown64) && b.wanted != raw(kUnknown64);
  return {.length = poll_scale.rounded_up_ns(b.at - a.at),
          .ran = b.ran - a.ran,
          .wanted = known ? b.wanted - a.wanted : 0,
          .paused = poll_scale.rounded_up_ns(b.slept - a.slept),
          .switches = b.switches - a.switches,
          .faults = b.faults - a.faults,
          .blocks = b.blocks - a.blocks};
}

void write(Recorder& r, const ThreadReading& reading, BlockedKind kind) {
  r.last = reading.at;
  publish(r, put(r, r.cursor,
                 Processor{r.lid, record_time(reading.at), Count64{reading.ran},
                           Count64{reading.wanted}, Count64{reading.preempted},
                           Byte{static_cast<std::uint8_t>(kind)}}));
}

// The reading before, at the time of the newest record if that is later: up to there it ran, as far
// as we know, and what it did not comes behind.
void write_begin(Recorder& r, const ThreadReading& before, const ThreadReading& now) {
  ThreadReading begin = before;
  if (static_cast<std::int64_t>(r.last - begin.at) > 0) {
    begin.ran += poll_scale.rounded_up_ns(r.last - begin.at);
    begin.at = r.last;
    if (begin.ran > now.ran) begin.ran = now.ran;
  }
  write(r, begin, BlockedKind::kNone);
}

enum class When : std::uint8_t { kEvent, kBeforeSamples, kLast };

void note(Recorder& r, Ticks at, When when) {
  LocalTrace* const trace = r.trace;
  if (trace == nullptr || r.polling != nullptr) return;
  ThreadReadings& known = trace->readings;
  ThreadReading now;
  r.processor_due = at + interval;
  if (!read_thread(*trace, now)) {
    r.processor_due = kNever;
    return;
  }
  now.at = at;
  const bool room = r.cursor + 2 * kMaxRecord <= trace->hard_limit - kCallRoom;
  const bool stretch =
      known.begun || static_cast<std::int64_t>(at - r.last) >= static_cast<std::int64_t>(interval);
  const ThreadTime time = known.there ? between(known.last, now) : ThreadTime{};
  if (room && known.there && stretch && !time.ran_through()) {
    if (!known.written) write_begin(r, known.last, now);
    if (when == When::kBeforeSamples) {
      known.begun = known.written = true;
      r.processor_due = at;
      return;
    }
    write(r, now, time.kind());
    known.note_due = at + note_interval;
    known.written = true;
  } else if (when == When::kBeforeSamples) {
    r.processor_due = at;
    return;
  } else if (room && (at >= known.note_due || when == When::kLast)) {
    write(r, now, BlockedKind::kNone);
    known.note_due = at + note_interval;
    known.written = true;
  } else {
    known.written = false;
  }
  known.last = now;
  known.all_at = at;
  known.all_ran = now.ran;
  known.there = true;
  known.begun = false;
}

void note_here(Recorder& r, Ticks at, When when) {
  const int error = errno;
  note(r, at, when);
  errno = error;
}

// Whether the thread has run nearly all the time since all was read: then the clock alone is, which
// takes a quarter of that.
bool runs_on(Recorder& r, Ticks at) {
  constexpr std::uint64_t kOverlookedNs = 100'000;
  if (r.trace == nullptr || r.polling != nullptr) return true;
  ThreadReadings& known = r.trace->readings;
  std::uint64_t ran = 0;
  if (!known.there || known.begun || at >= known.note_due || !read_thread_clock(ran)) return false;
  const std::uint64_t length = poll_scale.rounded_up_ns(at - known.all_at);
  if (length > ran - known.all_ran + kOverlookedNs) return false;
  known.last.at = at;
  known.last.ran = ran;
  known.last.slept = r.slept;
  known.written = false;
  r.processor_due = at + interval;
  return true;
}

}  // namespace

void note_processor(Recorder& r, Ticks at) {
  if (runs_on(r, at)) return;
  on_own_stack([&] { note_here(r, at, When::kEvent); });
}

void note_before_samples(Recorder& r) {
  const Ticks at = ticks();
  if (at >= r.processor_due) note_here(r, at, When::kBeforeSamples);
}

void note_last(Recorder& r, Ticks at) {
  on_own_stack([&] { note_here(r, at, When::kLast); });
}

void forget_reading(LocalTrace& trace) {
  trace.readings.there = trace.readings.begun = false;
}

void close_readings(LocalTrace& trace) {
  if (is_ours(trace.readings)) close(trace.readings.file);
  trace.readings.file = -1;
}

void prepare_processor_notes() {
  note_interval = ticks_per_second() / kNotesPerSecond;
  interval = poll_scale.of_ns(kStretchNs);
}

void define_processors(Recorder& r) {
  const int error = errno;
  char text[kMostText + 1];
  if (list_processors(text, sizeof text)) define_property(r, run_property::kProcessors, text);
  std::uint64_t wanted = 0;
  const int fd = open(kStatistics, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || !read_wanted(fd, wanted)) {
    snprintf(text, sizeof text, "%s: %s", kStatistics, strerror(errno));
    define_property(r, run_property::kNoProcessorTimes, text);
  }
  if (fd >= 0) close(fd);
  if (std::uint64_t ran = 0; read_thread_clock(ran)) {
    define_property(r, run_property::kStretches, "0.001");
  }
  errno = error;
  define_processor_limit(r);
}

}  // namespace kojak::measure
