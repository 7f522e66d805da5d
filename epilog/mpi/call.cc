#include "epilog/mpi/call.h"

namespace kojak::measure {

void count_lost(Recorder& r) {
  std::uint64_t count;
  std::memcpy(&count, r.lost, sizeof count);
  ++count;
  std::memcpy(r.lost, &count, sizeof count);
}

void begin_plain(PlainCall& call, unsigned function, std::uint32_t group, bool blocks,
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
    call.enter = ticks();
    if (blocks) {
      publish(r, put(r.cursor, Enter{r.lid, to_seconds(call.enter), call.region}));
      r.open_region = function + 1;
      if (call.enter >= r.processor_due) note_processor(r, call.enter);
    }
  }
  call.frame.in_call = true;
}

void end_plain(PlainCall& call) {
  if (!call.outermost) return;
  call.frame.in_call = false;
  Recorder& r = the_recorder;
  if (call.recorded) {
    const Ticks exit = ticks();
    std::byte* const p =
        call.blocks
            ? put(r.cursor, Exit{r.lid, to_seconds(exit)})
            : put(r.cursor, MpiCall{r.lid, to_seconds(call.enter), to_seconds(exit), call.region});
    if (call.blocks) r.open_region = 0;
    r.last = exit;
    publish(r, p);
    if (call.blocks && exit >= r.processor_due) note_processor(r, exit);
  }
  r.frame = nullptr;
  call.frame.self = nullptr;
}

int missing_function(const char* name) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) say("the MPI library has no function %s; the call fails", name);
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

}  // namespace kojak::measure
