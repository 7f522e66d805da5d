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
#include "epilog/runtime/code.h"
#include "epilog/runtime/keeper.h"
#include "epilog/runtime/metrics.h"
#include "epilog/runtime/open_regions.h"
#include "epilog/runtime/processor.h"
#include "epilog/runtime/run_properties.h"
#include "epilog/runtime/sampler.h"
#include "epilog/runtime/save_buffer.h"

namespace kojak::measure {

namespace {
// Where the cursor of a thread without buffer stands: above every limit.
std::byte nowhere[1];
// What a thread without trace looks its call sites up in: empty.
CodeSlot no_slots[kCodeSlots];
LocalBufferNote no_note;
}  // namespace

thread_local constinit Recorder the_recorder
    __attribute__((tls_model("initial-exec"))) = {.cursor = nowhere,
                                                  .limit = {nullptr},
                                                  .processor_due = kNever,
                                                  .sites = no_slots,
                                                  .codes = no_slots,
                                                  .note = &no_note};

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLostCount = 3 + 4 + 1;  // of the count within a LOST record
constexpr std::size_t kPath = sizeof(the_session.directory) + 32;

void path_of(const LocalTrace& trace, const char* suffix, char (&path)[kPath]) {
  snprintf(path, sizeof path, "%s/%u.%u.%s", the_session.directory, the_session.run.rank,
           trace.thread, suffix);
}

LocalBufferHeader header_of(const LocalTrace& trace, bool kept) {
  LocalBufferHeader header{};
  std::memcpy(header.magic, LocalBufferHeader::kMagic, sizeof header.magic);
  header.start = kBufferRecordsAt;
  header.capacity = trace.size - kBufferRecordsAt;
  header.run_hi = the_session.run.run_hi;
  header.run_lo = the_session.run.run_lo;
  header.rank = the_session.run.rank;
  header.thread = trace.thread;
  header.kernel = this_kernel();
  header.process = static_cast<std::uint32_t>(getpid());
  header.keeper = kept ? keeper_process() : 0;
  header.clock_base = the_clock.base;
  header.clock_scale = the_clock.scale;
  header.clock_shift = the_clock.shift;
  header.location = the_session.run.rank;
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
    const bool there = trace.thread == 0 && the_session.first_file_made;
    error = make_trace_files(AT_FDCWD, path, buffer_path, header, there, made);
  }
  if (error != 0 && header.keeper != 0 && keeper_makes_files(trace.thread) == 0) {
    trace.out_of_reach = true;
    return 0;
  }
  trace.device = made.st_dev;
  trace.inode = made.st_ino;
  return error;
}

bool open_files(LocalTrace& trace) {
  const std::size_t wanted = the_session.config.buffer_size;
  trace.size = kBufferRecordsAt + ((wanted + kPage - 1) & ~(kPage - 1));
  const BufferMemory memory = new_buffer(trace.size, trace.thread);
  LocalBufferHeader header = header_of(trace, memory.kept);
  int error = memory.data == nullptr ? ENOMEM : 0;
  if (error == 0) {
    // The magic comes last: from then on the buffer is saved if this process dies.
    std::memcpy(memory.data, &header, sizeof header);
    std::memset(memory.data, 0, sizeof header.magic);
    error = make_files(trace, header);
  }
  if (error != 0) {
    if (memory.data != nullptr) munmap(memory.data, trace.size);  // without magic: nothing is saved
    char path[kPath];
    path_of(trace, "elg", path);
    stop_recording("cannot be written", path, error);
    return false;
  }
  trace.memory = memory.data;
  trace.begin = trace.memory + kBufferRecordsAt;
  trace.hard_limit = trace.memory + trace.size - kReserve;
  std::atomic_signal_fence(std::memory_order_release);
  std::memcpy(trace.memory, LocalBufferHeader::kMagic, sizeof header.magic);
  return true;
}

// What the buffer holds from here on can be read without what came before.
std::byte* begin_block(LocalTrace& trace, std::byte* to) {
  return compact::begin_block(trace.state, {the_clock.base, the_clock.scale, the_clock.shift}, to);
}

void write_head(Recorder& r, LocalTrace& trace) {
  const RunInfo& run = the_session.run;
  const auto thread = static_cast<ThreadId>(trace.thread);
  const auto process = static_cast<ProcessId>(run.rank);
  encode_header(kLocalDialect, r.cursor);
  std::byte* p =
      put(r, begin_block(trace, r.cursor + kHeaderSize),
          LocalRun{Hash64{run.run_hi}, Hash64{run.run_lo}, Count{run.size}, process, thread});
  publish(r, p);

  const auto name = [&r](const char* format, const char* text, unsigned number) {
    char line[sizeof the_session.program + 16];
    const int length = snprintf(line, sizeof line, format, text, number);
    return define_string(r, line, static_cast<std::size_t>(length));
  };
  utsname system{};
  uname(&system);
  const StringId machine_name = name("%s", system.sysname, 0);
  const StringId node_name = name("%s", the_session.node_name, 0);
  const StringId process_name = name("%sMPI Rank %u", "", run.rank);
  const StringId thread_name = name("%sThread %u", "", trace.thread);
  const StringId root_name = name(trace.thread == 0 ? "%s" : "%s (thread)", the_session.program, 0);

  const auto node = static_cast<NodeId>(run.node);
  p = put(r, r.cursor, Machine{MachineId{0}, Count{run.nodes}, machine_name});
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  p = put(
      r, p,
      Node{node, MachineId{0}, Count{processors > 0 ? static_cast<std::uint32_t>(processors) : 0},
           node_name, Seconds{the_clock.scale}});
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
  if (run.first_of_node && run.offset_measured && trace.thread == 0) {  // it speaks for its node
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
  r.open_region = 0;
  std::memset(r.regions, 0, sizeof r.regions);
  r.sites = r.codes = no_slots;
  r.paths = nullptr;
  r.processor_due = kNever;
  r.note = &no_note;
  r.metrics = nullptr;
  r.trace = nullptr;
  r.state = nullptr;
  r.lost = nullptr;
}

Ticks later(Ticks a, Ticks b) {
  return static_cast<std::int64_t>(a - b) > 0 ? a : b;
}

// The tail of a pause that this thread did not see: LOG_OFF at the time it began, but never before
// the thread's newest record.
// True if recording went on.
bool note_log_changes(Recorder& r, LocalTrace& trace) {
  const SessionListLock lock;
  const Session& s = the_session;
  if (trace.log_serial == s.log_serial) return false;
  trace.log_serial = s.log_serial;
  std::byte* p = r.cursor;
  Ticks at = r.last;
  if (!trace.log_off_open)
    p = put(r, p, LogOff{r.lid, record_time(at = later(s.off_time, r.last))});
  trace.log_off_open = s.paused;
  if (!s.paused) p = put(r, put_now(r, p), LogOn{r.lid, record_time(at = later(s.on_time, at))});
  r.last = at;
  publish(r, p);
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
bool goes_on_after(Recorder& r, const LocalTrace& trace, std::size_t size) {
  Session& s = the_session;
  const std::uint64_t written = s.written.fetch_add(size) + size;
  if (s.config.max_size == 0 || s.stopped) return true;
  const std::uint64_t held = s.open_traces * (trace.size - kBufferRecordsAt);
  if (written + held <= s.config.max_size) return true;
  begin_lost(r, kLostLimit);
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

}  // namespace

bool write_out(LocalTrace& trace, bool last) {
  Recorder& r = *trace.recorder;
  const std::uint64_t size = r.header->end - r.header->base;
  char path[kPath];
  path_of(trace, "elg", path);
  int error = write_to_file(trace, path, size);
  if (error != 0 && r.header->keeper != 0) {
    const int asked = keeper_writes_out(trace.thread);
    trace.out_of_reach = asked == 0 || asked == kNoKeeper;
    if (asked == kNoKeeper && last) return false;
    if (asked == 0) error = 0;
  }
  if (error == 0) {
    empty_buffer(r, trace);
    return goes_on_after(r, trace, size);
  }
  // The buffer keeps its records, so nothing recorded so far is lost.
  begin_lost(r, kLostDiskFull);
  if (!stop_recording("cannot be written", path, error)) r.header->error = error;
  return false;
}

bool open_trace(Recorder& r) {
  const SessionListLock lock;
  Session& s = the_session;
  LocalTrace* const trace = [] {
    const BookkeepingLock memory;
    return create<LocalTrace>();
  }();
  if (trace == nullptr) return false;
  trace->recorder = &r;
  trace->thread = s.traces;
  if (!open_files(*trace)) {
    const BookkeepingLock memory;
    destroy(trace);
    return false;
  }
  ++s.traces;
  ++s.open_traces;
  r.header = reinterpret_cast<LocalBufferHeader*>(trace->memory);
  r.note = reinterpret_cast<LocalBufferNote*>(trace->memory + kBufferNoteAt);
  r.cursor = trace->begin;
  r.bias = 0 - reinterpret_cast<std::uintptr_t>(trace->begin);
  r.limit.store(trace->hard_limit - kCallRoom, std::memory_order_relaxed);
  r.lid = static_cast<LocationId>(s.run.rank);
  r.trace = trace;
  r.state = &trace->state;
  r.thread_bit = trace->thread < 64 ? std::uint64_t{1} << trace->thread : 0;
  start_metrics(r);
  write_head(r, *trace);
  open_code_table(r);
  trace->open = &the_open_regions;
  trace->next = s.first_trace;
  s.first_trace = trace;
  if (!write_out(*trace)) return false;

  r.last = trace->thread == 0 ? s.init_time : ticks();
  trace->log_serial = s.log_serial;
  trace->log_off_open = s.paused;
  std::byte* p = put(r, r.cursor, Enter{r.lid, record_time(r.last), kRootRegion});
  if (s.paused) p = put(r, p, LogOff{r.lid, record_time(r.last)});
  publish(r, p);
  if (!s.paused) enter_open_regions(r);
  r.processor_due = 0;
  start_sampling(r);
  watch_thread_end();
  return true;
}

void close_trace(LocalTrace& trace, Ticks t) {
  Session& s = the_session;
  Recorder& r = *trace.recorder;
  end_sampling(trace);
  if (!s.stopped) {
    settle_note(r);
    note_log_changes(r, trace);
    t = later(t, r.last);
    if (&r == &the_recorder && !trace.log_off_open) note_processor(r, t);
    std::byte* p = r.cursor;
    // The values of a thread that still runs only it can read.
    if (&r == &the_recorder) p = put_now(r, p);
    if (trace.log_off_open) p = put(r, p, LogOn{r.lid, record_time(t)});
    if (r.open_region != 0) p = put(r, p, Exit{r.lid, record_time(t)});
    if (p != r.cursor) r.last = t;
    publish(r, p);
    if (leave_all(trace, t)) publish(r, put(r, r.cursor, Exit{r.lid, record_time(t)}));
    write_out(trace, true);
  } else if (s.limit_reached) {
    write_out(trace, true);
  }
  if (&r == &the_recorder) end_metrics(r);
  --s.open_traces;
  // What could not be written stays beside the trace. Where this process cannot reach that place,
  // the keeper does it.
  const BlockedSignal blocked(SIGXFSZ);
  char path[kPath];
  path_of(trace, "buf", path);
  const bool saved = !trace.out_of_reach && reach_run_directory() == 0 &&
                     save_buffer(AT_FDCWD, path, trace.memory) == 0;
  std::atomic_ref<std::uint32_t>(r.header->state)
      .store(saved || r.header->keeper == 0 ? LocalBufferHeader::kClosed : LocalBufferHeader::kLeft,
             std::memory_order_release);
  munmap(trace.memory, trace.size);
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

bool make_room(Recorder& r) {
  Session& s = the_session;
  if (!s.started || s.stopped) return false;
  if (r.trace == nullptr && !open_trace(r)) return false;
  LocalTrace& trace = *r.trace;
  std::byte* const limit = trace.hard_limit - kCallRoom;
  r.limit.store(limit, std::memory_order_relaxed);
  write_samples(r);
  if (r.cursor <= limit && !goes_on(r, trace)) return false;
  return r.cursor <= limit || flush_with_record(r, ticks());
}

bool make_room_for(Recorder& r, std::size_t bytes) {
  if (r.cursor > r.limit.load(std::memory_order_relaxed) && !make_room(r)) return false;
  const auto fits = [&] { return r.cursor + bytes <= r.trace->hard_limit - kCallRoom; };
  return fits() || (flush_with_record(r, ticks()) && fits());
}

bool flush_with_record(Recorder& r, Ticks begin) {
  LocalTrace& trace = *r.trace;
  publish(r, put(r, put_now(r, r.cursor), EnterTracing{r.lid, record_time(begin)}));
  if (!write_out(trace)) return false;
  trace.in_flush = true;
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

bool is_open(const CallFrame* frame, const void* here) {
  // The stack grows downwards: a frame at or below ours cannot be a caller's, unless we are a
  // signal handler with a stack of its own. One above is, as long as nobody has written over it.
  if (here >= static_cast<const void*>(frame)) {
    stack_t stack{};
    if (sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0) return false;
  }
  return frame->self == frame;
}

void settle_note(Recorder& r) {
  const std::size_t size = r.note->size;
  std::memcpy(r.cursor, r.note->records, size);
  drop_note(*r.note);
  publish(r, r.cursor + size);
}

namespace {

// Bytes of the ENTER that a note begins with; 0 if it stands in the trace already.
std::size_t enter_in_note(const Recorder& r) {
  const auto type = static_cast<std::uint8_t>(r.note->records[2]);
  const bool there = r.note->size != 0 && type == static_cast<std::uint8_t>(RecordType::kEnter);
  return there ? noted_size(r.note->records) : 0;
}

}  // namespace

bool left_behind(Recorder& r, const void* here) {
  if (is_open(r.frame, here)) return false;
  if (r.open_region != 0) {
    r.open_region = 0;
    const std::size_t enter = enter_in_note(r);
    std::memcpy(r.cursor, r.note->records, enter);
    drop_note(*r.note);
    r.last = ticks();
    publish(r, put(r, r.cursor + enter, Exit{r.lid, record_time(r.last)}));
  }
  r.frame = nullptr;
  r.forwarded = 0;
  return true;
}

bool need_room(Recorder& r, std::size_t bytes) {
  Session& s = the_session;
  if (!s.started || s.stopped || r.trace == nullptr) return false;
  LocalTrace& trace = *r.trace;
  if (r.cursor + bytes <= trace.hard_limit - kCallRoom) return true;
  if (!trace.in_flush && !trace.spilled) {
    trace.spilled = true;
    trace.spill_begin = ticks();
  }
  publish(r, r.cursor);
  const bool good = write_out(trace);
  trace.spill_end = ticks();
  return good && r.cursor + bytes <= trace.hard_limit - kCallRoom;
}

void close_spill(Recorder& r) {
  LocalTrace& trace = *r.trace;
  trace.spilled = false;
  std::byte* p = put(r, r.cursor, EnterTracing{r.lid, record_time(trace.spill_begin)});
  publish(r, put(r, put_now(r, p), ExitTracing{r.lid, record_time(trace.spill_end)}));
  r.last = trace.spill_end;
}

StringId define_string(Recorder& r, const char* text, std::size_t length) {
  constexpr std::size_t kFirst = 250, kNext = 255;
  const auto id = static_cast<StringId>(r.trace->next_string++);
  const std::size_t total = length + 1;  // with the final NUL, of which Text knows nothing
  std::size_t parts = total <= kFirst ? 0 : (total - kFirst + kNext - 1) / kNext;
  if (parts > 255) {
    parts = 255;
    length = kFirst + 255 * kNext - 1;
  }
  const auto piece = [&](std::size_t from, std::size_t most) {
    const std::size_t left = length + 1 - from;
    return Text{text + from, left < most ? left : most};  // reads the NUL behind the text
  };
  std::byte* p =
      put(r, r.cursor, String{id, Byte{static_cast<std::uint8_t>(parts)}, piece(0, kFirst)});
  for (std::size_t i = 0; i < parts; ++i)
    p = put(r, p, StringCnt{piece(kFirst + i * kNext, kNext)});
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
