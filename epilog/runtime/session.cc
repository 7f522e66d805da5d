#include "epilog/runtime/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "epilog/format/io/run_file.h"
#include "epilog/format/text/harmful.h"
#include "epilog/runtime/blocked_signal.h"
#include "epilog/runtime/call_path.h"
#include "epilog/runtime/filter.h"
#include "epilog/runtime/keeper.h"
#include "epilog/runtime/metrics.h"
#include "epilog/runtime/open_regions.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/polling.h"
#include "epilog/runtime/processor.h"
#include "epilog/runtime/run_file.h"
#include "epilog/runtime/sampler.h"

namespace kojak::measure {

constinit Session the_session;

namespace {

std::atomic_flag bookkeeping_taken = ATOMIC_FLAG_INIT;
pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_key_t thread_end_key;
bool has_thread_end_key = false;

// The first thread's trace ends with the session.
void end_of_thread(void*) {
  if (the_session.end_front_thread != nullptr) the_session.end_front_thread();
  LocalTrace* const trace = the_recorder.trace;
  if (the_session.live.load(std::memory_order_relaxed) && trace != nullptr && trace->thread != 0) {
    const OwnFrame own(the_recorder);
    on_own_stack([trace] {
      if (LocalTrace* mine = take_trace(trace)) close_trace(*mine, ticks());
    });
  }
  drop_open_regions();
}

// The child of a fork has the parent's mappings. It must not write into them, nor close anything.
void leave_in_child() {
  leave_session();
  the_session.started = false;
  the_session.first_trace = nullptr;
}

void register_process_hooks() {
  static bool registered = false;
  if (registered) return;
  registered = true;
  pthread_atfork(nullptr, nullptr, leave_in_child);
}

void set_functions() {
  Session& s = the_session;
  s.functions.store(s.started && !s.stopped && !s.paused ? s.config.functions : 0,
                    std::memory_order_relaxed);
}

// The first of the run on this machine to take its name speaks. Needs no files.
bool take_name_of_run() {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  // A name that begins with a zero byte stands in no folder.
  const int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "elg-%016llx%016llx",
                              static_cast<unsigned long long>(the_session.run.run_hi),
                              static_cast<unsigned long long>(the_session.run.run_lo));
  const auto size = static_cast<socklen_t>(sizeof name.sun_family + 1 + length);
  if (bind(fd, reinterpret_cast<sockaddr*>(&name), size) != 0 && errno == EADDRINUSE) {
    close(fd);
    return false;
  }
  return true;
}

// The message about a failure appears once, not once for each process: whoever gets the lock on the
// run's directory says it, and keeps the lock until it ends. Where the directory is gone, or is not
// to be seen from here, once on each machine.
bool may_speak() {
  if (reach_run_directory() != 0) return take_name_of_run();
  const int fd = open(the_session.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return take_name_of_run();
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(fd);
    return false;
  }
  return true;
}

// Names of files may be in it: what a terminal would obey becomes question marks.
void make_printable(char* text, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    if (text[i] == '\n') continue;
    const std::size_t harmful = harmful_length(text + i, length - i);
    if (harmful == 0) continue;
    memset(text + i, '?', harmful);
    i += harmful - 1;
  }
}

__attribute__((format(printf, 1, 0))) void say_line(const char* format, va_list arguments) {
  char line[4608];
  int length = snprintf(line, sizeof line, "kojak: ");
  length += vsnprintf(line + length, sizeof line - static_cast<std::size_t>(length) - 1, format,
                      arguments);
  if (length > static_cast<int>(sizeof line) - 2) length = static_cast<int>(sizeof line) - 2;
  make_printable(line, static_cast<std::size_t>(length));
  line[length++] = '\n';
  const BlockedSignal blocked(SIGPIPE);
  // One write, so that lines of several processes do not mix; if it fails there is nobody to tell.
  const ssize_t written = write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  (void)written;
}

}  // namespace

void BookkeepingLock::lock() {
  for (int spins = 0; bookkeeping_taken.test_and_set(std::memory_order_acquire); ++spins) {
    if (spins > 100) syscall(SYS_sched_yield);
  }
}
void BookkeepingLock::unlock() {
  bookkeeping_taken.clear(std::memory_order_release);
}

SessionListLock::SessionListLock() {
  pthread_mutex_lock(&list_mutex);
}
SessionListLock::~SessionListLock() {
  pthread_mutex_unlock(&list_mutex);
}

void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  on_own_stack([&] { say_line(format, arguments); });
  va_end(arguments);
}

void say_why_not(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say_line(format, arguments);
  va_end(arguments);
  char line[4608];
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  make_printable(line, strlen(line));
  tell_run(run_file::kReason, line);
}

void watch_thread_end() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(
      &once, [] { has_thread_end_key = pthread_key_create(&thread_end_key, end_of_thread) == 0; });
  if (has_thread_end_key) pthread_setspecific(thread_end_key, &the_recorder);
}

void start_recording() {
  Session& s = the_session;
  register_process_hooks();
  if (s.config.call_path > 1 && !prepare_call_paths()) s.config.call_path = 1;
  prepare_interrupted_paths();
  prepare_polls();
  prepare_processor_notes();
  prepare_sampling();
  if (s.config.filter != nullptr) read_filter(s.config.filter);
  s.paused = !s.config.record;
  s.started = true;
  const char* const unkept = s.config.keep ? start_keeper() : "ELG_KEEP is 0";
  if (unkept != nullptr && s.config.verbose && s.run.rank == 0) {
    say("kill -9 loses the newest records, up to a buffer of each thread: %s", unkept);
  }
  Recorder& r = the_recorder;
  if (open_trace(r)) set_functions();
}

void finish_recording() {
  Session& s = the_session;
  s.functions.store(0, std::memory_order_relaxed);
  const Ticks now = ticks();
  while (LocalTrace* trace = take_trace(nullptr)) close_trace(*trace, now);
  close_shared_trace();
  s.started = false;
}

void leave_session() {
  the_session.functions.store(0, std::memory_order_relaxed);
  the_session.live.store(false, std::memory_order_relaxed);
}

bool stop_recording(const char* what, const char* path, int error_number) {
  Session& s = the_session;
  if (s.stopped.exchange(true)) return true;
  set_functions();
  char reason[128] = "";
  // The GNU form returns the text, which need not lie in the buffer.
  const char* text = strerror_r(error_number, reason, sizeof reason);
  char line[4608];
  snprintf(line, sizeof line, "%u %s %s: %s", s.run.rank, path, what, text);
  const bool told = tell_run(run_file::kStopped, line);
  if (!may_speak()) return told;
  say("%s %s: %s; recording stops here, the program runs on", path, what, text);
  return told;
}

void stop_at_limit() {
  Session& s = the_session;
  if (s.stopped.exchange(true)) return;
  s.limit_reached = true;
  set_functions();
  if (!may_speak()) return;
  say("rank %u has written %llu bytes, and ELG_MAX_SIZE allows %llu with what the buffers hold; "
      "its "
      "recording stops here, the program runs on",
      s.run.rank, static_cast<unsigned long long>(s.written.load()),
      static_cast<unsigned long long>(s.config.max_size));
}

namespace {

void pause_here(Recorder& r) {
  Session& s = the_session;
  if (r.polling != nullptr) end_polls(r, PollEnd::kLogOff);
  if (r.trace != nullptr && s.started && !s.stopped) write_samples(r);
  const Ticks now = ticks();
  {
    const SessionListLock lock;
    if (s.paused || !s.started || s.stopped) return;
    s.paused = true;
    s.off_time = now;
    ++s.log_serial;
  }
  set_functions();
  if (r.trace == nullptr || r.outer_calls != 0) return;
  r.trace->log_serial = s.log_serial;
  if (r.trace->log_off_open) return;  // it had not yet noted that another thread resumed
  r.trace->log_off_open = true;
  r.last = now;
  publish(r, put(r, put_now(r, r.cursor), LogOff{r.lid, record_time(now)}));
}

void resume_here(Recorder& r) {
  Session& s = the_session;
  {
    const SessionListLock lock;
    if (!s.paused || !s.started || s.stopped) return;
    s.paused = false;
    s.on_time = ticks();
    ++s.log_serial;
    for (LocalTrace* t = s.first_trace; t != nullptr; t = t->next) {
      t->recorder->limit.store(nullptr, std::memory_order_relaxed);
    }
  }
  set_functions();
  if (!make_room(r)) return;  // writes this thread's LOG_ON
  r.trace->in_flush = true;
  s.write_state(r, true);
  r.trace->in_flush = false;
}

}  // namespace

void pause_recording(Recorder& r) {
  on_own_stack([&] { pause_here(r); });
}
void resume_recording(Recorder& r) {
  on_own_stack([&] { resume_here(r); });
}
// What the session's pauses note in each trace (note_log_changes) is written here at once.
void pause_apart(Recorder& r) {
  const Session& s = the_session;
  if (r.trace == nullptr || !s.started || s.stopped || r.trace->log_off_open) return;
  on_own_stack([&r] {
    LocalTrace& trace = *r.trace;
    write_samples(r);
    trace.paused_apart = trace.log_off_open = true;
    r.last = later(ticks(), r.last);
    publish(r, put(r, put_now(r, r.cursor), LogOff{r.lid, record_time(r.last)}));
    r.limit.store(nullptr, std::memory_order_relaxed);
  });
}
void resume_apart(Recorder& r) {
  const Session& s = the_session;
  if (r.trace == nullptr || !s.started || s.stopped || !r.trace->paused_apart) return;
  on_own_stack([&r] {
    LocalTrace& trace = *r.trace;
    if (r.cursor > trace.hard_limit - kCallRoom && !write_or_grow(trace)) return;
    trace.paused_apart = trace.log_off_open = false;
    r.limit.store(trace.hard_limit - kCallRoom, std::memory_order_relaxed);
    r.last = later(ticks(), r.last);
    publish(r, put(r, put_now(r, r.cursor), LogOn{r.lid, record_time(r.last)}));
    forget_reading(trace);
    r.processor_due = 0;
    catch_up_regions(r);
    trace.in_flush = true;
    the_session.write_state(r, true);
    trace.in_flush = false;
  });
}
void flush_now(Recorder& r) {
  if (the_session.functions.load(std::memory_order_relaxed) == 0) return;
  if (r.polling != nullptr) interrupt_polls(r);
  if (r.trace != nullptr) on_own_stack([&] { flush_with_record(r, ticks()); });
}

}  // namespace kojak::measure
