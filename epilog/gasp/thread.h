// A thread of the language as GASP tells of it: a process of the trace.
//
// An event that begins and ends is a call in hand between its two notifications, though no function
// of ours is on the stack. Events that come while one of UPC's is open are its own work and not
// recorded, nor are calls of MPI; functions of the program are. At most kMostOpen events are open:
// deeper ones are not recorded. An end that does not fit the open event closes what is above its
// own; without one it is ignored: both are counted. Used by its own thread; nothing fails.
#pragma once

#include "epilog/gasp/language.h"
#include "epilog/gasp/sites.h"
#include "epilog/runtime/call.h"
#include "epilog/runtime/handle_numbers.h"

namespace kojak::measure {

inline constexpr std::uint32_t kMostOpen = 64;

// Where an event was told of.
struct GaspPlace {
  const char* file = nullptr;
  int line = 0;
  bool operator==(const GaspPlace&) const = default;
};

struct OpenEvent {
  GaspEvent event{};
  unsigned tag = 0;
  bool region = false;   // of the program, not of UPC
  bool entered = false;  // that is on the stack of regions
  GaspPlace place;
  PlainCall call;
};

// A notify that has ended: a wait right behind it makes one barrier of both.
struct HeldNotify {
  bool any = false;
  Ticks enter = 0, exit = 0;
  GaspPlace place;
  int named = 0, expression = 0;
};

// Each is a process of the run, also where several are threads of one process of the system: then
// each has a trace of its own, and a pause is its own.
struct GaspThread {
  // Whether it has exchanged with the others what a run needs; left out: what it does is not
  // recorded.
  enum class State : std::uint8_t { kAlone, kJoined, kLeftOut };
  State state = State::kAlone;
  int number = 0;
  GaspThread* next = nullptr;   // that records in this process
  LocalTrace* trace = nullptr;  // its own, while it is open
  // All threads, as the collective operations have them, and as the phases of barriers.
  CommObject* everybody = nullptr;
  CommObject* phases = nullptr;
  bool recording = true, switch_due = false;
  std::uint32_t depth = 0;     // of what is in `open`
  std::uint32_t too_deep = 0;  // events that are open beyond
  OpenEvent open[kMostOpen];
  HeldNotify held;
  std::uint64_t phase_request = 0;  // of the notify that waits for its wait
  bool in_phase = false;
  GaspSites sites;
  HandleNumbers contexts;
  HashMap<bool> unknown;  // numbers of events
  std::uint64_t unbalanced = 0;
  std::uint32_t locks_named = 0;
};

// That of the calling thread, if it records.
extern thread_local constinit GaspThread* the_gasp_thread
    __attribute__((tls_model("initial-exec")));
// Whether several threads of the language are threads of this process.
extern bool shares_process;

// Asks the language's functions; what they tell this thread meanwhile is ours, not the program's.
extern thread_local constinit bool asking_language __attribute__((tls_model("initial-exec")));
template <class F>
void ask_language(const F& question) {
  asking_language = true;
  question(*the_language());
  asking_language = false;
}

// The time of events, which a test may set; found out when the clock is known.
void find_test_time();
Ticks event_time();
bool has_test_time();

// An event begins or ends, or is told at once. `at` is its time.
void begin_event(GaspThread& thread, GaspEvent event, unsigned tag, const GaspPlace& place,
                 va_list& arguments, Ticks at);
void end_event(GaspThread& thread, GaspEvent event, unsigned tag, va_list& arguments, Ticks at);
void tell_event(GaspThread& thread, GaspEvent event, unsigned tag, const GaspPlace& place,
                Ticks at);
// The thread ends: what is open is left.
void end_events(GaspThread& thread, Ticks at);
// gasp_control: what is due when no event is open.
void switch_recording(GaspThread& thread);

// A call of UPC's in hand: its region's ENTER is written, if it is recorded and blocks.
void begin_upc_call(GaspThread& thread, PlainCall& call, unsigned function, const GaspPlace& place,
                    Ticks at, bool blocks = true);
template <class F>
void end_upc_call(PlainCall& call, Ticks at, const F& records) {
  Recorder& r = the_recorder;
  if (call.recorded && is_live() && r.trace != nullptr) {
    if (static_cast<std::int64_t>(at - r.last) < 0) at = r.last;
    Recording recording = records_of(call, at);
    records(recording);
    end_call(call, recording);
  }
  leave_call(call);
}

}  // namespace kojak::measure
