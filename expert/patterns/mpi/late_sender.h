// Late Sender, and Messages in Wrong Order there. Source: EXPERT patterns 2006, point-to-point.
#pragma once

#include <algorithm>
#include <span>

#include "earl/aspects/messages.h"
#include "epilog/format/mpi_roles.h"
#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct LateSenderWrongOrder {
  static constexpr Metric kMetric{
      .name = "mpi_latesender_wo",
      .title = "Messages in Wrong Order",
      .parent = "mpi_latesender",
      .summary =
          "Late Sender while an older message to the same receiver was waiting to be received.",
      .formula =
          "the whole severity of the Late Sender, if an older message to this receiver, from "
          "whomever, is not yet received",
      .meaning =
          "The receiver waits for a message although another one that had been sent before lies"
          " ready. Receiving in the order of sending would not have waited, or less.",
      .advice =
          "Receive messages in the order in which they are sent, or with MPI_ANY_SOURCE or "
          "MPI_Waitany.",
      .timeline = "receiver: Recv B 2-7 ~2-6, Recv A 7-8; sender: Send A 0-1, Send B 6-7"};

  static Seconds severity(Seconds late_sender, bool older_message_waits) {
    return older_message_waits ? late_sender : Seconds{0};
  }
};

struct LateSender {
  static constexpr Metric kMetric{
      .name = "mpi_latesender",
      .title = "Late Sender",
      .parent = "mpi_point2point",
      .summary = "Time in a receive before the message was sent.",
      .formula =
          "overlap(r, [r.enter, s.enter]), s the matching send; Waitall: the latest s; Wait, "
          "Waitany, Waitsome: the earliest; Probe, Mprobe: the send of the message that is found; "
          "partitioned messages: the last MPI_Pready; Test*, Iprobe, Improbe that end a series of "
          "polls which waited: r.enter is the first of these",
      .meaning =
          "A process waits in MPI_Recv, MPI_Sendrecv, MPI_Mrecv, MPI_Probe, MPI_Mprobe, a Wait "
          "call or a loop of tests or probes for a message that its sender has not begun to send, "
          "or for parts of a partitioned "
          "message that the sender has not given away (MPI_Pready). If a Wait call also completes "
          "other messages, its partitioned ones do not count.",
      .advice =
          "Send earlier, or receive later: post a non-blocking receive and compute before "
          "waiting. If the sender is late because it waits itself, follow its waiting.",
      .timeline = "receiver: MPI_Recv 1-7 ~1-5; sender: MPI_Send 5-7"};

  static Seconds severity(const Call& receive, Seconds send_enter) {
    return overlap(receive, receive.enter, send_enter);
  }

  // Whether the call waits until a message is there.
  static bool waits(MpiRole role) {
    switch (role) {
      case MpiRole::kRecv:
      case MpiRole::kSendrecv:
      case MpiRole::kMrecv:
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
  // The message whose send decided when the call could end; nullptr if it waited for none.
  static const earl::Message* deciding(const Call& call,
                                       std::span<const earl::Message* const> received) {
    if (received.empty() || !waits(call)) return nullptr;
    const auto sent_earlier = [](const earl::Message* a, const earl::Message* b) {
      return a->send_call.enter < b->send_call.enter;
    };
    return first_one_ends(call) ? *std::min_element(received.begin(), received.end(), sent_earlier)
                                : *std::max_element(received.begin(), received.end(), sent_earlier);
  }

  template <class Analysis>
  static void on_probe(const Call& probe, const earl::OpenCall& send, Analysis& out) {
    if (probe.paused) return;
    out.add(LateSender{}, probe, severity(probe, send.enter), enter_of(send));
  }
  template <class Analysis>
  static void on_partitioned(const Call& receive, const earl::OpenCall& ready, Analysis& out) {
    if (receive.paused || !waits(receive)) return;
    out.add(LateSender{}, receive, severity(receive, ready.enter), enter_of(ready));
  }
  template <class Analysis>
  static void on_message_call(const earl::MessageCall& m, Analysis& out) {
    if (m.call->paused) return;
    const earl::Message* message = deciding(*m.call, m.received);
    if (message == nullptr) return;
    const Seconds waited = severity(*m.call, message->send_call.enter);
    const EndedBy sender = enter_of(message->send_call);
    out.add(LateSender{}, *m.call, waited, sender);
    out.add(LateSenderWrongOrder{}, *m.call,
            LateSenderWrongOrder::severity(waited, message->older_to_receiver_pending), sender);
  }
};

}  // namespace kojak::expert
