// The part of a causal pass that pairs messages: the n-th send to a receiver, with a communicator
// and tag, is the n-th receive there, in the order in which the receives were posted. Internal to
// causal_pass.cc.
//
// A receive that names its sender and tag gets its number when it is posted. Where one that does
// not is open meanwhile, which message is whose is not certain: such receives take a message, but
// are not checked. Source: MPI 3.1, section 3.5 (order).
#pragma once

#include <set>
#include <tuple>

#include "epilog/format/field_values.h"
#include "merge/clock/causal_state.h"

namespace kojak::merge {

class CausalMessages {
 public:
  explicit CausalMessages(CausalState& state) : state_(state) {}

  // Absent: nothing to be paired. Communicators of unknown identity are each process's own.
  std::uint32_t paired_comm(const Stream& s, CommId id) const {
    const std::uint32_t comm = s.translation->comms[raw(id)];
    return comm != kAbsent && state_.defs.comms[comm].paired() ? comm : kAbsent;
  }

  void publish_send(CausalProcess& p) {
    const Stream& s = p.current().stream;
    MpiSend send;
    if (decode(s.raw_record(), s.dialect, send) != nullptr || !state_.recorded(raw(send.dlid)))
      return;
    const std::uint32_t comm = paired_comm(s, send.cid);
    if (comm == kAbsent) return;
    state_.channels.publish({ChannelKind::kMessage, comm, p.rank, raw(send.dlid), raw(send.tag)},
                            state_.cause_here(p));
  }

  // MPI_RECV_REQUEST
  void post(CausalProcess& p) {
    const Stream& s = p.current().stream;
    MpiRecvRequest request;
    if (decode(s.raw_record(), s.dialect, request) != nullptr) return;
    post(p, request.reqid, request.cid, request.slid, request.tag, 0);
  }
  // REQUEST_STATE: a receive that was posted before the gap.
  void open_request(CausalProcess& p) {
    const Stream& s = p.current().stream;
    RequestState state;
    if (decode(s.raw_record(), s.dialect, state) != nullptr) return;
    if (raw(state.kind) != static_cast<std::uint8_t>(OpenRequest::kReceive) ||
        (raw(state.flags) & kRequestReported) != 0 || p.posted.contains(raw(state.reqid))) {
      return;
    }
    const bool any = (raw(state.flags) & kAnySource) != 0;
    post(p, state.reqid, state.cid, any ? absent<PeerId>() : state.plid, state.tag,
         raw(state.ordinal));
  }
  // `overtaken`: others that were posted later have taken their messages.
  void post(CausalProcess& p, RequestId reqid, CommId cid, PeerId source, Tag tag,
            std::uint64_t overtaken) {
    const Stream& s = p.current().stream;
    PostedReceive receive;
    receive.order = ++p.receives;
    receive.wildcard = is_absent(source) || is_absent(tag);
    receive.certain = p.wildcards == 0 && overtaken == 0;
    receive.channel = {ChannelKind::kMessage, paired_comm(s, cid), raw(source), p.rank, raw(tag)};
    if (receive.wildcard) {
      ++p.wildcards;
    } else if (receive.channel.object != kAbsent && state_.recorded(receive.channel.from)) {
      receive.number = state_.channels.expect(receive.channel);
    }
    p.posted[raw(reqid)] = receive;
  }

  void receive(CausalProcess& p) {
    const Stream& s = p.current().stream;
    MpiRecv record;
    if (decode(s.raw_record(), s.dialect, record) != nullptr) return;
    const ChannelKey channel{ChannelKind::kMessage, paired_comm(s, record.cid), raw(record.slid),
                             p.rank, raw(record.tag)};
    std::uint64_t number = 0;
    bool certain =
        p.messages_certain &&
        (restarted_.empty() || !restarted_.contains(line(channel.object, channel.from, p.rank)));
    const std::uint32_t request = request_of(s);
    if (request == kAbsent) {  // a blocking one: posted just now
      ++p.receives;
      certain = certain && p.wildcards == 0;
    } else {
      const auto at = p.posted.find(request);
      if (at == p.posted.end()) {
        certain = false;  // posted while recording was off
      } else {
        const PostedReceive posted = at->second;
        p.posted.erase(at);
        if (posted.wildcard) {
          --p.wildcards;
          certain = certain && posted.certain && posted.order == p.receives;
        } else {
          number = posted.number;
          certain = certain && posted.certain;
        }
      }
    }
    if (channel.object == kAbsent || !state_.recorded(channel.from)) {
      ++state_.counts.unchecked;
      return;
    }
    if (number == 0) number = state_.channels.expect(channel);
    p.needs.push_back({channel, number, certain});
  }

  // MPI_CANCELLED, or a request that was freed: the numbers of later messages are not certain.
  void cancel(CausalProcess& p) {
    const Stream& s = p.current().stream;
    MpiCancelled cancelled;  // both have nothing but the request
    if (decode(s.raw_record(), s.dialect, cancelled) != nullptr) return;
    const auto at = p.posted.find(raw(cancelled.reqid));
    if (at == p.posted.end()) return;
    forget(p, at->second);
    p.posted.erase(at);
  }

  void message_state(CausalProcess& p) {
    const Stream& s = p.current().stream;
    MsgState state;
    if (!state_.absolute || decode(s.raw_record(), s.dialect, state) != nullptr) return;
    const std::uint32_t comm = paired_comm(s, state.cid);
    const std::uint32_t peer = raw(state.plid), tag = raw(state.tag);
    if (comm == kAbsent || !state_.recorded(peer)) return;
    state_.channels.skip_causes({ChannelKind::kMessage, comm, p.rank, peer, tag}, raw(state.sent));
    state_.channels.skip_effects({ChannelKind::kMessage, comm, peer, p.rank, tag},
                                 raw(state.recvd));
  }

  // MSG_RESTARTED: what was sent and received from now on is not numbered alike for certain.
  void restart(CausalProcess& p) {
    const Stream& s = p.current().stream;
    MsgRestarted restarted;
    if (decode(s.raw_record(), s.dialect, restarted) != nullptr) return;
    const std::uint32_t comm = paired_comm(s, restarted.cid);
    const std::uint32_t peer = raw(restarted.plid);
    if (raw(restarted.sent_before) != 0) restarted_.insert(line(comm, p.rank, peer));
    if (raw(restarted.recvd_before) != 0) restarted_.insert(line(comm, peer, p.rank));
  }

  void pause(CausalProcess& p) {
    p.epochs.pause();
    for (const auto& [request, receive] : p.posted) forget(p, receive);
    p.posted.clear();
    p.wildcards = 0;
  }

 private:
  using Line = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // communicator, from, to
  static Line line(std::uint32_t comm, std::uint32_t from, std::uint32_t to) {
    return {comm, from, to};
  }
  void forget(CausalProcess& p, const PostedReceive& receive) {
    if (receive.wildcard) {
      p.messages_certain = false;
      if (p.wildcards > 0) --p.wildcards;
    } else if (receive.number != 0) {
      state_.channels.distrust(receive.channel);
    }
  }
  // The request in the attributes before the event, or absent.
  static std::uint32_t request_of(const Stream& s) {
    for (const std::byte* p = s.attributes; p != nullptr && p < s.record;
         p += std::size_t{2} + static_cast<std::uint8_t>(p[0])) {
      const RawRecord record{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                             p + 2, 0};
      AttrUi4 attribute;
      if (record.type == type_of(RecordType::kAttrUi4) &&
          decode(record, s.dialect, attribute) == nullptr && attribute.kind == kAttrRequest) {
        return raw(attribute.value);
      }
    }
    return kAbsent;
  }

  CausalState& state_;
  std::set<Line> restarted_;  // pairs of processes whose counts of messages began anew
};

}  // namespace kojak::merge
