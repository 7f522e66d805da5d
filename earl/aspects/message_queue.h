// State aspect: the message queue, posted receives, and which call waited for which messages.
// messages.h says what the pairing rule is and what is handed out.
//
// Feed it the records in file order; leave() at the exit of every call that took part (its
// reference is not 0), finish() once at the end. A call is delivered when those that receive its
// messages have been left, too: only then is it known which older messages were still open.
// Faults are counted. Source: docs/earl.md.
#pragma once

#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "earl/aspects/messages.h"
#include "earl/detail/channel_table.h"
#include "earl/detail/flat_index.h"
#include "earl/detail/message_line.h"
#include "earl/detail/recording_segments.h"
#include "earl/detail/request_table.h"
#include "earl/findings.h"
#include "earl/pool.h"

namespace kojak::earl {

class MessageQueue {
 public:
  // native: request ids and MSG_STATE are there; else ordinals restart at each pause.
  MessageQueue(std::uint32_t processes, bool native, Findings& findings);

  // A SEND. `call_ref` belongs to the region instance it lies in (0 at first). `blocking`: that
  // call itself waits for the message (it has no request and is no Isend).
  void send(const SendEvent& event, bool blocking, std::uint32_t& call_ref);
  // MPI_RECV_REQUEST; absent source or tag: any.
  void post(const OpenCall& call, std::uint64_t pos, RequestId request, ProcessId source,
            CommId com, Tag tag);
  // REQUEST_STATE of a receive: it is open where recording goes on, behind those that were told
  // before. `call` is where that is said, and stands for the posting that was not recorded.
  // `overtaken`: so many that were posted later have taken messages of its channel; kUnknownNumber:
  // which message is its own is not known.
  void reopen(const OpenCall& call, std::uint64_t pos, RequestId request, ProcessId source,
              CommId com, Tag tag, std::uint64_t overtaken);
  static constexpr std::uint64_t kUnknownNumber = ~std::uint64_t{0};
  // REQUEST_STATE of a send, whose message was sent unseen: its completion is none of an unknown
  // request.
  void reopen_send(ProcessId process, RequestId request) {
    if (find_request(process, request) == kNone) unseen_sends_.insert(key_of(process, request));
  }
  // A RECV. `posts`: the call itself posts what it receives (Recv, Sendrecv ...).
  void receive(const RecvEvent& event, bool posts, std::uint32_t& call_ref);
  void send_complete(const OpenCall& call, std::uint64_t pos, RequestId request,
                     std::uint32_t& call_ref);
  // A receive of a message whose sender is not in the trace.
  void forget(ProcessId process, RequestId request);
  void cancelled(const OpenCall& call, std::uint64_t pos, RequestId request);
  // MPI_REQUEST_FREED: nothing will tell of its completion. A posted receive takes its message all
  // the same; what one for any source or tag takes is unknown (counted).
  void freed(const OpenCall& call, std::uint64_t pos, RequestId request);
  // The call has found a message of (com, tag, source) and left it in the queue: that is the first
  // one which no receive takes that was posted before. `posted`: the call has posted a receive of
  // it itself. The call that sent it; nullptr if the SEND has not been read yet: take_probes().
  const OpenCall* probe(const Call& call, CommId com, Tag tag, ProcessId source, bool posted);
  bool probes_served() const { return served_probes_ != 0; }
  // f(const Call& probe, const OpenCall& send) for those whose SENDs have come since.
  template <class F>
  void take_probes(F&& f) {
    std::erase_if(probes_, [&](const Probed& p) {
      if (p.sent) f(p.call, p.send);
      return p.sent;
    });
    served_probes_ = 0;
  }
  // MSG_STATE of `process`.
  void resume(ProcessId process, CommId com, ProcessId peer, Tag tag, std::uint64_t sent,
              std::uint64_t recvd, std::uint64_t pos);
  // MSG_RESTARTED of `process`; absent tag: all.
  void restart(ProcessId process, CommId com, ProcessId peer, Tag tag, std::uint64_t sent_before,
               std::uint64_t recvd_before);
  // Recording of the process was switched off.
  void pause(ProcessId process);

  // The call that `call_ref` belongs to has been left: f(const MessageCall&) for every call whose
  // messages have all become final, this one among them or not.
  template <class F>
  void leave(std::uint32_t call_ref, const Call& call, F&& f) {
    if ((call_ref & kSingle) != 0) {
      leave_single(call_ref, call, f);
    } else if (leave(call_ref, call)) {
      deliver(call_ref, call, f);
    }
    if (!ready_.empty()) drain(f);
  }
  // f(const MessageCall&) for calls that became final otherwise (after resume(), pause() ...).
  template <class F>
  void drain(F&& f) {
    while (!ready_.empty()) {
      const std::uint32_t ref = ready_.back();
      ready_.pop_back();
      if ((ref & kSingle) != 0) {
        deliver_sent(ref & kIndex, slots_[ref & kIndex].left_call, f);
      } else {
        deliver(ref, calls_[ref].call, f);
      }
    }
  }
  using Unmet = std::function<void(ProcessId process, ProcessId source, CommId, Tag, RequestId)>;
  // Makes ready what stays incomplete, and counts it; drain() then delivers it. Tells of messages
  // that nobody has received, and of posted receives that have got none.
  void finish(const std::function<void(const Message&)>& unreceived = {}, const Unmet& unmet = {});

  // Receives held, or ahead of their SENDs, at a time: more are paired in order of completion, or
  // given up (counted).
  static constexpr std::size_t kMaxHeld = 1u << 16, kMaxAhead = 1u << 15;

  // A message that has left its queue, with its RECV (kNoEvent: none was seen, or it was
  // cancelled). To be asked for before the first event: `log` gets each of them when that is final.
  // Then messages do not tell which older ones were open.
  struct Departure {
    std::uint64_t send, recv;
  };
  void log_departures(std::vector<Departure>* log) { departures_ = log; }
  // Whether that request is open and was posted for any source.
  bool from_any(ProcessId process, RequestId id) const {
    const Wildcards& pending = wildcards_[raw(process)];
    if (pending.source + pending.both == 0) return false;
    const std::uint32_t ri = find_request(process, id);
    return ri != kNone && !requests_[ri].send && is_absent(requests_[ri].source);
  }
  // Open requests of a process: of a send, of a receive; the event that posted it.
  bool is_send(ProcessId process, RequestId id) const {
    const std::uint32_t ri = find_request(process, id);
    return ri != kNone && requests_[ri].send;
  }
  bool is_receive(ProcessId process, RequestId id) const {
    const std::uint32_t ri = find_request(process, id);
    return ri != kNone && !requests_[ri].send;
  }
  std::uint64_t posted(ProcessId process, RequestId id) const {
    const std::uint32_t ri = find_request(process, id);
    if (ri == kNone) return kNoEvent;
    const Request& r = requests_[ri];
    return r.send ? slots_[r.slot].send_pos : r.order;
  }

  std::size_t in_flight() const { return in_flight_; }
  // No message, request or call (but number 0, which is none) waits for anything.
  bool at_rest() const {
    return slots_.live() == 0 && calls_.live() == 1 && requests_.live() == 0 &&
           held_.live() == 0 && probes_.empty();
  }
  std::size_t open_requests() const { return requests_.live(); }
  std::size_t held() const { return held_.live(); }

 private:
  // A call reference is the number of a PendingCall, or, for a call with a single message, that
  // message's slot with one of these bits.
  static constexpr std::uint32_t kSent = 1u << 31, kReceived = 1u << 30;
  static constexpr std::uint32_t kSingle = kSent | kReceived, kIndex = kReceived - 1;
  static constexpr std::uint32_t kNoCall = 0;  // numbers of PendingCalls start at 1

  struct Slot : Message {  // a message from its SEND to the delivery of its calls
    std::uint32_t channel = 0;
    std::uint32_t next = kNone;          // in the channel
    std::uint32_t sender_ref = kNoCall;  // the call that completed the send
    std::uint8_t refs = 0;               // in the channel, request open, send call, receive call
    bool received = false;               // its RECV has been read
    bool judged = false;                 // and its call left: or nothing of it will come
    bool left = false;                   // single: left_call is there
    std::uint64_t ordinal = 0;
    Call left_call;
    // Whether its receive has been posted, even if nobody sees it complete.
    bool posted() const { return recv_pos != kNoEvent || posting_known; }
  };
  struct PendingCall {
    Call call;
    std::vector<std::uint32_t> received, sent;  // slots; kNone: not final (yet)
    std::uint32_t open = 0;                     // messages that are not final
    bool left = false;
  };
  struct Request {
    RequestId id{};
    ProcessId process{};
    std::uint32_t slot = kNone;                    // of a send
    std::uint32_t channel = kNone;                 // where a receive is posted
    std::uint32_t previous = kNone, next = kNone;  // posted in the channel
    OpenCall call;                                 // that posted the receive
    std::uint64_t order = 0;
    CommId com{};
    ProcessId source = absent<ProcessId>();
    Tag tag = absent<Tag>();
    std::uint64_t overtaken = 0;  // see reopen()
    bool send = false;
    bool pending = false;  // a receive that may still take a message
  };
  struct Held : ReceiveSide {  // a completed receive without its message
    std::uint64_t order = 0;
    std::uint64_t ordinal = 0;
    std::uint64_t overtaken = 0;  // see reopen()
    std::uint32_t call = kNoCall;
    std::uint32_t place = 0;     // in the call's received list
    bool freed = false;          // nobody sees it complete: there is no call
    std::uint32_t channel = 0;   // the following only while it is ahead of its SEND:
    std::uint32_t next = kNone;  // in the channel
    std::uint32_t older = kNone, newer = kNone;  // of all that are ahead
  };
  // What waits, earliest posted first.
  struct Waiting {
    std::uint64_t order;
    std::uint32_t index;
    bool operator>(const Waiting& o) const { return order > o.order; }
  };
  using WaitingHeap = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<Waiting>>;
  // The messages of one (communicator, tag, source, destination). A receive for any source or tag
  // is posted in a channel of its own, whose source or tag is absent and in which nothing is sent.
  struct Channel {
    detail::Key128 key;
    std::uint32_t head = kNone, tail = kNone;         // sends, slots
    std::uint32_t posts = kNone, last_post = kNone;   // posted with this very key
    std::uint32_t ahead = kNone, last_ahead = kNone;  // final, no SEND read yet
    std::uint64_t sent = 0, recvd = 0;                // ordinals of the next ones
    // Which message is number 0, by either side: how many of any tag went before it (0: the first
    // of all), kUnknownNumber until one comes. Only if both say the same anything is paired.
    std::uint64_t sent_from = 0, recvd_from = 0;
    std::uint32_t sent_serial = 0, recvd_serial = 0;  // of the restart of the line that it follows
    WaitingHeap held;                                 // receives that are completed, but not final
    WaitingHeap blocked;  // channels whose first held receive was posted after the first one here
    std::uint64_t waits = kNoEvent;  // order of its own entry in another's `blocked`
    bool idle() const {
      return head == kNone && posts == kNone && held.empty() && ahead == kNone && blocked.empty() &&
             sent == recvd;
    }
    ProcessId source() const { return static_cast<ProcessId>(key.b >> 32); }
    ProcessId destination() const { return static_cast<ProcessId>(key.b & 0xFFFFFFFFu); }
  };

  static std::uint64_t key_of(ProcessId process, RequestId id) {
    return std::uint64_t{raw(process)} << 32 | raw(id);
  }
  std::uint32_t find_request(ProcessId process, RequestId id) const {
    return requests_of_[raw(process)].find(raw(id));
  }
  auto alive() const {
    return [this](std::uint32_t slot, std::uint64_t pos) {
      return slots_[slot].send_pos == pos && !slots_[slot].received;
    };
  }
  bool tells_older() const { return departures_ == nullptr; }
  // Fills in what was older and open when the call of the receive was left: now, or at `at`.
  void judge(Slot& s) {
    if (!tells_older()) return;
    s.older_to_receiver_pending = to_[raw(s.destination)].older_pending(s.send_pos, alive());
    s.older_of_sender_pending = from_[raw(s.source)].older_pending(s.send_pos, alive());
  }
  void judge_past(Slot& s, std::uint64_t at) {
    if (!tells_older()) return;
    s.older_to_receiver_pending =
        to_[raw(s.destination)].older_was_pending(s.send_pos, at, alive());
    s.older_of_sender_pending = from_[raw(s.source)].older_was_pending(s.send_pos, at, alive());
  }

  // calls and their messages
  std::uint32_t pending_call(std::uint32_t& call_ref);
  void note_sent(std::uint32_t slot, std::uint32_t& call_ref);
  void note_received(std::uint32_t slot, std::uint32_t& call_ref);
  std::uint32_t expect(std::uint32_t& call_ref, std::uint32_t& place);
  void member_final(std::uint32_t call_ref);
  void sent_final(std::uint32_t slot);
  void note_judged(std::uint32_t si) {
    Slot& slot = slots_[si];
    slot.judged = true;
    if (slot.sender_ref != kNoCall) sent_final(si);
  }
  template <class F>
  void leave_single(std::uint32_t call_ref, const Call& call, F&& f) {
    const std::uint32_t si = call_ref & kIndex;
    Slot& slot = slots_[si];
    if ((call_ref & kReceived) != 0) {
      judge(slot);
      note_judged(si);
      const Message* const one = &slot;
      f(MessageCall{&call, {&one, 1}, {}});
      unref(si);
    } else if (slot.judged) {
      deliver_sent(si, call, f);
    } else {
      slot.left_call = call;
      slot.left = true;
    }
  }
  template <class F>
  void deliver_sent(std::uint32_t si, const Call& call, F&& f) {
    const Message* const one = &slots_[si];
    if (slots_[si].posted()) f(MessageCall{&call, {}, {&one, 1}});
    unref(si);
  }
  template <class F>
  void deliver(std::uint32_t call_ref, const Call& call, F&& f) {
    const MessageCall messages = gather(call_ref, call);
    if (!messages.received.empty() || !messages.sent.empty()) f(messages);
    release(call_ref);
  }
  bool leave(std::uint32_t call_ref, const Call& call);
  MessageCall gather(std::uint32_t call_ref, const Call& call);
  void release(std::uint32_t call_ref);
  void unref(std::uint32_t i) {
    Slot& slot = slots_[i];
    if (--slot.refs == 0) {
      slot.send_pos = kNoEvent;
      slots_.give_back(i);
    }
  }

  // pairing
  void fill(ReceiveSide& side, const RecvEvent& event) const;
  // The channel (or one with wildcards) in which a receive is posted that came before `order` and
  // could still take a message of this one; kNone: a receive posted at `order` is final.
  std::uint32_t blocker(std::uint32_t ci, std::uint64_t order) const {
    if (posted_before(ci, order)) return ci;
    const Channel& c = channels_[ci];
    const Wildcards& pending = wildcards_[raw(c.destination())];
    return pending.any() ? wildcard_blocker(c, pending, order) : kNone;
  }
  bool posted_before(std::uint32_t ci, std::uint64_t order) const {
    const std::uint32_t first = channels_[ci].posts;
    return first != kNone && requests_[first].order < order;
  }
  void unpost(std::uint32_t request);
  void release_blocked(std::uint32_t channel);
  void close_request(std::uint32_t request);
  void take(Channel& c, std::uint64_t recv_pos);
  void pair(Channel& c, const Held& side, bool violation);
  void hold(std::uint32_t channel, const Held& side);
  void block(std::uint32_t blocking, std::uint64_t order, std::uint32_t channel);
  void wait_for_send(std::uint32_t channel, const Held& side);
  Held take_ahead(Channel& c);
  void give_up(const Held& ahead, Finding finding = Finding::kUnmatchedReceive);
  void give_message(std::uint32_t slot, const Held& side, bool violation);
  void settle(std::uint32_t channel, Held& side);
  void settle_held(std::uint32_t channel);
  void settle_released();
  void settle_everything();
  void judge_settled();
  void serve_ahead(Channel& c);
  void drop_before(Channel& c, std::uint64_t ordinal);
  void take_from_midst(Channel& c, std::uint32_t before, std::uint32_t slot,
                       std::uint64_t recv_pos);
  void settle_numbered(std::uint32_t channel);
  void settle_blocked_by(const std::vector<std::uint32_t>& pending);
  bool certain_without_wildcards(const Channel& c) const;
  // Heads have been read: what their processes took unseen goes.
  void forget_taken() {
    if (!resumed_.empty()) [[unlikely]]
      drop_taken();
  }
  void drop_taken();
  // The first message of the channel that somebody can still take.
  std::uint64_t first_wanted(const Channel& c) const {
    const std::uint64_t overtaken = c.posts == kNone ? 0 : requests_[c.posts].overtaken;
    return overtaken > c.recvd ? 0 : c.recvd - overtaken;
  }

  // A pair of processes on a communicator, some of whose counts have begun anew (MSG_RESTARTED).
  struct Line {
    std::uint64_t sent = 0, recvd = 0;                // of any tag
    std::uint32_t sent_serial = 0, recvd_serial = 0;  // 0: none has
  };
  static bool same_numbers(const Channel& c) { return c.sent_from == c.recvd_from; }
  static std::pair<std::uint64_t, std::uint64_t> line_key(const Channel& c) {
    return {c.key.a >> 32, c.key.b};
  }
  const Line* renew(Channel& c);
  void begin_sent(Channel& c, std::uint64_t from);
  void count_sent_anew(Channel& c);
  void count_recvd_anew(Channel& c);
  void watch(const Channel& c);
  void purge_requests();

  struct Probed {  // a probe whose SEND has not been read
    detail::Key128 channel;
    std::uint64_t ordinal = 0;
    Call call;
    OpenCall send;
    bool sent = false;
  };
  static constexpr std::size_t kMaxProbes = 1024;
  void serve_probes(const Slot& sent, const detail::Key128& channel);
  void log_departure(const Slot& slot) { departures_->push_back({slot.send_pos, slot.recv_pos}); }

  struct Wildcards {  // pending receives of a process, by what they leave open
    std::uint32_t source = 0, tag = 0, both = 0;
    bool any() const { return source + tag + both != 0; }
  };
  std::uint32_t& wildcard_count(const Request& r) {
    Wildcards& w = wildcards_[raw(r.process)];
    return !is_absent(r.source) ? w.tag : !is_absent(r.tag) ? w.source : w.both;
  }
  std::uint32_t wildcard_blocker(const Channel& c, const Wildcards& pending,
                                 std::uint64_t order) const;

  Findings& findings_;
  bool native_;
  Pool<Slot> slots_;
  Pool<PendingCall> calls_;
  Pool<Request> requests_;
  Pool<Held> held_;
  detail::ChannelTable<Channel> channels_;
  std::vector<detail::RequestTable> requests_of_;  // by process
  std::set<std::uint64_t> unseen_sends_;           // by key_of()
  std::vector<detail::MessageLine> to_, from_;     // by process
  std::vector<Wildcards> wildcards_;               // by process
  detail::RecordingSegments segments_;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> released_;  // channels whose held receives may have become final
  struct Settled {
    std::uint32_t slot;
    std::uint64_t left_at;
  };
  std::vector<Settled> to_judge_;  // paired after their call was left
  std::vector<detail::Key128> to_unwatch_;
  std::vector<std::uint32_t> resumed_;  // channels whose receivers a head has told of
  std::vector<bool> off_;               // by process: recording paused, and nothing came since
  std::map<std::pair<std::uint64_t, std::uint64_t>, Line> lines_;
  std::vector<const Message*> received_out_, sent_out_;
  std::vector<Probed> probes_;
  std::vector<Departure>* departures_ = nullptr;
  std::size_t served_probes_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t purge_requests_at_ = 1u << 14;  // open requests
  std::size_t held_count_ = 0, ahead_count_ = 0;
  std::uint32_t oldest_ahead_ = kNone, newest_ahead_ = kNone;
};

}  // namespace kojak::earl
