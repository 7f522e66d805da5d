// Messages in Wrong Order, Late Sender. Source: EXPERT patterns 2006, point-to-point.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct LateSenderWrongOrder {
  static constexpr Metric kMetric{
      .name = "mpi_latesender_wo",
      .title = "Messages in Wrong Order",
      .parent = "mpi_latesender",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
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

}  // namespace kojak::expert
