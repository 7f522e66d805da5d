// State aspects after particular events of readable traces, each used alone or all together.
#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

using sequence::State;
using Opened = OpenedText;

using Positions = std::vector<std::uint64_t>;

Positions enters(const State& state, std::uint32_t location) {
  Positions result;
  for (const auto& open : state.regions.stack(location)) result.push_back(open.enter);
  return result;
}

Positions locks_of(const std::vector<sequence::WindowLock>& locks) {
  Positions result;
  for (const sequence::WindowLock& l : locks) result.push_back(l.lock);
  return result;
}

TEST(EarlStates, NestedAndRecursiveRegions) {
  const Opened t(
      "ENTER lid=0 time=0 region=main\n"  // 0
      "ENTER lid=0 time=1 region=f\n"     // 1
      "ENTER lid=0 time=2 region=f\n"     // 2
      "EXIT lid=0 time=3\n"               // 3
      "EXIT lid=0 time=4\n"               // 4
      "ENTER lid=0 time=5 region=f\n"     // 5
      "EXIT lid=0 time=6\nEXIT lid=0 time=7\n");
  EXPECT_EQ(enters(*t.after(2), 0), (Positions{0, 1, 2}));
  EXPECT_EQ(enters(*t.after(3), 0), (Positions{0, 1}));
  EXPECT_EQ(t.archive->enterptr(0), kNoEvent);
  EXPECT_EQ(t.archive->enterptr(2), 1u);
  EXPECT_EQ(t.archive->enterptr(3), 2u);
  EXPECT_EQ(t.archive->enterptr(4), 1u);
  // main, main/f, main/f/f: the second call of f is a visit of the path of the first.
  EXPECT_EQ(t.archive->call_tree().size(), 3u);
  EXPECT_EQ(t.archive->cnodeptr(6), 1u);
  EXPECT_EQ(t.after(7)->paths.visits(t.archive->call_path(5), 0), 2u);
  EXPECT_EQ(t.after(4)->paths.visits(t.archive->call_path(5), 0), 1u);
}

// Call paths told by one identifier (CALL_SITE_CALLER): MPI_Put is called in g, by h and f, which
// main called, and in g by f; the third site has no callers.
const char* const kPaths =
    "STRING strid=0 cntc=0 str=\"main\"\nSTRING strid=1 cntc=0 str=\"f\"\n"
    "STRING strid=2 cntc=0 str=\"h\"\nSTRING strid=3 cntc=0 str=\"g\"\n"
    "STRING strid=4 cntc=0 str=\"MPI_Put\"\n"
    "REGION rid=0 rnid=0 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=1 rnid=1 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=2 rnid=2 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=3 rnid=3 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
    "REGION rid=4 rnid=4 fid=absent begln=absent endln=absent rdid=absent rtype=1\n"
    "CALL_SITE csid=0 fid=absent lno=10 erid=1 lrid=0\n"  // main calls f
    "CALL_SITE csid=1 fid=absent lno=20 erid=2 lrid=1\n"  // f calls h
    "CALL_SITE csid=2 fid=absent lno=30 erid=3 lrid=2\n"  // h calls g
    "CALL_SITE csid=3 fid=absent lno=40 erid=4 lrid=3\n"  // g calls MPI_Put
    "CALL_SITE csid=4 fid=absent lno=21 erid=3 lrid=1\n"  // f calls g
    "CALL_SITE csid=5 fid=absent lno=40 erid=4 lrid=3\n"  // g calls MPI_Put
    "CALL_SITE csid=6 fid=absent lno=40 erid=4 lrid=3\n";
const char* const kCallers =
    "CALL_SITE_CALLER csid=1 caller=0\nCALL_SITE_CALLER csid=2 caller=1\n"
    "CALL_SITE_CALLER csid=3 caller=2\n"
    "CALL_SITE_CALLER csid=4 caller=0\nCALL_SITE_CALLER csid=5 caller=4\n";

TEST(EarlStates, APathToldByOneIdentifierHasAllItsFunctions) {
  const Opened t(std::string(kPaths) + kCallers +
                 "ENTER lid=0 time=0 rid=0\n"      // 0
                 "ENTER_CS lid=0 time=1 csid=3\n"  // 1
                 "EXIT lid=0 time=2\n"             // 2
                 "ENTER_CS lid=0 time=3 csid=5\n"  // 3
                 "EXIT lid=0 time=4\n"             // 4
                 "ENTER_CS lid=0 time=5 csid=3\n"  // 5
                 "EXIT lid=0 time=6\n"             // 6
                 "ENTER_CS lid=0 time=7 csid=6\n"  // 7
                 "EXIT lid=0 time=8\nEXIT lid=0 time=9\n");
  const CallTree& tree = t.archive->call_tree();
  const auto sites = [&](CallPathId id) {
    std::vector<std::uint32_t> result;
    for (; !is_absent(id); id = tree[id].parent) result.push_back(raw(tree[id].csite));
    return result;
  };
  // main, f, f/h, f/h/g, its MPI_Put; f/g, its MPI_Put; main's own.
  EXPECT_EQ(tree.size(), 8u);
  EXPECT_EQ(sites(t.archive->call_path(1)), (std::vector<std::uint32_t>{3, 2, 1, 0, kAbsent}));
  EXPECT_EQ(sites(t.archive->call_path(3)), (std::vector<std::uint32_t>{5, 4, 0, kAbsent}));
  EXPECT_EQ(sites(t.archive->call_path(7)), (std::vector<std::uint32_t>{6, kAbsent}));
  EXPECT_EQ(t.archive->call_path(5), t.archive->call_path(1));
  EXPECT_EQ(t.archive->call_path(2), t.archive->call_path(1)) << "the exit";
  // One region instance, in the open one.
  EXPECT_EQ(enters(*t.after(1), 0), (Positions{0, 1}));
  EXPECT_EQ(t.archive->enterptr(1), 0u);
  EXPECT_EQ(t.archive->enterptr(2), 1u);
  EXPECT_EQ(t.archive->cnodeptr(5), 1u);
  // The functions on the way are visited with the call: f three times, h and its g twice.
  const CallPathId put = t.archive->call_path(1), g = tree[put].parent, h = tree[g].parent,
                   f = tree[h].parent;
  EXPECT_EQ(tree[f].first_enter, 1u);
  EXPECT_EQ(t.after(9)->paths.visits(put, 0), 2u);
  EXPECT_EQ(t.after(9)->paths.visits(g, 0), 2u);
  EXPECT_EQ(t.after(9)->paths.visits(h, 0), 2u);
  EXPECT_EQ(t.after(9)->paths.visits(f, 0), 3u);
  EXPECT_EQ(t.after(9)->paths.visits(tree[f].parent, 0), 1u) << "main";
  EXPECT_EQ(t.after(2)->paths.visits(f, 0), 1u);
}

// The same calls with each function entered and left, as older traces have it.
TEST(EarlStates, EnteredFunctionsMakeTheSameTree) {
  const Opened one(std::string(kPaths) + kCallers +
                   "ENTER lid=0 time=0 rid=0\n"
                   "ENTER_CS lid=0 time=1 csid=3\nEXIT lid=0 time=2\n"
                   "ENTER_CS lid=0 time=3 csid=5\nEXIT lid=0 time=4\nEXIT lid=0 time=5\n");
  const Opened levels(std::string(kPaths) +
                      "ENTER lid=0 time=0 rid=0\n"
                      "ENTER_CS lid=0 time=1 csid=0\nENTER_CS lid=0 time=1 csid=1\n"
                      "ENTER_CS lid=0 time=1 csid=2\nENTER_CS lid=0 time=1 csid=3\n"
                      "EXIT lid=0 time=2\nEXIT lid=0 time=2\nEXIT lid=0 time=2\nEXIT lid=0 time=2\n"
                      "ENTER_CS lid=0 time=3 csid=0\nENTER_CS lid=0 time=3 csid=4\n"
                      "ENTER_CS lid=0 time=3 csid=5\n"
                      "EXIT lid=0 time=4\nEXIT lid=0 time=4\nEXIT lid=0 time=4\n"
                      "EXIT lid=0 time=5\n");
  const CallTree &a = one.archive->call_tree(), &b = levels.archive->call_tree();
  ASSERT_EQ(a.size(), 7u);
  ASSERT_EQ(b.size(), a.size());
  const auto end_a = one.after(one.archive->size() - 1);
  const auto end_b = levels.after(levels.archive->size() - 1);
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const auto id = static_cast<CallPathId>(i);
    EXPECT_EQ(a[id].parent, b[id].parent) << i;
    EXPECT_EQ(a[id].region, b[id].region) << i;
    EXPECT_EQ(a[id].csite, b[id].csite) << i;
    EXPECT_EQ(end_a->paths.visits(id, 0), end_b->paths.visits(id, 0)) << i;
  }
}

// A region that is open stands above the whole path, another one above one of its own; and where
// a caller itself is entered, the path goes on below it.
TEST(EarlStates, APathLiesBelowTheRegionThatIsOpen) {
  const Opened t(std::string(kPaths) + kCallers +
                 "ENTER_CS lid=0 time=0 csid=3\nEXIT lid=0 time=1\n"  // 0
                 "ENTER lid=0 time=2 rid=0\n"                         // 2
                 "ENTER_CS lid=0 time=3 csid=0\n"                     // 3: main/f
                 "ENTER_CS lid=0 time=4 csid=5\n"                     // 4: main/f/f/g/MPI_Put
                 "EXIT lid=0 time=5\nEXIT lid=0 time=6\n"
                 "ENTER_CS lid=0 time=7 csid=5\n"  // 7: main/f/g/MPI_Put
                 "EXIT lid=0 time=8\nEXIT lid=0 time=9\n");
  const CallTree& tree = t.archive->call_tree();
  const auto regions = [&](std::uint64_t pos) {
    std::vector<std::uint32_t> result;
    for (CallPathId id = t.archive->call_path(pos); !is_absent(id); id = tree[id].parent) {
      result.push_back(raw(tree[id].region));
    }
    return result;
  };
  EXPECT_EQ(regions(0), (std::vector<std::uint32_t>{4, 3, 2, 1}));
  EXPECT_EQ(regions(4), (std::vector<std::uint32_t>{4, 3, 1, 1, 0}));
  EXPECT_EQ(regions(7), (std::vector<std::uint32_t>{4, 3, 1, 0}));
  EXPECT_EQ(tree[tree[t.archive->call_path(7)].parent].parent, t.archive->call_path(3));
}

TEST(EarlStates, AQueueIsFirstInFirstOutAndOthersOvertakeIt) {
  const Opened t(
      "ENTER lid=0 time=0 region=MPI_Send\n"
      "ENTER lid=1 time=0 region=MPI_Recv\n"
      "MPI_SEND lid=0 time=1 dlid=1 cid=0 tag=5 sent=1\n"  // 2
      "MPI_SEND lid=0 time=2 dlid=1 cid=0 tag=5 sent=2\n"  // 3
      "MPI_SEND lid=0 time=3 dlid=1 cid=0 tag=6 sent=3\n"  // 4: overtakes
      "MPI_RECV lid=1 time=4 slid=0 cid=0 tag=6 recvd=3\n"
      "MPI_RECV lid=1 time=5 slid=0 cid=0 tag=5 recvd=1\n"
      "EXIT lid=0 time=6\nEXIT lid=1 time=6\n");
  EXPECT_EQ(t.after(4)->messages.sends(), (Positions{2, 3, 4}));
  EXPECT_EQ(t.after(4)->messages.queue(CommId{0}, rank(0), rank(1), Tag{5}), (Positions{2, 3}));
  EXPECT_EQ(t.after(6)->messages.sends(), Positions{3});
  EXPECT_EQ(t.archive->sendptr(5), 4u);
  EXPECT_EQ(t.archive->sendptr(6), 2u);
  EXPECT_EQ(t.archive->sendptr(2), kNoEvent);
}

TEST(EarlStates, MessagesOvertakeBetweenCommunicators) {
  // The same source, destination and tag: first on communicator 0, then on 1; received in reverse.
  const Opened t(
      "MPI_GROUP gid=0 mode=1 count=2\nMPI_COMM_REF cid=0 gid=0\nMPI_COMM_REF cid=1 gid=0\n"
      "ENTER lid=0 time=0 region=MPI_Send\n"
      "ENTER lid=1 time=0 region=MPI_Recv\n"
      "MPI_SEND lid=0 time=1 dlid=1 cid=0 tag=5 sent=1\n"   // 2
      "MPI_SEND lid=0 time=2 dlid=1 cid=1 tag=5 sent=2\n"   // 3
      "MPI_RECV lid=1 time=3 slid=0 cid=1 tag=5 recvd=2\n"  // 4
      "MPI_RECV lid=1 time=4 slid=0 cid=0 tag=5 recvd=1\n"  // 5
      "EXIT lid=0 time=5\nEXIT lid=1 time=5\n");
  EXPECT_EQ(t.after(3)->messages.queue(CommId{0}, rank(0), rank(1), Tag{5}), Positions{2});
  EXPECT_EQ(t.after(3)->messages.queue(CommId{1}, rank(0), rank(1), Tag{5}), Positions{3});
  EXPECT_EQ(t.after(4)->messages.sends(), Positions{2});
  EXPECT_EQ(t.archive->sendptr(4), 3u);
  EXPECT_EQ(t.archive->sendptr(5), 2u);
}

TEST(EarlStates, AWildcardHoldsBackALaterReceiveUntilItIsKnown) {
  const Opened t(
      "ENTER lid=0 time=0 region=MPI_Send\nENTER lid=1 time=0 region=MPI_Waitall\n"
      "MPI_RECV_REQUEST lid=1 time=1 reqid=0 cid=0 tag=5\n"         // 2: from anybody
      "MPI_RECV_REQUEST lid=1 time=1 reqid=1 slid=0 cid=0 tag=5\n"  // 3
      "MPI_SEND lid=0 time=2 dlid=1 cid=0 tag=5 sent=1\n"           // 4
      "MPI_SEND lid=0 time=3 dlid=1 cid=0 tag=5 sent=2\n"           // 5
      "ATTR_UI4 kind=2 value=1\nMPI_RECV lid=1 time=4 slid=0 cid=0 tag=5 recvd=2\n"  // 6
      "ATTR_UI4 kind=2 value=0\nMPI_RECV lid=1 time=5 slid=0 cid=0 tag=5 recvd=1\n"  // 7
      "EXIT lid=0 time=6\nEXIT lid=1 time=6\n");
  // The second receive completes first, but the first one posted gets the first message.
  EXPECT_EQ(t.archive->sendptr(6), 5u);
  EXPECT_EQ(t.archive->sendptr(7), 4u);
  EXPECT_EQ(t.archive->requestptr(6), 3u);
  EXPECT_EQ(t.archive->requestptr(7), 2u);
  EXPECT_EQ(t.after(6)->messages.sends(), (Positions{4, 5}));
  EXPECT_TRUE(t.after(6)->messages.paired().empty());
  EXPECT_EQ(t.after(7)->messages.paired().size(), 2u);
  EXPECT_TRUE(t.after(7)->messages.sends().empty());
}

// A call that begins or ends an epoch: two events, the second its exit.
std::string sync(int lid, int time, const std::string& region, const std::string& group, int window,
                 int synex) {
  const std::string at = " lid=" + std::to_string(lid) + " time=" + std::to_string(time) + " ";
  return "ENTER" + at + "region=MPI_Win_" + region + "\nMPI_WINEXIT" + at +
         "wid=" + std::to_string(window) + " group=" + group + " synex=" + std::to_string(synex) +
         "\n";
}

TEST(EarlStates, OneEventCompletesTransactionsOfSeveralTargets) {
  // Two targets wait; the origin's complete is the last constituent of both.
  std::string text = sync(1, 0, "post", "[0]", 0, 0) + sync(2, 0, "post", "[0]", 0, 0) +  // 1, 3
                     sync(0, 1, "start", "[1,2]", 0, 0) +                                 // 5
                     "MPI_PUT_1TS lid=0 time=2 dlid=1 wid=0 rmaid=0 sent=8\n"             // 6
                     "MPI_PUT_1TE lid=1 time=3 slid=0 wid=0 rmaid=0 recvd=8\n";           // 7
  text += sync(1, 4, "wait", "[0]", 0, 1) + sync(2, 4, "wait", "[0]", 0, 1) +             // 9, 11
          sync(0, 5, "complete", "[1,2]", 0, 1) + "ENTER lid=0 time=6 region=main\n";
  const Opened t(text);
  const auto before = t.after(11);
  EXPECT_TRUE(before->epochs.exposure_transactions().empty());
  ASSERT_NE(before->epochs.access(rank(0), WindowId{0}), nullptr);
  EXPECT_EQ(before->epochs.access(rank(0), WindowId{0})->opened, 5u);
  EXPECT_EQ(before->epochs.exposure(rank(1), WindowId{0}), nullptr);
  const auto state = t.after(13);
  const auto exposures = state->epochs.exposure_transactions();
  ASSERT_EQ(exposures.size(), 2u);
  EXPECT_EQ(exposures[0].events(), (Positions{1, 5, 6, 7, 9, 13}));
  EXPECT_EQ(exposures[1].events(), (Positions{3, 5, 11, 13}));
  const auto accesses = state->epochs.access_transactions();
  ASSERT_EQ(accesses.size(), 1u);
  EXPECT_TRUE(accesses[0].whole());
  EXPECT_EQ(accesses[0].events(), (Positions{1, 3, 5, 6, 7, 9, 11, 13}));
  const auto pair = state->epochs.epoch_pair(rank(1));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->events(), (Positions{1, 5, 6, 7, 9, 13}));
  EXPECT_FALSE(state->epochs.epoch_pair(rank(0)));
  EXPECT_EQ(state->epochs.epoch_pairs().size(), 2u);
  // Gone after the next event of the trace.
  EXPECT_TRUE(t.after(14)->epochs.exposure_transactions().empty());
  EXPECT_TRUE(t.after(14)->epochs.epoch_pairs().empty());
}

TEST(EarlStates, AnOriginTwoEpochsAheadTwoWindowsAndATest) {
  std::string text;
  for (const int window : {0, 1}) {  // both windows: two access epochs before any exposure epoch
    text += sync(0, 1, "start", "[1]", window, 0) + sync(0, 2, "complete", "[1]", window, 1) +
            sync(0, 3, "start", "[1]", window, 0) + sync(0, 4, "complete", "[1]", window, 1);
  }
  // 16..: on window 1 a post, a false test, a true one.
  text += sync(1, 5, "post", "[0]", 1, 0) + sync(1, 6, "test", "[0]", 1, 0) +
          sync(1, 7, "test", "[0]", 1, 1) + sync(1, 8, "post", "[0]", 1, 0) +
          sync(1, 9, "wait", "[0]", 1, 1);
  const Opened t(text);
  ASSERT_EQ(t.archive->size(), 26u);
  EXPECT_NE(t.after(19)->epochs.exposure(rank(1), WindowId{1}), nullptr);
  EXPECT_TRUE(t.after(19)->epochs.exposure_transactions().empty());
  const auto first = t.after(21);
  ASSERT_EQ(first->epochs.exposure_transactions().size(), 1u);
  EXPECT_EQ(first->epochs.exposure_transactions()[0].events(), (Positions{9, 11, 17, 21}));
  const auto second = t.after(25);
  ASSERT_EQ(second->epochs.access_transactions().size(), 1u);
  EXPECT_EQ(second->epochs.access_transactions()[0].events(), (Positions{13, 15, 23, 25}));
}

TEST(EarlStates, TransactionsOfTwoWindowsAtATimeAreApart) {
  // On both windows process 1 posts and waits for process 0; the epochs overlap, and that of window
  // 1 ends first.
  std::string text = sync(1, 1, "post", "[0]", 0, 0) + sync(1, 2, "post", "[0]", 1, 0) +    // 1, 3
                     sync(0, 3, "start", "[1]", 0, 0) + sync(0, 4, "start", "[1]", 1, 0) +  // 5, 7
                     "MPI_PUT_1TS lid=0 time=5 dlid=1 wid=1 rmaid=0 sent=8\n"               // 8
                     "MPI_PUT_1TS lid=0 time=5 dlid=1 wid=0 rmaid=1 sent=8\n"               // 9
                     "MPI_PUT_1TE lid=1 time=6 slid=0 wid=1 rmaid=0 recvd=8\n"              // 10
                     "MPI_PUT_1TE lid=1 time=6 slid=0 wid=0 rmaid=1 recvd=8\n";             // 11
  text += sync(0, 7, "complete", "[1]", 1, 1) + sync(1, 8, "wait", "[0]", 1, 1) +  // 13, 15
          sync(0, 9, "complete", "[1]", 0, 1) + sync(1, 10, "wait", "[0]", 0, 1);  // 17, 19
  const Opened t(text);
  const auto first = t.after(15), second = t.after(19);
  ASSERT_EQ(first->epochs.exposure_transactions().size(), 1u);
  EXPECT_EQ(first->epochs.exposure_transactions()[0].events(), (Positions{3, 7, 8, 10, 13, 15}));
  EXPECT_NE(first->epochs.access(rank(0), WindowId{0}), nullptr);
  EXPECT_EQ(first->epochs.access(rank(0), WindowId{1}), nullptr);
  ASSERT_EQ(second->epochs.exposure_transactions().size(), 1u);
  EXPECT_EQ(second->epochs.exposure_transactions()[0].events(), (Positions{1, 5, 9, 11, 17, 19}));
}

TEST(EarlStates, ThreadsOfAProcessShareItsEpochs) {
  // Location 2 is a second thread of process 1: it completes what location 1 started, and issued
  // the put.
  const Opened t(
      "LOCATION lid=0 pid=0 tid=0\nLOCATION lid=1 pid=1 tid=0\n"
      "LOCATION lid=2 pid=1 tid=1\n" +
      sync(0, 1, "post", "[1]", 0, 0) + sync(1, 1, "start", "[0]", 0, 0) +  // 1, 3
      "MPI_PUT_1TS lid=2 time=2 dlid=0 wid=0 rmaid=0 sent=8\n"              // 4
      "MPI_PUT_1TE lid=0 time=3 slid=1 wid=0 rmaid=0 recvd=8\n" +           // 5
      sync(2, 4, "complete", "[0]", 0, 1) +
      sync(0, 5, "wait", "[1]", 0, 1));  // 7, 9
  EXPECT_EQ(t.after(4)->transfers.of(LocationId{2}), Positions{4});
  EXPECT_EQ(t.archive->startptr(5), 4u);
  const auto state = t.after(9);
  ASSERT_EQ(state->epochs.exposure_transactions().size(), 1u);
  EXPECT_EQ(state->epochs.exposure_transactions()[0].events(), (Positions{1, 3, 4, 5, 7, 9}));
  EXPECT_EQ(t.after(3)->epochs.access(rank(1), WindowId{0})->opened, 3u);
}

TEST(EarlStates, AnEmptyGroupCompletesAtOnce) {
  const Opened t(sync(0, 1, "start", "[]", 0, 0) + sync(0, 2, "complete", "[]", 0, 1) +
                 "ENTER lid=1 time=3 region=main\n");
  EXPECT_EQ(t.after(3)->epochs.access_transactions().size(), 1u);
  EXPECT_TRUE(t.after(4)->epochs.access_transactions().empty());
}

TEST(EarlStates, LockChainsSharedAndExclusive) {
  const auto lock = [](int lid, int time, int type) {
    return "MPI_WIN_LOCK lid=" + std::to_string(lid) + " time=" + std::to_string(time) +
           " llid=3 wid=0 ltype=" + std::to_string(type) + "\n";
  };
  const auto unlock = [](int lid, int time) {
    return "MPI_WIN_UNLOCK lid=" + std::to_string(lid) + " time=" + std::to_string(time) +
           " llid=3 wid=0\n";
  };
  std::string text;
  for (int l = 0; l < 4; ++l) {
    text += "ENTER lid=" + std::to_string(l) + " time=0 region=main\n";  // 0..3
  }
  text += lock(0, 1, 0) + lock(1, 2, 0) + lock(2, 3, 1) +  // 4 shared, 5 shared, 6 exclusive
          unlock(0, 4) + unlock(1, 5) + unlock(2, 6);      // 7, 8, 9
  const Opened t(text);
  const auto holders = [&](std::uint64_t pos) {
    return locks_of(t.after(pos)->window_locks.holders(WindowId{0}, rank(3)));
  };
  const auto waiters = [&](std::uint64_t pos) {
    return locks_of(t.after(pos)->window_locks.waiters(WindowId{0}, rank(3)));
  };
  EXPECT_EQ(holders(6), (Positions{4, 5}));
  EXPECT_EQ(waiters(6), Positions{6});
  EXPECT_EQ(holders(7), Positions{5});
  EXPECT_EQ(holders(8), Positions{6});
  EXPECT_TRUE(holders(9).empty());
  // A lock: the lock or unlock before it; an unlock: its own lock.
  EXPECT_EQ(t.archive->lockptr(4), kNoEvent);
  EXPECT_EQ(t.archive->lockptr(5), 4u);
  EXPECT_EQ(t.archive->lockptr(6), 5u);
  EXPECT_EQ(t.archive->lockptr(7), 4u);
  EXPECT_EQ(t.archive->lockptr(9), 6u);
}

TEST(EarlStates, WhoeverProvesToHoldALockGoesFirst) {
  const std::string end = " wid=0 rmaid=0 sent=8\n";
  const Opened t(
      "MPI_WIN_LOCK lid=0 time=1 llid=2 wid=0 ltype=1\n"  // 0
      "MPI_WIN_LOCK lid=1 time=2 llid=2 wid=0 ltype=1\n"  // 1
      "MPI_PUT_1TS lid=1 time=3 dlid=2" +
      end +                                                // 2
      "MPI_WIN_FLUSH lid=1 time=4 tlid=2 wid=0 local=0\n"  // 3: data have come back
      "MPI_WIN_UNLOCK lid=1 time=5 llid=2 wid=0\n");       // 4
  const auto holders = [&](std::uint64_t pos) {
    return locks_of(t.after(pos)->window_locks.holders(WindowId{0}, rank(2)));
  };
  EXPECT_EQ(holders(2), Positions{0});
  EXPECT_EQ(holders(3), Positions{1});
  EXPECT_EQ(holders(4), Positions{0});
}

TEST(EarlStates, PutsThatWaitForTheirLockKeepTheCallThatIssuedThem) {
  const Opened t(
      "MPI_WIN_LOCK lid=0 time=1 llid=1 wid=0 ltype=1\n"        // 0
      "ENTER lid=0 time=1 region=MPI_Put\n"                     // 1
      "MPI_PUT_1TO lid=0 time=1 rmaid=0 wid=0\n"                // 2
      "EXIT lid=0 time=2\n"                                     // 3
      "ENTER lid=0 time=2 region=MPI_Put\n"                     // 4
      "MPI_PUT_1TO lid=0 time=2 rmaid=1 wid=0\n"                // 5
      "EXIT lid=0 time=3\n"                                     // 6
      "ENTER lid=0 time=4 region=MPI_Win_unlock\n"              // 7
      "MPI_PUT_1TS lid=0 time=5 dlid=1 wid=0 rmaid=0 sent=8\n"  // 8
      "MPI_PUT_1TS lid=0 time=5 dlid=1 wid=0 rmaid=1 sent=8\n"  // 9
      "EXIT lid=0 time=6\n");
  EXPECT_EQ(t.archive->originptr(8), 2u);
  EXPECT_EQ(t.archive->originptr(9), 5u);
  EXPECT_EQ(t.archive->enterptr(t.archive->originptr(9)), 4u);
  EXPECT_EQ(t.after(6)->origins.of(LocationId{0}), (Positions{2, 5}));
  const auto state = t.after(9);
  const sequence::Epoch* lock = state->epochs.lock(rank(0), WindowId{0}, rank(1));
  ASSERT_NE(lock, nullptr);
  ASSERT_EQ(lock->operations.size(), 2u);
  EXPECT_EQ(lock->operations[0].issued(), 2u);
  EXPECT_EQ(lock->operations[1].issued(), 5u);
}

TEST(EarlStates, TeamsAndThreadLocks) {
  const Opened t(
      "OMP_FORK lid=0 time=1\n"          // 0
      "OMP_FORK lid=0 time=2\n"          // 1
      "OMP_ALOCK lid=0 time=3 lkid=7\n"  // 2
      "OMP_RLOCK lid=0 time=4 lkid=7\n"  // 3
      "OMP_JOIN lid=0 time=5\n"          // 4
      "OMP_JOIN lid=0 time=6\n");        // 5
  EXPECT_EQ(t.archive->forkptr(4), 1u);
  EXPECT_EQ(t.archive->forkptr(5), 0u);
  EXPECT_EQ(t.archive->lockptr(3), 2u);
  EXPECT_TRUE(t.after(2)->thread_locks.find(rank(0), LockId{7})->held);
  EXPECT_FALSE(t.after(3)->thread_locks.find(rank(0), LockId{7})->held);
  EXPECT_EQ(t.after(1)->teams.open(0).size(), 2u);
}

TEST(EarlStates, AnAspectCanBeUsedAlone) {
  auto bytes = text_to_trace(
      "ENTER lid=0 time=0 region=MPI_Get\nMPI_GET_1TO lid=0 time=1 rmaid=3 wid=0\n"
      "MPI_GET_1TS lid=1 time=1 dlid=0 wid=0 rmaid=3 sent=8\n"
      "MPI_GET_1TE lid=0 time=2 slid=1 wid=0 rmaid=3 recvd=8\nEXIT lid=0 time=2\n");
  ASSERT_TRUE(bytes);
  auto trace = Trace::from(memory_source(bytes->data(), bytes->size()), "alone");
  ASSERT_TRUE(trace);
  sequence::OriginQueues origins(*trace);
  sequence::TransferQueues transfers(*trace);
  std::vector<std::size_t> open;
  Event e;
  while (trace->next(e)) {
    origins.apply(e);
    transfers.apply(e);
    open.push_back(10 * origins.size() + transfers.size());
    EXPECT_EQ(origins.originptr(), e.pos == 2 ? 1u : kNoEvent);
    EXPECT_EQ(transfers.startptr(), e.pos == 3 ? 2u : kNoEvent);
  }
  EXPECT_EQ(open, (std::vector<std::size_t>{0, 10, 1, 0, 0}));
}

}  // namespace
}  // namespace kojak::earl
