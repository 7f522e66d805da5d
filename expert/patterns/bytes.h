// Bytes moved, by kind of communication and direction. Source: docs/patterns.
#pragma once

#include "earl/aspects/collectives.h"
#include "earl/aspects/messages.h"
#include "earl/aspects/transfers.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

namespace detail {
constexpr Metric bytes_metric(std::string_view name, std::string_view title,
                              std::string_view parent, std::string_view summary,
                              std::string_view meaning) {
  return {.name = name,
          .title = title,
          .parent = parent,
          .unit = Unit::kBytes,
          .kind = Metric::Kind::kSummand,
          .own = {},
          .summary = summary,
          .formula = "",
          .meaning = meaning,
          .advice = ""};
}
}  // namespace detail

struct AllBytes {
  static constexpr Metric kMetric =
      detail::bytes_metric("bytes", "Bytes", "", "Bytes sent and received.",
                           "Both directions together: a message counts at its sender and at its "
                           "receiver.");
};
struct BytesP2p {
  static constexpr Metric kMetric = detail::bytes_metric(
      "bytes_p2p", "Point-to-point", "bytes", "Bytes of messages, sent and received.", "");
};
struct BytesSentP2p {
  static constexpr Metric kMetric = detail::bytes_metric(
      "bytes_sent_p2p", "Sent", "bytes_p2p", "Bytes of messages, at the call that sent them.", "");

  template <class Analysis>
  static void on_send(const earl::SendEvent& send, Analysis& out) {
    out.add(BytesSentP2p{}, *send.call, raw(send.bytes));
  }
};
struct BytesReceivedP2p {
  static constexpr Metric kMetric = detail::bytes_metric(
      "bytes_rcvd_p2p", "Received", "bytes_p2p",
      "Bytes of messages, at the call that completed their receipt.",
      "A classic trace does not say how long a received message was; the length of its send is "
      "taken.");

  template <class Analysis>
  static void on_receive(const earl::RecvEvent& receive, Analysis& out) {
    if (receive.has_bytes) out.add(BytesReceivedP2p{}, *receive.call, raw(receive.bytes));
  }
  // Classic traces: the length is known when the send is.
  template <class Analysis>
  static void on_message_call(const earl::MessageCall& m, Analysis& out) {
    if (out.native()) return;
    for (const earl::Message* message : m.received) {
      out.add(BytesReceivedP2p{}, *m.call, raw(message->bytes));
    }
  }
};
struct BytesCollective {
  static constexpr Metric kMetric =
      detail::bytes_metric("bytes_coll", "Collective", "bytes",
                           "Bytes of collective calls' buffers, sent and received.", "");
};
struct BytesSentCollective {
  static constexpr Metric kMetric =
      detail::bytes_metric("bytes_sent_coll", "Sent", "bytes_coll",
                           "Bytes of the send buffers of collective calls.", "");

  template <class Analysis>
  static void on_collective_exit(const earl::CollectiveExit& exit, Analysis& out) {
    out.add(BytesSentCollective{}, *exit.call, raw(exit.sent));
  }
};
struct BytesReceivedCollective {
  static constexpr Metric kMetric =
      detail::bytes_metric("bytes_rcvd_coll", "Received", "bytes_coll",
                           "Bytes of the receive buffers of collective calls.", "");

  template <class Analysis>
  static void on_collective_exit(const earl::CollectiveExit& exit, Analysis& out) {
    out.add(BytesReceivedCollective{}, *exit.call, raw(exit.recvd));
  }
};
struct BytesRma {
  static constexpr Metric kMetric = detail::bytes_metric(
      "bytes_rma", "One-sided", "bytes", "Bytes of one-sided transfers, at the origin's call.",
      "The target's side is not counted: it makes no call.");
};
struct BytesPut {
  static constexpr Metric kMetric = detail::bytes_metric(
      "bytes_put", "Put", "bytes_rma", "Bytes put or accumulated, at the origin's call.", "");

  template <class Analysis>
  static void on_transfer(const earl::Transfer& transfer, Analysis& out) {
    if (!transfer.get) out.add(BytesPut{}, *transfer.call, raw(transfer.bytes));
  }
};
struct BytesGot {
  static constexpr Metric kMetric =
      detail::bytes_metric("bytes_get", "Get", "bytes_rma", "Bytes got, at the origin's call.", "");

  template <class Analysis>
  static void on_transfer(const earl::Transfer& transfer, Analysis& out) {
    if (transfer.get) out.add(BytesGot{}, *transfer.call, raw(transfer.bytes));
  }
};

}  // namespace kojak::expert
