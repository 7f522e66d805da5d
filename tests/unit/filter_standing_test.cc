// Where a process stands on a window, as the merge counts it (merge/complete/epochs.h) and as
// elg_filter does (earl/filter/epoch_states.h), on random programs that MPI allows: both must
// say what this test keeps for itself in the plainest way.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "earl/filter/epoch_states.h"
#include "merge/complete/epochs.h"

namespace kojak::test {
namespace {

constexpr std::uint32_t kPeers = 4;
constexpr auto kProcess = static_cast<ProcessId>(0);
constexpr auto kWindow = static_cast<WindowId>(0);

// Group g of the communicators has those ranks whose bits g has.
std::vector<std::uint32_t> members(std::uint32_t group) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t p = 0; p < kPeers; ++p) {
    if ((group >> p & 1) != 0) ranks.push_back(p);
  }
  return ranks;
}

Definitions definitions() {
  Definitions made;
  for (std::uint32_t group = 0; group < 1u << kPeers; ++group) {
    CommDef comm;
    comm.ranks = members(group);
    made.comms.set(static_cast<CommId>(group), comm);
  }
  WindowDef window;
  window.comm = static_cast<CommId>((1u << kPeers) - 1);
  made.windows.set(kWindow, window);
  return made;
}

// What the program did.
struct Truth {
  std::uint64_t fences = 0;
  bool fence_open = false, all_locked = false;
  std::uint64_t access[kPeers] = {}, exposure[kPeers] = {};
  std::set<std::uint32_t> accessed, exposed, locked;  // open epochs and locks
  bool accessing = false, exposing = false;           // maybe with nobody
};

class StandingsAgree : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  // Fences open no epoch that a start or a lock may follow, unless told so (MPI_MODE_NOSUCCEED).
  void step() {
    const bool quiet = !truth.accessing && truth.locked.empty() && !truth.all_locked;
    const std::uint32_t target = random() % kPeers, group = random() % (1u << kPeers);
    switch (random() % 10) {
      case 0:
        if (quiet && !truth.exposing) fence(random() % 2 == 0);
        break;
      case 1:
        if (quiet && !truth.fence_open) start(group);
        break;
      case 2:
        if (truth.accessing) complete();
        break;
      case 3:
        if (!truth.exposing && !truth.fence_open) post(group);
        break;
      case 4:
        if (truth.exposing) wait();
        break;
      case 5:
        if (!truth.accessing && !truth.fence_open && !truth.all_locked) toggle_lock(target);
        break;
      case 6:
        if (!truth.accessing && !truth.fence_open && truth.locked.empty()) toggle_lock_all();
        break;
      default:
        operation(target);
    }
    compare();
  }

  void fence(bool no_succeed) {
    ++truth.fences;
    truth.fence_open = !no_succeed;
    merged.fence(false, no_succeed);
    filtered.fence(kProcess, kWindow, no_succeed ? kAssertNoSucceed : 0, false);
  }
  void start(std::uint32_t group) {
    truth.accessing = true;
    const std::vector<std::uint32_t> peers = members(group);
    truth.accessed = {peers.begin(), peers.end()};
    for (const std::uint32_t p : peers) ++truth.access[p];
    merged.start(peers);
    filtered.epoch(kProcess, EpochMove::kStart, kWindow, static_cast<CommId>(group), true);
  }
  void complete() {
    truth.accessing = false;
    truth.accessed.clear();
    merged.complete(false, {});
    filtered.epoch(kProcess, EpochMove::kComplete, kWindow, absent<CommId>(), true);
  }
  void post(std::uint32_t group) {
    truth.exposing = true;
    const std::vector<std::uint32_t> peers = members(group);
    truth.exposed = {peers.begin(), peers.end()};
    for (const std::uint32_t p : peers) ++truth.exposure[p];
    merged.post(peers);
    filtered.epoch(kProcess, EpochMove::kPost, kWindow, static_cast<CommId>(group), true);
  }
  void wait() {
    truth.exposing = false;
    truth.exposed.clear();
    merged.wait(false, {});
    filtered.epoch(kProcess, EpochMove::kWait, kWindow, absent<CommId>(), true);
  }
  void toggle_lock(std::uint32_t target) {
    if (truth.locked.erase(target) != 0) {
      merged.completion(false, target, false);
      merged.unlock(target);
      EXPECT_TRUE(filtered.unlock(kProcess, kWindow, static_cast<PeerId>(target)));
    } else {
      truth.locked.insert(target);
      merged.lock(target, kOpenShared);
      filtered.lock(kProcess, kWindow, static_cast<PeerId>(target), kOpenShared, true, false);
    }
  }
  void toggle_lock_all() {
    truth.all_locked = !truth.all_locked;
    if (truth.all_locked) {
      merged.lock_all();
      filtered.lock_all(kProcess, kWindow, kOpenLockAll, true, false);
    } else {
      merged.completion(false, kAbsent, false);
      merged.unlock_all();
      EXPECT_TRUE(filtered.unlock_all(kProcess, kWindow));
    }
  }
  // Belongs to a lock, else to the access epoch that names the target, else to the fence.
  void operation(std::uint32_t target) {
    const merge::OpEpoch epoch = merged.classify(merged.peer(target));
    if (truth.all_locked || truth.locked.contains(target)) {
      EXPECT_TRUE(epoch.passive());
    } else if (truth.accessed.contains(target)) {
      EXPECT_EQ(epoch.kind, EpochKind::kAccess);
      EXPECT_EQ(epoch.ordinal, truth.access[target]);
    } else {
      EXPECT_EQ(epoch.kind, EpochKind::kFence);
      EXPECT_EQ(epoch.ordinal, truth.fences + 1);
      EXPECT_EQ(epoch.named, truth.fence_open && !truth.accessing && truth.locked.empty());
    }
    filtered.operation(kProcess, kWindow, static_cast<PeerId>(target), false);
  }

  void compare() {
    EXPECT_EQ(merged.standing.fences, truth.fences);
    EXPECT_EQ(merged.standing.fence_open, truth.fence_open);
    EXPECT_EQ(merged.standing.all != 0, truth.all_locked);
    EXPECT_EQ(merged.standing.locks, truth.locked.size());
    for (std::uint32_t p = 0; p < kPeers; ++p) {
      const merge::PeerEpochs& peer = merged.peer(p);
      EXPECT_EQ(peer.standing.access, truth.access[p]);
      EXPECT_EQ(peer.standing.exposure, truth.exposure[p]);
      EXPECT_EQ(peer.standing.locked(), truth.locked.contains(p));
      EXPECT_EQ(peer.standing.accessed(), truth.accessed.contains(p));
      EXPECT_EQ(peer.standing.exposed(), truth.exposed.contains(p));
    }
    // The filter tells what has changed.
    filtered.write_changes(kProcess, static_cast<LocationId>(0), Seconds{0}, *this);
  }

 public:
  void operator()(const WinState& state) {
    ++told;
    EXPECT_EQ(raw(state.fences), truth.fences);
    EXPECT_EQ((raw(state.open) & kOpenFence) != 0, truth.fence_open);
    EXPECT_EQ((raw(state.open) & kOpenLockAll) != 0, truth.all_locked);
  }
  void operator()(const EpochState& state) {
    ++told;
    const std::uint32_t p = raw(state.plid);
    const int open = raw(state.open);
    EXPECT_EQ(raw(state.access), truth.access[p]);
    EXPECT_EQ(raw(state.exposure), truth.exposure[p]);
    EXPECT_EQ((open & kOpenAccess) != 0, truth.accessed.contains(p));
    EXPECT_EQ((open & kOpenExposure) != 0, truth.exposed.contains(p));
    EXPECT_EQ((open & kOpenLock) != 0, truth.locked.contains(p));
    EXPECT_EQ((open & kOpenLockAll) != 0, truth.all_locked);
  }
  void operator()(const CollState&) { ADD_FAILURE() << "there are no collectives"; }
  void operator()(const ALock&) { ADD_FAILURE() << "there are no locks of SHMEM"; }
  void operator()(const RLock&) { ADD_FAILURE() << "there are no locks of SHMEM"; }

 protected:
  std::mt19937 random{GetParam()};
  Truth truth;
  merge::WindowEpochs merged;
  const Definitions defined = definitions();
  filter::EpochStates filtered{defined};
  std::uint64_t told = 0;

  static inline std::uint64_t fences = 0;  // of all programs
  static void TearDownTestSuite() { EXPECT_GT(fences, 100u) << "hardly a program has a fence"; }
};

TEST_P(StandingsAgree, AfterEachStepOfARandomProgram) {
  constexpr int kSteps = 400;
  for (int i = 0; i < kSteps && !HasFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    step();
  }
  EXPECT_GT(told, 50u) << "the filter said too little to be compared";
  fences += truth.fences;
}

INSTANTIATE_TEST_SUITE_P(Programs, StandingsAgree, ::testing::Range(1u, 101u));

// What was taken while recording was off is in no cut: its unlock must not be there, either.
TEST(FilteredStanding, ALockThatNobodySawIsNeverShown) {
  const Definitions defined = definitions();
  filter::EpochStates standing(defined);
  constexpr auto kTarget = static_cast<PeerId>(1);
  const auto told = [&](std::uint8_t open) {
    standing.state(kProcess, EpochState{LocationId{0}, Seconds{0}, kWindow, kTarget, Count64{0},
                                        Count64{0}, Count64{0}, Flags{open}});
  };
  standing.lock(kProcess, kWindow, kTarget, kOpenShared, true, true);
  EXPECT_TRUE(standing.unlock(kProcess, kWindow, kTarget));
  told(kOpenExclusive);
  EXPECT_FALSE(standing.unlock(kProcess, kWindow, kTarget));

  // One that was seen goes on to be shown if it is held on, and not if a lock of all took its
  // place.
  standing.lock(kProcess, kWindow, kTarget, kOpenShared, true, true);
  told(kOpenShared);
  EXPECT_TRUE(standing.unlock(kProcess, kWindow, kTarget));
  standing.lock(kProcess, kWindow, kTarget, kOpenShared, true, true);
  told(kOpenShared | kOpenLockAll);
  EXPECT_FALSE(standing.unlock(kProcess, kWindow, kTarget));
  EXPECT_FALSE(standing.unlock_all(kProcess, kWindow));
}

}  // namespace
}  // namespace kojak::test
