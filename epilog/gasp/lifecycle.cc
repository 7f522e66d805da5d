// The table that the front finds, and the session of a program whose threads tell of themselves by
// GASP.
//
// The first thread of a process begins the session, unless a communication library has; it ends
// where the process does. Threads that share a process (pthreads) are processes of the run all the
// same, each with a trace of its own, which ends where the thread does. Threads exchange what a run
// needs in gasp_init; with a compiler whose gasp_init comes before there is shared memory, in the
// first event in which all threads meet, and recording begins there. Nothing of ours runs in a
// process that only starts the others: it calls no gasp_init.
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
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/run_properties.h"
#include "epilog/runtime/startup.h"

namespace kojak::measure {

// What the part for MPI has to do, where it is in this library, too (epilog/mpi/comm.h).
[[gnu::weak]] void join_mpi();
[[gnu::weak]] bool mpi_is_over();
[[gnu::weak]] void note_unrecorded_functions(Recorder& r);

namespace {

std::atomic<bool> ended = false;
// Where threads join later: whether one has come there, and who says so if none does.
std::atomic<bool> has_joined = false, has_first = false;
std::atomic<pid_t> registered_by = 0;
// Guards what threads of this process have in common below.
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
GaspThread* recording_threads = nullptr;
bool starts_paused = false;  // where a pause is each thread's own

// Threads of the language that are threads of one process: one begins for all, and the others take
// their part in what all threads of the run do together.
struct Companions {
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  std::uint32_t count = 0;  // the others
  const void* mine = nullptr;
  std::size_t bytes = 0;
  std::uint64_t round = 0;  // of asking
  std::uint32_t answered = 0;
  bool over = false, good = false;
};
Companions companions;

bool exchange(const void* mine, std::size_t bytes, void* all) {
  ask_language([&](const elg_gasp_language& language) { language.exchange(mine, all, bytes); });
  return true;
}

// What this process has to tell is told once for each of its threads.
bool gather(const void* mine, std::size_t bytes, void* all) {
  pthread_mutex_lock(&mutex);
  companions.mine = mine;
  companions.bytes = bytes;
  companions.answered = 0;
  ++companions.round;
  pthread_cond_broadcast(&companions.changed);
  pthread_mutex_unlock(&mutex);
  exchange(mine, bytes, all);
  pthread_mutex_lock(&mutex);
  while (companions.answered != companions.count) pthread_cond_wait(&companions.changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return true;
}

// What the others do while one begins. True if that one has begun.
bool accompany(std::uint32_t threads) {
  Vector<char> all;
  pthread_mutex_lock(&mutex);
  for (std::uint64_t seen = 0;;) {
    while (companions.round == seen && !companions.over)
      pthread_cond_wait(&companions.changed, &mutex);
    if (companions.round == seen) break;
    seen = companions.round;
    const void* const mine = companions.mine;
    const std::size_t bytes = companions.bytes;
    pthread_mutex_unlock(&mutex);
    if (all.resize(bytes * threads)) exchange(mine, bytes, all.data());
    pthread_mutex_lock(&mutex);
    ++companions.answered;
    pthread_cond_broadcast(&companions.changed);
  }
  const bool good = companions.good;
  pthread_mutex_unlock(&mutex);
  all.clear();
  return good;
}

void let_companions_go(bool good) {
  pthread_mutex_lock(&mutex);
  companions.good = good;
  companions.over = true;
  pthread_cond_broadcast(&companions.changed);
  pthread_mutex_unlock(&mutex);
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
  if (the_gasp_thread != nullptr) the_gasp_thread->number = thread;
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

// What the thread has open is over, and what did not fit is told. Its trace is the calling
// thread's.
void end_thread(GaspThread& thread) {
  Recorder& r = the_recorder;
  end_events(thread, event_time());
  if (belongs_to_mpi()) return;
  const OwnFrame own(r);
  const ProgramFloats floats;
  if (the_session.started && !the_session.stopped) {
    define_count(r, run_property::kUpcUnknown, thread.unknown.size());
    define_count(r, run_property::kUpcUnbalanced, thread.unbalanced);
  }
  if (!has_test_time() && r.trace != nullptr && r.trace->rank == the_session.run.rank)
    write_clock_rate(r);
}

// Another thread's, whose process ends in this one: it has come to the end, too, or is left as one
// that was killed, if there is who saves its records.
void end_other_thread(GaspThread& thread) {
  LocalTrace* const trace = thread.trace;
  if (trace == nullptr) return;
  if (record_exit_of(thread, event_time())) {
    if (!has_test_time() && trace->rank == the_session.run.rank) write_clock_rate(*trace->recorder);
  } else if (trace->recorder->header->keeper != 0) {
    take_trace(trace);
  }
}

void end_at_exit() {
  if (ended.exchange(true) || !is_live()) return;
  if (the_gasp_thread != nullptr) end_thread(*the_gasp_thread);
  if (belongs_to_mpi()) return;
  const ProgramFloats floats;
  pthread_mutex_lock(&mutex);
  for (GaspThread* other = recording_threads; other != nullptr; other = other->next) {
    if (other != the_gasp_thread) end_other_thread(*other);
  }
  pthread_mutex_unlock(&mutex);
  const OwnFrame own(the_recorder);
  finish_shutdown();
}

// The thread ends, and the process goes on.
void end_at_thread_end() {
  GaspThread* const thread = the_gasp_thread;
  if (thread == nullptr || ended || !is_live() || belongs_to_mpi()) return;
  end_thread(*thread);
  thread->state = GaspThread::State::kLeftOut;
  the_gasp_thread = nullptr;
  pthread_mutex_lock(&mutex);
  GaspThread** link = &recording_threads;
  while (*link != thread) link = &(*link)->next;
  *link = thread->next;
  pthread_mutex_unlock(&mutex);
  const OwnFrame own(the_recorder);
  on_own_stack([thread] {
    if (LocalTrace* const mine = take_trace(thread->trace)) close_trace(*mine, ticks());
  });
}

// The threads of the language and the processes of MPI must be numbered alike.
void join_session() {
  const RunInfo before = the_session.run;
  const bool same =
      learn_world() && the_session.run.rank == before.rank && the_session.run.size == before.size;
  the_session.run = before;
  if (same) return;
  the_gasp_thread->number = static_cast<int>(before.rank);
  if (before.rank == 0) {
    say("threads of UPC have other numbers than processes of MPI_COMM_WORLD; what UPC does is "
        "recorded as if they had not");
  }
}

bool begin_here() {
  the_session.multi_threaded = shares_process;
  start_clock();
  const ProgramFloats floats;
  if (!begin_session(learn_world)) return false;
  if (shares_process && !the_session.config.record) {
    starts_paused = true;
    the_session.config.record = true;
  }
  snprintf(the_session.library, sizeof the_session.library, "%s", compiler_name());
  if (!join_run(kGaspExchange, false)) return false;
  if (join_mpi != nullptr) join_mpi();
  begin_recording(kNoFunction, ticks(), nullptr, note_start);
  find_test_time();
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

// Which threads of the language are threads of one process.
struct Company {
  std::uint32_t number = 0, threads = 0;
  std::uint32_t first = 0;  // of this process
  std::uint32_t here = 0;   // so many are in it
  bool any_shares = false;  // of the run
};

// All threads ask together.
bool find_company(Company& company) {
  int thread = -1, threads = 0;
  ask_language([&](const elg_gasp_language& language) {
    thread = language.thread();
    threads = language.threads();
  });
  Vector<std::uint64_t> tokens;
  if (thread < 0 || threads <= thread || !tokens.resize(static_cast<std::size_t>(threads)))
    return false;
  company.number = company.first = static_cast<std::uint32_t>(thread);
  company.threads = static_cast<std::uint32_t>(threads);
  exchange(&process_token, sizeof process_token, tokens.data());
  HashMap<bool> seen;
  for (std::uint32_t i = company.threads; i-- != 0;) {
    company.any_shares = company.any_shares || seen.find(tokens[i]) != nullptr;
    seen.set(tokens[i], true);
    if (tokens[i] != process_token) continue;
    company.first = i;
    ++company.here;
  }
  tokens.clear();
  seen.clear();
  return true;
}

// The first thread of this process begins for all of them.
bool begin_first(const Company& company) {
  shares_process = company.here > 1;
  companions.count = company.here - 1;
  const bool good = begin_here();
  if (good) {
    the_session.write_front_state = write_upc_state;
    the_session.end_front_thread = end_at_thread_end;
    atexit(end_at_exit);
  }
  let_companions_go(good);
  return good;
}

bool begin_other(const Company& company) {
  if (!accompany(company.threads)) return false;
  the_recorder.process_apart = company.number + 1;
  return begin_recording_apart();
}

// All threads together. False: this one is not recorded.
[[gnu::noinline]] bool join(GaspThread& thread) {
  Company company;
  if (!find_company(company) || the_gasp_thread != nullptr || ended) return false;
  if (is_live() && company.any_shares) {
    if (company.number == 0) {
      say_why_not(
          "threads of UPC are threads of one process here (pthreads), in a program of MPI: what "
          "UPC does is not recorded, for a process of MPI's is one process there");
    }
    return false;
  }
  the_gasp_thread = &thread;
  thread.number = static_cast<int>(company.number);
  const OwnFrame own(the_recorder);
  bool good = true;
  if (is_live() && company.first == company.number) {
    join_session();
    define_language(the_recorder);
    find_test_time();
    the_session.write_front_state = write_upc_state;
    the_session.end_front_thread = end_at_thread_end;
    atexit(end_at_exit);
  } else {
    good = company.first == company.number ? begin_first(company) : begin_other(company);
  }
  if (!good || !make_upc_sets(thread)) {
    the_gasp_thread = nullptr;
    return false;
  }
  if (has_test_time()) the_recorder.processor_due = kNever;
  thread.trace = the_recorder.trace;
  thread.recording = !the_session.paused;
  if (starts_paused) {
    thread.recording = false;
    pause_apart(the_recorder);
  }
  pthread_mutex_lock(&mutex);
  thread.next = recording_threads;
  recording_threads = &thread;
  pthread_mutex_unlock(&mutex);
  return true;
}

void say_at_exit() {
  if (has_joined || getpid() != registered_by) return;
  if (has_first) {
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
    if (language->thread() == 0) has_first = true;
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
  const bool asked = thread.switch_due, on = thread.recording;
  thread.switch_due = false;
  const bool good = join(thread);
  thread.state = good ? GaspThread::State::kJoined : GaspThread::State::kLeftOut;
  if (!good || !asked || thread.recording == on) return;
  thread.recording = on;
  switch_recording(thread);
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
  if (thread.state == GaspThread::State::kAlone) {  // when it joins
    thread.recording = on != 0;
    thread.switch_due = true;
  }
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
