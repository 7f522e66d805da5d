// The measurement session of this process: the only global state of the measurement library.
//
// Idle until MPI_Init succeeded, then live until MPI_Finalize; live means that bookkeeping runs.
// Recording is on while `functions` has bits; it ends for good when a file cannot be written
// (stop()), which prints one message and never ends the program. Owns the list of locations. The
// bookkeeping lock is taken only if the program may call MPI from several threads at once. A child
// made by fork() leaves the session at once: it neither writes nor closes anything.
#pragma once

#include <atomic>
#include <cstdint>

#include "epilog/runtime/config.h"
#include "epilog/runtime/memory.h"
#include "epilog/runtime/recorder.h"

namespace kojak {
struct ShmemFunction;
}

namespace kojak::measure {

struct RunInfo {
  std::uint64_t run_hi = 0, run_lo = 0;
  std::uint32_t size = 0;
  std::uint32_t rank = 0;  // of threads that are no process of the run by themselves (LocalTrace)
  std::uint32_t node = 0;
  std::uint32_t nodes = 1;
  bool first_of_node = false;
  bool records = true;          // this process; else it only takes part in what all do together
  bool offset_measured = true;  // not where recording began with MPI_Session_init
  double clock_offset = 0;      // what must be added to reach the clock of rank 0
  double clock_bound = 0;       // largest error of that
  Seconds offset_time;          // when it was measured
};

struct Session {
  std::atomic<bool> live{false};
  std::atomic<std::uint32_t> functions{0};  // groups of functions whose events are recorded now
  bool multi_threaded = false;
  bool one_caller = true;                  // no thread but one calls MPI, as it has said
  std::atomic<bool> started{false};        // files may be written
  std::atomic<bool> stopped{false};        // and will not be any more
  std::atomic<bool> limit_reached{false};  // for it was as much as ELG_MAX_SIZE allows
  std::atomic<std::uint64_t> written{0};   // bytes in trace files
  std::atomic<std::uint64_t> held{0};      // bytes that the open traces' buffers can hold
  bool paused = false;                     // by MPI_Pcontrol(0) or ELG_RECORD=0
  std::uint32_t log_serial = 0;            // counts changes of `paused`
  Ticks off_time = 0, on_time = 0;         // of the newest pause
  std::uint32_t traces = 0;                // ever opened
  std::uint32_t threads = 0;               // of these, those of the process's own rank
  LocalTrace* first_trace = nullptr;
  Config config;
  RunInfo run;
  std::uint32_t next_rma_id = 0, next_request_id = 0;
  Ticks init_time = 0;
  ClockPair clock_start{};
  char directory[4096] = {};
  std::uint64_t directory_device = 0, directory_inode = 0;
  bool first_file_made = false;  // this process's, to take the directory
  char program[256] = {};
  char node_name[256] = {};
  char library[241] = {};                          // what the MPI library calls itself
  const ShmemFunction* shmem_functions = nullptr;  // their rows, where they are recorded
  const ShmemFunction* armci_functions = nullptr;
  bool shut = false;  // begin_shutdown() was called
  // Write where this process stands in its epochs and messages: all of it, or what has changed.
  // (What has a front is ARMCI, or UPC.)
  void (*write_mpi_state)(Recorder& r, bool all) = nullptr;
  void (*write_shmem_state)(Recorder& r, bool all) = nullptr;
  void (*write_front_state)(Recorder& r, bool all) = nullptr;
  // A thread ends, which may be a process of the run by itself.
  void (*end_front_thread)() = nullptr;
  void write_state(Recorder& r, bool all) const {
    if (write_mpi_state != nullptr) write_mpi_state(r, all);
    if (write_shmem_state != nullptr) write_shmem_state(r, all);
    if (write_front_state != nullptr) write_front_state(r, all);
  }
};
extern Session the_session;

// rmaids number the operations of the process, of whatever library. Under the bookkeeping lock.
KOJAK_INLINED inline std::uint32_t take_rma_ids(std::uint32_t count) {
  std::uint32_t first = the_session.next_rma_id;
  if (first > kAbsent - count) [[unlikely]]
    first = 0;  // that number says "none"
  the_session.next_rma_id = first + count;
  return first;
}

// Spins: what it protects takes some ten nanoseconds. Does nothing in single-threaded programs.
class BookkeepingLock {
 public:
  KOJAK_INLINED BookkeepingLock() : needed_(the_session.multi_threaded) {
    if (needed_) [[unlikely]]
      lock();
  }
  KOJAK_INLINED ~BookkeepingLock() {
    if (needed_) [[unlikely]]
      unlock();
  }
  BookkeepingLock(const BookkeepingLock&) = delete;
  BookkeepingLock& operator=(const BookkeepingLock&) = delete;

 private:
  static void lock();
  static void unlock();
  bool needed_;
};

// Guards the list of local traces and the state of pauses.
class SessionListLock {
 public:
  SessionListLock();
  ~SessionListLock();
  SessionListLock(const SessionListLock&) = delete;
  SessionListLock& operator=(const SessionListLock&) = delete;
};

// Recording begins: rank, size, directory and clock are known. The calling thread is thread 0, and
// its root region starts at init_time.
void start_recording();
// Recording ends in order: every location is closed, buffers are removed.
void finish_recording();
// The session ends: wrappers only forward from now on.
void leave_session();

// Recording ends because of an error at `path`; prints the one message. False if who started the
// run could not be told.
bool stop_recording(const char* what, const char* path, int error_number);
// Recording stops because what is written, with all that the buffers can hold, comes to
// ELG_MAX_SIZE.
void stop_at_limit();
// Prints one line on standard error, prefixed by the library's name.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Prints one line on why nothing is recorded, which who started the run repeats when it is over.
void say_why_not(const char* format, ...) __attribute__((format(printf, 1, 2)));

// MPI_Pcontrol: off, on, flush.
void pause_recording(Recorder& r);
void resume_recording(Recorder& r);
// The same for the calling thread alone, whose trace is open.
void pause_apart(Recorder& r);
void resume_apart(Recorder& r);
void flush_now(Recorder& r);

// Chooses and makes the directory of the run (rank 0 only); an empty name on failure, which has
// been said.
void make_run_directory(bool spawned);
// Finds the run's folder where the processes cannot talk: every one tries the names in order and
// takes the first that `claim` says is its run's. False on failure, which has been said.
bool join_run_directory(bool (*claim)(const char* directory));
bool holds_traces(const char* directory);
// Makes sure that it exists here too, for processes that may see another file system.
bool enter_run_directory();
// 0 if its name still leads there from here; else an errno.
int reach_run_directory();

}  // namespace kojak::measure
