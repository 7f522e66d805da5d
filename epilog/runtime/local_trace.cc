// Long because a trace is opened, flushed, told of its end and closed by the same few fields.
#include "epilog/runtime/local_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "epilog/format/io/running.h"
#include "epilog/runtime/blocked_signal.h"
#include "epilog/runtime/call_path.h"
#include "epilog/runtime/code.h"
#include "epilog/runtime/keeper.h"
#include "epilog/runtime/library_code.h"
#include "epilog/runtime/metrics.h"
#include "epilog/runtime/open_regions.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/polling.h"
#include "epilog/runtime/processor.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/run_properties.h"
#include "epilog/runtime/sampler.h"
#include "epilog/runtime/save_buffer.h"
#include "epilog/runtime/small_buffers.h"
#include "epilog/runtime/string_records.h"

namespace kojak::measure {

namespace {
// Where the cursor of a thread without buffer stands: above every limit.
std::byte nowhere[1];
// What a thread without trace looks its call sites up in: empty.
CodeSlot no_slots[kCodeSlots];
std::uint64_t no_regions[kFunctionWords];
LocalBufferNote no_note;
}  // namespace

thread_local constinit Recorder the_recorder
    __attribute__((tls_model("initial-exec"))) = {.cursor = nowhere,
                                                  .limit = {nullptr},
                                                  .processor_due = kNever,
                                                  .regions = no_regions,
                                                  .sites = no_slots,
                                                  .codes = no_slots,
                                                  .note = &no_note};

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kSharedBuffer = 256 * 1024;  // of threads that recorded little
// What a thread's buffer has room for at least, beside counters: its definitions and some calls.
constexpr std::size_t kFirstRecords = 4 * 1024;
constexpr std::size_t kCounterRoom = 8 * 1024;
constexpr std::size_t kLostCount = 3 + 4 + 1;  // of the count within a LOST record
constexpr std::size_t kPath = sizeof(the_session.directory) + 32;

// What is the same for all traces of the process; learnt with the first.
struct ProcessFacts {
  std::uint64_t kernel;
  std::uint32_t process;
  std::uint32_t processors;
  utsname system;
};
ProcessFacts facts;

void learn_facts() {
  facts.kernel = this_kernel();
  facts.process = static_cast<std::uint32_t>(getpid());
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  facts.processors = processors > 0 ? static_cast<std::uint32_t>(processors) : 0;
  facts.system = {};
  uname(&facts.system);
}

// Of several processes of the run that are threads of this one, it is the one that all of them have
// in common.
bool speaks_for_process(const LocalTrace& trace) {
  return trace.thread == 0 && trace.rank == the_session.run.rank;
}

void path_of(const LocalTrace& trace, const char* suffix, char (&path)[kPath]) {
  snprintf(path, sizeof path, "%s/%u.%u.%s", the_session.directory, trace.rank, trace.thread,
           suffix);
}

LocalBufferHeader header_of(const LocalTrace& trace, std::size_t size, bool kept) {
  LocalBufferHeader header{};
  std::memcpy(header.magic, LocalBufferHeader::kMagic, sizeof header.magic);
  header.start = kBufferRecordsAt;
  header.capacity = size - kBufferRecordsAt;
  header.run_hi = the_session.run.run_hi;
  header.run_lo = the_session.run.run_lo;
  header.rank = trace.rank;
  header.thread = trace.thread;
  header.kernel = facts.kernel;
  header.process = facts.process;
  header.keeper = kept ? keeper_process() : 0;
  header.clock_base = the_clock.base;
  header.clock_scale = the_clock.scale;
  header.clock_shift = the_clock.shift;
  header.location = trace.rank;
  header.clock = the_clock.counter ? LocalBufferHeader::kCycles : LocalBufferHeader::kNanoseconds;
  return header;
}

// Both files of a trace whose memory is there; 0 or an errno.
int make_files(LocalTrace& trace, const LocalBufferHeader& header) {
  const BlockedSignal blocked(SIGXFSZ);
  char path[kPath], buffer_path[kPath];
  path_of(trace, "elg", path);
  path_of(trace, "buf", buffer_path);
  struct stat made {};
  int error = reach_run_directory();
  if (error == 0) {
    const bool there = speaks_for_process(trace) && the_session.first_file_made;
    error = make_trace_files(AT_FDCWD, path, buffer_path, header, there, made);
  }
  if (error != 0 && header.keeper != 0 && keeper_makes_files({trace.rank, trace.thread}) == 0) {
    trace.out_of_reach = true;
    return 0;
  }
  trace.device = made.st_dev;
  trace.inode = made.st_ino;
  return error;
}

// Gives the trace another buffer, with what the one that it has holds. `memory`: its header has no
// magic. The magic comes last: from then on the buffer is saved if this process dies.
void move_to(LocalTrace& trace, std::byte* memory, std::size_t size, LocalBufferHeader header) {
  Recorder& r = *trace.recorder;
  std::byte* const begin = memory + kBufferRecordsAt;
  std::size_t used = 0;
  if (trace.memory != nullptr) {
    header.base = r.header->base;
    header.end = r.header->end;
    used = header.end - header.base;
    std::memcpy(begin, trace.begin, used);
    std::memcpy(memory + kBufferNoteAt, r.note, sizeof(LocalBufferNote));
  }
  std::memset(header.magic, 0, sizeof header.magic);
  std::memcpy(memory, &header, sizeof header);
  std::atomic_signal_fence(std::memory_order_release);
  std::memcpy(memory, LocalBufferHeader::kMagic, sizeof header.magic);
  if (r.lost != nullptr) r.lost = begin + (r.lost - trace.begin);
  r.header = reinterpret_cast<LocalBufferHeader*>(memory);
  r.note = reinterpret_cast<LocalBufferNote*>(memory + kBufferNoteAt);
  r.cursor = begin + used;
  r.bias = header.end - reinterpret_cast<std::uintptr_t>(r.cursor);
  std::byte* const before = trace.memory != nullptr ? trace.hard_limit - kCallRoom : nullptr;
  trace.begin = begin;
  trace.hard_limit = memory + size - kReserve;
  // Whoever lowered the limit meanwhile still calls the thread into make_room().
  std::byte* expected = before;
  if (before == nullptr) expected = r.limit.load(std::memory_order_relaxed);
  r.limit.compare_exchange_strong(expected, trace.hard_limit - kCallRoom,
                                  std::memory_order_relaxed);
  the_session.held += size - kBufferRecordsAt;
  trace.memory = memory;
  trace.size = size;
}

// What the trace had before it moved, or when it ends.
void drop_buffer(std::byte* memory, std::size_t size, bool small, std::uint32_t state) {
  std::atomic_ref<std::uint32_t>(reinterpret_cast<LocalBufferHeader*>(memory)->state)
      .store(state, std::memory_order_release);
  the_session.held -= size - kBufferRecordsAt;
  if (!small) {
    munmap(memory, size);
  } else if (state == LocalBufferHeader::kClosed) {
    give_back_small_buffer(memory, size);
  }
}

// A buffer of this size and files for the trace; what it has recorded so far goes along.
bool open_files(LocalTrace& trace, std::size_t buffer_size) {
  std::byte* const before = trace.memory;
  const std::size_t size_before = trace.size;
  const std::size_t size = kBufferRecordsAt + ((buffer_size + kPage - 1) & ~(kPage - 1));
  const BufferMemory memory = new_buffer(size, {trace.rank, trace.thread});
  LocalBufferHeader header = header_of(trace, size, memory.kept);
  int error = memory.data == nullptr ? ENOMEM : 0;
  if (error == 0) {
    std::memcpy(memory.data, &header, sizeof header);
    std::memset(memory.data, 0, sizeof header.magic);
    error = make_files(trace, header);
  }
  if (error != 0) {
    if (memory.data != nullptr) munmap(memory.data, size);  // without magic: nothing is saved
    char path[kPath];
    path_of(trace, "elg", path);
    stop_recording("cannot be written", path, error);
    return false;
  }
  move_to(trace, memory.data, size, header);
  if (before != nullptr) drop_buffer(before, size_before, true, LocalBufferHeader::kClosed);
  trace.small = false;
  return true;
}

// A small buffer that holds so much; false: none does.
bool open_small(LocalTrace& trace, std::size_t bytes) {
  const std::size_t size = small_buffer_size(bytes);
  if (size == 0) return false;
  std::byte* const before = trace.memory;
  const std::size_t size_before = trace.size;
  const BufferMemory memory = take_small_buffer(size);
  if (memory.data == nullptr) return false;
  move_to(trace, memory.data, size, header_of(trace, size, memory.kept));
  if (before != nullptr) drop_buffer(before, size_before, true, LocalBufferHeader::kClosed);
  trace.small = true;
  return true;
}

// The trace leaves its small buffer for a larger one. False: it has the largest already, or
// recording stopped.
bool grow(LocalTrace& trace) {
  if (!trace.small) return false;
  return open_small(trace, trace.size + 1) || open_files(trace, the_session.config.buffer_size);
}

// What the buffer holds from here on can be read without what came before.
std::byte* begin_block(LocalTrace& trace, std::byte* to) {
  return compact::begin_block(trace.state, {the_clock.base, the_clock.scale, the_clock.shift}, to);
}

void write_head(Recorder& r, LocalTrace& trace) {
  const RunInfo& run = the_session.run;
  const auto thread = static_cast<ThreadId>(trace.thread);
  const auto process = static_cast<ProcessId>(trace.rank);
  encode_header(kLocalDialect, r.cursor);
  std::byte* p =
      put(r, begin_block(trace, r.cursor + kHeaderSize),
          LocalRun{Hash64{run.run_hi}, Hash64{run.run_lo}, Count{run.size}, process, thread});
  if (trace.small) {
    p = put(r, p, LocalPart{Count64{0}});
    trace.part_at = static_cast<std::size_t>(p - trace.begin) - sizeof(Count64);
  }
  publish(r, p);

  const auto name = [&r](const char* format, const char* text, unsigned number) {
    char line[sizeof the_session.program + 16];
    const int length = snprintf(line, sizeof line, format, text, number);
    return define_string(r, line, static_cast<std::size_t>(length));
  };
  const StringId machine_name = name("%s", facts.system.sysname, 0);
  const StringId node_name = name("%s", the_session.node_name, 0);
  const StringId process_name = name("%sMPI Rank %u", "", trace.rank);
  const StringId thread_name = name("%sThread %u", "", trace.thread);
  const StringId root_name = name(trace.thread == 0 ? "%s" : "%s (thread)", the_session.program, 0);

  const auto node = static_cast<NodeId>(run.node);
  p = put(r, r.cursor, Machine{MachineId{0}, Count{run.nodes}, machine_name});
  p = put(r, p,
          Node{node, MachineId{0}, Count{facts.processors}, node_name, Seconds{the_clock.scale}});
  p = put(r, p, Process{process, process_name});
  p = put(r, p, Thread{thread, process, thread_name});
  p = put(r, p, Location{r.lid, MachineId{0}, node, process, thread});
  p = put(r, p,
          Region{kRootRegion, root_name, absent<FileId>(), absent<Line>(), absent<Line>(),
                 absent<StringId>(), Byte{1}});
  if (trace.thread == 0) {
    publish(r, p);
    define_run_properties(r);
    p = r.cursor;
  }
  if (const std::uint8_t off = families_off(the_session.config); off != 0 && trace.thread == 0) {
    p = put(r, p, FunctionsOff{process, static_cast<Flags>(off)});
  }
  if (run.first_of_node && run.offset_measured &&
      speaks_for_process(trace)) {  // it speaks for its node
    p = put(r, p, ClockError{node, Seconds{run.clock_bound}});
    p = put(r, p, Offset{run.offset_time, Seconds{run.clock_offset}});
  }
  publish(r, p);
  define_metrics(r);
}

void empty_buffer(Recorder& r, LocalTrace& trace) {
  const std::uint64_t end = r.header->end;
  r.bias = end - reinterpret_cast<std::uintptr_t>(trace.begin);
  r.cursor = begin_block(trace, trace.begin);
  std::atomic_ref<std::uint64_t>(r.header->base).store(end, std::memory_order_release);
}

void detach(Recorder& r) {
  r.cursor = nowhere;
  r.limit.store(nullptr, std::memory_order_relaxed);
  r.open_region = false;
  r.outer_regions = 0;
  r.regions = no_regions;
  r.sites = r.codes = no_slots;
  r.paths = nullptr;
  r.processor_due = kNever;
  r.note = &no_note;
  r.metrics = nullptr;
  r.polling = nullptr;
  r.trace = nullptr;
  r.state = nullptr;
  r.lost = nullptr;
}

// The tail of a pause that this thread did not see: LOG_OFF at the time it began, but never before
// the thread's newest record. One that began within a call begins when that has returned.
// True if recording went on.
bool note_log_changes(Recorder& r, LocalTrace& trace) {
  const SessionListLock lock;
  const Session& s = the_session;
  if (trace.log_serial == s.log_serial) return false;
  if (s.paused && r.outer_calls != 0) {
    r.limit.store(nullptr, std::memory_order_relaxed);
    return false;
  }
  trace.log_serial = s.log_serial;
  std::byte* p = r.cursor;
  Ticks at = r.last;
  if (!trace.log_off_open)
    p = put(r, p, LogOff{r.lid, record_time(at = later(s.off_time, r.last))});
  trace.log_off_open = s.paused;
  if (!s.paused) p = put(r, put_now(r, p), LogOn{r.lid, record_time(at = later(s.on_time, at))});
  r.last = at;
  publish(r, p);
  forget_reading(trace);
  r.processor_due = 0;
  return !s.paused;
}

// Takes note of what happened to recording. False while it is off: then the next call asks again.
bool goes_on(Recorder& r, LocalTrace& trace) {
  if (note_log_changes(r, trace)) catch_up_regions(r);
  if (!trace.log_off_open) return true;
  r.limit.store(nullptr, std::memory_order_relaxed);
  return false;
}

// The record of what is not recorded any more, whose number goes up with each call.
void begin_lost(Recorder& r, Byte why) {
  r.lost = r.cursor + kLostCount;
  publish(r, put(r, r.cursor, Lost{r.lid, why, Count64{0}}));
}

// After `size` bytes more are in the file. False: they are as many as the process may write, but
// for what the buffers can hold.
bool goes_on_after(Recorder* r, std::size_t size) {
  Session& s = the_session;
  const std::uint64_t written = s.written.fetch_add(size) + size;
  if (s.config.max_size == 0 || s.stopped) return true;
  if (written + s.held <= s.config.max_size) return true;
  if (r != nullptr) begin_lost(*r, kLostLimit);
  stop_at_limit();
  return false;
}

// What the buffer holds, to the file that was made for it; 0 or an errno. Under another root the
// same name may lead elsewhere.
int write_to_file(const LocalTrace& trace, const char* path, std::uint64_t size) {
  const BlockedSignal blocked(SIGXFSZ);
  const int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno;
  struct stat found {};
  int error = fstat(fd, &found) != 0 ? errno : 0;
  if (error == 0 && (found.st_ino != trace.inode || found.st_dev != trace.device)) error = ESTALE;
  if (error == 0 && !write_fully(fd, trace.begin, size, trace.recorder->header->base))
    error = errno;
  // Some file systems report a full disk only here.
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}
// Writes the buffer to its file, by the keeper where this process cannot. kNoKeeper if it is the
// last time, and the keeper, which cannot be reached, will do it.
int write_buffer(LocalTrace& trace, const char* path, std::uint64_t size, bool last) {
  const int error = write_to_file(trace, path, size);
  if (error == 0 || trace.recorder->header->keeper == 0) return error;
  const int asked = keeper_writes_out({trace.rank, trace.thread});
  trace.out_of_reach = asked == 0 || asked == kNoKeeper;
  if (asked == kNoKeeper && last) return kNoKeeper;
  return asked == 0 ? 0 : error;
}

}  // namespace

bool write_out(LocalTrace& trace, bool last) {
  if (trace.small && !open_files(trace, the_session.config.buffer_size)) {
    begin_lost(*trace.recorder, kLostDiskFull);
    return false;
  }
  Recorder& r = *trace.recorder;
  const std::uint64_t size = r.header->end - r.header->base;
  char path[kPath];
  path_of(trace, "elg", path);
  const int error = write_buffer(trace, path, size, last);
  if (error == kNoKeeper) return false;
  if (error == 0) {
    empty_buffer(r, trace);
    return goes_on_after(&r, size);
  }
  // The buffer keeps its records, so nothing recorded so far is lost.
  begin_lost(r, kLostDiskFull);
  if (!stop_recording("cannot be written", path, error)) r.header->error = error;
  return false;
}

bool write_or_grow(LocalTrace& trace) {
  return grow(trace) || write_out(trace);
}

namespace {

// Holds what threads that ended with a small buffer have recorded. It is written to as a trace is,
// but knows nothing of records, and has the number of the first of these threads.
LocalTrace* shared = nullptr;
constinit Recorder shared_recorder{};

bool write_shared(bool last = false) {
  const std::uint64_t size = shared->recorder->header->end - shared->recorder->header->base;
  char path[kPath];
  path_of(*shared, "elg", path);
  const int error = write_buffer(*shared, path, size, last);
  LocalBufferHeader& header = *shared_recorder.header;
  if (error != 0) {
    if (error != kNoKeeper && !stop_recording("cannot be written", path, error))
      header.error = error;
    return false;
  }
  shared_recorder.cursor = shared->begin;
  shared_recorder.bias = header.end - reinterpret_cast<std::uintptr_t>(shared->begin);
  std::atomic_ref<std::uint64_t>(header.base).store(header.end, std::memory_order_release);
  return goes_on_after(nullptr, size);
}

bool open_shared(std::uint32_t thread) {
  shared = [] {
    const BookkeepingLock memory;
    return create<LocalTrace>();
  }();
  if (shared == nullptr) return false;
  shared_recorder.lost = nullptr;
  shared->recorder = &shared_recorder;
  shared->rank = the_session.run.rank;
  shared->thread = thread;
  const std::size_t most = the_session.config.buffer_size;
  if (open_files(*shared, most < kSharedBuffer ? most : kSharedBuffer)) return true;
  const BookkeepingLock memory;
  destroy(shared);
  shared = nullptr;
  return false;
}

// What the thread recorded, to the others. False: it stays in its own buffer.
bool share(LocalTrace& trace) {
  const SessionListLock lock;
  Recorder& r = *trace.recorder;
  const bool first = shared == nullptr;
  if (first && (the_session.stopped || !open_shared(trace.thread))) return false;
  const std::size_t skipped = first ? 0 : kHeaderSize;
  const std::size_t size = r.header->end - skipped;
  const std::byte* const limit = shared->memory + shared->size;
  if (shared_recorder.cursor + size > limit) write_shared();
  if (shared_recorder.cursor + size > limit) return false;
  const std::uint64_t part = r.header->end - kHeaderSize;
  std::memcpy(trace.begin + trace.part_at, &part, sizeof part);
  std::memcpy(shared_recorder.cursor, trace.begin + skipped, size);
  publish(shared_recorder, shared_recorder.cursor + size);
  return true;
}

// The files of a trace that ends: what could not be written stays beside it. Where this process
// cannot reach that place, the keeper does it. Returns what the buffer's state is then.
std::uint32_t finish_files(const LocalTrace& trace) {
  const BlockedSignal blocked(SIGXFSZ);
  const ProgramFloats floats;
  bool saved = !trace.out_of_reach && reach_run_directory() == 0;
  char path[kPath], unfinished[kPath];
  if (trace.small) {
    path_of(trace, "elg", path);
    path_of(trace, "new", unfinished);
    saved = saved && save_trace(AT_FDCWD, path, unfinished, trace.memory, nullptr, 0) == 0;
  } else {
    path_of(trace, "buf", path);
    saved = saved && save_buffer(AT_FDCWD, path, trace.memory) == 0;
  }
  const bool nobody = trace.recorder->header->keeper == 0;
  return saved || nobody ? LocalBufferHeader::kClosed : LocalBufferHeader::kLeft;
}

}  // namespace

void close_shared_trace() {
  const SessionListLock lock;
  if (shared != nullptr) {
    if (!the_session.stopped || the_session.limit_reached) write_shared(true);
    drop_buffer(shared->memory, shared->size, false, finish_files(*shared));
    const BookkeepingLock memory;
    destroy(shared);
    shared = nullptr;
  }
  drop_small_buffers();
}

namespace {

// All of a trace's beginning that others may not see half done.
bool begin_trace(Recorder& r) {
  const SessionListLock lock;
  Session& s = the_session;
  LocalTrace* const trace = [] {
    const BookkeepingLock memory;
    return create<LocalTrace>();
  }();
  if (trace == nullptr) return false;
  trace->recorder = &r;
  const bool apart = r.process_apart != 0;
  trace->rank = apart ? r.process_apart - 1 : s.run.rank;
  trace->thread = apart ? 0 : s.threads;
  if (s.traces == 0) learn_facts();
  // Room for a definition of all processes, and of the counters.
  const std::size_t room = kBufferRecordsAt + kFirstRecords + std::size_t{8} * s.run.size +
                           (s.config.metrics != nullptr ? kCounterRoom : 0);
  const bool small = trace->thread != 0 && !s.stopped && open_small(*trace, room);
  if (!small && !open_files(*trace, s.config.buffer_size)) {
    const BookkeepingLock memory;
    destroy(trace);
    return false;
  }
  if (!apart) ++s.threads;
  r.lid = static_cast<LocationId>(trace->rank);
  r.trace = trace;
  r.state = &trace->state;
  r.regions = trace->regions;
  r.thread_bit = s.traces < 64 ? std::uint64_t{1} << s.traces : 0;
  ++s.traces;
  start_metrics(r);
  write_head(r, *trace);
  open_code_table(r);
  trace->open = &the_open_regions;
  trace->next = s.first_trace;
  s.first_trace = trace;
  if (!trace->small && !write_out(*trace)) return false;

  r.last = trace->thread == 0 ? s.init_time : ticks();
  trace->log_serial = s.log_serial;
  trace->log_off_open = s.paused;
  std::byte* p = put(r, r.cursor, Enter{r.lid, record_time(r.last), kRootRegion});
  if (s.paused) p = put(r, p, LogOff{r.lid, record_time(r.last)});
  publish(r, p);
  return true;
}

}  // namespace

bool open_trace(Recorder& r) {
  if (!begin_trace(r)) return false;
  if (!r.trace->log_off_open) enter_open_regions(r);
  r.processor_due = 0;
  start_sampling(r);
  watch_thread_end();
  return true;
}

void close_trace(LocalTrace& trace, Ticks t) {
  Session& s = the_session;
  Recorder& r = *trace.recorder;
  if (r.polling != nullptr) end_polls(r, PollEnd::kOtherCall);
  end_sampling(trace);
  if (!s.stopped) {
    write_poll_sites(r);
    settle_note(r);
    note_log_changes(r, trace);
    t = later(t, r.last);
    if (&r == &the_recorder && !trace.log_off_open) note_last(r, t);
    std::byte* p = r.cursor;
    // The values of a thread that still runs only it can read.
    if (&r == &the_recorder) p = put_now(r, p);
    if (trace.log_off_open) p = put(r, p, LogOn{r.lid, record_time(t)});
    for (unsigned open = open_call_count(r); open != 0; --open) {
      p = put(r, p, Exit{r.lid, record_time(t)});
    }
    if (p != r.cursor) r.last = t;
    publish(r, p);
    if (leave_all(trace, t)) publish(r, put(r, r.cursor, Exit{r.lid, record_time(t)}));
  }
  if (&r == &the_recorder) end_metrics(r);
  const bool shares = trace.small && share(trace);
  if (!shares && (!s.stopped || s.limit_reached)) write_out(trace, true);
  const std::uint32_t state = shares ? LocalBufferHeader::kClosed : finish_files(trace);
  drop_buffer(trace.memory, trace.size, trace.small, state);
  drop_polls(trace);
  close_readings(trace);
  detach(r);
  close_code_table(trace);
  const BookkeepingLock memory;
  trace.defined.clear();
  destroy(&trace);
}

LocalTrace* take_trace(const LocalTrace* wanted) {
  const SessionListLock lock;
  LocalTrace** link = &the_session.first_trace;
  while (*link != nullptr && wanted != nullptr && *link != wanted) link = &(*link)->next;
  LocalTrace* const found = *link;
  if (found != nullptr) *link = found->next;
  return found;
}

namespace {

bool make_room_here(Recorder& r) {
  if (r.trace == nullptr && !open_trace(r)) return false;
  LocalTrace& trace = *r.trace;
  if (r.polling != nullptr) {
    end_polls(r,
              trace.log_serial != the_session.log_serial ? PollEnd::kLogOff : PollEnd::kOtherCall);
  }
  std::byte* const limit = trace.hard_limit - kCallRoom;
  r.limit.store(limit, std::memory_order_relaxed);
  write_samples(r);
  const auto fits = [&] { return r.cursor <= trace.hard_limit - kCallRoom; };
  while (!fits() && grow(trace)) {
  }
  if (fits() && !goes_on(r, trace)) return false;
  return fits() || flush_with_record(r, ticks());
}

bool spill(Recorder& r, std::size_t bytes) {
  LocalTrace& trace = *r.trace;
  const auto fits = [&] { return r.cursor + bytes <= trace.hard_limit - kCallRoom; };
  publish(r, r.cursor);
  while (grow(trace)) {
    if (fits()) return true;
  }
  if (!trace.in_flush && !trace.spilled) {
    trace.spilled = true;
    trace.spill_begin = ticks();
  }
  const bool good = write_out(trace);
  trace.spill_end = ticks();
  return good && fits();
}

}  // namespace

bool make_room(Recorder& r) {
  const Session& s = the_session;
  if (!s.started || s.stopped) return false;
  return on_own_stack([&] { return make_room_here(r); });
}

bool make_room_for(Recorder& r, std::size_t bytes) {
  const auto fits = [&] { return r.cursor + bytes <= r.trace->hard_limit - kCallRoom; };
  // Definitions do not end a series of polls.
  if (r.limit.load(std::memory_order_relaxed) == polling_limit() && fits()) return true;
  if (r.cursor > r.limit.load(std::memory_order_relaxed) && !make_room(r)) return false;
  const auto make = [&] {
    while (!fits() && grow(*r.trace)) {
    }
    return fits() || (flush_with_record(r, ticks()) && fits());
  };
  return fits() || on_own_stack(make);
}

bool flush_with_record(Recorder& r, Ticks begin) {
  LocalTrace& trace = *r.trace;
  publish(r, put(r, put_now(r, r.cursor), EnterTracing{r.lid, record_time(begin)}));
  if (!write_out(trace)) return false;
  trace.in_flush = true;
  write_poll_sites(r);
  // From a region of the program: another thread may be in MPI, and nothing is locked unless
  // several may.
  const bool apart = the_open_regions.ours != nullptr && !the_session.multi_threaded;
  if (!apart) the_session.write_state(r, false);
  trace.in_flush = false;
  if (the_session.stopped) return false;
  r.last = ticks();
  publish(r, put(r, put_now(r, r.cursor), ExitTracing{r.lid, record_time(r.last)}));
  return goes_on(r, trace);
}

namespace {

// Nobody has written over it.
bool is_whole(const CallFrame* frame) {
  constexpr std::ptrdiff_t kLargestFrame = 65'536;
  const void* const mark = frame->mark;
  if (mark == frame) return true;
  if (mark == nullptr) return false;
  const auto* const entry = static_cast<const void* const*>(frame->entry);
  const std::ptrdiff_t distance =
      static_cast<const std::byte*>(frame->entry) - reinterpret_cast<const std::byte*>(frame);
  return distance > 0 && distance < kLargestFrame && entry[-1] == mark;
}

bool on_alternate_stack() {
  stack_t stack{};
  return sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

// What is left of a frame may look whole where deeper ones have room that nobody has written to.
// What a library calls within a call has that around it for certain.
bool is_off_the_stack(const Recorder& r, const CallFrame& frame, const void* caller) {
  if (frame.entry == &frame || frame.entry == kNoStack || r.on_own_stack || on_alternate_stack())
    return false;
  if (caller != nullptr && is_library_code(caller)) return false;
  return find_on_stack(frame.entry) == OnStack::kNo;
}

}  // namespace

bool is_open(const CallFrame* frame, const void* here) {
  if (!is_whole(frame)) return false;
  // The stack grows downwards: a call made from as far up as this one cannot be a caller's, unless
  // we are a signal handler with a stack of its own.
  // While we are on ours, the calls that led there are open, and nothing else has come between.
  return the_recorder.on_own_stack || here < frame->entry || on_alternate_stack();
}

namespace {

// Writes the record of the note that begins there, if it is of this type: its time is that of a
// record in hand, in ticks.
template <class R>
std::byte* put_if(const Recorder& r, const std::byte* noted, std::byte* to) {
  const RawRecord raw{std::to_integer<std::uint8_t>(noted[2]),
                      std::to_integer<std::uint8_t>(noted[1]), noted + 3, 0};
  R record;
  const bool is =
      raw.type == static_cast<std::uint8_t>(R::kType) && decode(raw, Dialect{}, record) == nullptr;
  return is ? put(r, to, record) : to;
}

// The ENTER that a note begins with, unless it stands in the trace already.
std::byte* put_noted_enter(const Recorder& r, std::byte* to) {
  return r.note->size != 0 ? put_if<Enter>(r, r.note->records, to) : to;
}

// What the note says of a call whose ENTER is written.
void put_noted_call(Recorder& r) {
  const std::byte* const end = r.note->records + r.note->size;
  std::byte* to = r.cursor;
  for (const std::byte* p = r.note->records; p < end; p += noted_size(p)) {
    to = put_if<MpiAwaits>(r, p, put_if<MpiOpenCall>(r, p, to));
  }
  drop_note(*r.note);
  publish(r, to);
}

// The ENTER of an open call, unless it stands in the trace already.
void enter_now(Recorder& r, CallFrame& call, std::uint32_t bit) {
  if (call.trace == CallFrame::Trace::kNothing) return;
  if (call.trace == CallFrame::Trace::kInHand) {
    r.last = call.enter;
    publish(r,
            put(r, put_at_enter(r, r.cursor), Enter{r.lid, record_time(call.enter), call.region}));
  }
  call.trace = CallFrame::Trace::kHoldsCalls;
  r.outer_regions |= bit;
}

}  // namespace

void settle_note(Recorder& r) {
  publish(r, put_noted_enter(r, r.cursor));
  put_noted_call(r);
}

void enter_open_calls(Recorder& r) {
  if (r.trace == nullptr || the_session.stopped) return;
  bool all = r.note->size == 0;
  for (std::uint32_t i = 0; i < r.outer_calls; ++i) {
    const CallFrame::Trace trace = r.outer[i]->trace;
    all = all && (trace == CallFrame::Trace::kNothing || trace == CallFrame::Trace::kHoldsCalls);
  }
  if (all) return;
  if (r.polling != nullptr) interrupt_polls(r, true);
  on_own_stack([&r] {
    for (std::uint32_t i = 0; i < r.outer_calls; ++i) enter_now(r, *r.outer[i], 1u << i);
    put_noted_call(r);
  });
}

void drop_innermost(Recorder& r, Ticks at) {
  if (r.open_region) {
    on_own_stack([&r, at] {
      std::byte* const p = put_noted_enter(r, r.cursor);
      drop_note(*r.note);
      r.last = at;
      publish(r, put(r, p, Exit{r.lid, record_time(at)}));
    });
  }
  leave_innermost(r);
  r.forwarded = 0;
}

bool left_behind(Recorder& r, const void* here, const void* caller) {
  while (r.frame != nullptr && (!is_open(r.frame, here) || is_off_the_stack(r, *r.frame, caller))) {
    drop_innermost(r, ticks());
  }
  return r.frame == nullptr;
}

bool need_room(Recorder& r, std::size_t bytes) {
  Session& s = the_session;
  if (!s.started || s.stopped || r.trace == nullptr) return false;
  LocalTrace& trace = *r.trace;
  if (r.cursor + bytes <= trace.hard_limit - kCallRoom) return true;
  return on_own_stack([&] { return spill(r, bytes); });
}

void close_spill(Recorder& r) {
  on_own_stack([&] {
    LocalTrace& trace = *r.trace;
    trace.spilled = false;
    std::byte* p = put(r, r.cursor, EnterTracing{r.lid, record_time(trace.spill_begin)});
    publish(r, put(r, put_now(r, p), ExitTracing{r.lid, record_time(trace.spill_end)}));
    r.last = trace.spill_end;
  });
}

StringId define_string(Recorder& r, const char* text, std::size_t length) {
  const auto id = static_cast<StringId>(r.trace->next_string++);
  std::byte* p = r.cursor;
  put_string(id, text, length, [&](const auto& record) { p = put(r, p, record); });
  publish(r, p);
  return id;
}

void define_region(Recorder& r, unsigned function) {
  if (r.cursor > r.limit.load(std::memory_order_relaxed) && !make_room(r)) return;
  const auto [text, type] = named(function);
  const StringId name = define_string(r, text.data(), text.size());
  publish(r, put(r, r.cursor,
                 Region{region_of(function), name, absent<FileId>(), absent<Line>(), absent<Line>(),
                        absent<StringId>(), Byte{type}}));
  r.regions[function / 64] |= std::uint64_t{1} << (function % 64);
}

}  // namespace kojak::measure
