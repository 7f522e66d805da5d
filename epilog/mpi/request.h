// Requests of this process: what each will need when it is found complete.
//
// A handle can stand for several live operations, so each handle has a queue, first in, first out.
// A call with one request looks it up before MPI gets it, and deletes it after it if its generation
// is still the same. A call with an array keeps a copy of the handles, and looks up what has
// completed after it (ArrayCall), since looking up all would cost more than MPI's own look at them.
// Requests that need nothing at completion are not entered. All operations take constant time,
// however many requests are open. Callers hold the bookkeeping lock. Without memory a request is
// not entered and completes unrecorded.
#pragma once

#include "epilog/format/collective_operations.h"
#include "epilog/mpi/comm.h"
#include "epilog/mpi/mpi.h"
#include "epilog/mpi/window.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {

enum class RequestKind : std::uint8_t {
  kSend,
  kReceive,
  kTransfer,
  kCollective,
  kIo,
  kGeneralized,
  kCommDup,
  kPartitionedSend,
  kPartitionedReceive
};

struct Request {
  Word key = 0;
  Request* next = nullptr;  // in the queue of its handle
  Request* previous = nullptr;
  Request* tail = nullptr;  // of the queue, kept in its head
  std::uint64_t generation = 0;
  std::uint64_t order = 0;  // of its posting: of a persistent one that of its last start
  std::uint64_t claim = 0;  // the call that holds it
  RequestKind kind = RequestKind::kSend;
  bool persistent = false;
  bool active = true;
  bool reported = false;  // MPI_Request_get_status has recorded the completion
  bool cancelled = false;
  std::uint32_t id = 0;  // request id; of a transfer its rmaid
  Comm* comm = nullptr;  // messages, communicators, collective operations
  std::uint32_t peer = kAbsent, tag = kAbsent;
  PostedReceive posted;  // of a receive that is open
  std::uint64_t bytes = 0;
  std::uint64_t received = 0;      // the following of a collective operation; its root is `peer`
  std::uint64_t key_of_start = 0;  // as in MPI_COLL_BEGIN
  std::uint64_t starts = 0;        // of a persistent one; else the ordinal of MPI_COLL_BEGIN
  CollectiveOp op = CollectiveOp::kNone;
  std::uint64_t channel = 0;                // of a partitioned one, as in MPI_PART_BEGIN
  std::uint32_t partitions = 0, given = 0;  // given away since its start
  std::uint32_t send_half = kAbsent;        // of MPI_Isendrecv: the request id of what it sends
  std::uint32_t window = 0;                 // of a transfer
  bool gets = false;                        // a transfer with a result at the origin
  MPI_Comm* made = nullptr;                 // where MPI_Comm_idup puts its communicator
  MPI_Comm copy{};    // of it, for a call from Fortran: `made` points here then
  Identity identity;  // and which it is
};

// A request found before a call, and whether it is still the same after it.
struct Claimed {
  Request* request = nullptr;
  std::uint64_t generation = 0;
};

// A message that MPI_Mprobe took, for the MPI_Mrecv to come: from then on no other receive can.
struct MatchedMessage {
  std::uint32_t id;
  std::uint32_t peer, tag;
  Comm* comm;
  PostedReceive posted;
};
extern HashMap<MatchedMessage> matched_messages;

std::uint32_t next_request_id();
// Of a posting: greater than that of all before.
std::uint64_t next_order();
// A receive is open from now on, in the order of the request.
inline void post(Request& request) {
  post_receive(*request.comm, request.peer, request.tag, request.order, request.posted);
}
// It is over. Where it has taken a message, that has been counted.
inline void unpost(Request& request) {
  if (request.posted.wildcard || request.posted.count != nullptr) [[unlikely]]
    give_up_receive(*request.comm, request.peer, request.tag, request.posted);
}
Request* enter_request(MPI_Request handle, RequestKind kind);
// The oldest one of the handle that no call has claimed yet; this one (a number that is never 0)
// does. For several threads.
Claimed claim_request(MPI_Request handle, std::uint64_t call);
void unclaim_request(const Claimed& claimed);
// A call left another handle for the request.
void rename_request(Request& request, MPI_Request handle);
std::uint64_t next_call_number();

// The queue looked up last: a program that spins on one request finds it here.
struct RequestCache {
  Word key;
  Request* head;
};
extern RequestCache request_cache;
Request* look_up_request(Word key);

// Does what claim_request() does, for calls with one request. Without threads nobody else can want
// the oldest one, so nothing needs to be marked.
KOJAK_INLINED inline Claimed claim_one(MPI_Request handle) {
  if (the_session.multi_threaded) [[unlikely]]
    return claim_request(handle, next_call_number());
  const Word key = word(handle);
  Request* const request = request_cache.key == key ? request_cache.head : look_up_request(key);
  return request == nullptr ? Claimed{} : Claimed{request, request->generation};
}
KOJAK_INLINED inline void unclaim_one(const Claimed& claimed) {
  if (the_session.multi_threaded) [[unlikely]]
    unclaim_request(claimed);
}
inline Request* still(const Claimed& claimed) {
  return claimed.request != nullptr && claimed.request->generation == claimed.generation
             ? claimed.request
             : nullptr;
}
void delete_request(Request* request);
std::size_t open_requests();
// All that are entered, in the order of their posting. Without memory none.
const Vector<Request*>& requests_in_order();
// How many requests are over, those that were not entered, too.
extern std::uint64_t ended_requests;
// Some open request needs its status when it completes.
bool statuses_are_needed();
void cancelled_request(Request& request);
// A persistent one begins an operation.
void activate_request(Request& request);

// A call with an array of requests, from its beginning to its end.
//
// MPI may give the handle of a completed request to somebody else before the call returns. What
// this call completes is then still the oldest of its handle, unless another thread takes that one
// for its own: so where a handle is given out again while it stands in the array of an open call,
// what that call holds of it is claimed first (enter_request()). Lists grow to the longest array
// ever given, one for each such call that is open at the same time. The next call with the same
// array, as a loop of MPI_Waitany makes them, mostly gets the same one of these, which then knows
// what is pending without a look at each request.
inline constexpr std::uint32_t kMostAwaited = 16;  // so many requests a note names
struct ArrayCall {
  std::size_t count = 0;
  Vector<MPI_Request> handles;  // as MPI got them
  Vector<MPI_Status> statuses;  // ours, where the user ignores them
  Vector<Claimed> claimed;      // where handles were given out again
  std::uint64_t number = 0;
  std::uint64_t newest = 0;  // generation of the newest request when the call began
  ArrayCall* next = nullptr;
  ArrayCall* previous = nullptr;

  // The first ones that are pending, as far as they have been looked for.
  struct Pending {
    std::size_t place;
    Claimed claimed;
  };
  Pending pending[kMostAwaited];
  std::uint32_t found = 0;
  std::size_t looked_at = 0;    // handles
  bool also_inactive = false;   // those count, too
  std::uint64_t activated = 0;  // how many persistent ones had been when it began to look

  // The oldest request of the handle at this place that the call may have completed.
  Request* at(std::size_t place) const;
  // The call left this there.
  void left(std::size_t place, MPI_Request handle) { handles[place] = handle; }
  // Looks for the first pending ones: `most` of them, if there are so many. Returns their number.
  std::uint32_t find_pending(std::uint32_t most, bool inactive_too);

 private:
  bool is_found(const Request& request) const;
};
ArrayCall* begin_array_call(const MPI_Request* requests, std::size_t count);  // null: no memory
void end_array_call(ArrayCall& call);

}  // namespace kojak::measure
