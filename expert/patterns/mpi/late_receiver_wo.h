// Messages in Wrong Order, Late Receiver. Source: EXPERT patterns 2006, point-to-point.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct LateReceiverWrongOrder {
  static constexpr Metric kMetric{
      .name = "mpi_latereceiver_wo",
      .title = "Messages in Wrong Order",
      .parent = "mpi_latereceiver",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
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

}  // namespace kojak::expert
