// The message queue where recording paused: open receives, and counts that begin anew.
#include "tests/unit/earl_message_lines.h"

namespace kojak::earl {
namespace {

// Process 1 has posted two receives of one channel, pauses, and completes the second one first:
// without what the head tells, that one gets the message of the first.
std::string two_open_receives(const std::string& before, const std::string& head) {
  return enter(0, 0, "main") + enter(1, 0, "main") + before +
         "LOG_OFF lid=1 time=1\nLOG_ON lid=1 time=2\n" + head + send(0, 1, 3) + send(0, 1, 4) +
         enter(1, 5, "MPI_Wait") + got(1, 0, 6, 0, 0, 8) + leave(1, 6) + enter(1, 7, "MPI_Wait") +
         got(1, 0, 8, 0, 0, 7) + leave(1, 8) + leave(0, 9) + leave(1, 9);
}
std::string open_receive(int at, int from, double time, int request, int flags = 0,
                         std::uint64_t overtaken = 0) {
  return "REQUEST_STATE lid=" + std::to_string(at) + " time=" + std::to_string(time) +
         " kind=1 reqid=" + std::to_string(request) +
         " cid=0 plid=" + (from < 0 ? "absent" : std::to_string(from)) +
         " tag=0 bytes=0 ordinal=" + std::to_string(overtaken) +
         " wid=absent op=0 flags=" + std::to_string(flags) + "\n";
}
const std::string kHead = open_receive(1, 0, 2, 7) + open_receive(1, 0, 2, 8);

TEST(EarlMessages, OpenReceivesAreToldAfterAGap) {
  // Posted while nobody recorded.
  const Pass unseen(two_open_receives("", kHead));
  EXPECT_EQ(find_call(unseen, 5, 1)->received[0].send_time.value, 4);
  EXPECT_EQ(find_call(unseen, 7, 1)->received[0].send_time.value, 3);
  EXPECT_EQ(unseen.count(Finding::kUnknownRequest), 0u);
  // Posted before the gap: where, is known.
  const Pass seen(two_open_receives(irecv(1, 0, 0.2, 7) + irecv(1, 0, 0.4, 8), kHead));
  const Message& late = find_call(seen, 5, 1)->received[0];
  EXPECT_EQ(late.send_time.value, 4);
  EXPECT_EQ(late.post_call.enter.value, 0.4);
  EXPECT_EQ(find_call(seen, 7, 1)->received[0].send_time.value, 3);
  // Nothing told, as in older traces: the order of completion.
  const Pass untold(two_open_receives("", ""));
  EXPECT_EQ(find_call(untold, 5, 1)->received[0].send_time.value, 3);
}

std::string wait_for(int at, int from, double time, int request) {
  return enter(at, time, "MPI_Wait") + got(at, from, time + 0.5, 0, 0, request) +
         leave(at, time + 0.5);
}
const std::string kMains = enter(0, 0, "main") + enter(1, 0, "main");
const std::string kLeft = leave(0, 30) + leave(1, 30);
std::string off(int at, double time) {
  return "LOG_OFF lid=" + std::to_string(at) + " time=" + std::to_string(time) + "\n";
}
std::string on(int at, double time) {
  return "LOG_ON lid=" + std::to_string(at) + " time=" + std::to_string(time) + "\n";
}
std::string pause(int at, double from, double to) {
  return off(at, from) + on(at, to);
}
std::string message_state(int at, int peer, double time, int sent, int received, int tag = 0) {
  return "MSG_STATE lid=" + std::to_string(at) + " time=" + std::to_string(time) +
         " cid=0 plid=" + std::to_string(peer) + " tag=" + std::to_string(tag) +
         " sent=" + std::to_string(sent) + " recvd=" + std::to_string(received) + "\n";
}

// Receive 7 is open when recording pauses, and 8, which was posted behind it, has been complete.
TEST(EarlMessages, AnOpenReceiveKeepsItsNumberWhenRecordingPauses) {
  const std::string posted = kMains + irecv(1, 0, 0.2, 7) + irecv(1, 0, 0.4, 8) + send(0, 1, 1) +
                             send(0, 1, 2) + wait_for(1, 0, 3, 8);
  const Pass run(posted + pause(1, 4, 5) + message_state(1, 0, 5, 0, 1) +
                 open_receive(1, 0, 5, 7, 0, 1) + send(0, 1, 6) + wait_for(1, 0, 7, 7) +
                 recv(1, 0, 8, 9) + kLeft);
  EXPECT_EQ(find_call(run, 3, 1)->received[0].send_time.value, 2);
  EXPECT_EQ(find_call(run, 7, 1)->received[0].send_time.value, 1);
  EXPECT_EQ(find_call(run, 8, 1)->received[0].send_time.value, 6);
  run.expect_only({});
  // The same at the end of the trace: the first message is the open receive's.
  const Pass cut(posted + kLeft);
  EXPECT_EQ(find_call(cut, 3, 1)->received[0].send_time.value, 2);
  EXPECT_EQ(cut.count(Finding::kUnreceivedSend), 1u);
}

TEST(EarlMessages, WhatAnOpenReceiveFromAnySourceMayHaveTakenStaysWithoutASender) {
  // Receive 7, from any source, has got the first message or none.
  const std::string posted = kMains + irecv(1, -1, 0.2, 7) + irecv(1, 0, 0.4, 8) + send(0, 1, 1) +
                             send(0, 1, 2) + wait_for(1, 0, 3, 8);
  const Pass run(posted + pause(1, 4, 5) + message_state(1, 0, 5, 0, 1) +
                 open_receive(1, -1, 5, 7, 2, ~std::uint64_t{0}) + send(0, 1, 6) +
                 wait_for(1, 0, 7, 7) + recv(1, 0, 8, 9) + kLeft);
  EXPECT_EQ(find_call(run, 3, 1), nullptr);
  EXPECT_EQ(find_call(run, 7, 1), nullptr);  // it was overtaken by 8
  EXPECT_EQ(find_call(run, 8, 1)->received[0].send_time.value, 6);
  EXPECT_EQ(run.count(Finding::kUncertainReceive), 2u);
  // Nothing is left that it could have taken.
  const Pass certain(kMains + irecv(1, -1, 0.2, 7) + irecv(1, 0, 0.4, 8) + send(0, 1, 1) +
                     wait_for(1, 0, 3, 8) + kLeft);
  EXPECT_EQ(find_call(certain, 3, 1)->received[0].send_time.value, 1);
  EXPECT_EQ(certain.count(Finding::kUncertainReceive), 0u);
  // Nor here: receive 6, posted first, has taken the first message, since 8 has the second one.
  const Pass earlier(kMains + irecv(1, 0, 0.1, 6) + irecv(1, -1, 0.2, 7) + irecv(1, 0, 0.4, 8) +
                     send(0, 1, 1) + send(0, 1, 2) + wait_for(1, 0, 3, 8) + pause(1, 4, 5) + kLeft);
  EXPECT_EQ(find_call(earlier, 3, 1)->received[0].send_time.value, 2);
  EXPECT_EQ(earlier.count(Finding::kUncertainReceive), 0u);
  // Receive 9 was posted last and may have none yet: the first message may be that of 7.
  const Pass later(kMains + irecv(1, -1, 0.2, 7) + irecv(1, 0, 0.4, 8) + irecv(1, 0, 0.6, 9) +
                   send(0, 1, 1) + send(0, 1, 2) + wait_for(1, 0, 3, 8) + pause(1, 4, 5) + kLeft);
  EXPECT_EQ(find_call(later, 3, 1), nullptr);
  EXPECT_EQ(later.count(Finding::kUncertainReceive), 1u);
}

TEST(EarlMessages, AReceiveThatWasOvertakenInAGapKeepsItsNumber) {
  // Posted in the order 7, 8, 9; 8 has taken the second of three messages in the gap.
  const Pass run(kMains + send(0, 1, 1) + send(0, 1, 2) + send(0, 1, 3) + pause(1, 4, 5) +
                 message_state(1, 0, 5, 0, 1) + open_receive(1, 0, 5, 7, 0, 1) +
                 open_receive(1, 0, 5, 9) + wait_for(1, 0, 7, 9) + wait_for(1, 0, 8, 7) + kLeft);
  EXPECT_EQ(find_call(run, 7, 1)->received[0].send_time.value, 3);
  EXPECT_EQ(find_call(run, 8, 1)->received[0].send_time.value, 1);
  EXPECT_EQ(run.count(Finding::kUnreceivedSend), 1u);
}

// Process `at` has so many messages of any tag behind it, and its counts of some have gone.
std::string restarted(int at, int peer, double time, int sent_before, int received_before,
                      int tag = -1) {
  return "MSG_RESTARTED lid=" + std::to_string(at) + " time=" + std::to_string(time) +
         " cid=0 plid=" + std::to_string(peer) +
         " tag=" + (tag < 0 ? "absent" : std::to_string(tag)) +
         " sent_before=" + std::to_string(sent_before) +
         " recvd_before=" + std::to_string(received_before) + "\n";
}
TEST(EarlMessages, CountsThatBeginAnewAreComparedFromTheSameMessageOn) {
  const auto run = [](int sender_from, int receiver_from) {
    // Message 5 of tag 0 is under way, from before the gap; both have counted anew since then.
    return Pass(kMains + send(0, 1, 1) + off(0, 4) + off(1, 4.5) + on(0, 5) +
                restarted(0, 1, 5, 900, 0) + restarted(0, 1, 5, sender_from, 0, 0) +
                message_state(0, 1, 5, 6, 0) + on(1, 5.5) + restarted(1, 0, 5.5, 0, 899) +
                restarted(1, 0, 5.5, 0, receiver_from, 0) + message_state(1, 0, 5.5, 0, 5) +
                send(0, 1, 6) + recv(1, 0, 7, 8) + recv(1, 0, 9, 10) + kLeft);
  };
  const Pass alike(run(700, 700));
  EXPECT_EQ(find_call(alike, 7, 1), nullptr);  // message 5: its send was not recorded
  EXPECT_EQ(find_call(alike, 9, 1)->received[0].send_time.value, 6);
  const Pass differ(run(700, 701));
  EXPECT_EQ(find_call(differ, 7, 1), nullptr);
  EXPECT_EQ(find_call(differ, 9, 1), nullptr);
  EXPECT_EQ(differ.count(Finding::kUncertainReceive), 2u);
}

TEST(EarlMessages, ATagThatIsNotToldOfBeginsAnew) {
  // Before the gap one message of tag 0 stays under way; it is received there, and both counts go.
  // All messages of the line: 900, all of them received.
  const Pass run(kMains + send(0, 1, 1) + off(0, 4) + off(1, 4.5) + on(0, 5) +
                 restarted(0, 1, 5, 900, 0) + on(1, 5.5) + restarted(1, 0, 5.5, 0, 900) +
                 send(0, 1, 6, 3) + recv(1, 0, 7, 8, 3) + send(0, 1, 9) + recv(1, 0, 10, 11) +
                 kLeft);
  EXPECT_EQ(find_call(run, 7, 1)->received[0].send_time.value, 6);
  EXPECT_EQ(find_call(run, 10, 1)->received[0].send_time.value, 9);
  EXPECT_EQ(run.count(Finding::kUncertainReceive), 0u);
  // One message more is under way: nobody knows which of them are received first.
  const Pass more(kMains + send(0, 1, 1) + off(0, 4) + off(1, 4.5) + on(0, 5) +
                  restarted(0, 1, 5, 901, 0) + on(1, 5.5) + restarted(1, 0, 5.5, 0, 900) +
                  send(0, 1, 9) + recv(1, 0, 10, 11) + kLeft);
  EXPECT_EQ(find_call(more, 10, 1), nullptr);
  EXPECT_EQ(more.count(Finding::kUncertainReceive), 1u);
}

TEST(EarlMessages, AReceiveThatWasReportedIsOpenNoMore) {
  // MPI_Request_get_status has told of the first one, which has its message.
  const Pass run(two_open_receives("", open_receive(1, 0, 2, 7, 1) + open_receive(1, 0, 2, 8)));
  EXPECT_EQ(find_call(run, 5, 1)->received[0].send_time.value, 3);
}

TEST(EarlMessages, TheCompletionOfASendThatIsToldIsKnown) {
  const std::string wait =
      enter(0, 3, "MPI_Wait") + "MPI_SEND_COMPLETE lid=0 time=4 reqid=5\n" + leave(0, 4);
  const std::string pause = enter(0, 0, "main") + "LOG_OFF lid=0 time=1\nLOG_ON lid=0 time=2\n";
  const Pass told(pause +
                  "REQUEST_STATE lid=0 time=2 kind=2 reqid=5 cid=absent plid=1 tag=0 bytes=0 "
                  "ordinal=0 wid=absent op=0 flags=0\n" +
                  wait + leave(0, 5));
  EXPECT_EQ(told.count(Finding::kUnknownRequest), 0u);
  const Pass untold(pause + wait + leave(0, 5));
  EXPECT_EQ(untold.count(Finding::kUnknownRequest), 1u);
}

}  // namespace
}  // namespace kojak::earl
