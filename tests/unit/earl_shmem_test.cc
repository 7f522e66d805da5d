// SHMEM: where an operation works, what ended the waiting for a variable; who waits, and for what.
#include <gtest/gtest.h>

#include "earl/access/archive.h"
#include "epilog/format/text/text_reader.h"
#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

TEST(EarlShmem, AWaitForAVariablePointsToWhatWroteIt) {
  const auto bytes = text_to_trace(
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"              // 0, 1
      "ENTER lid=1 time=2 region=shmem_int_wait_until\n"                              // 2
      "ENTER lid=0 time=3 region=shmem_int_p\n"                                       // 3
      "SHMEM_PLACE lid=0 time=3 dlid=1 rmaid=0 offset=64 ctx=3 flags=0\n"             // 4
      "PUT_1TS lid=0 time=3 dlid=1 rmaid=0 sent=4\nEXIT lid=0 time=4\n"               // 5, 6
      "ENTER lid=0 time=4 region=shmem_int_p\n"                                       // 7
      "SHMEM_PLACE lid=0 time=4 dlid=1 rmaid=1 offset=68 ctx=0 flags=0\n"             // 8
      "PUT_1TS lid=0 time=4 dlid=1 rmaid=1 sent=4\nEXIT lid=0 time=5\n"               // 9, 10
      "SHMEM_WAIT lid=1 time=6 offset=64 bytes=4 cmp=1 value=7\nEXIT lid=1 time=6\n"  // 11, 12
      "ENTER lid=1 time=7 region=shmem_int_wait_until\n"                              // 13
      "SHMEM_WAIT lid=1 time=8 offset=64 bytes=4 cmp=1 value=7\nEXIT lid=1 time=8\n"  // 14, 15
      "ENTER lid=0 time=9 region=shmem_put\n"                                         // 16
      "PUT_1TS lid=0 time=9 dlid=1 rmaid=2 sent=4\nEXIT lid=0 time=9\n"               // 17, 18
      "EXIT lid=0 time=10\nEXIT lid=1 time=10\n");
  ASSERT_TRUE(bytes) << bytes.error().message();
  const auto archive = Archive::from(std::vector<std::byte>(*bytes), "text");
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->placeptr(5), 4u);
  EXPECT_EQ(archive->placeptr(9), 8u);
  EXPECT_EQ(archive->placeptr(17), kNoEvent);  // nothing was told of it
  EXPECT_EQ(archive->writeptr(11), 5u);        // what was written beside it does not count
  EXPECT_EQ(archive->writeptr(14), kNoEvent);  // written before it waited
  EXPECT_EQ(archive->writeptr(5), kNoEvent);
  EXPECT_EQ(archive->originptr(5), kNoEvent);
  const Event place = (*archive)[4];
  EXPECT_EQ(place.offset, 64u);
  EXPECT_EQ(place.context, 3u);
}

std::vector<std::uint32_t> locations(const std::vector<sequence::ShmemWait>& waits) {
  std::vector<std::uint32_t> result;
  for (const sequence::ShmemWait& w : waits) result.push_back(raw(w.location));
  return result;
}
using Numbers = std::vector<std::uint32_t>;

Archive opened(const std::string& text) {
  const auto bytes = text_to_trace(text);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message());
  expect_same_access(*bytes, 1, 40);
  return std::move(*Archive::from(std::vector<std::byte>(*bytes), "text"));
}

TEST(EarlShmem, WhoWaitsForALockUntilItIsTheirs) {
  const Archive archive = opened(
      "ENTER lid=0 time=1 region=shmem_set_lock\n"                                        // 0
      "ALOCK lid=0 time=2 lkid=16 glid=absent\nEXIT lid=0 time=2\n"                       // 1, 2
      "ENTER lid=2 time=3 region=shmem_set_lock\n"                                        // 3
      "ENTER lid=1 time=4 region=shmem_set_lock\n"                                        // 4
      "ENTER lid=3 time=4 region=shmem_set_lock\n"                                        // 5
      "ALOCK lid=3 time=5 lkid=24 glid=absent\nEXIT lid=3 time=5\n"                       // 6, 7
      "ENTER lid=3 time=6 region=shmem_test_lock\nEXIT lid=3 time=6\n"                    // 8, 9
      "RLOCK lid=0 time=7 lkid=16 glid=absent\nALOCK lid=1 time=8 lkid=16 glid=absent\n"  // 10, 11
      "EXIT lid=1 time=9\nRLOCK lid=1 time=9 lkid=16 glid=absent\n"                       // 12, 13
      "ALOCK lid=2 time=9 lkid=16 glid=absent\nEXIT lid=2 time=9\n");                     // 14, 15
  const auto waiters = [&](std::uint64_t pos, std::uint32_t lock) {
    return locations(archive.state(pos)->shmem_waits.lock_waiters(LockId{lock}));
  };
  EXPECT_EQ(waiters(0, 16), (Numbers{0}));
  EXPECT_EQ(waiters(1, 16), (Numbers{}));  // it is its own
  EXPECT_EQ(waiters(5, 16), (Numbers{2, 1}));
  EXPECT_EQ(waiters(5, 24), (Numbers{3}));
  EXPECT_EQ(waiters(6, 24), (Numbers{}));
  EXPECT_EQ(waiters(8, 16), (Numbers{2, 1}));  // a test does not wait
  EXPECT_EQ(waiters(11, 16), (Numbers{2}));
  EXPECT_EQ(waiters(12, 16), (Numbers{2}));  // the call's exit says nothing new
  EXPECT_EQ(waiters(14, 16), (Numbers{}));
  EXPECT_TRUE(archive.state(8)->shmem_waits.lock_waiters(LockId{8}).empty());
}

TEST(EarlShmem, WhatACallWaitsFor) {
  const Archive archive = opened(
      "ENTER lid=0 time=1 region=shmem_int_wait_until_all\n"       // 0
      "ENTER lid=1 time=1 region=shmem_int_test\n"                 // 1
      "SHMEM_WAIT lid=1 time=2 offset=8 bytes=4 cmp=1 value=1\n"   // 2
      "EXIT lid=1 time=2\nENTER lid=1 time=3 region=shmem_put\n"   // 3, 4
      "SHMEM_WAIT lid=0 time=4 offset=64 bytes=4 cmp=2 value=0\n"  // 5
      "SHMEM_WAIT lid=0 time=4 offset=80 bytes=8 cmp=4 value=9\n"  // 6
      "EXIT lid=0 time=4\nENTER lid=0 time=5 region=shmem_wait\n"  // 7, 8
      "EXIT lid=0 time=6\n");                                      // 9
  for (const std::uint64_t pos : {0, 1, 2, 4, 5, 6}) {
    const auto state = archive.state(pos);
    const auto waits = state->shmem_waits.waits();
    ASSERT_EQ(locations(waits), (Numbers{0})) << pos;
    EXPECT_FALSE(waits[0].for_lock);
    ASSERT_EQ(waits[0].variables.size(), 2u);
    EXPECT_EQ(waits[0].variables[0].offset, 64u);
    EXPECT_EQ(waits[0].variables[1].pos, 6u);
    EXPECT_EQ(waits[0].variables[1].bytes, 8u);
    EXPECT_EQ(waits[0].variables[1].comparison, 4);
    EXPECT_EQ(waits[0].variables[1].value, 9u);
  }
  EXPECT_TRUE(archive.state(7)->shmem_waits.waits().empty());
  EXPECT_EQ(archive.state(8)->shmem_waits.waits().at(0).variables.size(), 0u);  // nothing tells
  EXPECT_TRUE(archive.state(9)->shmem_waits.waits().empty());
}

// Two processes were killed: one held nothing and asked for lock 16, the other waited.
TEST(EarlShmem, CallsThatNeverEndedWaitUntilTheEnd) {
  const Archive archive = opened(
      "ENTER lid=0 time=1 region=shmem_set_lock\n"  // 0
      "MPI_OPEN_CALL lid=0 time=1 dlid=absent slid=absent cid=absent wid=absent tag=absent "
      "ordinal=16 awaited=0\n"                            // 1
      "ENTER lid=1 time=1 region=shmem_int_wait_until\n"  // 2
      "MPI_OPEN_CALL lid=1 time=1 dlid=absent slid=absent cid=absent wid=absent tag=absent "
      "ordinal=64 awaited=0\n"                                 // 3
      "ENTER lid=2 time=1 region=main\nEXIT lid=2 time=9\n");  // 4, 5
  EXPECT_EQ(locations(archive.state(0)->shmem_waits.lock_waiters(LockId{16})), (Numbers{0}));
  const auto last = archive.state(5);
  EXPECT_EQ(locations(last->shmem_waits.lock_waiters(LockId{16})), (Numbers{0}));
  const auto waits = last->shmem_waits.waits();
  ASSERT_EQ(locations(waits), (Numbers{0, 1}));
  ASSERT_EQ(waits[1].variables.size(), 1u);
  EXPECT_EQ(waits[1].variables[0].offset, 64u);
  EXPECT_EQ(waits[1].variables[0].comparison, 0);  // only its place is told
}

// While the events pass, nobody knows which lock a call will get.
TEST(EarlShmem, AStreamKnowsWhatWasWaitedForWhenItsRecordComes) {
  const auto bytes = text_to_trace(
      "ENTER lid=0 time=1 region=shmem_set_lock\n"
      "ENTER lid=1 time=1 region=shmem_int_wait_until\n"
      "SHMEM_WAIT lid=1 time=2 offset=64 bytes=4 cmp=1 value=7\n");
  ASSERT_TRUE(bytes);
  auto trace = Trace::from(memory_source(bytes->data(), bytes->size()), "stream");
  ASSERT_TRUE(trace);
  sequence::StateStream stream(*trace);
  Event e;
  ASSERT_TRUE(stream.next(e) && stream.next(e));
  const auto waits = [&] { return stream.state().shmem_waits.waits(); };
  ASSERT_EQ(locations(waits()), (Numbers{0, 1}));
  EXPECT_TRUE(is_absent(waits()[0].lock));
  EXPECT_TRUE(waits()[1].variables.empty());
  ASSERT_TRUE(stream.next(e));
  ASSERT_EQ(waits()[1].variables.size(), 1u);
  EXPECT_EQ(waits()[1].variables[0].value, 7u);
}

// The same in both models of the merge: where the end of a put stands says nothing.
TEST(EarlShmem, OperationsAreInTheQueueUntilTheirContextIsQuiet) {
  const Archive archive = opened(
      "ENTER lid=0 time=1 region=shmem_putmem\n"                                      // 0
      "SHMEM_PLACE lid=0 time=1 dlid=1 rmaid=0 offset=8 ctx=0 flags=0\n"              // 1
      "PUT_1TS lid=0 time=1 dlid=1 rmaid=0 sent=8\n"                                  // 2
      "PUT_1TE lid=1 time=2 slid=0 rmaid=0 recvd=8\nEXIT lid=0 time=2\n"              // 3, 4
      "ENTER lid=0 time=3 region=shmem_ctx_getmem_nbi\n"                              // 5
      "SHMEM_PLACE lid=0 time=3 dlid=1 rmaid=1 offset=8 ctx=7 flags=1\n"              // 6
      "MPI_GET_1TO lid=0 time=3 rmaid=1 wid=absent\n"                                 // 7
      "GET_1TS lid=1 time=3 dlid=0 rmaid=1 sent=8\nEXIT lid=0 time=3\n"               // 8, 9
      "ENTER lid=0 time=4 region=shmem_int_atomic_swap\n"                             // 10
      "SHMEM_PLACE lid=0 time=4 dlid=1 rmaid=2 offset=8 ctx=0 flags=2\n"              // 11
      "MPI_GET_1TO lid=0 time=4 rmaid=2 wid=absent\n"                                 // 12
      "GET_1TS lid=1 time=4 dlid=0 rmaid=2 sent=4\n"                                  // 13
      "PUT_1TS lid=0 time=4 dlid=1 rmaid=3 sent=4\n"                                  // 14
      "GET_1TE lid=0 time=5 slid=1 rmaid=2 recvd=4\n"                                 // 15
      "PUT_1TE lid=1 time=5 slid=0 rmaid=3 recvd=4\nEXIT lid=0 time=5\n"              // 16, 17
      "ENTER lid=0 time=6 region=shmem_fence\nEXIT lid=0 time=6\n"                    // 18, 19
      "LOG_OFF lid=0 time=6\nLOG_ON lid=0 time=6\n"                                   // 20, 21
      "ENTER lid=1 time=6 region=shmem_quiet\nSHMEM_QUIET lid=1 time=6 ctx=absent\n"  // 22, 23
      "ENTER lid=0 time=7 region=shmem_ctx_quiet\nSHMEM_QUIET lid=0 time=7 ctx=7\n"   // 24, 25
      "EXIT lid=0 time=7\nENTER lid=0 time=8 region=shmem_finalize\n"                 // 26, 27
      "SHMEM_QUIET lid=0 time=8 ctx=absent\nEXIT lid=0 time=8\n");                    // 28, 29
  const auto queue = [&](std::uint64_t pos, std::uint32_t context = kAbsent) {
    return archive.state(pos)->symmetric.queue(rank(0), context);
  };
  using Positions = std::vector<std::uint64_t>;
  EXPECT_EQ(queue(1), (Positions{}));
  EXPECT_EQ(queue(4), (Positions{2}));
  EXPECT_EQ(queue(9, 7), (Positions{7}));
  EXPECT_EQ(queue(9, 0), (Positions{2}));
  EXPECT_EQ(queue(14, 0), (Positions{2, 12, 14}));
  EXPECT_EQ(queue(15, 0), (Positions{2, 14}));
  EXPECT_EQ(queue(16), (Positions{2, 7}));
  EXPECT_EQ(queue(23), (Positions{2, 7}));  // a fence, a pause, another process's quiet
  EXPECT_EQ(queue(25), (Positions{2}));
  EXPECT_EQ(queue(28), (Positions{}));
  EXPECT_TRUE(archive.state(16)->symmetric.queue(rank(1)).empty());
  EXPECT_TRUE(archive.state(16)->symmetric.queue(rank(9)).empty());  // not in the trace
}

// What one thread issues while another is in a quiet is not that quiet's.
TEST(EarlShmem, AQuietCompletesWhatWasIssuedBeforeIt) {
  const Archive archive = opened(
      "LOCATION lid=0 mid=0 nid=0 pid=0 tid=0\nLOCATION lid=1 mid=0 nid=0 pid=1 tid=0\n"
      "LOCATION lid=2 mid=0 nid=0 pid=0 tid=1\n"
      "ENTER lid=0 time=1 region=shmem_putmem\n"                                      // 0
      "PUT_1TS lid=0 time=1 dlid=1 rmaid=0 sent=8\nEXIT lid=0 time=1\n"               // 1, 2
      "ENTER lid=2 time=1 region=shmem_putmem\n"                                      // 3
      "PUT_1TS lid=2 time=1 dlid=1 rmaid=1 sent=8\nEXIT lid=2 time=1\n"               // 4, 5
      "ENTER lid=0 time=2 region=shmem_quiet\nENTER lid=2 time=3 region=shmem_put\n"  // 6, 7
      "PUT_1TS lid=2 time=3 dlid=1 rmaid=2 sent=8\nEXIT lid=2 time=3\n"               // 8, 9
      "SHMEM_QUIET lid=0 time=4 ctx=0\nEXIT lid=0 time=4\n"                           // 10, 11
      "ENTER lid=0 time=5 region=shmem_barrier_all\n"                                 // 12
      "SHMEM_QUIET lid=0 time=6 ctx=0\nEXIT lid=0 time=6\n");                         // 13, 14
  const auto queue = [&](std::uint64_t pos) {
    return archive.state(pos)->symmetric.queue(rank(0));
  };
  using Positions = std::vector<std::uint64_t>;
  EXPECT_EQ(queue(9), (Positions{1, 4, 8}));
  EXPECT_EQ(queue(10), (Positions{8}));
  EXPECT_EQ(queue(12), (Positions{8}));
  EXPECT_EQ(queue(13), (Positions{}));
}

}  // namespace
}  // namespace kojak::earl
