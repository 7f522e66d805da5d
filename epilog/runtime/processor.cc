#include "epilog/runtime/processor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "epilog/format/run_property_keys.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/processor_limit.h"
#include "epilog/runtime/run_properties.h"

namespace kojak::measure {
namespace {

constexpr Ticks kPerSecond = 10;  // at most
Ticks interval = kNever;
// "nanoseconds it ran, nanoseconds it waited for a processor, how often it got one", of the thread
// that reads it.
constexpr const char* kStatistics = "/proc/thread-self/schedstat";
constexpr std::size_t kMostProcessors = 8192;

struct Reading {
  std::uint64_t ran = 0, wanted = 0;
};

bool read_statistics(Reading& reading) {
  const int fd = open(kStatistics, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[96];
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  char* end = nullptr;
  reading.ran = strtoull(text, &end, 10);
  const char* const second = end;
  reading.wanted = strtoull(second, &end, 10);
  return end != second;
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

void note_here(Recorder& r, Ticks at) {
  r.processor_due = at + interval;
  if (r.trace == nullptr || r.cursor + kMaxRecord > r.trace->hard_limit - kCallRoom) return;
  const int error = errno;
  Reading reading;
  rusage usage{};
  if (read_statistics(reading) && getrusage(RUSAGE_THREAD, &usage) == 0) {
    r.last = at;
    publish(r, put(r, r.cursor,
                   Processor{r.lid, record_time(at), Count64{reading.ran}, Count64{reading.wanted},
                             Count64{static_cast<std::uint64_t>(usage.ru_nivcsw)}}));
  } else {
    r.processor_due = kNever;
  }
  errno = error;
}

}  // namespace

void note_processor(Recorder& r, Ticks at) {
  on_own_stack([&] { note_here(r, at); });
}

void prepare_processor_notes() {
  interval = ticks_per_second() / kPerSecond;
}

void define_processors(Recorder& r) {
  const int error = errno;
  char text[kMostText + 1];
  if (list_processors(text, sizeof text)) define_property(r, run_property::kProcessors, text);
  Reading reading;
  if (!read_statistics(reading)) {
    snprintf(text, sizeof text, "%s: %s", kStatistics, strerror(errno));
    define_property(r, run_property::kNoProcessorTimes, text);
  }
  errno = error;
  define_processor_limit(r);
}

}  // namespace kojak::measure
