// Records that send, post, receive and complete; which messages belong together is decided in
// message_order.cc.
#include "earl/sequence/message_queues.h"

#include <algorithm>

#include "earl/detail/replay_core.h"

namespace kojak::earl::sequence {

using detail::kNone;

MessageQueues::MessageQueues(const Trace& trace)
    : trace_(&trace),
      native_(trace.native()),
      wildcards_(trace.process_count()),
      segments_(trace.process_count()),
      pauses_(trace.location_count()) {}

// Absent if the trace does not have it.
ProcessId MessageQueues::process(LocationId location) const {
  const std::uint32_t i = trace_->index(location);
  return i != kAbsent ? trace_->process(i) : absent<ProcessId>();
}

std::uint32_t MessageQueues::new_request(ProcessId process, RequestId id, std::uint64_t pos) {
  const detail::Key64 key = request_key(process, id);
  if (request_index_.find(key) != kNone) return kNone;
  if (requests_.live() >= purge_requests_at_) purge_requests();
  const std::uint32_t ri = requests_.take();
  requests_[ri] = Request{};
  requests_[ri].key = key;
  requests_[ri].posted = pos;
  request_index_.insert(key, ri);
  return ri;
}

void MessageQueues::close_request(std::uint32_t ri) {
  request_index_.erase(requests_[ri].key);
  requests_.give_back(ri);
}

// Sends that nobody has waited for while very many others were issued: older traces do not say
// that a request was freed.
void MessageQueues::purge_requests() {
  std::vector<std::uint64_t> posted;
  request_index_.for_each([&](const detail::Key64&, std::uint32_t ri) {
    if (requests_[ri].send) posted.push_back(requests_[ri].posted);
  });
  const std::size_t keep = purge_requests_at_ / 4;
  if (posted.size() > keep) {
    std::nth_element(posted.begin(), posted.end() - static_cast<std::ptrdiff_t>(keep),
                     posted.end());
    const std::uint64_t oldest = *(posted.end() - static_cast<std::ptrdiff_t>(keep));
    std::vector<std::uint32_t> old;
    request_index_.for_each([&](const detail::Key64&, std::uint32_t ri) {
      if (requests_[ri].send && requests_[ri].posted < oldest) old.push_back(ri);
    });
    for (const std::uint32_t ri : old) close_request(ri);
  }
  purge_requests_at_ = std::max(purge_requests_at_, 2 * requests_.live());
}

void MessageQueues::change(const Event& e) {
  const std::uint32_t i = trace_->index(e.loc);
  if (i == kAbsent) [[unlikely]]
    return;
  const ProcessId process = trace_->process(i);
  switch (e.type) {
    case EventType::kMpiSend:
      return send(e, process);
    case EventType::kMpiRecv:
      return receive(e, process);
    case EventType::kMpiRecvRequest:
      return post(e, process);
    case EventType::kMpiSendComplete:
      if (const std::uint32_t ri = request_index_.find(request_key(process, e.request));
          ri != kNone && requests_[ri].send) {
        requestptr_ = requests_[ri].posted;
        close_request(ri);
      }
      return;
    case EventType::kMpiCancelled:
      return cancel(e, process);
    case EventType::kMpiRequestFreed:
      return freed(e, process);
    case EventType::kMsgState:
      return resume(e, process);
    default:
      if (is_enter(e.type) && e.reg == trace_->pausing_region()) pause(i, process);
  }
}

void MessageQueues::send(const Event& e, ProcessId source) {
  const ProcessId destination = process(static_cast<LocationId>(raw(e.peer)));
  if (is_absent(destination)) return;
  const std::uint32_t ci = channels_.get(detail::channel_key(e.com, e.tag, source, destination));
  Channel& c = channels_[ci];
  if (!native_) segment(c.sent, raw(source));
  c.sends.push({e.pos, c.sent++});
  ++in_flight_;
  if (!is_absent(e.request)) {
    const std::uint32_t ri = new_request(source, e.request, e.pos);
    if (ri != kNone) {
      requests_[ri].send = true;
      requests_[ri].channel = ci;
    }
  }
  if (!c.ahead.empty()) [[unlikely]]
    serve_ahead(c);
}

std::uint32_t& MessageQueues::wildcards(const detail::Key128& key) {
  Wildcards& w = wildcards_[key.b & 0xFFFFFFFFu];
  const bool any_source = key.b >> 32 == kAbsent, any_tag = (key.a & 0xFFFFFFFFu) == kAbsent;
  return any_source && any_tag ? w.both : any_source ? w.source : w.tag;
}

void MessageQueues::post(const Event& e, ProcessId destination) {
  if (!native_) return;
  ProcessId source = absent<ProcessId>();
  if (!is_absent(e.peer)) {
    source = process(static_cast<LocationId>(raw(e.peer)));
    if (is_absent(source)) return;
  }
  const std::uint32_t ri = new_request(destination, e.request, e.pos);
  if (ri == kNone) return;  // Imrecv of what was matched before
  const std::uint32_t ci = channels_.get(detail::channel_key(e.com, e.tag, source, destination));
  requests_[ri].channel = ci;
  requests_[ri].pending = true;
  if (is_absent(source) || is_absent(e.tag)) ++wildcards(channels_[ci].key);
  channels_[ci].posts.push({e.pos, ri});
  ++channels_[ci].pending;
}

void MessageQueues::receive(const Event& e, ProcessId destination) {
  const ProcessId source = process(static_cast<LocationId>(raw(e.peer)));
  const std::uint32_t ri =
      is_absent(e.request) ? kNone : request_index_.find(request_key(destination, e.request));
  const bool requested = ri != kNone && !requests_[ri].send;
  std::uint64_t order = e.pos;
  if (requested) {
    order = requestptr_ = requests_[ri].posted;
    unpost(ri);
    close_request(ri);
  } else if (e.enterptr != kNoEvent) {
    const RegionDef* region = trace_->definitions().regions.find(e.reg);
    const MpiFunction* function = region != nullptr ? region->function : nullptr;
    if (detail::posting_receive(function != nullptr ? function->role : MpiRole::kOther)) {
      order = e.enterptr;
    }
  }
  if (!is_absent(source)) {
    const std::uint32_t ci = channels_.get(detail::channel_key(e.com, e.tag, source, destination));
    if (!native_) segment(channels_[ci].recvd, raw(destination));
    complete(ci, order, e.pos);
  }
  settle_released();
}

void MessageQueues::cancel(const Event& e, ProcessId process) {
  const std::uint32_t ri = request_index_.find(request_key(process, e.request));
  if (ri == kNone) return;
  const Request r = requests_[ri];
  if (!r.send) {
    unpost(ri);
    close_request(ri);
    return settle_released();
  }
  close_request(ri);
  // The message leaves the queue, and those behind it move up.
  Channel& c = channels_[r.channel];
  const auto sends = c.sends.items();
  const auto it =
      std::find_if(sends.begin(), sends.end(), [&](const Sent& s) { return s.pos == r.posted; });
  if (it == sends.end()) return;
  for (auto later = it + 1; later != sends.end(); ++later) --later->ordinal;
  c.sends.erase_if([&](const Sent& s) { return s.pos == r.posted; });
  --c.sent;
  --in_flight_;
}

void MessageQueues::freed(const Event& e, ProcessId process) {
  const std::uint32_t ri = request_index_.find(request_key(process, e.request));
  if (ri == kNone) return;
  const Request r = requests_[ri];
  if (r.send) return close_request(ri);
  unpost(ri);
  close_request(ri);
  const detail::Key128& key = channels_[r.channel].key;
  if (r.pending && key.b >> 32 != kAbsent && (key.a & 0xFFFFFFFFu) != kAbsent) {
    complete(r.channel, r.posted, kNoEvent);  // it takes its message unseen
  }
  settle_released();
}

void MessageQueues::resume(const Event& e, ProcessId process_here) {
  const ProcessId peer = process(static_cast<LocationId>(raw(e.peer)));
  if (is_absent(peer)) return;
  const detail::Key128 out = detail::channel_key(e.com, e.tag, process_here, peer);
  if (e.count[0] != 0 || channels_.find(out) != kNone) {
    Channel& c = channels_[channels_.get(out)];
    if (e.count[0] > c.sent) {
      c.sent = e.count[0];
      serve_ahead(c);
    }
  }
  const detail::Key128 in = detail::channel_key(e.com, e.tag, peer, process_here);
  if (e.count[1] != 0 || channels_.find(in) != kNone) {
    Channel& c = channels_[channels_.get(in)];
    if (e.count[1] > c.recvd + c.held.size()) {
      c.recvd = e.count[1] - c.held.size();
      drop_before(c, c.recvd);
    }
  }
}

// Receives may complete unseen: none of those that are pending may hold back others. Each thread
// of a process writes its own LOG_OFF; the process pauses once.
void MessageQueues::pause(std::uint32_t index, ProcessId process) {
  if (++pauses_[index] <= segments_[raw(process)]) return;
  ++segments_[raw(process)];
  std::vector<std::uint32_t> pending;
  request_index_.for_each([&](const detail::Key64& key, std::uint32_t ri) {
    if (key.a >> 32 == raw(process) && requests_[ri].pending) pending.push_back(ri);
  });
  for (const std::uint32_t ri : pending) unpost(ri);
  settle_released();
}

std::vector<std::uint64_t> MessageQueues::queue(CommId com, ProcessId source, ProcessId destination,
                                                Tag tag) const {
  std::vector<std::uint64_t> result;
  const std::uint32_t ci = channels_.find(detail::channel_key(com, tag, source, destination));
  if (ci == kNone) return result;
  for (const Sent& s : channels_[ci].sends.items()) result.push_back(s.pos);
  return result;
}

std::vector<std::uint64_t> MessageQueues::sends() const {
  std::vector<std::uint64_t> result;
  channels_.for_each([&](const detail::Key128&, std::uint32_t ci) {
    for (const Sent& s : channels_[ci].sends.items()) result.push_back(s.pos);
  });
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace kojak::earl::sequence
