#include "epilog/runtime/startup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "epilog/format/mpi_functions.h"
#include "epilog/runtime/call.h"
#include "epilog/runtime/code.h"
#include "epilog/runtime/metrics.h"
#include "epilog/runtime/node_clock.h"
#include "epilog/runtime/processor_limit.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/sampler.h"

namespace kojak::measure {
namespace {

void name_program() {
  const char* const path = program_file();
  const char* slash = strrchr(path, '/');
  snprintf(the_session.program, sizeof the_session.program, "%.200s",
           slash != nullptr && slash[1] != '\0' ? slash + 1 : "program");
  if (gethostname(the_session.node_name, sizeof the_session.node_name - 1) != 0) {
    snprintf(the_session.node_name, sizeof the_session.node_name, "node");
  }
}

struct Announcement {
  std::uint64_t run_hi, run_lo;
  char directory[sizeof the_session.directory];
};

// Rank 0 chooses where the traces go and what the run is called. False if there is nowhere to go.
bool agree_on_run(const Exchange& exchange, bool spawned) {
  Session& s = the_session;
  static Announcement announcement;
  if (s.run.rank == 0) {
    make_run_directory(spawned);
    // Without the kernel's random numbers the clock and the process id must do.
    std::uint64_t random[2];
    if (getrandom(random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) {
      random[0] = mix(monotonic_nanoseconds());
      random[1] = mix(static_cast<std::uint64_t>(getpid()) + ticks());
    }
    announcement.run_hi = random[0];
    announcement.run_lo = random[1];
    memcpy(announcement.directory, s.directory, sizeof s.directory);
  }
  if (!exchange.spread(&announcement, sizeof announcement)) return false;
  memcpy(s.directory, announcement.directory, sizeof s.directory);
  s.run.run_hi = announcement.run_hi;
  s.run.run_lo = announcement.run_lo;
  return s.directory[0] != '\0';
}

bool records_init() {
  return (the_session.functions.load(std::memory_order_relaxed) &
          carries_time(static_cast<unsigned>(MpiFamily::kInit))) != 0;
}

// The measurement's own start, behind the first call.
void record_start(Ticks returned) {
  Recorder& r = the_recorder;
  if (!records_init() || r.trace == nullptr || !make_room_for(r, 2 * kMaxRecord)) return;
  std::byte* const p = put(r, r.cursor, EnterTracing{r.lid, record_time(returned)});
  r.last = ticks();
  publish(r, put(r, put_now(r, p), ExitTracing{r.lid, record_time(r.last)}));
}

}  // namespace

bool is_first_by_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = getenv(name)) return strcmp(rank, "0") == 0;
  }
  return true;
}

void record_init(unsigned function, Ticks enter, Ticks exit, const void* caller) {
  Recorder& r = the_recorder;
  RegionId region{};
  if (!records_init() || !ready(r, function, caller, __builtin_frame_address(0), region)) return;
  r.last = exit;
  publish(r, put(r, put(r, r.cursor, Enter{r.lid, record_time(enter), region}),
                 Exit{r.lid, record_time(exit)}));
}

// Its ENTER stands at the beginning.
static bool enter_init(PlainCall& call, unsigned function, const void* caller) {
  Recorder& r = the_recorder;
  if (!records_init() || !ready(r, function, caller, __builtin_frame_address(0), call.region))
    return false;
  read_at_enter(r);
  call.recorded = call.blocks = true;
  call.enter = the_session.init_time;
  r.last = call.enter;
  publish(r, put(r, put_at_enter(r, r.cursor), Enter{r.lid, record_time(call.enter), call.region}));
  return true;
}

// It is the call in which all others are until it ends.
static void take_in_hand(PlainCall& call) {
  Recorder& r = the_recorder;
  call.measured = true;
  begin_inner_frame(call.frame);
  call.frame.sealed = false;
  call.frame.region = call.region;
  call.frame.enter = call.enter;
  call.frame.trace = call.recorded ? CallFrame::Trace::kEntered : CallFrame::Trace::kNothing;
  r.open_region = call.recorded;
  r.frame = &call.frame;
  call.frame.in_call = true;
}

void start_clock() {
  Session& s = the_session;
  choose_clock();
  s.clock_start = read_both_clocks();
  s.init_time = ticks();
}

bool begin_session(bool (*learn_world)()) {
  the_session.config = read_config();
  the_session.next_rma_id = the_session.next_request_id = the_session.config.test_ids;
  name_program();
  return learn_world();
}

bool join_run(const Exchange& exchange, bool spawned) {
  if (!share_node_clock(exchange) || !agree_on_run(exchange, spawned)) {
    forget_nodes();
    return false;
  }
  make_world_group(the_session.run.size);
  return true;
}

void begin_recording(unsigned function, Ticks returned, const void* caller, void (*note)(Recorder&),
                     PlainCall* open) {
  Session& s = the_session;
  if (s.config.test_clock_rank >= static_cast<int>(s.run.size)) {
    complain(s.config, "ELG_TEST_CLOCK names rank %d of %d", s.config.test_clock_rank,
             static_cast<int>(s.run.size));
  }
  prepare_metrics();
  if (s.config.complaints[0] != '\0' && s.run.rank == 0) say("%s", s.config.complaints);
  s.live = true;
  if (!enter_run_directory()) {
    stop_recording("cannot be made", s.directory, errno);
    return;
  }
  drop_samples(true);
  start_recording();
  if (note != nullptr) note(the_recorder);
  const bool stays_open = open != nullptr && enter_init(*open, function, caller);
  if (!stays_open && function != kNoFunction) record_init(function, s.init_time, returned, caller);
  record_start(returned);
  drop_samples(false);
  if (open != nullptr) take_in_hand(*open);
  if (s.config.verbose && s.run.rank == 0) say("traces go to %s", s.directory);
}

bool begin_recording_apart() {
  const Ticks returned = ticks();
  if (!the_session.started || the_session.stopped) return false;
  drop_samples(true);
  const bool opens = open_trace(the_recorder);
  if (opens) record_start(returned);
  drop_samples(false);
  return opens;
}

void write_clock_rate(Recorder& r) {
  Session& s = the_session;
  if (!s.started || s.stopped || r.trace == nullptr || !s.run.first_of_node) return;
  if (!make_room_for(r, kMaxRecord)) return;
  const double factor = calibrate(s.clock_start, read_both_clocks()) / the_clock.scale;
  publish(r, put(r, r.cursor, ClockRate{Seconds{0}, Seconds{factor}}));
}

void begin_shutdown(Recorder& r) {
  Session& s = the_session;
  if (s.shut) return;
  s.shut = true;
  const ProgramFloats floats;
  // Up to the partner's answer it is the program that waits, not the measurement.
  const Ticks begin = measure_offset();
  forget_nodes();
  const bool inside = r.open_region;  // then there is room, unless calls within it took that
  if (!s.started || s.stopped || r.trace == nullptr) return;
  if (inside) settle_note(r);
  const bool room = inside && r.cursor <= r.limit.load(std::memory_order_relaxed);
  if (!s.paused && !room && !make_room(r)) return;
  std::byte* p = r.cursor;
  if (!s.paused) p = put(r, put_now(r, p), EnterTracing{r.lid, record_time(begin)});
  if (s.run.first_of_node) {  // it speaks for its node
    p = put(r, p, Offset{s.run.offset_time, Seconds{s.run.clock_offset}});
    if (s.run.clock_bound > 0) {  // the larger one of both measurements holds
      p = put(r, p, ClockError{static_cast<NodeId>(s.run.node), Seconds{s.run.clock_bound}});
    }
    if (static_cast<int>(s.run.rank) != s.config.test_clock_rank) {
      const double factor = calibrate(s.clock_start, read_both_clocks()) / the_clock.scale;
      p = put(r, p, ClockRate{Seconds{0}, Seconds{factor}});
    }
  }
  if (!s.paused) {
    r.last = ticks();
    p = put(r, put_now(r, p), ExitTracing{r.lid, record_time(r.last)});
  }
  publish(r, p);
  if (r.trace->thread == 0) define_processor_stops(r);
}

void finish_shutdown() {
  finish_recording();
  leave_session();
}

}  // namespace kojak::measure
