#include "expert/sums/send_modes.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "epilog/format/mpi_roles.h"
#include "expert/patterns/mpi/late_receiver.h"
#include "expert/patterns/mpi/late_sender.h"

namespace kojak::expert {
namespace {

struct KindInfo {
  std::string_view name, title, advice;
};
constexpr std::array<KindInfo, kSendModeKinds> kInfos{{
    {"early_standard_send", "Early standard send",
     "The sender waits for its receiver: post the receive earlier, or send without blocking "
     "(MPI_Isend) and wait later."},
    {"early_buffered_send", "Early buffered send",
     "Sent long before it is received; the buffer holds it, and that costs nothing but memory."},
    {"early_synchronous_send", "Early synchronous send",
     "MPI_Ssend waits for the receive by definition: post it earlier, or use MPI_Issend."},
    {"early_ready_send", "Early ready send",
     "A ready send must find its receive posted: this program is wrong, or clocks disagree."},
    {"late_standard_send", "Late standard send",
     "The receiver waits for the message: send earlier, or receive without blocking and compute "
     "meanwhile."},
    {"late_buffered_send", "Late buffered send",
     "The receiver waits although the message could have been buffered earlier: send as soon as "
     "the "
     "data are there."},
    {"late_synchronous_send", "Late synchronous send",
     "The receiver waits for the message: send earlier; without need for the synchronisation a "
     "standard send is cheaper."},
    {"late_ready_send", "Late ready send",
     "The receive was posted long before: send earlier, or post it later and compute before."},
    {"misarranged_messages", "Messages in opposite order",
     "The receiver waits for a later message while an earlier one of the same sender lies ready: "
     "receive in the order of sending, or with MPI_Waitany."},
    {"sender_wait", "Wait of a non-blocking send",
     "Issue the send earlier before its Wait, or put more computation in between; see the distance "
     "that would have hidden it."},
    {"receiver_wait", "Wait of a non-blocking receive",
     "Wait later, or let the sender issue its send earlier; see the distance that would have "
     "hidden "
     "it."},
    {"close_send_receive", "Send and receive with one peer",
     "A send to and a receive from the same process follow each other: MPI_Sendrecv does both at "
     "once."},
}};

// 0 standard, 1 buffered, 2 synchronous, 3 ready.
unsigned mode_of(MpiRole role) {
  switch (role) {
    case MpiRole::kBsend:
    case MpiRole::kIbsend:
      return 1;
    case MpiRole::kSsend:
    case MpiRole::kIssend:
      return 2;
    case MpiRole::kRsend:
    case MpiRole::kIrsend:
      return 3;
    default:
      return 0;
  }
}
SendModeKind early(unsigned mode) {
  return static_cast<SendModeKind>(static_cast<unsigned>(SendModeKind::kEarlyStandard) + mode);
}
SendModeKind late(unsigned mode) {
  return static_cast<SendModeKind>(static_cast<unsigned>(SendModeKind::kLateStandard) + mode);
}
bool is_nonblocking_send(MpiRole role) {
  return role == MpiRole::kIsend || role == MpiRole::kIsendrecv || role == MpiRole::kIbsend ||
         role == MpiRole::kIssend || role == MpiRole::kIrsend;
}

// Of equal ones the earlier is the worse.
bool outweighs(const SendModeInstance& a, const SendModeInstance& b) {
  if (a.waiting != b.waiting) return b.waiting < a.waiting;
  return std::tuple(a.enter, a.location) < std::tuple(b.enter, b.location);
}

}  // namespace

std::string_view name_of(SendModeKind kind) {
  return kInfos[static_cast<std::size_t>(kind)].name;
}
std::string_view title_of(SendModeKind kind) {
  return kInfos[static_cast<std::size_t>(kind)].title;
}
std::string_view advice_of(SendModeKind kind) {
  return kInfos[static_cast<std::size_t>(kind)].advice;
}

void SendCost::add(bool same_node, std::uint64_t bytes, double seconds) {
  Sums& s = sums_[same_node];
  const Amount x = bytes, y = in_ticks(seconds);
  ++s.n;
  s.x += x;
  s.y += y;
  s.xx += x * x;
  s.xy += x * y;
}

SendCost::Fit SendCost::fit(bool same_node) const {
  const Sums& s = sums_[same_node];
  Fit fit;
  fit.messages = s.n;
  if (s.n > 0) {
    const auto n = static_cast<double>(s.n), x = static_cast<double>(s.x), y = in_seconds(s.y),
               xx = static_cast<double>(s.xx), xy = in_seconds(s.xy);
    const double spread = n * xx - x * x;  // 0 if all have one size
    if (spread > 1e-9 * n * xx) fit.per_byte = std::max(0.0, (n * xy - x * y) / spread);
    fit.latency = std::max(0.0, (y - fit.per_byte * x) / n);
  }
  fit.latency = latency_.value_or(fit.latency);
  fit.per_byte = per_byte_.value_or(fit.per_byte);
  return fit;
}

SendModes::SendModes(const earl::Trace& trace, const SendModeOptions& options)
    : trace_(&trace), options_(options), places_(trace.location_count()) {
  if (options.latency) cost_.set_latency(*options.latency);
  if (options.bandwidth) cost_.set_bandwidth(*options.bandwidth);
}

bool SendModes::same_node(const earl::OpenCall& a, const earl::OpenCall& b) const {
  return trace_->location_def(a.index).node == trace_->location_def(b.index).node;
}

void SendModes::add(SendModeKind kind, const earl::Call& call, Seconds waiting, const Side* side) {
  if (!(waiting.value > 0) || waiting.value < options_.epsilon) return;
  Sum& sum = sums_[{kind, raw(call.cnode)}];
  const bool costs = kind != SendModeKind::kEarlyBuffered;
  ++sum.count;
  if (costs) sum.total.add(waiting.value);
  sum.locations.insert(call.index);
  const SendModeInstance found{call.index, call.enter, call.exit, waiting,
                               side != nullptr ? side->before : 0};
  if (sum.count != 1 && !outweighs(found, sum.worst)) return;
  sum.worst = found;
  if (side == nullptr) return;
  sum.bytes = side->bytes;
  sum.same_node = side->same_node;
}

void SendModes::on_send(const earl::SendEvent& send) {
  const MpiRole role = send.call->role();
  if (role == MpiRole::kSend || role == MpiRole::kBsend) {
    in_flight_[{send.call->process, send.destination}].insert(send.pos);
  }
  if (role == MpiRole::kSend) {
    places_[send.call->index].send = {send.call->enter_pos, send.destination, false, {}};
  }
}

void SendModes::on_receive(const earl::RecvEvent& receive) {
  if (receive.call->role() == MpiRole::kRecv) {
    places_[receive.call->index].receive = {receive.call->enter_pos, receive.source, false, {}};
  }
}

void SendModes::on_call(const earl::Call& call) {
  Place& place = places_[call.index];
  const MpiRole role = call.role();
  if (is_nonblocking_send(role) || role == MpiRole::kIrecv) {
    durations_[call.enter_pos] = (call.exit - call.enter).value;
  }
  const bool sends = role == MpiRole::kSend, receives = role == MpiRole::kRecv;
  if (!sends && !receives) return;
  if (!place.any) place.first = call.enter;
  place.any = true;
  Partner& mine = sends ? place.send : place.receive;
  Partner& other = sends ? place.receive : place.send;
  if (mine.call != call.enter_pos) return;
  mine.done = true;
  mine.exit = call.exit;
  if (other.done && other.peer == mine.peer &&
      std::abs((call.enter - other.exit).value) < options_.sendrecv_gap) {
    add(SendModeKind::kCloseSendReceive, call, call.exclusive);
    mine.done = other.done = false;  // a pair counts once
  }
}

void SendModes::on_message_call(const earl::MessageCall& m) {
  if (!m.call->paused) {
    late_sends(m);
    early_sends(m);
    if (is_wait(m.call->role())) waits(m);
  }
  for (const earl::Message* message : m.sent) {
    durations_.erase(message->send_call.enter_pos);
    if (message->recv_pos == earl::kNoEvent) landed(*message);  // nobody will tell of its receive
  }
  for (const earl::Message* message : m.received) {
    if (message->posting_known) durations_.erase(message->post_call.enter_pos);
    landed(*message);
  }
}

void SendModes::landed(const earl::Message& message) {
  const auto pair = in_flight_.find({message.source, message.destination});
  if (pair == in_flight_.end()) return;
  pair->second.erase(message.send_pos);
  if (pair->second.empty()) in_flight_.erase(pair);
}

// An older message of the same pair lies ready; both were sent by a call that has ended.
bool SendModes::misarranged(const earl::Message& message) const {
  const MpiRole role = message.send_call.role();
  if (role != MpiRole::kSend && role != MpiRole::kBsend) return false;
  const auto pair = in_flight_.find({message.source, message.destination});
  return pair != in_flight_.end() && *pair->second.begin() < message.send_pos;
}

void SendModes::late_sends(const earl::MessageCall& m) {
  const MpiRole role = m.call->role();
  if (is_wait(role)) return;
  const earl::Message* message = LateSender::deciding(*m.call, m.received);
  if (message == nullptr) return;
  const Seconds waited = LateSender::severity(*m.call, message->send_call.enter);
  add(late(mode_of(message->send_call.role())), *m.call, waited);
  if (misarranged(*message)) add(SendModeKind::kMisarranged, *m.call, waited);
}

void SendModes::early_sends(const earl::MessageCall& m) {
  const Call& call = *m.call;
  const MpiRole role = call.role();
  if (is_wait(role) || role == MpiRole::kSendrecv || m.sent.size() != 1) return;
  const earl::Message& message = *m.sent.front();
  if (!message.posting_known) return;
  const unsigned mode = mode_of(role);
  if (role == MpiRole::kBsend) {
    add(early(mode), call, message.post_call.enter - call.enter);
  } else if (LateReceiver::waits(role)) {
    const Seconds delta = trace_->has_clock_errors()
                              ? trace_->delta(call.index, message.post_call.index)
                              : Seconds{0};
    const Cause posted{message.post_call.enter, delta};
    add(early(mode), call, LateReceiver::severity(call, {&posted, 1}));
    if (message.post_call.enter < call.enter) {
      cost_.add(same_node(call, message.post_call), raw(message.bytes), call.exclusive.value);
    }
  }
}

double SendModes::take_duration(const earl::OpenCall& issue) {
  const auto it = durations_.find(issue.enter_pos);
  if (it == durations_.end()) return 0;
  const double duration = it->second;
  durations_.erase(it);
  return duration;
}

// Waiting in Wait counts once for the call, with the distance of the message that needed most.
void SendModes::waits(const earl::MessageCall& m) {
  Side sending, receiving;
  bool sends = false, receives = false;
  const auto look = [&](const earl::Message& message, const earl::OpenCall& mine,
                        const earl::OpenCall& theirs, Side& side, bool& any) {
    const double duration = take_duration(mine);
    const double lead = std::max(0.0, (theirs.enter - mine.enter).value);
    const Side this_one{lead + duration, static_cast<double>(raw(message.bytes)),
                        same_node(mine, theirs)};
    if (!any || side.before < this_one.before) side = this_one;
    any = true;
  };
  for (const earl::Message* message : m.sent) {
    const MpiRole send = message->send_call.role();
    if (!message->posting_known || message->post_call.role() != MpiRole::kIrecv) continue;
    if (!is_nonblocking_send(send) || send == MpiRole::kIbsend) continue;
    look(*message, message->send_call, message->post_call, sending, sends);
  }
  for (const earl::Message* message : m.received) {
    if (!message->posting_known || message->post_call.role() != MpiRole::kIrecv) continue;
    if (!is_nonblocking_send(message->send_call.role())) continue;
    look(*message, message->post_call, message->send_call, receiving, receives);
  }
  if (sends) add(SendModeKind::kSenderWait, *m.call, m.call->exclusive, &sending);
  if (receives) add(SendModeKind::kReceiverWait, *m.call, m.call->exclusive, &receiving);
}

bool SendModes::add(const SendModes& other, std::span<const CallPathIndex> paths) {
  bool good = true;
  for (std::size_t l = 0; l < places_.size(); ++l) {
    const Place& theirs = other.places_[l];
    Place& ours = places_[l];
    if (!theirs.any) continue;
    for (const Partner* one : {&ours.send, &ours.receive}) {
      good = good && (!one->done || !((theirs.first - one->exit).value < options_.sendrecv_gap));
    }
    if (theirs.send.call != earl::kNoEvent) ours.send = theirs.send;
    if (theirs.receive.call != earl::kNoEvent) ours.receive = theirs.receive;
  }
  cost_.add(other.cost_);
  for (const auto& [key, theirs] : other.sums_) {
    const auto [at, first] = sums_.try_emplace({key.first, paths[key.second]}, theirs);
    if (first) continue;
    Sum& sum = at->second;
    sum.count += theirs.count;
    sum.total += theirs.total;
    sum.locations.insert(theirs.locations.begin(), theirs.locations.end());
    if (!outweighs(theirs.worst, sum.worst)) continue;
    sum.worst = theirs.worst;
    sum.bytes = theirs.bytes;
    sum.same_node = theirs.same_node;
  }
  return good;
}

std::vector<SendModeFinding> SendModes::findings() const {
  std::vector<SendModeFinding> findings;
  for (const auto& [key, sum] : sums_) {
    SendModeFinding f{key.first, key.second, sum.count, sum.total.seconds(), sum.worst, {}};
    f.locations.assign(sum.locations.begin(), sum.locations.end());
    if (key.first == SendModeKind::kSenderWait || key.first == SendModeKind::kReceiverWait) {
      const SendCost::Fit fit = cost_.fit(sum.same_node);
      f.worst.distance += fit.latency + fit.per_byte * sum.bytes;
    }
    findings.push_back(std::move(f));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return findings;
}

}  // namespace kojak::expert
