#include "epilog/runtime/call.h"

namespace kojak::measure {

void count_lost(Recorder& r) {
  std::uint64_t count;
  std::memcpy(&count, r.lost, sizeof count);
  ++count;
  std::memcpy(r.lost, &count, sizeof count);
}

void begin_call(PlainCall& call, unsigned function, std::uint32_t group, bool blocks,
                const void* caller) {
  Recorder& r = the_recorder;
  call.frame.in_call = false;
  if (r.frame != nullptr && !left_behind(r, &call.frame)) {
    passes_through(r, function, caller);
    return;
  }
  call.outermost = true;
  call.blocks = blocks;
  r.frame = &call.frame;
  call.recorded = (the_session.functions.load(std::memory_order_relaxed) & group) != 0 &&
                  ready(r, function, caller, &call.frame, call.region);
  if (!call.recorded && r.lost != nullptr) count_lost(r);
  if (call.recorded) {
    read_at_enter(r);
    call.enter = ticks();
    if (blocks) {
      publish(
          r, put(r, put_at_enter(r, r.cursor), Enter{r.lid, record_time(call.enter), call.region}));
      r.open_region = function + 1;
      if (call.enter >= r.processor_due) note_processor(r, call.enter);
    }
  }
  call.frame.in_call = true;
}

Recording records_of(PlainCall& call) {
  call.frame.in_call = false;
  Recorder& r = the_recorder;
  r.last = ticks();
  read_at_exit(r);
  drop_note(*r.note);
  return {r, r.cursor, call.region, record_time(call.enter), record_time(r.last), call.blocks};
}

void end_call(PlainCall& call, Recording& records) {
  Recorder& r = the_recorder;
  if (call.blocks) r.open_region = 0;
  if (records.good) {
    publish(r, records.p);
    if (records.slow && r.trace->spilled) close_spill(r);
    if (call.blocks && r.last >= r.processor_due) note_processor(r, r.last);
  }
}

void leave_call(PlainCall& call) {
  if (!call.outermost) return;
  call.frame.in_call = false;
  the_recorder.frame = nullptr;
  call.frame.self = nullptr;
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
