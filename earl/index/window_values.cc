#include "earl/index/window_values.h"

#include "earl/aspects/transfers.h"
#include "epilog/format/field_values.h"

namespace kojak::earl::sequence {

WindowValues::WindowValues(const Trace& trace) : trace_(&trace), writes_(trace) {}

// Absent if the trace does not have it.
ProcessId WindowValues::process(std::uint32_t location) const {
  const std::uint32_t i = trace_->index(static_cast<LocationId>(location));
  return i != kAbsent ? trace_->process(i) : absent<ProcessId>();
}

void WindowValues::follow(const Event& e) {
  if (!any_ && e.type != EventType::kMpiRmaPlace) return;
  const ProcessId here = process(raw(e.loc));
  if (is_absent(here)) return;
  switch (e.type) {
    case EventType::kMpiRmaPlace:
      any_ = true;
      return place(e, locations_[e.loc], here);
    case EventType::kMpiPut1ts:
      return put(e, locations_[e.loc], here);
    case EventType::kMpiPut1te:
      return end(e);
    case EventType::kMpiPolled: {
      Location& at = locations_[e.loc];
      if ((e.count[2] & kPollGoesOn) == 0) at.asked.clear();
      at.found = e.completes == static_cast<std::uint8_t>(PollEnd::kFound);
      return;
    }
    case EventType::kMpiPoll:
      return poll(e, locations_[e.loc]);
    case EventType::kMpiValue:
      return value(e, locations_[e.loc], here);
    default:
      return;
  }
}

void WindowValues::place(const Event& e, Location& at, ProcessId here) {
  const ProcessId target = process(raw(e.peer));
  const bool reads = (e.completes & kCallGet) != 0, writes = (e.completes & kCallPut) != 0;
  const bool known = e.offset != RmaPlace::kUnknown;
  if (is_absent(target)) return;
  if (reads && known) {
    at.reads[at.next_read++ % kMostReads] = {
        e.rmaid, e.win, target, e.offset, e.count[0], writes, {e.enterptr, e.time}};
  }
  at.placed = writes ? raw(e.rmaid) + (reads ? 1 : 0) : kAbsent;
  at.place = e;
  if (writes && known && e.code != kPlaceSwap) {
    locks_.give(writes_.addresses().bytes_at(e.win, target, e.offset, e.count[0]), here,
                {e.enterptr, e.time});
  }
}

void WindowValues::put(const Event& e, Location& at, ProcessId here) {
  const ProcessId target = process(raw(e.peer));
  if (is_absent(target) || is_absent(e.win)) return;
  const bool placed = at.placed == raw(e.rmaid);
  for (Read& read : at.reads) {
    if (placed && read.swaps && raw(read.rmaid) + 1 == raw(e.rmaid)) read.put = e.pos;
  }
  writes_.issue({.what = {e.pos, e.loc, exits_[e.loc]},
                 .origin = here,
                 .rmaid = raw(e.rmaid),
                 .first = placed ? at.place.offset : RmaPlace::kUnknown,
                 .bytes = placed ? at.place.count[0] : 0,
                 .swap = placed && at.place.code == kPlaceSwap},
                e.win, target);
}

void WindowValues::end(const Event& e) {
  const ProcessId origin = process(raw(e.peer));
  Writes::Write* const write = is_absent(origin) ? nullptr : writes_.open(origin, raw(e.rmaid));
  if (write == nullptr) return;
  // In its own call: the basic model, which does not know when it was complete.
  if (exits_[write->what.location] != write->what.exits) write->complete = e.time;
  writes_.close(origin, raw(e.rmaid));
}

void WindowValues::poll(const Event& e, Location& at) {
  const bool values = e.completes == static_cast<std::uint8_t>(PollKind::kRead) ||
                      e.completes == static_cast<std::uint8_t>(PollKind::kSwap);
  const ProcessId target = process(raw(e.peer));
  if (!values || is_absent(target)) return;
  Asked& asked = at.asked
                     .try_emplace(writes_.addresses().bytes_at(e.win, target, e.offset, e.code),
                                  Asked{e.first_enter, e.last_enter})
                     .first->second;
  asked.first = std::min(asked.first, e.first_enter);
  asked.last = e.last_enter;
}

void WindowValues::value(const Event& e, Location& at, ProcessId here) {
  const auto read = std::find_if(at.reads.begin(), at.reads.end(),
                                 [&](const Read& r) { return r.rmaid == e.rmaid; });
  if (read == at.reads.end()) return;
  const Locks::Place place =
      writes_.addresses().bytes_at(read->window, read->target, read->first, read->bytes);
  const auto asked = at.asked.find(place);
  if (read->swaps) {
    const std::deque<Locks::Holding>* const turns = locks_.swap(
        place, here, e.count[0], e.count[1], {read->put, read->issued.enter}, read->issued);
    if (turns != nullptr && at.found && asked != at.asked.end()) {
      took(*read, *turns, asked->second, here);
    }
    at.found = false;
    return;
  }
  if (asked == at.asked.end()) return;
  bool several = false;
  const Writes::Write* const write = writes_.last(read->window, read->target, read->first,
                                                  read->bytes, here, asked->second.last, several);
  if (write != nullptr) writeptr_ = write->what.pos;
}

// The last one who had it while it was polled for.
void WindowValues::took(const Read& read, const std::deque<Locks::Holding>& turns,
                        const Asked& asked, ProcessId here) {
  for (const Locks::Holding& h : turns) {
    if (h.process == here || !h.given) continue;
    if (asked.first < h.given->enter && h.taken.enter < read.issued.enter) holderptr_ = h.taken.pos;
  }
}

}  // namespace kojak::earl::sequence
