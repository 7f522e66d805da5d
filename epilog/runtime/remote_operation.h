// A transfer to or from another process's symmetric memory, as the records of the call in hand have
// it: its starts at the enter of the call, its ends at its exit.
#pragma once

#include "epilog/format/field_values.h"
#include "epilog/runtime/call.h"

namespace kojak::measure {

struct RemoteOperation {
  PeerId peer;
  RmaId id;  // of a get and put that of the get; the put has the next
  Count context;
  Flags flags;
};

inline RmaId put_of(const RemoteOperation& o, bool get) {
  return get ? static_cast<RmaId>(raw(o.id) + 1) : o.id;
}
inline void write_start(Recording& call, const RemoteOperation& o, Count64 place,
                        std::uint64_t bytes, bool put, bool get) {
  const LocationId lid = call.r.lid;
  const auto sent = [&] { return bytes_field(call, raw(kAttrBytesSent), bytes); };
  call.event(ShmemPlace{lid, call.enter, o.peer, o.id, place, o.context, o.flags});
  if (get) call.event(Get1tsRemote{lid, call.enter, o.peer, o.id, sent()});
  if (put) call.event(Put1ts{lid, call.enter, o.peer, put_of(o, get), sent()});
}
inline void write_end(Recording& call, const RemoteOperation& o, std::uint64_t bytes, bool put,
                      bool get) {
  const LocationId lid = call.r.lid;
  const auto received = [&] { return bytes_field(call, raw(kAttrBytesReceived), bytes); };
  if (get) call.event(Get1te{lid, call.exit, o.peer, o.id, received()});
  if (put) call.event(Put1teRemote{lid, call.exit, o.peer, put_of(o, get), received()});
}

}  // namespace kojak::measure
