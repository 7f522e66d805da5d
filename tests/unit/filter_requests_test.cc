// elg_filter on receives that are posted before the part begins.
#include <gtest/gtest.h>

#include <map>

#include "earl/replay.h"
#include "tests/unit/filter_support.h"

namespace kojak::test {
namespace {

// Process 1 posts requests 6, 7 and 8 of one channel at 1 s. The message of 6 is sent at 2 s, those
// of 7 and 8 at 4 and 5 s; 8 is found complete before 7.
const char* const kOpenReceives = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=1 time=1 region=MPI_Irecv
MPI_RECV_REQUEST lid=1 time=1 reqid=6 slid=0 cid=0 tag=3
EXIT lid=1 time=1.1
ENTER lid=1 time=1.2 region=MPI_Irecv
MPI_RECV_REQUEST lid=1 time=1.2 reqid=7 cid=0 tag=3
EXIT lid=1 time=1.3
ENTER lid=1 time=1.4 region=MPI_Irecv
MPI_RECV_REQUEST lid=1 time=1.4 reqid=8 slid=0 cid=0 tag=3
EXIT lid=1 time=1.5
ENTER lid=0 time=2 region=MPI_Send
MPI_SEND lid=0 time=2 dlid=1 cid=0 tag=3 sent=8
EXIT lid=0 time=2.1
ENTER lid=0 time=4 region=MPI_Send
MPI_SEND lid=0 time=4 dlid=1 cid=0 tag=3 sent=8
EXIT lid=0 time=4.1
ENTER lid=0 time=5 region=MPI_Send
MPI_SEND lid=0 time=5 dlid=1 cid=0 tag=3 sent=8
EXIT lid=0 time=5.1
ENTER lid=1 time=6 region=MPI_Wait
ATTR_UI4 kind=2 value=8
MPI_RECV lid=1 time=6.1 slid=0 cid=0 tag=3 recvd=8
EXIT lid=1 time=6.1
ENTER lid=1 time=7 region=MPI_Wait
ATTR_UI4 kind=2 value=7
MPI_RECV lid=1 time=7.1 slid=0 cid=0 tag=3 recvd=8
EXIT lid=1 time=7.1
ENTER lid=1 time=8 region=MPI_Wait
ATTR_UI4 kind=2 value=6
MPI_RECV lid=1 time=8.1 slid=0 cid=0 tag=3 recvd=8
EXIT lid=1 time=8.1
EXIT lid=0 time=10
EXIT lid=1 time=10
)";

// When the messages were sent, by when they were received.
struct Pairs : earl::Sink {
  std::map<double, double> sent;
  void on_message_call(const earl::MessageCall& call) {
    for (const earl::Message* m : call.received) sent[m->recv_time.value] = m->send_time.value;
  }
};
std::map<double, double> pairs_of(const Bytes& bytes) {
  earl::Trace trace =
      std::move(*earl::Trace::from(memory_source(bytes.data(), bytes.size()), "cut"));
  Pairs pairs;
  earl::Replay replay(trace, pairs);
  replay.run();
  return pairs.sent;
}

TEST(FilterRequests, ReceivesKeepTheOrderOfTheirPosting) {
  const std::map<double, double> whole{{6.1, 5}, {7.1, 4}, {8.1, 2}};
  ASSERT_EQ(pairs_of(trace_of(kOpenReceives)), whole);
  // The first message lies before the part: its receive, which is in it, is left out with it.
  const Bytes part = cut(trace_of(kOpenReceives), window(3, 20));
  EXPECT_EQ(faults(part), std::vector<std::string>{});
  EXPECT_EQ(pairs_of(part), (std::map<double, double>{{6.1, 5}, {7.1, 4}}));
  // A part of the part has them once more.
  EXPECT_EQ(pairs_of(cut(part, window(3.5, 20))), (std::map<double, double>{{6.1, 5}, {7.1, 4}}));
}

// Receives 6 and 7 of one channel; 7 is found complete before process 1 is left out, 6 behind that.
TEST(FilterRequests, AnOpenReceiveKeepsItsNumberBehindAGapOfTheTrace) {
  const Bytes whole = trace_of(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=1 time=1 region=MPI_Irecv
MPI_RECV_REQUEST lid=1 time=1 reqid=6 slid=0 cid=0 tag=3
EXIT lid=1 time=1.1
ENTER lid=1 time=1.2 region=MPI_Irecv
MPI_RECV_REQUEST lid=1 time=1.2 reqid=7 slid=0 cid=0 tag=3
EXIT lid=1 time=1.3
ENTER lid=0 time=2 region=MPI_Send
MPI_SEND lid=0 time=2 dlid=1 cid=0 tag=3 sent=8
EXIT lid=0 time=2.1
ENTER lid=0 time=3 region=MPI_Send
MPI_SEND lid=0 time=3 dlid=1 cid=0 tag=3 sent=8
EXIT lid=0 time=3.1
ENTER lid=1 time=4 region=MPI_Wait
ATTR_UI4 kind=2 value=7
MPI_RECV lid=1 time=4.1 slid=0 cid=0 tag=3 recvd=8
EXIT lid=1 time=4.1
LOG_OFF lid=1 time=5
LOG_ON lid=1 time=6
MSG_STATE lid=1 time=6 cid=0 plid=0 tag=3 sent=0 recvd=1
REQUEST_STATE lid=1 time=6 kind=1 reqid=6 cid=0 plid=0 tag=3 bytes=0 ordinal=1 wid=absent op=0 flags=0
ENTER lid=1 time=8 region=MPI_Wait
ATTR_UI4 kind=2 value=6
MPI_RECV lid=1 time=8.1 slid=0 cid=0 tag=3 recvd=8
EXIT lid=1 time=8.1
EXIT lid=0 time=10
EXIT lid=1 time=10
)");
  const std::map<double, double> expected{{4.1, 3}, {8.1, 2}};
  ASSERT_EQ(pairs_of(whole), expected);
  EXPECT_EQ(pairs_of(cut(whole, window(0.5, 20))), expected);
  // Without the first receive: no number is left to count.
  EXPECT_EQ(pairs_of(cut(whole, window(2.5, 20))), (std::map<double, double>{{4.1, 3}}));
}

}  // namespace
}  // namespace kojak::test
