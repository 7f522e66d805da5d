#include "epilog/mpi/request.h"

namespace kojak::measure {

RequestCache request_cache = {0, nullptr};

namespace {

HashMap<Request*> queues;  // heads by handle
Request* unused = nullptr;
std::uint32_t ids = 0;
std::uint64_t generations = 0;
std::uint64_t calls = 0;
std::size_t open = 0;

// Released requests keep their memory and generation, so that a stale claim reads a number that no
// longer fits, never somebody else's memory.
Request* take_unused() {
  if (unused == nullptr) return create<Request>();
  Request* const request = unused;
  unused = request->next;
  *request = Request{};
  return request;
}

// Puts it behind the others of its key. False without memory.
bool join_queue(Request* request) {
  request->next = request->previous = nullptr;
  Request** const head = queues.find(request->key);
  if (head != nullptr) {
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
  return ids++;
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
  request->generation = ++generations;
  if (!join_queue(request)) {
    request->next = unused;
    unused = request;
    return nullptr;
  }
  ++open;
  return request;
}

void rename_request(Request& request, MPI_Request handle) {
  if (request.key == word(handle) || handle == MPI_REQUEST_NULL) [[likely]]
    return;
  leave_queue(&request);
  request.key = word(handle);
  if (join_queue(&request)) return;
  --open;  // without memory: nobody will find it any more
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
  if (head == nullptr) return {};
  // Several in one call are claimed from the front; the head knows how far this call got.
  Request* request = (*head)->resume_call == call ? (*head)->resume : *head;
  const bool others = the_session.multi_threaded;  // may hold some
  while (request != nullptr && (request->claim == call || (others && request->claim != 0))) {
    request = request->next;
  }
  if (request == nullptr) return {};
  (*head)->resume_call = call;
  (*head)->resume = request->next;
  request->claim = call;
  return {request, request->generation};
}

void unclaim_request(const Claimed& claimed) {
  if (Request* request = still(claimed)) request->claim = 0;
}

void delete_request(Request* request) {
  leave_queue(request);
  if (request->comm != nullptr) drop_comm(request->comm);
  --open;
  request->generation = 0;
  request->next = unused;
  unused = request;
}

}  // namespace kojak::measure
