// What each call does to the epochs of its process (epilog/model/window_standing.h), and which
// record stands for which call, against the tables of MPI's window calls in the event model.
#include <gtest/gtest.h>

#include <sstream>

#include "epilog/format/epoch_moves.h"
#include "epilog/model/window_standing.h"

namespace kojak::test {
namespace {

constexpr std::uint32_t kPeers = 4;

// A process and its window, moved by words:
//   fence, last (fence with MPI_MODE_NOSUCCEED), start:12, post:12, complete, wait, lock:1,
//   exclusive:1, unlock:1, lock_all, unlock_all, off (recording is switched off),
//   window:N,F (WIN_STATE: N fences, flags F), peer:P,A,E,F (EPOCH_STATE).
class Process {
 public:
  explicit Process(const std::string& words) {
    std::istringstream in(words);
    for (std::string word; in >> word;) move(word);
  }
  EpochKind epoch_of(std::uint32_t target) const { return window.epoch_of(peers[target]); }

  WindowStanding window;
  PeerStanding peers[kPeers];
  std::vector<std::uint32_t> accessed, exposed;

 private:
  void move(const std::string& word) {
    const std::string name = word.substr(0, word.find(':'));
    const std::string rest = name.size() == word.size() ? "" : word.substr(name.size() + 1);
    std::vector<std::uint32_t> members;
    for (const char c : rest) members.push_back(static_cast<std::uint32_t>(c - '0'));
    std::vector<unsigned> numbers;
    std::istringstream in(rest);
    for (std::string number; std::getline(in, number, ',');) {
      numbers.push_back(static_cast<unsigned>(std::stoul(number)));
    }
    const auto at = [&](std::uint32_t rank) -> PeerStanding& { return peers[rank]; };
    if (name == "fence" || name == "last") {
      window.fence(name == "last");
    } else if (name == "start") {
      window.begin_epoch(EpochSide::kAccess, accessed, members, at);
    } else if (name == "post") {
      window.begin_epoch(EpochSide::kExposure, exposed, members, at);
    } else if (name == "complete") {
      window.end_epoch(EpochSide::kAccess, accessed, at);
    } else if (name == "wait") {
      window.end_epoch(EpochSide::kExposure, exposed, at);
    } else if (name == "lock") {
      window.lock(peers[members.at(0)], kOpenShared);
    } else if (name == "exclusive") {
      window.lock(peers[members.at(0)], kOpenExclusive);
    } else if (name == "unlock") {
      window.unlock(peers[members.at(0)]);
    } else if (name == "lock_all") {
      window.lock_all(kOpenShared);
    } else if (name == "unlock_all") {
      window.unlock_all();
    } else if (name == "off") {
      for (PeerStanding& peer : peers) window.forget(peer);
      window.forget_open(accessed, exposed);
    } else if (name == "window") {
      window.told(numbers.at(0), static_cast<std::uint8_t>(numbers.at(1)));
    } else if (name == "peer") {
      window.told(peers[numbers.at(0)], numbers[0], numbers.at(1), numbers.at(2),
                  static_cast<std::uint8_t>(numbers.at(3)), accessed, exposed);
    } else {
      ADD_FAILURE() << "no such move: " << word;
    }
  }
};

// ---- which epoch claims an operation

struct Claim {
  const char* moves;
  std::uint32_t target;
  EpochKind kind;
};

class Claims : public ::testing::TestWithParam<Claim> {};

TEST_P(Claims, OfAnOperation) {
  const Claim& row = GetParam();
  SCOPED_TRACE(row.moves);
  EXPECT_EQ(Process(row.moves).epoch_of(row.target), row.kind);
}

constexpr auto kFence = EpochKind::kFence, kAccess = EpochKind::kAccess, kLock = EpochKind::kLock,
               kLockAll = EpochKind::kLockAll;

INSTANTIATE_TEST_SUITE_P(
    Table, Claims,
    ::testing::Values(
        Claim{"", 1, kFence}, Claim{"fence", 1, kFence}, Claim{"fence last", 1, kFence},
        // an access epoch claims what goes to its members, and only until complete
        Claim{"start:12", 1, kAccess}, Claim{"start:12", 3, kFence},
        Claim{"start:12 complete", 1, kFence}, Claim{"start: complete start:1", 1, kAccess},
        // one that follows without a complete in between (recording was off) replaces it
        Claim{"start:12 start:3", 1, kFence}, Claim{"start:12 start:3", 3, kAccess},
        Claim{"start:12 start:23", 2, kAccess},
        // exposure epochs claim nothing of ours
        Claim{"post:1", 1, kFence}, Claim{"start:1 post:2 wait", 1, kAccess},
        // a lock claims what goes to its target, a lock of all everything
        Claim{"lock:1", 1, kLock}, Claim{"exclusive:1", 1, kLock}, Claim{"lock:1", 2, kFence},
        Claim{"lock:1 unlock:1", 1, kFence}, Claim{"lock:1 lock:2 unlock:1", 2, kLock},
        Claim{"lock_all", 3, kLockAll}, Claim{"lock_all unlock_all", 3, kFence},
        // the lock of the target before that of all before the access epoch
        Claim{"lock_all lock:1", 1, kLock}, Claim{"lock_all lock:1 unlock:1", 1, kLockAll},
        Claim{"start:1 lock:1", 1, kLock}, Claim{"start:1 lock_all", 1, kLockAll},
        Claim{"start:12 lock:1", 2, kAccess},
        // recording off: nothing open is sure, until the state tells
        Claim{"start:1 off", 1, kFence}, Claim{"lock:1 off", 1, kFence},
        Claim{"lock_all off", 1, kFence}, Claim{"off peer:1,1,0,1", 1, kAccess},
        Claim{"off peer:1,0,0,4", 1, kLock}, Claim{"off peer:1,0,0,8", 1, kLock},
        Claim{"off window:0,36", 2, kLockAll}, Claim{"off peer:1,0,0,36", 2, kLockAll},
        Claim{"off window:0,36 window:0,0", 2, kFence},
        // the state says that what was open has ended unseen
        Claim{"start:12 peer:1,1,0,0", 1, kFence}, Claim{"start:12 peer:1,1,0,0", 2, kAccess},
        Claim{"lock:1 peer:1,0,0,0", 1, kFence}, Claim{"lock_all window:3,1", 1, kFence}));

// ---- what is counted and open

TEST(WindowStanding, CountsFencesAndKnowsTheLast) {
  EXPECT_FALSE(Process("").window.fence_open);
  const Process two("fence fence");
  EXPECT_EQ(two.window.fences, 2u);
  EXPECT_TRUE(two.window.only_fences());
  const Process last("fence last");
  EXPECT_EQ(last.window.fences, 2u);
  EXPECT_FALSE(last.window.names_fence());
}

TEST(WindowStanding, CountsEpochsWithEachMember) {
  const Process p("start:12 complete start:2 complete post:13 wait post:1");
  EXPECT_EQ(p.peers[1].access, 1u);
  EXPECT_EQ(p.peers[2].access, 2u);
  EXPECT_EQ(p.peers[3].access, 0u);
  EXPECT_EQ(p.peers[1].exposure, 2u);
  EXPECT_EQ(p.peers[3].exposure, 1u);
  EXPECT_TRUE(p.peers[1].exposed());
  EXPECT_FALSE(p.peers[3].exposed());
  EXPECT_TRUE(p.window.exposure_open);
  EXPECT_FALSE(p.window.access_open);
}

// An operation to a target that no epoch names is sure to be the fence epoch's only where that is
// the only one.
TEST(WindowStanding, FenceEpochAloneIsSure) {
  EXPECT_TRUE(Process("fence").window.names_fence());
  EXPECT_FALSE(Process("fence start:").window.names_fence()) << "an empty group is open, too";
  EXPECT_TRUE(Process("fence start: complete").window.names_fence());
  EXPECT_FALSE(Process("fence lock:1").window.names_fence());
  EXPECT_TRUE(Process("fence lock:1 unlock:1").window.names_fence());
  EXPECT_TRUE(Process("fence post:1").window.only_fences());
  EXPECT_FALSE(Process("fence lock_all").window.only_fences());
}

TEST(WindowStanding, CountsLocksOnce) {
  EXPECT_EQ(Process("lock:1 lock:1").window.locks, 1u);
  EXPECT_EQ(Process("lock:1 unlock:1 unlock:1").window.locks, 0u);
  EXPECT_EQ(Process("lock:1 lock:2 off").window.locks, 0u);
  EXPECT_EQ(Process("peer:1,0,0,4 peer:1,0,0,8").window.locks, 1u);
  EXPECT_EQ(Process("peer:1,0,0,4 peer:1,0,0,0").window.locks, 0u);
  EXPECT_EQ(Process("lock:1 exclusive:1").peers[1].open, kOpenExclusive);
}

TEST(WindowStanding, CountsGoOnFromTheStateRecord) {
  const Process p("fence start:1 complete off window:7,1 peer:1,5,3,2 fence start:1");
  EXPECT_EQ(p.window.fences, 8u);
  EXPECT_EQ(p.peers[1].access, 6u);
  EXPECT_EQ(p.peers[1].exposure, 3u);
  EXPECT_TRUE(p.peers[1].exposed());
  EXPECT_EQ(p.exposed, std::vector<std::uint32_t>{1});
  // One that is older than what was counted since takes nothing back.
  EXPECT_EQ(Process("fence fence window:1,1").window.fences, 2u);
}

TEST(WindowStanding, AnEpochOfTheStateRecordEnds) {
  const Process p("off peer:1,2,0,1 peer:2,2,0,1 complete");
  EXPECT_FALSE(p.peers[1].accessed());
  EXPECT_FALSE(p.peers[2].accessed());
  EXPECT_FALSE(p.window.access_open);
  EXPECT_FALSE(Process("start:1 peer:1,1,0,0").window.access_open) << "its only member has left";
  EXPECT_TRUE(Process("start:12 peer:1,1,0,0").window.access_open);
}

TEST(WindowStanding, TellsItsFlagsAsTheRecordsDo) {
  EXPECT_EQ(Process("fence").window.open(), kOpenFence);
  EXPECT_EQ(Process("lock_all").window.open(), kOpenShared | kOpenLockAll);
  EXPECT_EQ(Process("fence lock_all").window.open(), kOpenFence | kOpenShared | kOpenLockAll);
  EXPECT_EQ(Process("start:1 post:1 lock:1").peers[1].open,
            kOpenAccess | kOpenExposure | kOpenShared);
  EXPECT_EQ(Process("peer:1,0,0,36").peers[1].open, 0) << "the lock is of all";
}

// ---- after a gap

TEST(Resumption, OfAnEpoch) {
  const auto of = [](bool known, bool same, bool open) {
    const Resumption r = resumption(known, same, open);
    return std::string(r.goes_on ? "goes on" : "") + (r.ended ? " ended" : "") +
           (r.begun ? " begun" : "");
  };
  EXPECT_EQ(of(true, true, true), "goes on");
  EXPECT_EQ(of(true, true, false), " ended");
  EXPECT_EQ(of(true, false, true), " ended begun");
  EXPECT_EQ(of(true, false, false), " ended");
  EXPECT_EQ(of(false, false, true), " begun");
  EXPECT_EQ(of(false, true, true), " begun");
  EXPECT_EQ(of(false, false, false), "");
}

// ---- which record stands for which call

TEST(EpochMoves, OfTheFunctionThatIsLeft) {
  struct Row {
    const char* function;
    EpochMove group, collective;  // MPI_WINEXIT with synex 1, MPI_WINCOLLEXIT
  };
  constexpr auto kNone = EpochMove::kNone;
  for (const Row& row : {
           Row{"MPI_Win_start", EpochMove::kStart, kNone},
           Row{"MPI_Win_post", EpochMove::kPost, kNone},
           Row{"MPI_Win_complete", EpochMove::kComplete, kNone},
           Row{"MPI_Win_wait", EpochMove::kWait, kNone},
           Row{"MPI_Win_test", EpochMove::kWait, kNone},
           Row{"MPI_Win_fence", kNone, EpochMove::kFence},
           Row{"MPI_Win_free", kNone, EpochMove::kFree},
           Row{"MPI_Win_create", kNone, EpochMove::kCreate},
           Row{"MPI_Win_allocate", kNone, EpochMove::kCreate},
           Row{"MPI_Win_lock", kNone, kNone},
           Row{"MPI_Barrier", kNone, kNone},
       }) {
    SCOPED_TRACE(row.function);
    const MpiFunction* const function = find_mpi_function(row.function);
    ASSERT_NE(function, nullptr);
    MpiWinExit exit;
    exit.synex = Byte{1};
    EXPECT_EQ(epoch_move(exit, function->role), row.group);
    EXPECT_EQ(epoch_move(MpiWinCollExit{}, function->role), row.collective);
    // Only of a test it matters what the record says.
    exit.synex = Byte{0};
    const bool test = function->role == MpiRole::kWinTest;
    EXPECT_EQ(epoch_move(exit, function->role), test ? kNone : row.group);
  }
  EXPECT_EQ(epoch_move(MpiWinLock{}, MpiRole::kOther), EpochMove::kLock);
  EXPECT_EQ(epoch_move(MpiWinUnlockAll{}, MpiRole::kOther), EpochMove::kUnlockAll);
  EXPECT_EQ(epoch_move(EpochState{}, MpiRole::kOther), EpochMove::kPeerState);
  EXPECT_EQ(epoch_move(Exit{}, MpiRole::kWinFence), kNone) << "not recorded as a fence";
}

}  // namespace
}  // namespace kojak::test
