#include "epilog/gasp/thread.h"

#include <dlfcn.h>
#include <string.h>

#include "epilog/gasp/records.h"
#include "epilog/runtime/open_regions.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/user_names.h"

namespace kojak::measure {

thread_local constinit bool asking_language = false;
thread_local constinit GaspThread* the_gasp_thread = nullptr;
bool shares_process = false;

namespace {

// Nanoseconds; and how many ticks are one, times 2^48.
using TestTime = std::uint64_t (*)();
TestTime test_time = nullptr;
std::uint64_t ticks_of_nanosecond = 0;

// The ENTER of a call in hand.
void enter_in_hand(Recorder& r, CallFrame& frame) {
  publish(r,
          put(r, put_at_enter(r, r.cursor), Enter{r.lid, record_time(frame.enter), frame.region}));
  r.last = frame.enter;
  frame.trace = CallFrame::Trace::kEntered;
  r.open_region = true;
}

// Regions of the program in a call of UPC's: that has entered before them.
template <class F>
void aside(const F& records) {
  Recorder& r = the_recorder;
  CallFrame* const frame = r.frame;
  if (frame == nullptr || frame->entry != kNoStack) return records();
  if (frame->trace == CallFrame::Trace::kNothing) return;
  settle_note(r);
  if (frame->trace == CallFrame::Trace::kInHand) enter_in_hand(r, *frame);
  const bool open = r.open_region;
  r.frame = nullptr;
  r.open_region = false;
  records();
  r.frame = frame;
  r.open_region = open;
  frame->trace = CallFrame::Trace::kHoldsCalls;
}

// False: the stack of regions does not have it (ELG_FILTER).
bool enter_region(const char* name, const GaspPlace& place, Ticks at) {
  if (name == nullptr) name = "function";
  bool entered = false;
  aside([&] {
    RegionEvent event;
    const auto* const region = named_region(name, strlen(name), place.file, place.line);
    if (region == nullptr) return;
    const auto key = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(region));
    entered = event.enter(key | kUserKey, region, has_test_time() ? at : RegionEvent::kNow);
  });
  return entered;
}

void leave_region(bool entered, Ticks at) {
  if (!entered) return;
  aside([&] {
    if (the_open_regions.depth == 0) return;
    RegionEvent event;
    event.leave(1, has_test_time() ? at : RegionEvent::kNow);
  });
}

// Those of the program's, by whatever it told them.
bool is_region(GaspEvent event) {
  return event == GaspEvent::kCFunc || event == GaspEvent::kUser || event == GaspEvent::kForall;
}

// Those that become nothing.
bool is_ignored(GaspEvent event) {
  return event == GaspEvent::kUnknown ||
         (!is_region(event) && region_of_event(event) == kNoUpcRegion);
}

const char* region_name(GaspEvent event, unsigned tag, va_list& arguments) {
  if (event == GaspEvent::kForall) return "upc_forall";
  return event == GaspEvent::kUser ? user_event_name(tag) : va_arg(arguments, const char*);
}

// Closes the innermost open event, whose end was not told.
void close_innermost(GaspThread& thread, Ticks at) {
  OpenEvent& open = thread.open[--thread.depth];
  if (open.region) return leave_region(open.entered, at);
  if (open.event == GaspEvent::kCollectiveExit) return record_exit(thread, open.call, at);
  end_upc_call(open.call, at, [](Recording& call) { call.leave(); });
}

// What does not block has no records yet, and no region: but what is called within it is its own
// work.
void begin_silently(PlainCall& call) {
  Recorder& r = the_recorder;
  begin_inner_frame(call.frame);
  call.frame.entry = kNoStack;
  call.frame.in_call = false;
  call.frame.sealed = true;
  call.frame.trace = CallFrame::Trace::kNothing;
  if (r.frame != nullptr && !left_behind(r, __builtin_frame_address(0))) return;
  call.measured = true;
  r.frame = &call.frame;
  call.frame.in_call = true;
}

// What is put is on its way: such a call is one record, when it has ended.
bool leaves_at_once(GaspEvent event, va_list& arguments) {
  if (event == GaspEvent::kMemput || event == GaspEvent::kMemset) return true;
  if (event != GaspEvent::kPut) return false;
  va_list own;
  va_copy(own, arguments);
  const bool relaxed = va_arg(own, int) != 0;
  va_end(own);
  return relaxed;
}

}  // namespace

void find_test_time() {
  const ProgramFloats floats;
  const auto* const pointer = static_cast<TestTime*>(dlsym(RTLD_DEFAULT, "elg_gasp_test_time_of"));
  ticks_of_nanosecond = static_cast<std::uint64_t>(0x1p48 * 1e-9 / the_clock.scale);
  test_time = pointer != nullptr ? *pointer : nullptr;
}

bool has_test_time() {
  return test_time != nullptr;
}

Ticks event_time() {
  if (!has_test_time()) [[likely]]
    return ticks();
  __extension__ using Product = unsigned __int128;
  return the_clock.base + static_cast<Ticks>(Product{test_time()} * ticks_of_nanosecond >> 48);
}

void begin_upc_call(GaspThread& thread, PlainCall& call, unsigned function, const GaspPlace& place,
                    Ticks at, bool blocks) {
  Recorder& r = the_recorder;
  begin_silently(call);
  if (!call.measured) return;
  call.frame.in_call = false;
  call.blocks = blocks;
  r.polls_go_on = false;
  const std::uint32_t group = carries_time(static_cast<unsigned>(kUpcFunctions[function].family));
  const bool on = (the_session.functions.load(std::memory_order_relaxed) & group) != 0;
  if (on) call.region = thread.sites.find(r, function, place.file, place.line);
  call.recorded = on && call.region != absent<RegionId>() && r.trace != nullptr &&
                  (r.cursor <= r.limit.load(std::memory_order_relaxed) || make_room(r));
  if (call.recorded) {
    read_at_enter(r);
    if (static_cast<std::int64_t>(at - r.last) < 0) at = r.last;
    call.enter = at;
    if (at >= r.processor_due && !has_test_time()) note_processor(r, at);
    call.frame.region = call.region;
    call.frame.enter = at;
    call.frame.trace = CallFrame::Trace::kInHand;
    if (blocks) enter_in_hand(r, call.frame);
  } else if (r.lost != nullptr) {
    count_lost(r);
  }
  call.frame.in_call = true;
}

void begin_event(GaspThread& thread, GaspEvent event, unsigned tag, const GaspPlace& place,
                 va_list& arguments, Ticks at) {
  if (is_ignored(event)) {
    if (event == GaspEvent::kUnknown) thread.unknown.set(tag, true);
    return;
  }
  bool folds = false;
  if (thread.held.any) {
    if (event == GaspEvent::kWait && thread.held.place == place) {
      va_list own;
      va_copy(own, arguments);
      const int named = va_arg(own, int), expression = va_arg(own, int);
      va_end(own);
      folds = named == thread.held.named && expression == thread.held.expression;
    }
    if (!folds) record_notify(thread);
  }
  if (thread.depth == kMostOpen) {
    ++thread.too_deep;
    return;
  }
  OpenEvent& open = thread.open[thread.depth++];
  open = {};
  open.event = event;
  open.tag = tag;
  open.place = place;
  open.region = is_region(event);
  if (open.region) {
    open.entered = enter_region(region_name(event, tag, arguments), place, at);
    return;
  }
  if (event == GaspEvent::kNotify) {
    begin_silently(open.call);
    open.call.enter = at;
    return;
  }
  if (folds) {
    open.event = GaspEvent::kBarrier;
    thread.held.any = false;
    at = thread.held.enter;
  }
  begin_upc_call(thread, open.call, region_of_event(open.event), place, at,
                 !leaves_at_once(open.event, arguments));
  if (open.call.recorded) note_event(thread, open.event, open.call, arguments);
}

void end_event(GaspThread& thread, GaspEvent event, unsigned tag, va_list& arguments, Ticks at) {
  if (is_ignored(event) || event == GaspEvent::kCollectiveExit) return;
  if (thread.too_deep != 0) {
    --thread.too_deep;
    return;
  }
  std::uint32_t i = thread.depth;
  while (i != 0 && thread.open[i - 1].tag != tag) --i;
  if (i != thread.depth) ++thread.unbalanced;
  if (i == 0) return;
  while (thread.depth > i) close_innermost(thread, at);
  OpenEvent& open = thread.open[--thread.depth];
  if (open.region) return leave_region(open.entered, at);
  if (event == GaspEvent::kNotify) {
    const bool measured = open.call.measured;
    leave_call(open.call);
    const int named = va_arg(arguments, int);
    if (measured)
      thread.held = {true, open.call.enter, at, open.place, named, va_arg(arguments, int)};
    return;
  }
  const bool measured = open.call.measured;
  record_event(thread, open.event, open.call, arguments, at);
  if (measured && (event == GaspEvent::kAllLockAlloc || event == GaspEvent::kGlobalLockAlloc))
    name_lock(thread, open.place, arguments);
}

void tell_event(GaspThread& thread, GaspEvent event, unsigned tag, const GaspPlace& place,
                Ticks at) {
  va_list none{};
  if (event == GaspEvent::kUser) {
    if (thread.held.any) record_notify(thread);
    return leave_region(enter_region(user_event_name(tag), place, at), at);
  }
  // Nothing comes behind these.
  if (event == GaspEvent::kCollectiveExit || event == GaspEvent::kNoncollectiveExit)
    return begin_event(thread, event, tag, place, none, at);
  if (event == GaspEvent::kUnknown) thread.unknown.set(tag, true);
}

void end_events(GaspThread& thread, Ticks at) {
  if (thread.held.any) record_notify(thread);
  while (thread.depth != 0) close_innermost(thread, at);
}

void switch_recording(GaspThread& thread) {
  thread.switch_due = the_recorder.frame != nullptr;
  if (thread.switch_due) return;
  const OwnFrame own(the_recorder);
  if (thread.recording)
    shares_process ? resume_apart(the_recorder) : resume_recording(the_recorder);
  else
    shares_process ? pause_apart(the_recorder) : pause_recording(the_recorder);
}

}  // namespace kojak::measure
