// The message queue: which SEND belongs to which RECV, and what each call waited for.
#include "tests/unit/earl_message_lines.h"

namespace kojak::earl {
namespace {

TEST(EarlMessages, ASendAndItsReceiveWithBothCalls) {
  const Pass run(enter(0, 0, "main") + enter(1, 0, "main") + enter(1, 1, "MPI_Recv") +
                 send(0, 1, 3) + got(1, 0, 4) + leave(1, 4) + leave(0, 5) + leave(1, 5));
  run.expect_only({});
  ASSERT_EQ(run.out.messages.size(), 2u);
  const MessageCallCopy* r = find_call(run, 1, 1);
  ASSERT_NE(r, nullptr);
  ASSERT_EQ(r->received.size(), 1u);
  EXPECT_TRUE(r->sent.empty());
  const Message& m = r->received[0];
  EXPECT_EQ(m.send_call.enter.value, 3);
  EXPECT_EQ(run.path(m.send_call.cnode), "main/MPI_Send");
  EXPECT_EQ(run.path(m.recv_cnode), "main/MPI_Recv");
  EXPECT_TRUE(m.posting_known);
  EXPECT_EQ(m.post_call.enter.value, 1);
  EXPECT_EQ(raw(m.bytes), 8u);
  EXPECT_EQ(m.send_pos, 4u);
  EXPECT_EQ(m.recv_pos, 6u);
  EXPECT_FALSE(m.older_to_receiver_pending);
  EXPECT_FALSE(m.older_of_sender_pending);
  const MessageCallCopy* s = find_call(run, 3, 0);
  ASSERT_NE(s, nullptr);
  ASSERT_EQ(s->sent.size(), 1u);
  EXPECT_EQ(s->sent[0].recv_pos, 6u);
  EXPECT_NEAR(s->call.exit.value, 3.1, 1e-12);
}

TEST(EarlMessages, OvertakingBetweenCommunicatorsTagsAndSources) {
  // Sent: com 0, com 1, tag 5 of com 0; received in reverse.
  const Pass run(
      "MPI_GROUP gid=0 mode=1 count=3\nMPI_COMM_REF cid=0 gid=0\n"
      "MPI_COMM_REF cid=1 gid=0\n" +
      send(0, 1, 1) + send(0, 1, 2, 0, 1) + send(0, 1, 3, 5) + send(2, 1, 3.5) +
      recv(1, 0, 4, 5, 5) + recv(1, 0, 6, 7, 0, 1) + recv(1, 2, 7.5, 7.6) + recv(1, 0, 8, 9));
  run.expect_only({});
  const auto sent_at = [&](double receive_enter) {
    const MessageCallCopy* r = find_call(run, receive_enter, 1);
    return r == nullptr || r->received.empty() ? -1 : r->received[0].send_time.value;
  };
  EXPECT_EQ(sent_at(4), 3);
  EXPECT_EQ(sent_at(6), 2);
  EXPECT_EQ(sent_at(7.5), 3.5);
  EXPECT_EQ(sent_at(8), 1);
  // An older message was pending for the first three, both of the receiver's and, but for the one
  // of process 2, of the sender's.
  EXPECT_TRUE(find_call(run, 4, 1)->received[0].older_to_receiver_pending);
  EXPECT_TRUE(find_call(run, 4, 1)->received[0].older_of_sender_pending);
  EXPECT_TRUE(find_call(run, 6, 1)->received[0].older_of_sender_pending);
  EXPECT_TRUE(find_call(run, 7.5, 1)->received[0].older_to_receiver_pending);
  EXPECT_FALSE(find_call(run, 7.5, 1)->received[0].older_of_sender_pending);
  EXPECT_FALSE(find_call(run, 8, 1)->received[0].older_to_receiver_pending);
}

TEST(EarlMessages, AnOlderMessageOfTheSenderToAnotherReceiver) {
  const Pass run(send(0, 1, 1) + send(0, 2, 2) + recv(2, 0, 3, 4) + recv(1, 0, 5, 6));
  run.expect_only({});
  EXPECT_TRUE(find_call(run, 3, 2)->received[0].older_of_sender_pending);
  EXPECT_FALSE(find_call(run, 3, 2)->received[0].older_to_receiver_pending);
  EXPECT_FALSE(find_call(run, 5, 1)->received[0].older_of_sender_pending);
}

TEST(EarlMessages, MessagesOfOneWaitallCountAsReceived) {
  const Pass run(irecv(1, 0, 0, 1, 1) + irecv(1, 0, 0.2, 2, 2) + send(0, 1, 1, 1) +
                 send(0, 1, 2, 2) + enter(1, 3, "MPI_Waitall") + got(1, 0, 4, 2, 0, 2) +
                 got(1, 0, 4, 1, 0, 1) + leave(1, 4));
  run.expect_only({});
  const MessageCallCopy* wait = find_call(run, 3, 1);
  ASSERT_NE(wait, nullptr);
  ASSERT_EQ(wait->received.size(), 2u);
  EXPECT_EQ(wait->received[0].send_time.value, 2);  // in order of the RECVs
  EXPECT_EQ(wait->received[1].send_time.value, 1);
  EXPECT_FALSE(wait->received[0].older_to_receiver_pending);
  EXPECT_FALSE(wait->received[0].older_of_sender_pending);
  EXPECT_EQ(wait->received[0].post_call.enter.value, 0.2);
  EXPECT_EQ(wait->received[0].post_call.role(), MpiRole::kIrecv);
}

TEST(EarlMessages, ReceivesTakeMessagesInTheOrderTheyWerePosted) {
  // Both posted for the same message; the second is waited for first and held until then.
  const Pass run(irecv(1, 0, 0, 7) + irecv(1, 0, 0.2, 8) + send(0, 1, 1) + send(0, 1, 2) +
                 enter(1, 3, "MPI_Wait") + got(1, 0, 3.5, 0, 0, 8) + leave(1, 3.5) +
                 enter(1, 4, "MPI_Wait") + got(1, 0, 4.5, 0, 0, 7) + leave(1, 4.5));
  run.expect_only({});
  const MessageCallCopy* first = find_call(run, 3, 1);
  const MessageCallCopy* second = find_call(run, 4, 1);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(first->received[0].send_time.value, 2);   // of request 8
  EXPECT_EQ(second->received[0].send_time.value, 1);  // of request 7
  EXPECT_TRUE(first->received[0].older_to_receiver_pending);
  EXPECT_FALSE(second->received[0].older_to_receiver_pending);
  // The pair of the first wait is final only with the second one.
  const auto first_message = std::find(run.out.order.begin(), run.out.order.end(), "messages");
  const auto calls_before = std::count(run.out.order.begin(), first_message, "call");
  EXPECT_EQ(calls_before, 6);
}

TEST(EarlMessages, AWildcardReceiveHoldsBackLaterOnesUntilItIsKnown) {
  // Request 1 (any source) may have taken either message; it turns out that it took process 2's.
  const std::string head = irecv(1, -1, 0, 1) + irecv(1, 0, 0.2, 2) + send(0, 1, 1) +
                           send(2, 1, 1.5) + enter(1, 3, "MPI_Wait") + got(1, 0, 3.5, 0, 0, 2) +
                           leave(1, 3.5);
  const Pass run(head + enter(1, 4, "MPI_Wait") + got(1, 2, 4.5, 0, 0, 1) + leave(1, 4.5));
  run.expect_only({});
  EXPECT_EQ(find_call(run, 3, 1)->received[0].send_time.value, 1);
  EXPECT_EQ(find_call(run, 4, 1)->received[0].send_time.value, 1.5);

  // It took process 0's first: then request 2 got the second one.
  const Pass other(irecv(1, -1, 0, 1) + irecv(1, 0, 0.2, 2) + send(0, 1, 1) + send(0, 1, 1.5) +
                   enter(1, 3, "MPI_Wait") + got(1, 0, 3.5, 0, 0, 2) + leave(1, 3.5) +
                   enter(1, 4, "MPI_Wait") + got(1, 0, 4.5, 0, 0, 1) + leave(1, 4.5));
  other.expect_only({});
  EXPECT_EQ(find_call(other, 3, 1)->received[0].send_time.value, 1.5);
  EXPECT_EQ(find_call(other, 4, 1)->received[0].send_time.value, 1);

  // A wildcard receive of another tag holds back nothing.
  const Pass third(irecv(1, -1, 0, 1, 99) + irecv(1, 0, 0.2, 2) + send(0, 1, 1) +
                   enter(1, 3, "MPI_Wait") + got(1, 0, 3.5, 0, 0, 2) + leave(1, 3.5));
  third.expect_only({});
  EXPECT_EQ(third.out.messages.size(), 2u);
}

TEST(EarlMessages, ACancelledReceiveHoldsBackNothing) {
  const Pass run(irecv(1, -1, 0, 1) + irecv(1, 0, 0.2, 2) + send(0, 1, 1) +
                 enter(1, 3, "MPI_Wait") + got(1, 0, 3.5, 0, 0, 2) + leave(1, 3.5) +
                 enter(1, 4, "MPI_Cancel") + "MPI_CANCELLED lid=1 time=4 reqid=1\n" + leave(1, 4));
  run.expect_only({});
  ASSERT_EQ(run.out.messages.size(), 2u);
  EXPECT_EQ(find_call(run, 3, 1)->received[0].send_time.value, 1);
}

TEST(EarlMessages, ACancelledSendLeavesTheQueue) {
  const Pass run(isend(0, 1, 1, 1) + send(0, 1, 2) + enter(0, 3, "MPI_Wait") +
                 "MPI_CANCELLED lid=0 time=3 reqid=1\n" + leave(0, 3) + recv(1, 0, 4, 5));
  run.expect_only({});
  EXPECT_EQ(find_call(run, 4, 1)->received[0].send_time.value, 2);
  EXPECT_FALSE(find_call(run, 4, 1)->received[0].older_to_receiver_pending);
}

TEST(EarlMessages, AFreedReceiveTakesItsMessageUnseen) {
  // Two messages of one channel: the first receive is freed, the second completes: it gets the
  // second message, and a freed send is waited for by nobody.
  const std::string text =
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
      "ENTER lid=1 time=1 region=MPI_Irecv\nMPI_RECV_REQUEST lid=1 time=1 reqid=0 slid=0 tag=3\n"
      "EXIT lid=1 time=2\n"
      "ENTER lid=1 time=2 region=MPI_Request_free\nMPI_REQUEST_FREED lid=1 time=2 reqid=0\n"
      "EXIT lid=1 time=3\n";
  const auto send = [](int t) {
    const std::string time = " time=" + std::to_string(t) + " ";
    return "ENTER lid=0" + time + "region=MPI_Isend\nATTR_UI4 kind=2 value=" + std::to_string(t) +
           "\nMPI_SEND lid=0" + time + "dlid=1 tag=3 sent=" + std::to_string(t) +
           "\nMPI_REQUEST_FREED lid=0" + time + "reqid=" + std::to_string(t) + "\nEXIT lid=0" +
           time + "\n";
  };
  const std::string rest =
      "ENTER lid=1 time=7 region=MPI_Recv\nMPI_RECV lid=1 time=8 slid=0 tag=3 recvd=5\n"
      "EXIT lid=1 time=8\nEXIT lid=0 time=9\nEXIT lid=1 time=9\n";
  const Pass run(text + send(4) + send(5) + rest);
  run.expect_only({});
  ASSERT_EQ(run.out.messages.size(), 1u);
  ASSERT_EQ(run.out.messages[0].received.size(), 1u);
  EXPECT_EQ(raw(run.out.messages[0].received[0].bytes), 5u);

  // From any source it may take any message: said, and the rest is paired as if it took none.
  std::string any = text;
  any.replace(any.find(" slid=0"), 7, "");
  const Pass unknown(any + send(5) + rest);
  EXPECT_EQ(unknown.count(Finding::kFreedReceive), 1u);
  EXPECT_EQ(unknown.out.messages.size(), 1u);
}

TEST(EarlMessages, AWaitCompletesItsSends) {
  const Pass run(isend(0, 1, 1, 4) + isend(0, 1, 2, 5) + enter(0, 3, "MPI_Waitall") +
                 recv(1, 0, 3.1, 3.2) + "MPI_SEND_COMPLETE lid=0 time=4 reqid=4\n" +
                 "MPI_SEND_COMPLETE lid=0 time=4 reqid=5\n" + leave(0, 4) + recv(1, 0, 5, 6));
  run.expect_only({});
  const MessageCallCopy* wait = find_call(run, 3, 0);
  ASSERT_NE(wait, nullptr);
  ASSERT_EQ(wait->sent.size(), 2u);
  EXPECT_EQ(wait->sent[0].post_call.enter.value, 3.1);
  EXPECT_EQ(wait->sent[1].post_call.enter.value, 5);
  EXPECT_EQ(wait->sent[1].send_call.role(), MpiRole::kIsend);
  EXPECT_EQ(wait->call.completed, kCompletedMessage);
  EXPECT_EQ(run.out.messages.back().call.enter.value, 3);  // final with the last receive
}

TEST(EarlMessages, SendrecvCompletesBothDirections) {
  const Pass run(enter(0, 1, "MPI_Sendrecv") + "MPI_SEND lid=0 time=1 dlid=1 sent=8\n" +
                 enter(1, 2, "MPI_Sendrecv") + "MPI_SEND lid=1 time=2 dlid=0 sent=16\n" +
                 got(0, 1, 3) + leave(0, 3) + got(1, 0, 4) + leave(1, 4));
  run.expect_only({});
  for (const int at : {0, 1}) {
    const MessageCallCopy* call = find_call(run, at + 1, at);
    ASSERT_NE(call, nullptr);
    ASSERT_EQ(call->received.size(), 1u);
    ASSERT_EQ(call->sent.size(), 1u);
    EXPECT_EQ(raw(call->received[0].bytes), at == 0 ? 16u : 8u);
  }
}

TEST(EarlMessages, AReceiveReadBeforeItsSendIsHeldAndCounted) {
  const Pass run(recv(1, 0, 1, 2) + send(0, 1, 3) + recv(1, 0, 4, 5) + send(0, 1, 6));
  run.expect_only({Finding::kReceiveBeforeSend});
  EXPECT_EQ(run.count(Finding::kReceiveBeforeSend), 2u);
  const MessageCallCopy* r = find_call(run, 1, 1);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->received[0].send_time.value, 3);
  EXPECT_TRUE(r->received[0].clock_violation);
  EXPECT_EQ(find_call(run, 4, 1)->received[0].send_time.value, 6);
}

TEST(EarlMessages, WhatStaysUnmatchedIsCountedAndTheRestDelivered) {
  const Pass run(send(0, 1, 1, 1) + isend(0, 1, 2, 1, 2) + isend(0, 1, 3, 2, 3) +
                 enter(0, 4, "MPI_Waitall") + "MPI_SEND_COMPLETE lid=0 time=5 reqid=1\n" +
                 "MPI_SEND_COMPLETE lid=0 time=5 reqid=2\n" + leave(0, 5) + recv(1, 0, 6, 7, 3) +
                 recv(1, 0, 8, 9, 77));
  EXPECT_EQ(run.count(Finding::kUnreceivedSend), 2u);
  EXPECT_EQ(run.count(Finding::kUnmatchedReceive), 1u);
  const MessageCallCopy* wait = find_call(run, 4, 0);
  ASSERT_NE(wait, nullptr);
  ASSERT_EQ(wait->sent.size(), 1u);
  EXPECT_EQ(wait->sent[0].recv_time.value, 7);
  EXPECT_EQ(find_call(run, 8, 1), nullptr) << "a call without any pair has nothing to tell";
}

TEST(EarlMessages, ASelfMessageAndProcPeersThatDoNotExist) {
  const Pass run(isend(0, 0, 1, 1) + recv(0, 0, 2, 3) +
                 "ENTER lid=0 time=4 region=MPI_Send\n"
                 "MPI_SEND lid=0 time=4 dlid=0 sent=4294967295\nEXIT lid=0 time=5\n" +
                 recv(0, 0, 6, 7));
  run.expect_only({});
  EXPECT_EQ(find_call(run, 2, 0)->received[0].send_time.value, 1);
}

TEST(EarlMessages, ByteCountsBeyond32BitsComeFromTheAttribute) {
  const Pass run(std::string(R"(
ENTER lid=0 time=1 region=MPI_Send
ATTR_UI8 kind=5 value=5000000000
MPI_SEND lid=0 time=1 dlid=1 sent=4294967295
EXIT lid=0 time=2
ENTER lid=1 time=2 region=MPI_Recv
ATTR_UI8 kind=6 value=5000000000
MPI_RECV lid=1 time=3 slid=0 recvd=4294967295
EXIT lid=1 time=3
)"));
  run.expect_only({});
  EXPECT_EQ(run.out.sent_bytes, std::vector<std::uint64_t>{5000000000u});
  EXPECT_EQ(run.out.received_bytes, std::vector<std::uint64_t>{5000000000u});
  EXPECT_EQ(raw(run.out.messages[0].received.empty() ? run.out.messages[0].sent[0].bytes
                                                     : run.out.messages[0].received[0].bytes),
            5000000000u);
}

TEST(EarlMessages, CountsAreTakenUpAgainAfterAGap) {
  // While process 1 was not recorded it received the first two messages; the third is left. And
  // process 0 sent one while it was not recorded.
  const Pass run(send(0, 1, 1) + send(0, 1, 2) + send(0, 1, 3) + enter(1, 0.5, "main") +
                 "LOG_OFF lid=1 time=3.2\nLOG_ON lid=1 time=4\n"
                 "MSG_STATE lid=1 time=4 plid=0 tag=0 sent=0 recvd=2\n" +
                 recv(1, 0, 5, 6) + enter(0, 7, "main") +
                 "LOG_OFF lid=0 time=7\nLOG_ON lid=0 time=8\n"
                 "MSG_STATE lid=0 time=8 plid=1 tag=0 sent=4 recvd=0\n" +
                 recv(1, 0, 9, 10) + send(0, 1, 11) + recv(1, 0, 12, 13) + leave(0, 14) +
                 leave(1, 14));
  EXPECT_EQ(find_call(run, 5, 1)->received[0].send_time.value, 3);
  EXPECT_EQ(find_call(run, 9, 1), nullptr);  // its send was not recorded
  EXPECT_EQ(find_call(run, 12, 1)->received[0].send_time.value, 11);
  EXPECT_EQ(run.count(Finding::kGap), 2u);
  EXPECT_EQ(run.count(Finding::kUnreceivedSend), 2u);
  EXPECT_EQ(run.count(Finding::kUnmatchedReceive), 1u);
}

TEST(EarlMessages, AClassicTracePairsInOrderAndSaysWhatItCannotKnow) {
  const Pass run(R"(EPILOG 1.9
ENTER lid=1 time=0 region=MPI_Irecv
MPI_RECV_REQUEST lid=1 time=0 reqid=1
EXIT lid=1 time=0.1
ENTER lid=0 time=1 region=MPI_Send
MPI_SEND lid=0 time=1 dlid=1 sent=8
EXIT lid=0 time=2
ENTER lid=1 time=2 region=MPI_Wait
MPI_RECV lid=1 time=3 slid=0
EXIT lid=1 time=3
)");
  run.expect_only({Finding::kNoRequests});
  ASSERT_EQ(run.out.messages.size(), 2u);
  const MessageCallCopy* wait = find_call(run, 2, 1);
  ASSERT_EQ(wait->received.size(), 1u);
  EXPECT_FALSE(wait->received[0].posting_known);
  EXPECT_EQ(raw(wait->received[0].bytes), 8u);
  EXPECT_EQ(run.out.received_bytes, std::vector<std::uint64_t>{0});
}

TEST(EarlMessages, AClassicTraceDoesNotPairAcrossPauses) {
  // Both processes pause; the message sent before is received in it. Those after it pair.
  const std::string pause0 = "LOG_OFF lid=0 time=3\nLOG_ON lid=0 time=4\n";
  const std::string pause1 = "LOG_OFF lid=1 time=3.5\nLOG_ON lid=1 time=4.5\n";
  std::string text = "EPILOG 1.9\n" + enter(0, 0, "main") + enter(1, 0, "main") + send(0, 1, 1) +
                     pause0 + pause1 + send(0, 1, 5);
  text += "ENTER lid=1 time=6 region=MPI_Recv\nMPI_RECV lid=1 time=7 slid=0\nEXIT lid=1 time=7\n";
  text += leave(0, 8) + leave(1, 8);
  const Pass run(text);
  EXPECT_EQ(run.count(Finding::kUnreceivedSend), 1u);
  const MessageCallCopy* r = find_call(run, 6, 1);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->received[0].send_time.value, 5);
}

}  // namespace
}  // namespace kojak::earl
