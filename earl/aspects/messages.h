// State aspect: the message queue, posted receives, and which call waited for which messages.
//
// Pairing rule (sendptr): the k-th SEND of (communicator, source, destination, tag) belongs to the
// k-th *posted* receive that got that source and tag. A receive is paired as soon as no
// earlier-posted, still pending receive could have taken a message of that communicator, source and
// tag; until then it is held. Without request ids the order is that of the RECVs.
//
// Memory: what is open (messages in flight, pending requests, calls whose messages are not final).
// References handed out live until the handler returns. Faults are counted.
// Source: docs/earl.md; docs/patterns.
#pragma once

#include <cstdint>
#include <span>

#include "earl/call.h"
#include "earl/event.h"

namespace kojak::earl {

// How a message was received: where the receive was posted, the RECV event, the call that completed
// the receive.
struct ReceiveSide {
  OpenCall post_call;          // Recv, Irecv, Start, Mprobe ...
  bool posting_known = false;  // false: completed by a Wait without request id (classic traces)
  Seconds recv_time;
  // kNoEvent: the request was freed, and only posting and request are known.
  std::uint64_t recv_pos = kNoEvent;
  RequestId recv_request = absent<RequestId>();
  LocationId recv_loc{};
  CallPathId recv_cnode{};
  Seconds recv_call_enter;
};

// A message whose pairing is final, seen from a call that completed one of its sides.
struct Message : ReceiveSide {
  CommId com{};
  Tag tag{};
  ProcessId source{};
  ProcessId destination{};
  Bytes64 bytes{};

  // The call that issued the send (Send, Isend, Start, Sendrecv ...) and its SEND event.
  OpenCall send_call;  // location, call path, function, enter
  Seconds send_time;
  std::uint64_t send_pos = kNoEvent;
  RequestId send_request = absent<RequestId>();

  // When it was received (at the exit of the receive-completing call; messages completed by the
  // same call count as received): was an older message to this receiver, from whomever, not yet
  // received; was an older message of this sender, to whomever, not yet received?
  bool older_to_receiver_pending = false;
  bool older_of_sender_pending = false;
  bool clock_violation = false;  // the RECV was read before its SEND
};

// A call and the messages that it completed, delivered once, when the pairing of all of them is
// final (messages that are never paired are left out). Late Sender looks at `received`, Late
// Receiver at `sent` and `received`.
struct MessageCall {
  const Call* call;
  std::span<const Message* const> received;  // receives completed by it, in order of their RECVs
  // Sends completed by it: its own blocking send (Send, Ssend, Rsend, Bsend, Sendrecv), and those
  // whose requests a Wait*/Test* found complete. An Isend's own call completes nothing. A message
  // that a freed receive took has no RECV, but a posting.
  std::span<const Message* const> sent;
};

// A message that a call has found and not received.
struct FoundMessage {
  ProcessId source;
  Seconds time;
};

// For the immediate hooks: at the SEND and RECV records themselves.
struct SendEvent {
  const OpenCall* call;  // the region instance it lies in
  std::uint64_t pos;
  Seconds time;
  ProcessId destination;
  CommId com;
  Tag tag;
  Bytes64 bytes;
  RequestId request;
};
struct RecvEvent {
  const OpenCall* call;
  std::uint64_t pos;
  Seconds time;
  ProcessId source;
  CommId com;
  Tag tag;
  Bytes64 bytes;  // 0 if !has_bytes: a classic trace; the pair's Message has the sender's count
  bool has_bytes;
  RequestId request;
  bool from_any = false;  // it was posted for any source, as far as that is known
};

}  // namespace kojak::earl
