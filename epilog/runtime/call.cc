#include "epilog/runtime/call.h"

#include "epilog/runtime/library_code.h"
#include "epilog/runtime/plain_poll.h"

namespace kojak::measure {

void count_lost(Recorder& r) {
  std::uint64_t count;
  std::memcpy(&count, r.lost, sizeof count);
  ++count;
  std::memcpy(r.lost, &count, sizeof count);
}

bool begin_within(Recorder& r, std::uint32_t group, const void* caller) {
  CallFrame& outer = *r.frame;
  if (outer.sealed || r.outer_calls == kMostOuterCalls) return false;
  outer.in_call = false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool own = is_library_code(caller);
  if (!own) {
    const bool entered = r.open_region;
    r.outer_regions |= std::uint32_t{entered} << r.outer_calls;
    r.outer[r.outer_calls++] = &outer;
    r.open_region = false;
    if ((the_session.functions.load(std::memory_order_relaxed) & group) != 0) enter_open_calls(r);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  outer.in_call = true;
  return !own;
}

void leave_within(Recorder& r, const CallFrame& frame) {
  while (r.frame != nullptr && r.frame != &frame) drop_innermost(r, ticks());
  leave_innermost(r);
}

void come_back(Recording& call, const CallFrame& frame, Ticks exit) {
  Recorder& r = call.r;
  while (r.frame != nullptr && r.frame != &frame) drop_innermost(r, exit);
  r.open_region = false;
  call.entered = call.slow = true;
  // What the call's records say of its beginning stands behind those of the calls within it.
  call.enter = record_time(r.last);
  if (r.metrics != nullptr) {
    Metrics& m = *r.metrics;
    std::memcpy(m.values, m.values + m.count, m.count * sizeof m.values[0]);
  }
  call.good = need_room(r, 0);
  call.p = r.cursor;
}

namespace {

template <bool kPolls>
KOJAK_INLINED inline void begin(PlainCall& call, unsigned function, std::uint32_t group,
                                bool blocks, const void* caller) {
  Recorder& r = the_recorder;
  call.frame.in_call = false;
  call.frame.trace = CallFrame::Trace::kNothing;
  call.frame.sealed = function >= kFirstShmemFunction;
  if (r.frame != nullptr && !left_behind(r, call.frame.entry, caller)) {
    if (passes_through(r, function, caller) || !r.frame->in_call) return;
    if (!begin_within(r, group, caller)) return;
  }
  call.measured = true;
  call.blocks = blocks;
  if (!kPolls) r.polls_go_on = false;
  r.frame = &call.frame;
  call.recorded = (the_session.functions.load(std::memory_order_relaxed) & group) != 0 &&
                  (kPolls ? ready_to_poll(r, function, caller, &call.frame, call.region)
                          : ready(r, function, caller, &call.frame, call.region));
  if (!call.recorded && r.lost != nullptr) count_lost(r);
  if (call.recorded) {
    read_at_enter(r);
    call.enter = ticks();
    if (call.enter >= r.processor_due && (!kPolls || r.polling == nullptr)) {
      note_processor(r, call.enter);
    }
    call.frame.region = call.region;
    call.frame.enter = call.enter;
    call.frame.trace = CallFrame::Trace::kInHand;
    if (blocks) {
      publish(
          r, put(r, put_at_enter(r, r.cursor), Enter{r.lid, record_time(call.enter), call.region}));
      r.last = call.enter;
      call.frame.trace = CallFrame::Trace::kEntered;
      r.open_region = true;
    }
  }
  call.frame.in_call = true;
}

}  // namespace

void begin_call(PlainCall& call, unsigned function, std::uint32_t group, bool blocks,
                const void* caller) {
  begin<false>(call, function, group, blocks, caller);
}
void begin_poll(PlainCall& call, unsigned function, std::uint32_t group, const void* caller) {
  begin<true>(call, function, group, false, caller);
}

bool poll_is_joined(PlainCall& call, const PollMember& what, bool found, Ticks exit) {
  Recorder& r = the_recorder;
  call.frame.in_call = false;
  read_at_exit(r);
  const bool joins = the_session.config.polls == PollRecording::kJoin &&
                     call.frame.trace != CallFrame::Trace::kHoldsCalls;
  if (!found && joins && join_poll(r, what, call.enter, exit)) {
    r.last = exit;
    return true;
  }
  if (found && r.trace->polling != nullptr) count_find(r, call.region);
  if (r.polling != nullptr) settle_polls(r, what, found, call.region, call.enter, exit);
  return false;
}

Recording records_of_poll(PlainCall& call, Ticks exit) {
  Recorder& r = the_recorder;
  Recording records{r, r.cursor, call.region, record_time(call.enter), record_time(exit), false};
  records.slow = true;  // there may have been a flush
  if (call.frame.trace == CallFrame::Trace::kHoldsCalls) come_back(records, call.frame, exit);
  r.last = exit;
  return records;
}

void note_call(PlainCall& call, CommObject* set, PeerId peer, Count64 what) {
  Recorder& r = the_recorder;
  call.frame.in_call = false;
  CommId cid = absent<CommId>();
  if (set != nullptr &&
      (defined_here(r, set->defined) || (fits(r, set->group) && define_members(r, *set))))
    cid = CommId{set->id};
  std::byte* const end = put_noted(
      r.note->records, MpiOpenCall{r.lid, record_time(call.enter), cid, absent<WindowId>(), peer,
                                   absent<PeerId>(), absent<Tag>(), what, Count{0}});
  keep_note(*r.note, static_cast<std::size_t>(end - r.note->records));
  call.frame.in_call = true;
}

Recording records_of(PlainCall& call) {
  call.frame.in_call = false;
  return records_of(call, ticks());
}

Recording records_of(PlainCall& call, Ticks exit) {
  call.frame.in_call = false;
  Recorder& r = the_recorder;
  read_at_exit(r);
  drop_note(*r.note);
  Recording records{r,          r.cursor, call.region, record_time(call.enter), record_time(exit),
                    call.blocks};
  if (call.frame.trace == CallFrame::Trace::kHoldsCalls) come_back(records, call.frame, exit);
  r.last = exit;
  return records;
}

void end_call(PlainCall& call, Recording& records) {
  Recorder& r = the_recorder;
  if (call.blocks) r.open_region = false;
  if (records.good) {
    publish(r, records.p);
    if (records.slow && r.trace->spilled) close_spill(r);
    if (r.last >= r.processor_due) note_processor(r, r.last);
  }
}

void leave_call(PlainCall& call) {
  if (!call.measured) return;
  call.frame.in_call = false;
  leave_frame(the_recorder, call.frame);
}

void end_call(PlainCall& call) {
  if (call.recorded) {
    Recording records = records_of(call);
    records.leave();
    end_call(call, records);
  }
  leave_call(call);
}

}  // namespace kojak::measure
