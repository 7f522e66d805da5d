#include "epilog/mpi/request.h"

#include <string.h>

#include <algorithm>

namespace kojak::measure {

RequestCache request_cache = {0, nullptr};
std::uint64_t ended_requests = 0;

namespace {

HashMap<Request*> queues;  // heads by handle
Request* unused = nullptr;
std::uint64_t generations = 0;
std::uint64_t calls = 0;
std::size_t open = 0;
std::size_t open_receives = 0;
bool any_cancelled = false;
std::uint64_t activations = 0;  // of persistent requests, and ends of such
ArrayCall* unused_calls = nullptr;
ArrayCall* open_calls = nullptr;  // where several threads may have some

// Released requests keep their memory and generation, so that a stale claim reads a number that no
// longer fits, never somebody else's memory.
Request* take_unused() {
  if (unused == nullptr) return create<Request>();
  Request* const request = unused;
  unused = request->next;
  *request = Request{};
  return request;
}

// What the open call holds of this handle is claimed.
[[gnu::noinline]] void claim_for(ArrayCall& call, Word key, Request* head) {
  std::size_t held = 0;
  for (std::size_t i = 0; i < call.count; ++i) held += word(call.handles[i]) == key;
  for (Request* r = head; r != nullptr && held != 0; r = r->next) {
    if (r->claim == 0 && r->generation <= call.newest) {
      if (!call.claimed.push_back({r, r->generation})) return;
      r->claim = call.number;
    }
    if (r->claim == call.number) --held;
  }
}

// Puts it behind the others of its key. False without memory.
bool join_queue(Request* request) {
  request->next = request->previous = nullptr;
  Request** const head = queues.find(request->key);
  if (head != nullptr) {
    for (ArrayCall* call = open_calls; call != nullptr; call = call->next) {
      claim_for(*call, request->key, *head);
    }
    Request* const last = (*head)->tail;
    last->next = request;
    request->previous = last;
    (*head)->tail = request;
    return true;
  }
  request->tail = request;
  if (queues.set(request->key, request) == nullptr) return false;
  request_cache = {request->key, request};
  return true;
}

void leave_queue(Request* request) {
  Request* const next = request->next;
  if (request->previous != nullptr) {
    request->previous->next = next;
    if (next != nullptr) {
      next->previous = request->previous;
    } else {
      Request** const head = queues.find(request->key);
      if (head != nullptr) (*head)->tail = request->previous;
    }
  } else if (next != nullptr) {
    next->previous = nullptr;
    next->tail = request->tail;
    queues.set(request->key, next);
  } else {
    queues.erase(request->key);
  }
  if (request_cache.key == request->key && request->previous == nullptr) request_cache.head = next;
}

}  // namespace

std::uint32_t next_request_id() {
  std::uint32_t& next = the_session.next_request_id;
  if (next == kAbsent) next = 0;  // that number says "none"
  return next++;
}
std::uint64_t next_order() {
  return ++generations;
}
std::uint64_t next_call_number() {
  return ++calls;
}
std::size_t open_requests() {
  return open;
}

Request* enter_request(MPI_Request handle, RequestKind kind) {
  Request* const request = take_unused();
  if (request == nullptr) return nullptr;
  request->key = word(handle);
  request->kind = kind;
  request->generation = request->order = ++generations;
  if (!join_queue(request)) {
    request->next = unused;
    unused = request;
    return nullptr;
  }
  ++open;
  if (kind == RequestKind::kReceive) ++open_receives;
  return request;
}

void rename_request(Request& request, MPI_Request handle) {
  if (request.key == word(handle) || handle == MPI_REQUEST_NULL) [[likely]]
    return;
  ++activations;
  leave_queue(&request);
  request.key = word(handle);
  if (join_queue(&request)) return;
  --open;  // without memory: nobody will find it any more
  if (request.kind == RequestKind::kReceive) --open_receives;
  request.generation = 0;
}

Request* look_up_request(Word key) {
  Request** const head = queues.find(key);
  request_cache = {key, head == nullptr ? nullptr : *head};
  return request_cache.head;
}

Claimed claim_request(MPI_Request handle, std::uint64_t call) {
  if (handle == MPI_REQUEST_NULL) return {};
  Request** const head = queues.find(word(handle));
  Request* request = head == nullptr ? nullptr : *head;
  while (request != nullptr && request->claim != 0) request = request->next;
  if (request == nullptr) return {};
  request->claim = call;
  return {request, request->generation};
}

void unclaim_request(const Claimed& claimed) {
  if (Request* request = still(claimed)) request->claim = 0;
}

void delete_request(Request* request) {
  leave_queue(request);
  if (request->comm != nullptr) {
    unpost(*request);
    drop_comm(request->comm);
  }
  --open;
  if (request->kind == RequestKind::kReceive) --open_receives;
  if (request->persistent) ++activations;
  request->generation = 0;
  request->next = unused;
  unused = request;
}

bool statuses_are_needed() {
  return open_receives != 0 || (any_cancelled && open != 0);
}
void cancelled_request(Request& request) {
  request.cancelled = any_cancelled = true;
}
void activate_request(Request& request) {
  request.order = ++generations;
  request.active = true;
  request.reported = request.cancelled = false;
  ++activations;
}

const Vector<Request*>& requests_in_order() {
  static Vector<Request*> list;
  (void)list.resize(0);
  bool good = true;
  queues.for_each([&](std::uint64_t, Request* head) {
    for (Request* r = head; good && r != nullptr; r = r->next) good = list.push_back(r);
  });
  if (!good) (void)list.resize(0);
  std::sort(list.begin(), list.end(),
            [](const Request* a, const Request* b) { return a->order < b->order; });
  return list;
}

ArrayCall* begin_array_call(const MPI_Request* requests, std::size_t count) {
  ArrayCall* const call = unused_calls != nullptr ? unused_calls : create<ArrayCall>();
  if (call == nullptr) return nullptr;
  if (call == unused_calls) unused_calls = call->next;
  const std::size_t bytes = count * sizeof *requests;
  if (call->count != count || (count != 0 && memcmp(call->handles.data(), requests, bytes) != 0)) {
    call->found = 0;
    call->looked_at = 0;
    call->count = 0;
    if (!call->handles.resize(count)) {
      call->next = unused_calls;
      unused_calls = call;
      return nullptr;
    }
    call->count = count;
    if (count != 0) memcpy(call->handles.data(), requests, bytes);
  }
  call->number = next_call_number();
  call->newest = generations;
  call->next = call->previous = nullptr;
  if (the_session.multi_threaded) {
    call->next = open_calls;
    if (open_calls != nullptr) open_calls->previous = call;
    open_calls = call;
  }
  return call;
}

void end_array_call(ArrayCall& call) {
  for (const Claimed& one : call.claimed) unclaim_request(one);
  (void)call.claimed.resize(0);
  if (call.previous != nullptr) call.previous->next = call.next;
  if (call.next != nullptr) call.next->previous = call.previous;
  if (open_calls == &call) open_calls = call.next;
  call.next = unused_calls;
  unused_calls = &call;
}

Request* ArrayCall::at(std::size_t place) const {
  Request** const head = queues.find(word(handles[place]));
  Request* oldest = head == nullptr ? nullptr : *head;
  if (!the_session.multi_threaded) {
    return oldest != nullptr && oldest->generation <= newest ? oldest : nullptr;
  }
  if (!claimed.empty()) {
    for (Request* r = oldest; r != nullptr; r = r->next) {
      if (r->claim == number) return r;
    }
  }
  while (oldest != nullptr && oldest->claim != 0) oldest = oldest->next;
  return oldest != nullptr && oldest->generation <= newest ? oldest : nullptr;
}

bool ArrayCall::is_found(const Request& request) const {
  for (std::uint32_t i = 0; i < found; ++i) {
    if (pending[i].claimed.request == &request) return true;
  }
  return false;
}

std::uint32_t ArrayCall::find_pending(std::uint32_t most, bool inactive_too) {
  const auto counts = [inactive_too](const Request& r) { return r.active || inactive_too; };
  bool known = also_inactive == inactive_too && activated == activations;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; known && i < found; ++i) {
    const Request* const request = still(pending[i].claimed);
    // Another one may stand there by the same handle.
    if (request == nullptr) known = handles[pending[i].place] == MPI_REQUEST_NULL;
    if (request != nullptr && counts(*request)) pending[kept++] = pending[i];
  }
  found = known ? kept : 0;
  if (!known) {
    looked_at = 0;
    also_inactive = inactive_too;
    activated = activations;
  }
  constexpr std::size_t kGroup = 8;  // of handles that are passed over together
  while (found < most && looked_at < count) {
    const MPI_Request* const from = handles.data() + looked_at;
    if (looked_at + kGroup <= count) {
      bool any = false;
      for (std::size_t i = 0; i < kGroup; ++i) any |= from[i] != MPI_REQUEST_NULL;
      if (!any) {
        looked_at += kGroup;
        continue;
      }
    }
    const std::size_t place = looked_at++;
    if (*from == MPI_REQUEST_NULL) continue;
    Request* request = at(place);
    while (request != nullptr && request->next != nullptr && is_found(*request)) {
      request = request->next;
    }
    if (request != nullptr && counts(*request))
      pending[found++] = {place, {request, request->generation}};
  }
  return found;
}

}  // namespace kojak::measure
