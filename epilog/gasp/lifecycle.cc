// The table that the front finds, and the session of a program whose threads tell of themselves by
// GASP.
//
// The first thread of a process begins the session, unless a communication library has; it ends
// where the process does. Threads exchange what a run needs in gasp_init; with a compiler whose
// gasp_init comes before there is shared memory, in the first event in which all threads meet, and
// recording begins there. Nothing of ours runs in a process that only starts the others: it calls
// no gasp_init.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>

#include "epilog/format/run_property_keys.h"
#include "epilog/gasp/records.h"
#include "epilog/runtime/node_clock.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/run_properties.h"
#include "epilog/runtime/startup.h"

namespace kojak::measure {

// What the part for MPI has to do, where it is in this library, too (epilog/mpi/comm.h).
[[gnu::weak]] void join_mpi();
[[gnu::weak]] bool mpi_is_over();
[[gnu::weak]] void note_unrecorded_functions(Recorder& r);

namespace {

GaspThread* the_thread = nullptr;
bool ended = false;
// Where threads join later: whether one has come there, and who says so if none does.
std::atomic<bool> has_joined = false;
std::atomic<pid_t> registered_by = 0;

bool gather(const void* mine, std::size_t bytes, void* all) {
  ask_language([&](const elg_gasp_language& language) { language.exchange(mine, all, bytes); });
  return true;
}

bool spread(void* data, std::size_t bytes) {
  Vector<char> all;
  if (!all.resize(bytes * the_session.run.size)) return false;
  const bool good = gather(data, bytes, all.data());
  memcpy(data, all.data(), bytes);
  all.clear();
  return good;
}

bool open_nothing() {
  return true;
}
void close_nothing() {}

constexpr Exchange kGaspExchange{gather, spread, open_nothing, close_nothing, nullptr, nullptr};

bool learn_world() {
  int thread = -1, threads = 0;
  ask_language([&](const elg_gasp_language& language) {
    thread = language.thread();
    threads = language.threads();
  });
  if (the_thread != nullptr) the_thread->number = thread;
  the_session.run.rank = static_cast<std::uint32_t>(thread);
  the_session.run.size = static_cast<std::uint32_t>(threads);
  return thread >= 0 && threads > thread;
}

void note_start(Recorder& r) {
  define_language(r);
  if (note_unrecorded_functions != nullptr) note_unrecorded_functions(r);
}

// How many, if any.
void define_count(Recorder& r, const char* key, std::uint64_t count) {
  char text[32];
  if (count == 0 || r.trace == nullptr || !make_room_for(r, 2 * kMaxRecord + string_room(64)))
    return;
  snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(count));
  define_property(r, key, text);
}

// MPI's end closes the session that MPI began.
bool belongs_to_mpi() {
  return the_session.write_mpi_state != nullptr && mpi_is_over != nullptr && !mpi_is_over();
}

void end_at_exit() {
  if (ended || !is_live() || the_thread == nullptr) return;
  ended = true;
  end_events(*the_thread, event_time());
  if (belongs_to_mpi()) return;
  Recorder& r = the_recorder;
  const OwnFrame own(r);
  const ProgramFloats floats;
  if (the_session.started && !the_session.stopped) {
    define_count(r, run_property::kUpcUnknown, the_thread->unknown.size());
    define_count(r, run_property::kUpcUnbalanced, the_thread->unbalanced);
  }
  if (!has_test_time()) write_clock_rate(r);
  finish_shutdown();
}

// The threads of the language and the processes of MPI must be numbered alike.
void join_session() {
  const RunInfo before = the_session.run;
  const bool same =
      learn_world() && the_session.run.rank == before.rank && the_session.run.size == before.size;
  the_session.run = before;
  if (same) return;
  the_thread->number = static_cast<int>(before.rank);
  if (before.rank == 0) {
    say("threads of UPC have other numbers than processes of MPI_COMM_WORLD; what UPC does is "
        "recorded as if they had not");
  }
}

bool begin_here() {
  start_clock();
  const ProgramFloats floats;
  if (!begin_session(learn_world)) return false;
  snprintf(the_session.library, sizeof the_session.library, "%s", compiler_name());
  if (!join_run(kGaspExchange, false)) return false;
  if (join_mpi != nullptr) join_mpi();
  begin_recording(kNoFunction, ticks(), nullptr, note_start);
  return true;
}

pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t process_token = 0;  // of this process alone

bool learn_once(int model, const elg_gasp_language* language) {
  pthread_mutex_lock(&beginning);
  const bool good = learn_language(model, language);
  if (process_token == 0 &&
      getrandom(&process_token, sizeof process_token, GRND_NONBLOCK) != sizeof process_token)
    process_token = mix(node_key() + static_cast<std::uint64_t>(getpid())) | 1;
  pthread_mutex_unlock(&beginning);
  return good;
}

// Whether any two threads of the language are threads of one process. All of them ask together.
bool share_processes(bool& first) {
  int thread = 0, threads = 0;
  ask_language([&](const elg_gasp_language& language) {
    thread = language.thread();
    threads = language.threads();
  });
  first = thread == 0;
  Vector<std::uint64_t> tokens;
  if (threads <= 0 || !tokens.resize(static_cast<std::size_t>(threads))) return true;
  gather(&process_token, sizeof process_token, tokens.data());
  bool shared = false;
  HashMap<bool> seen;
  for (const std::uint64_t token : tokens) {
    shared = shared || seen.find(token) != nullptr;
    seen.set(token, true);
  }
  tokens.clear();
  seen.clear();
  return shared;
}

// All threads together. False: this one is not recorded.
[[gnu::noinline]] bool join(GaspThread& thread) {
  bool first = false;
  if (share_processes(first)) {
    if (first) {
      say_why_not(
          "threads of UPC are threads of one process here (pthreads), which are not recorded: "
          "build "
          "the program without -pthreads, so that they are processes; it runs on");
    }
    return false;
  }
  if (the_thread != nullptr || ended) return false;
  the_thread = &thread;
  const OwnFrame own(the_recorder);
  if (is_live()) {
    join_session();
    define_language(the_recorder);
  } else if (!begin_here()) {
    the_thread = nullptr;
    return false;
  }
  find_test_time();
  if (!make_upc_sets()) return false;
  if (has_test_time()) the_recorder.processor_due = kNever;
  the_session.write_front_state = write_upc_state;
  atexit(end_at_exit);
  return true;
}

void say_at_exit() {
  if (has_joined || getpid() != registered_by) return;
  int thread = 0;
  ask_language([&](const elg_gasp_language& language) { thread = language.thread(); });
  if (thread == 0) {
    say_why_not(
        "no barrier and no collective operation of UPC was told, where recording begins with this "
        "compiler: nothing is recorded. Were the program's files compiled with instrumentation?");
  }
}

void* begin(int model, const elg_gasp_language* language) {
  if (!learn_once(model, language)) return nullptr;
  GaspThread* const thread = create<GaspThread>();
  if (thread == nullptr) return nullptr;
  thread->state = GaspThread::State::kAlone;
  if (begins_before_memory()) {
    if (registered_by.exchange(getpid()) == 0) atexit(say_at_exit);
    return thread;
  }
  if (!join(*thread)) {
    destroy(thread);
    return nullptr;
  }
  thread->state = GaspThread::State::kJoined;
  return thread;
}

// Joins the others where all threads meet.
void meet(GaspThread& thread) {
  has_joined = true;
  const bool good = join(thread);
  thread.state = good ? GaspThread::State::kJoined : GaspThread::State::kLeftOut;
  if (good && !thread.recording) switch_recording(thread);
}

void tell(void* context, unsigned tag, int type, const char* file, int line, va_list* arguments) {
  auto& thread = *static_cast<GaspThread*>(context);
  if (asking_language || ended) return;
  const GaspEvent event = event_of(tag);
  if (thread.state == GaspThread::State::kAlone && type == ELG_GASP_START && all_meet_in(event))
    meet(thread);
  if (thread.state != GaspThread::State::kJoined || !is_live()) return;
  const Ticks at = event_time();
  if (type == ELG_GASP_START)
    begin_event(thread, event, tag, {file, line}, *arguments, at);
  else if (type == ELG_GASP_END)
    end_event(thread, event, tag, *arguments, at);
  else
    tell_event(thread, event, tag, {file, line}, at);
  if (thread.switch_due) switch_recording(thread);
}

int control(void* context, int on) {
  auto& thread = *static_cast<GaspThread*>(context);
  const bool before = thread.recording;
  if (thread.state == GaspThread::State::kAlone) thread.recording = on != 0;  // when it joins
  if (ended || thread.state != GaspThread::State::kJoined || !is_live() || before == (on != 0))
    return before ? 1 : 0;
  if (thread.held.any) record_notify(thread);
  thread.recording = on != 0;
  switch_recording(thread);
  return before ? 1 : 0;
}

constexpr elg_gasp_table kTable{
    .version = ELG_GASP_VERSION,
    .begin = begin,
    .event = tell,
    .control = control,
    .created = name_user_event,
};

}  // namespace
}  // namespace kojak::measure

extern "C" __attribute__((visibility("default"), used)) const elg_gasp_table* elg_gasp() {
  return &kojak::measure::kTable;
}
