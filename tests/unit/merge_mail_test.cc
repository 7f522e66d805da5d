// Ends of fence epochs in mailboxes: their order, what does not fit, and several epochs at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "merge/complete/end_chunks.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

using merge::ChunkPool;
using merge::HeldEnd;
using merge::Mail;
using merge::Mailbox;

constexpr std::size_t kChunk = sizeof(merge::EndChunk);

std::vector<std::uint32_t> numbers(const Mail& mail) {
  std::vector<std::uint32_t> all;
  for (const HeldEnd& end : mail.ends) all.push_back(end.rmaid);
  return all;
}

TEST(Mail, SortsByTimeThenOriginThenNumber) {
  ChunkPool pool(8 * kChunk);
  Mailbox box;
  const std::vector<HeldEnd> ends = {{3, 8, 10, 0}, {1, 8, 12, 2}, {1, 8, 11, 2},
                                     {1, 8, 13, 1}, {2, 8, 14, 9}, {3, 8, 9, 0}};
  for (const HeldEnd& end : ends) ASSERT_TRUE(post(pool, 8, box, end));
  Mail mail;
  collect(pool, box, mail);
  EXPECT_EQ(box.ordinal, 0u);
  EXPECT_EQ(box.head, nullptr);
  mail.sort();
  // At time 1 origin 1 before origin 2, of that 11 before 12; 2; at time 3 number 9 before 10.
  EXPECT_EQ(numbers(mail), (std::vector<std::uint32_t>{13, 11, 12, 14, 9, 10}));
}

TEST(Mail, KeepsWhatComesInOrder) {
  ChunkPool pool(8 * kChunk);
  Mailbox box;
  for (std::uint32_t i = 0; i < 12; ++i) ASSERT_TRUE(post(pool, 8, box, {-5.0 + i, 8, i, 0}));
  EXPECT_TRUE(box.sorted);
  // The same time once more: the origin decides, so it must be sorted.
  ASSERT_TRUE(post(pool, 8, box, {6.0, 8, 100, 0}));
  EXPECT_FALSE(box.sorted);
}

TEST(Mail, SortsWhatIsFarFromItsPlace) {
  constexpr std::uint32_t kEnds = 1000;
  ChunkPool pool(kEnds * kChunk);
  Mailbox box;
  for (std::uint32_t i = 0; i < kEnds; ++i) {
    ASSERT_TRUE(post(pool, kEnds, box, {static_cast<double>(kEnds - i), 8, i, 0}));
  }
  Mail mail;
  collect(pool, box, mail);
  mail.sort();
  ASSERT_EQ(mail.ends.size(), kEnds);
  for (std::uint32_t i = 0; i < kEnds; ++i) EXPECT_EQ(mail.ends[i].rmaid, kEnds - 1 - i);
}

TEST(Mail, SeveralMailboxesAreOne) {
  ChunkPool pool(8 * kChunk);
  Mailbox first, second;
  ASSERT_TRUE(post(pool, 8, first, {2, 8, 1, 0}));
  ASSERT_TRUE(post(pool, 8, second, {1, 8, 2, 0}));
  Mail mail;
  collect(pool, first, mail);
  collect(pool, second, mail);
  mail.sort();
  EXPECT_EQ(numbers(mail), (std::vector<std::uint32_t>{2, 1}));
}

// A share of two chunks has 10 ends.
TEST(Mail, AFullMailboxStaysFull) {
  ChunkPool pool(8 * kChunk);
  Mailbox box;
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(post(pool, 2, box, {1.0 * i, 8, i, 0}));
  EXPECT_FALSE(post(pool, 2, box, {20, 8, 20, 0}));
  EXPECT_FALSE(post(pool, 8, box, {21, 8, 21, 0})) << "what follows must not overtake";
  Mail mail;
  collect(pool, box, mail);
  EXPECT_EQ(mail.ends.size(), 10u);
  EXPECT_TRUE(post(pool, 2, box, {22, 8, 22, 0}));
}

TEST(Mail, TheMemoryIsSharedAndComesBack) {
  ChunkPool pool(3 * kChunk);  // 15 ends
  Mailbox first, second;
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(post(pool, 8, first, {1.0 * i, 8, i, 0}));
  for (std::uint32_t i = 0; i < 5; ++i) ASSERT_TRUE(post(pool, 8, second, {1.0 * i, 8, i, 0}));
  EXPECT_FALSE(post(pool, 8, second, {9, 8, 9, 0}));
  Mail mail;
  collect(pool, first, mail);
  Mailbox third;
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(post(pool, 8, third, {1.0 * i, 8, i, 0}));
  EXPECT_FALSE(post(pool, 8, third, {9, 8, 9, 0}));
}

// Four ranks, each slower than the one before, and so in other epochs at the same time. Two
// windows; operations to all others, some of them under a lock, some while no fence is said to be
// open.
class FenceEpochs {
 public:
  explicit FenceEpochs(std::uint32_t rank)
      : rank_(rank), lid_(std::to_string(rank)), random_(rank + 1) {
    text_ = "ENTER lid=" + lid_ + " time=0 region=main\n";
  }
  std::string write(int fences, int rounds) {
    for (int fence = 0; fence <= fences; ++fence) {
      for (const int window : {0, 1}) this->fence(window);
      if (fence == fences) break;
      for (int i = 0; i < rounds; ++i) {
        operation(static_cast<int>(random_() % 2), static_cast<std::uint32_t>(random_()));
        if (i % 40 == 30) locked();
        if (i % 70 == 50) unnamed(fence + 1);
      }
    }
    return text_ + "EXIT lid=" + lid_ + " time=" + next() + "\n";
  }

 private:
  std::string next() { return std::to_string(time_ += 0.125 * (rank_ + 1)); }
  void enter(const std::string& region) {
    text_ += "ENTER lid=" + lid_ + " time=" + next() + " region=" + region + "\n";
  }
  void call(const std::string& region, const std::string& name, const std::string& fields) {
    enter(region);
    text_ += name + " lid=" + lid_ + " time=" + next() + fields + "\n";
    text_ += "EXIT lid=" + lid_ + " time=" + next() + "\n";
  }
  void fence(int window) {
    enter("MPI_Win_fence");
    text_ +=
        "MPI_WINCOLLEXIT lid=" + lid_ + " time=" + next() + " wid=" + std::to_string(window) + "\n";
  }
  void operation(int window, std::uint32_t choice) {
    const std::uint32_t target = (rank_ + 1 + choice % 3) % 4;
    const int kind = 1 + static_cast<int>(choice / 3 % 3);  // put, get, both
    const char* const regions[] = {"MPI_Put", "MPI_Get", "MPI_Get_accumulate"};
    const double from = time_ + 0.01;
    const double to = from + 0.001 * (1 + choice / 9 % 90);
    time_ = to;
    text_ += "MPI_RMA_CALL lid=" + lid_ + " time=" + std::to_string(from) +
             " exit=" + std::to_string(to) + " region=" + regions[kind - 1] +
             " dlid=" + std::to_string(target) + " wid=" + std::to_string(window) +
             " rmaid=" + std::to_string(rmaid_) + " bytes=8 got=" + (kind == 3 ? "8" : "0") +
             " kind=" + std::to_string(kind) + "\n";
    rmaid_ += 2;
  }
  void locked() {
    const std::uint32_t target = static_cast<std::uint32_t>(random_());
    const std::string fields = " llid=" + std::to_string((rank_ + 1 + target % 3) % 4) + " wid=0";
    call("MPI_Win_lock", "MPI_WIN_LOCK", fields + " ltype=0");
    operation(0, target);
    operation(0, target + 3);
    call("MPI_Win_unlock", "MPI_WIN_UNLOCK", fields);
  }
  // Records that say nothing is open, and that it is.
  void unnamed(int fences) {
    for (const int open : {0, 1}) {
      text_ += "WIN_STATE lid=" + lid_ + " time=" + next() +
               " wid=0 fences=" + std::to_string(fences) + " open=" + std::to_string(open) + "\n";
      operation(0, static_cast<std::uint32_t>(random_()));
    }
  }

  std::uint32_t rank_;
  std::string lid_, text_;
  std::mt19937 random_;
  double time_ = 1;
  std::uint32_t rmaid_ = 0;
};

TEST(MergeMail, WhatDoesNotFitComesOutAtTheSamePlace) {
  LocalRun run(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) run.add(rank, FenceEpochs(rank).write(3, 300));
  merge::MergeOptions options = run.options();
  const merge::Summary whole = run.merge(options);
  EXPECT_EQ(whole.reread, 0u);
  // 3 epochs with 300 operations, 7 times two under a lock and 4 times two around a state record
  // (30, 70, ... 270 and 50, 120, 190, 260), of four ranks; atomic operations have two ends.
  const std::uint64_t operations = 4 * 3 * (300 + 7 * 2 + 4 * 2);
  EXPECT_GT(whole.moved, operations);
  EXPECT_LT(whole.moved, 2 * operations);
  const std::vector<std::byte> merged = run.merged;
  EXPECT_EQ(support::check_merge(run.locals, merged), std::vector<std::string>());
  for (const std::size_t pool : {std::size_t{1}, std::size_t{2000}, std::size_t{20000}}) {
    options.pool = pool;
    const merge::Summary summary = run.merge(options);
    EXPECT_EQ(run.merged, merged) << "with " << pool << " bytes for ends";
    EXPECT_GT(summary.reread, 0u);
    EXPECT_EQ(summary.moved, whole.moved);
  }
}

// Rank 0 is the target of all. Rank 1 puts in its second epoch before and after rank 2, which is
// one epoch ahead; that one goes on after rank 0's second fence, which has emptied the mailbox in
// use, and then in its next epoch.
TEST(MergeMail, SeveralFencesAtOnce) {
  const auto fence = [](int rank, const char* from, const char* to) {
    const std::string lid = " lid=" + std::to_string(rank);
    return "ENTER" + lid + " time=" + from + " region=MPI_Win_fence\nMPI_WINCOLLEXIT" + lid +
           " time=" + to + " wid=0\n";
  };
  const auto put = [](int rank, const char* from, const char* to, int rmaid) {
    return "MPI_RMA_CALL lid=" + std::to_string(rank) + " time=" + from + " exit=" + to +
           " region=MPI_Put dlid=0 wid=0 rmaid=" + std::to_string(rmaid) +
           " bytes=8 got=0 kind=1\n";
  };
  LocalRun run(3);
  run.add(0,
          fence(0, "1", "1.5") + fence(0, "9", "10") + fence(0, "19", "20") + fence(0, "29", "30"));
  run.add(1, fence(1, "1", "1.5") + put(1, "3", "3.5", 0) + put(1, "5", "5.5", 1) +
                 fence(1, "9", "10") + fence(1, "19", "20") + fence(1, "29", "30"));
  run.add(2, fence(2, "1", "1.5") + fence(2, "2", "2.5") + put(2, "4", "4.5", 0) +
                 put(2, "11", "11.5", 1) + fence(2, "12", "12.5") + put(2, "13", "13.5", 2) +
                 fence(2, "29", "30"));
  merge::MergeOptions options = run.options();
  for (const std::size_t pool : {std::size_t{0}, std::size_t{1}}) {
    options.pool = pool;
    run.merge(options);
    // Times of the merged trace begin at 0.
    EXPECT_EQ(support::ends_in_words(run.merged),
              (std::vector<std::string>{"put 1#0 at 0 t=9 before MPI_WINCOLLEXIT 0",
                                        "put 1#1 at 0 t=9 before MPI_WINCOLLEXIT 0",
                                        "put 2#0 at 0 t=19 before MPI_WINCOLLEXIT 0",
                                        "put 2#1 at 0 t=19 before MPI_WINCOLLEXIT 0",
                                        "put 2#2 at 0 t=29 before MPI_WINCOLLEXIT 0"}));
  }
}

// What follows is one list of gets; rank 1 answers nothing and only takes part in the fences.
const char* const kFences =
    "ENTER lid=1 time=0 region=main\n"
    "ENTER lid=1 time=1 region=MPI_Win_fence\nMPI_WINCOLLEXIT lid=1 time=2 wid=0\n"
    "ENTER lid=1 time=8 region=MPI_Win_fence\nMPI_WINCOLLEXIT lid=1 time=9 wid=0\n"
    "EXIT lid=1 time=20\n";

class OddGets : public ::testing::Test {
 protected:
  // Rank 0 does this between two fences.
  void run(const std::string& calls) {
    local_.add(0,
               "ENTER lid=0 time=0 region=main\n"
               "ENTER lid=0 time=1 region=MPI_Win_fence\nMPI_WINCOLLEXIT lid=0 time=2 wid=0\n" +
                   calls +
                   "ENTER lid=0 time=8 region=MPI_Win_fence\nMPI_WINCOLLEXIT lid=0 time=9 wid=0\n"
                   "EXIT lid=0 time=20\n");
    local_.add(1, kFences);
  }
  std::vector<std::string> ends(std::size_t pool) {
    merge::MergeOptions options = local_.options();
    options.pool = pool;
    local_.merge(options);
    return support::ends_in_words(local_.merged);
  }
  static std::string call(int time, int target, int rmaid) {
    const std::string at = std::to_string(time);
    return "MPI_RMA_CALL lid=0 time=" + at + " exit=" + at +
           ".5 region=MPI_Get dlid=" + std::to_string(target) +
           " wid=0 rmaid=" + std::to_string(rmaid) + " bytes=8 got=0 kind=2\n";
  }
  static std::string start(int target, int rmaid) {
    return "MPI_GET_1TS_REMOTE lid=0 time=4 dlid=" + std::to_string(target) +
           " wid=0 rmaid=" + std::to_string(rmaid) + " sent=8\n";
  }
  static std::string end(int target, int rmaid) {
    return "MPI_GET_1TE lid=0 time=4.5 slid=" + std::to_string(target) +
           " wid=0 rmaid=" + std::to_string(rmaid) + " recvd=8\n";
  }
  LocalRun local_{2};
};

const char* const kFenceEnds[] = {"get 0#0 at 0 t=9 before MPI_WINCOLLEXIT 0",
                                  "get 0#2 at 0 t=9 before MPI_WINCOLLEXIT 0"};

// A process that does not exist: the operation has no end, and its record is none of the list's.
TEST_F(OddGets, OfNobodyAreNotReadInstead) {
  run(call(3, 1, 0) + call(4, 7, 1) + call(5, 0, 2));
  const std::vector<std::string> expected(std::begin(kFenceEnds), std::end(kFenceEnds));
  EXPECT_EQ(ends(0), expected);
  EXPECT_EQ(ends(1), expected);
}

// An end that names another process than its start is no end of it: it stays where it is.
TEST_F(OddGets, StrayEndsAreNotReadInstead) {
  run(call(3, 1, 0) + "ENTER lid=0 time=4 region=MPI_Get\n" + start(1, 1) + end(0, 1) +
      "EXIT lid=0 time=4.5\n" + call(5, 0, 2));
  const std::vector<std::string> expected = {"get 0#1 at 0 t=4.5 before EXIT 0", kFenceEnds[0],
                                             kFenceEnds[1]};
  EXPECT_EQ(ends(0), expected);
  EXPECT_EQ(ends(1), expected);
}

// One that stands between the start of an operation and its end.
TEST_F(OddGets, AStrayEndInsideAnother) {
  run(call(3, 1, 0) + "ENTER lid=0 time=4 region=MPI_Get\n" + start(1, 2) + end(0, 1) + end(1, 2) +
      "EXIT lid=0 time=4.5\n");
  const std::vector<std::string> expected = {"get 0#1 at 0 t=4.5 before EXIT 0", kFenceEnds[0],
                                             kFenceEnds[1]};
  EXPECT_EQ(ends(0), expected);
  EXPECT_EQ(ends(1), expected);
}

// Operations inside each other: each end is read once.
TEST_F(OddGets, EndsInAnotherOrderThanTheirStarts) {
  run("ENTER lid=0 time=4 region=MPI_Get\n" + start(1, 0) + start(0, 1) + end(0, 1) + end(1, 0) +
      "EXIT lid=0 time=4.5\n" + call(5, 1, 2));
  const std::vector<std::string> expected = {
      kFenceEnds[0], "get 0#1 at 0 t=9 before MPI_WINCOLLEXIT 0", kFenceEnds[1]};
  EXPECT_EQ(ends(0), expected);
  EXPECT_EQ(ends(1), expected);
}

// A whole call between the start of an operation and its end.
TEST_F(OddGets, AWholeCallInsideAnother) {
  run("ENTER lid=0 time=4 region=MPI_Get\n" + start(1, 0) + call(4, 0, 1) + end(1, 0) +
      "EXIT lid=0 time=4.5\n" + call(5, 1, 2));
  const std::vector<std::string> expected = {
      kFenceEnds[0], "get 0#1 at 0 t=9 before MPI_WINCOLLEXIT 0", kFenceEnds[1]};
  EXPECT_EQ(ends(0), expected);
  EXPECT_EQ(ends(1), expected);
}

// The stray end does not use up its start either.
TEST_F(OddGets, AStrayEndBeforeTheRightOne) {
  run("ENTER lid=0 time=4 region=MPI_Get\n" + start(1, 0) + end(0, 0) + end(1, 0) +
      "EXIT lid=0 time=4.5\n");
  const std::vector<std::string> expected = {"get 0#0 at 0 t=4.5 before EXIT 0", kFenceEnds[0]};
  EXPECT_EQ(ends(0), expected);
  std::vector<std::string> targets;
  for (const support::PlainEvent& event : support::merged_events(local_.merged)) {
    if (event.is_end) targets.push_back(event.fields.substr(0, 6));
  }
  EXPECT_EQ(targets, (std::vector<std::string>{"slid=0", "slid=1"}));
}

// Two operations of an access epoch that never ends; between them, while its state is not known,
// one of a fence epoch whose fence was not recorded. It stays where it is, and is none of the
// others' list.
TEST_F(OddGets, WhatStaysInPlaceIsNotReadInstead) {
  const std::string open = " wid=0 plid=1 access=1 exposure=0 ops=0 open=1\n";
  run("EPOCH_STATE lid=0 time=2.5" + open + call(3, 1, 0) +
      "LOG_OFF lid=0 time=3.6\nLOG_ON lid=0 time=3.7\n" + call(4, 1, 1) +
      "WIN_STATE lid=0 time=4.6 wid=0 fences=2 open=1\n"
      "EPOCH_STATE lid=0 time=4.7" +
      open + call(5, 1, 2));
  const std::vector<std::string> expected = {"get 0#1 at 0 t=4.5 before EXIT 0 mark 2",
                                             "get 0#0 at 0 t=20 before EXIT 0 mark 2",
                                             "get 0#2 at 0 t=20 before EXIT 0 mark 2"};
  EXPECT_EQ(ends(0), expected);
  EXPECT_EQ(ends(1), expected);
}

}  // namespace
}  // namespace kojak::test
