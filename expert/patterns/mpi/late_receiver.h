// Late Receiver, and Messages in Wrong Order there. Source: EXPERT patterns 2006, point-to-point.
#pragma once

#include <algorithm>
#include <vector>

#include "epilog/format/mpi_roles.h"
#include "expert/metrics/metric.h"
#include "expert/patterns/mpi/late_sender.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct LateReceiverWrongOrder {
  static constexpr Metric kMetric{
      .name = "mpi_latereceiver_wo",
      .title = "Messages in Wrong Order",
      .parent = "mpi_latereceiver",
      .summary =
          "Late Receiver while an older message of the same sender was waiting to be received.",
      .formula =
          "the whole severity of the Late Receiver, if an older message of the same sender, to "
          "whomever, is not yet received",
      .meaning =
          "The sender waits for its receiver although an older message of its own has not been "
          "received either: messages were sent in an order that their receivers do not follow.",
      .advice = "Send messages in the order in which they are received, or without blocking.",
      .timeline = "sender: Isend A 0-1, Send B 2-7 ~2-6; receiver: Recv B 6-7, Recv A 7-8"};

  static Seconds severity(Seconds late_receiver, bool older_message_waits) {
    return older_message_waits ? late_receiver : Seconds{0};
  }
};

struct LateReceiver {
  static constexpr Metric kMetric{
      .name = "mpi_latereceiver",
      .title = "Late Receiver",
      .parent = "mpi_point2point",
      .summary = "Time in a send before the receive was posted.",
      .formula =
          "blocked(s, p), p = posting of the matching receive; Waitall: blocked(c, all p); "
          "Wait, Waitany, Waitsome: the earliest; Test* that end a series of polls which waited: "
          "c.enter is the first of these; without what Late Sender took of the call",
      .meaning =
          "A send that cannot be buffered waits until the receiver has posted a receive. A send "
          "that returned before that was not blocked, so it does not count.",
      .advice =
          "Post receives early, without blocking; or use a non-blocking send and wait for it "
          "later.",
      .timeline = "sender: MPI_Send 1-7 ~1-5; receiver: MPI_Recv 5-7",
      .names_only_waits = true};

  static Seconds severity(const Call& send, std::span<const Cause> posted) {
    return blocked(send, posted);
  }

  // Whether the call is one that waits until its sends can end.
  static bool waits(MpiRole role) {
    switch (role) {
      case MpiRole::kSend:
      case MpiRole::kSsend:
      case MpiRole::kRsend:
      case MpiRole::kSendrecv:
      case MpiRole::kWait:
      case MpiRole::kWaitall:
      case MpiRole::kWaitany:
      case MpiRole::kWaitsome:
        return true;
      default:
        return false;
    }
  }
  static bool waits(const Call& call) { return call.polled || waits(call.role()); }
  // Whether a message sent by such a call may have to wait for its receiver. Of persistent sends
  // the trace does not tell the mode.
  static bool may_block(MpiRole sent_by) {
    switch (sent_by) {
      case MpiRole::kSend:
      case MpiRole::kSsend:
      case MpiRole::kRsend:
      case MpiRole::kSendrecv:
      case MpiRole::kIsend:
      case MpiRole::kIssend:
      case MpiRole::kIsendrecv:
      case MpiRole::kStart:
      case MpiRole::kStartall:
        return true;
      default:
        return false;
    }
  }

  template <class Analysis>
  void on_message_call(const earl::MessageCall& m, Analysis& out) {
    const Call& c = *m.call;
    if (c.paused || m.sent.empty() || !waits(c)) return;
    posted_.clear();
    for (const earl::Message* message : m.sent) {
      if (!message->posting_known || !may_block(message->send_call.role())) continue;
      posted_.push_back({message, {message->post_call.enter, out.delta(c, message->post_call)}});
    }
    if (posted_.empty()) return;
    const auto earlier = [](const Posting& a, const Posting& b) {
      return a.cause.time < b.cause.time;
    };
    // Of several, the first that could end lets Waitany and Waitsome go, the last one Waitall.
    const Posting* deciding = nullptr;
    if (first_one_ends(c)) {
      const Posting& first = *std::min_element(posted_.begin(), posted_.end(), earlier);
      if (latest_cause(c, {&first.cause, 1})) deciding = &first;
    } else {
      for (const Posting& posting : posted_) {
        if (!latest_cause(c, {&posting.cause, 1})) continue;
        if (deciding == nullptr || earlier(*deciding, posting)) deciding = &posting;
      }
    }
    if (deciding == nullptr) return;
    Seconds waited = severity(c, {&deciding->cause, 1}), begin = c.enter;
    if (const earl::Message* late = LateSender::deciding(c, m.received)) {
      // Both claims begin where the call begins, so what is left is the end of the longer one.
      begin = std::max(c.enter, late->send_call.enter);
      waited = overlap(c, begin, deciding->cause.time);
    }
    const EndedBy receiver = enter_of(deciding->message->post_call);
    out.add(LateReceiver{}, c, waited, receiver, begin);
    out.add(LateReceiverWrongOrder{}, c,
            LateReceiverWrongOrder::severity(waited, deciding->message->older_of_sender_pending),
            receiver, begin);
  }

 private:
  struct Posting {
    const earl::Message* message;
    Cause cause;
  };
  // Kept from call to call for its memory only.
  std::vector<Posting> posted_;
};

}  // namespace kojak::expert
