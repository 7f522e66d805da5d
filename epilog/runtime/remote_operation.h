// A transfer to or from another process's symmetric memory, as the records of the call in hand have
// it: its starts at the enter of the call, its ends at its exit.
#pragma once

#include "epilog/format/field_values.h"
#include "epilog/runtime/call.h"

namespace kojak::measure {

struct RemoteOperation {
  PeerId peer;
  RmaId id;  // of a get and put that of the get; the put has the next
  Count64 place;
  Count context;
  Flags flags;
};

// What moves: a put, a get, or both.
struct Moving {
  bool put, get;
};

inline RmaId put_of(const RemoteOperation& o, const Moving& moving) {
  return moving.get ? static_cast<RmaId>(raw(o.id) + 1) : o.id;
}
inline void write_start(Recording& call, const RemoteOperation& o, std::uint64_t bytes,
                        const Moving& moving) {
  const LocationId lid = call.r.lid;
  const auto sent = [&] { return bytes_field(call, raw(kAttrBytesSent), bytes); };
  call.event(ShmemPlace{lid, call.enter, o.peer, o.id, o.place, o.context, o.flags});
  if (moving.get) call.event(Get1tsRemote{lid, call.enter, o.peer, o.id, sent()});
  if (moving.put) call.event(Put1ts{lid, call.enter, o.peer, put_of(o, moving), sent()});
}
inline void write_end(Recording& call, const RemoteOperation& o, std::uint64_t bytes,
                      const Moving& moving) {
  const LocationId lid = call.r.lid;
  const auto received = [&] { return bytes_field(call, raw(kAttrBytesReceived), bytes); };
  if (moving.get) call.event(Get1te{lid, call.exit, o.peer, o.id, received()});
  if (moving.put) call.event(Put1teRemote{lid, call.exit, o.peer, put_of(o, moving), received()});
}

// All that is left of a call that makes one transfer: one record, where ENTER is not written yet.
inline void write_call(Recording& call, const RemoteOperation& o, std::uint64_t bytes,
                       const Moving& moving) {
  if (!call.entered) {
    const unsigned kind = (moving.put ? kCallPut : 0u) | (moving.get ? kCallGet : 0u);
    return call.whole(ShmemRmaCall{call.r.lid, call.enter, call.exit, call.region, o.peer, o.id,
                                   o.place, o.context, o.flags, Bytes64{bytes},
                                   Bytes64{moving.put && moving.get ? bytes : 0},
                                   Byte{static_cast<std::uint8_t>(kind)}});
  }
  write_start(call, o, bytes, moving);
  write_end(call, o, bytes, moving);
  call.leave();
}

// The same of one that puts data and then a signal behind them, with the next number.
inline void write_put_with_signal(Recording& call, const RemoteOperation& data, std::uint64_t bytes,
                                  Count64 signal_place, std::uint64_t signal_bytes) {
  constexpr Moving kPut{true, false};
  RemoteOperation signal = data;
  signal.id = static_cast<RmaId>(raw(data.id) + 1);
  signal.place = signal_place;
  signal.flags = static_cast<Flags>(raw(data.flags) | kPlaceSignal);
  write_start(call, data, bytes, kPut);
  write_start(call, signal, signal_bytes, kPut);
  write_end(call, data, bytes, kPut);
  write_end(call, signal, signal_bytes, kPut);
  call.leave();
}

}  // namespace kojak::measure
