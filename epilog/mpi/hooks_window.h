// Windows: creation and release, fence, post/start/complete/wait, locks and flushes.
//
// Epoch counts and open epochs are kept for every successful call; the records carry the
// assertions.
#pragma once

#include "epilog/format/field_values.h"
#include "epilog/mpi/args.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/other_world.h"
#include "epilog/mpi/polls.h"
#include "epilog/mpi/reads.h"
#include "epilog/mpi/take_name.h"

namespace kojak::measure {

// MPI's assertion bits in kojak's own.
inline std::uint32_t assertion_of(int assertion) {
  std::uint32_t bits = 0;
  if ((assertion & MPI_MODE_NOCHECK) != 0) bits |= kAssertNoCheck;
  if ((assertion & MPI_MODE_NOSTORE) != 0) bits |= kAssertNoStore;
  if ((assertion & MPI_MODE_NOPUT) != 0) bits |= kAssertNoPut;
  if ((assertion & MPI_MODE_NOPRECEDE) != 0) bits |= kAssertNoPrecede;
  if ((assertion & MPI_MODE_NOSUCCEED) != 0) bits |= kAssertNoSucceed;
  return bits;
}

KOJAK_INLINED inline void record_assertion(Recording& call, const Window& window, int assertion) {
  if (const std::uint32_t bits = assertion_of(assertion)) {
    call.event(MpiAssert{call.r.lid, call.exit, static_cast<WindowId>(window.id),
                         static_cast<Assertion>(bits)});
  }
}

inline WindowId id_of(const Window& window) {
  return static_cast<WindowId>(window.id);
}

// What the arguments say of this process's part. (MPICH gives one window's base as the attribute of
// all.)
template <class A>
void note_part(const A& a, Window& window) {
  if constexpr (requires { a.disp_unit; }) {
    const void* base = nullptr;
    if constexpr (requires { a.baseptr; }) {
      std::memcpy(&base, a.baseptr, sizeof base);
    } else {
      base = a.base;
    }
    window.base = reinterpret_cast<std::uintptr_t>(base);
    window.size = a.size > 0 ? static_cast<std::uint64_t>(a.size) : 0;
    window.unit = a.disp_unit > 0 ? static_cast<std::uint64_t>(a.disp_unit) : 0;
  } else {
    window.unit = 1;
  }
}

// Creation counts at call time, like that of communicators.
struct WinCreateHook {
  Comm* parent_comm = nullptr;
  std::uint64_t ordinal = 0;

  template <class A>
  void before(const A& a) {
    parent_comm = find_comm(a.comm);
    if (parent_comm != nullptr) ordinal = parent_comm->created++;
  }
  // A library between has passed another communicator on.
  template <class A>
  void again(const A& a) {
    if (parent_comm != nullptr) --parent_comm->created;
    ordinal = 0;
    before(a);
  }
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    Window* window = nullptr;
    if (result == MPI_SUCCESS) {
      Comm* const parent = parent_comm != nullptr ? parent_comm : comm_of(a.comm);
      if (parent != nullptr) {
        const Identity of_parent = parent->count_lost ? Identity{} : parent->identity;
        window = adopt_window(*a.win, parent, Identity{});
        if (window != nullptr) {
          window->identity = created_identity(of_parent, A::kBase, ordinal, window->group, nullptr);
          note_part(a, *window);
        }
      }
    } else {
      call.apart([&](C& c) { failed_creation(parent_comm, result, c); });
    }
    if constexpr (C::kOn) {
      if (window == nullptr || !call.use(*window)) return call.leave();
      call.leave(MpiWinCollExit{call.r.lid, call.exit, {}, id_of(*window)});
    }
  }
};
template <>
struct Hook<args::WinCreate> : WinCreateHook {};
template <>
struct Hook<args::WinAllocate> : WinCreateHook {};
template <>
struct Hook<args::WinAllocateShared> : WinCreateHook {};
template <>
struct Hook<args::WinCreateDynamic> : WinCreateHook {};

template <>
struct Hook<args::WinFree> {
  Window* window = nullptr;
  MPI_Win handle = MPI_WIN_NULL;

  void before(const args::WinFree& a) {
    if (a.win != nullptr) window = forget_window(handle = *a.win);
  }
  template <class C>
  void after(const args::WinFree&, int result, C& call) {
    if (result != MPI_SUCCESS && window != nullptr) {
      remember_window(window, handle);
      call.apart([&](C& c) { failed_collective(window, result, c); });
      window = nullptr;
    }
    if constexpr (C::kOn) {
      if (window == nullptr || window->count_lost || !call.use(*window)) {
        call.leave();
      } else {
        call.leave(MpiWinCollExit{call.r.lid, call.exit, {}, id_of(*window)});
      }
    }
    if (window != nullptr) destroy_window(window);
  }
};

template <>
struct Hook<args::WinSetName> {
  template <class C>
  void after(const args::WinSetName& a, int result, C& call) {
    Window* const window = result == MPI_SUCCESS ? window_of(a.win) : nullptr;
    take_name(window, a.win_name, result, call);
  }
};

// What the others share: the window is looked up after success.
template <class A, class C>
KOJAK_INLINED inline Window* window_after(const A& a, int result, C& call) {
  Window* window = result == MPI_SUCCESS ? cached_window(the_recorder, a.win) : nullptr;
  if constexpr (C::kOn) {
    if (window == nullptr || !call.use(*window)) call.leave();
  }
  return window;
}

template <>
struct Hook<args::WinFence> {
  template <class C>
  void after(const args::WinFence& a, int result, C& call) {
    if (result != MPI_SUCCESS) [[unlikely]]
      call.apart([&](C& c) { failed_collective(find_window(a.win), result, c); });
    Window* const window = window_after(a, result, call);
    if (window == nullptr) return;
    ended_reads(call, *window);
    window->standing.fence((a.assertion & MPI_MODE_NOSUCCEED) != 0);
    window->changed = true;
    begin_epoch_of_all(*window);
    if constexpr (C::kOn) {
      if (!call.good) return;
      record_assertion(call, *window, a.assertion);
      call.leave(MpiWinCollExit{call.r.lid, call.exit, {}, id_of(*window)});
    }
  }
};

// What distinguishes access epochs (start, complete) from exposure epochs (post, wait, test).
struct AccessSide {
  static constexpr EpochSide kSide = EpochSide::kAccess;
  static Group*& group(Window& w) { return w.start_group; }
  static Vector<std::uint32_t>& ranks(Window& w) { return w.start_ranks; }
  static void begin(Window& w, PeerState& state, int assertion) {
    state.standing.begin(kSide, (assertion & MPI_MODE_NOCHECK) != 0 ? kOpenNoCheck : 0);
    state.operations = 0;
    state.serial = w.serial;
  }
};
struct ExposureSide {
  static constexpr EpochSide kSide = EpochSide::kExposure;
  static Group*& group(Window& w) { return w.post_group; }
  static Vector<std::uint32_t>& ranks(Window& w) { return w.post_ranks; }
  static void begin(Window&, PeerState& state, int) { state.standing.begin(kSide); }
};

template <class Side>
Group* end_epochs(Window& window) {
  const auto ended = [&](std::uint32_t rank) -> PeerStanding& {
    PeerState& state = window.peers[rank];
    if constexpr (std::is_same_v<Side, AccessSide>) state.operations = 0;
    note_changed(window, rank, state);
    return state.standing;
  };
  window.standing.end_epoch(Side::kSide, Side::ranks(window), ended);
  Group* const group = Side::group(window);
  Side::group(window) = nullptr;
  return group;
}
template <class Side>
void begin_epochs(Window& window, MPI_Group members, int assertion) {
  end_epochs<Side>(window);
  window.standing.open_epoch(Side::kSide);
  Side::group(window) = group_of(members);
  Vector<std::uint32_t>& list = Side::ranks(window);
  int count = 0;
  const int* ranks = ranks_in(members, window.mpi_group, count);
  for (int i = 0; ranks != nullptr && i < count; ++i) {
    if (ranks[i] == MPI_UNDEFINED) continue;
    const auto rank = static_cast<std::uint32_t>(ranks[i]);
    PeerState* const state = peer_state(window, rank);
    if (state == nullptr || !list.push_back(rank)) return;
    Side::begin(window, *state, assertion);
    note_changed(window, rank, *state);
  }
}

template <class C>
KOJAK_INLINED inline void leave_winexit(C& call, Window& window, Group* group, int synex) {
  if constexpr (C::kOn) {
    CommId cid = absent<CommId>();
    if (group != nullptr && use_group(call, *group)) cid = static_cast<CommId>(group->as_comm);
    call.leave(MpiWinExit{call.r.lid, call.exit, {}, id_of(window), cid, static_cast<Byte>(synex)});
  }
}

template <class Side>
struct BeginEpochHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    Window* const window = window_after(a, result, call);
    if (window == nullptr) return;
    begin_epochs<Side>(*window, a.group, a.assertion);
    if constexpr (C::kOn) {
      if (!call.good) return;
      record_assertion(call, *window, a.assertion);
      leave_winexit(call, *window, Side::group(*window), 0);
    }
  }
};
template <class Side>
struct EndEpochHook {
  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if constexpr (requires { a.flag; }) {
      if (result == MPI_SUCCESS && *a.flag == 0) {
        if constexpr (C::kOn) call.leave();
        return;
      }
    }
    Window* const window = window_after(a, result, call);
    if (window == nullptr) return;
    if constexpr (std::is_same_v<Side, AccessSide>) ended_reads(call, *window);
    Group* const group = end_epochs<Side>(*window);
    if constexpr (C::kOn) {
      if (call.good) leave_winexit(call, *window, group, 1);
    }
  }
};
template <>
struct Hook<args::WinStart> : BeginEpochHook<AccessSide> {};
template <>
struct Hook<args::WinComplete> : EndEpochHook<AccessSide> {};
template <>
struct Hook<args::WinPost> : BeginEpochHook<ExposureSide> {};
template <>
struct Hook<args::WinWait> : EndEpochHook<ExposureSide> {};
template <>
struct Hook<args::WinTest> : EndEpochHook<ExposureSide> {
  static constexpr bool kPolls = true;

  bool found_nothing(const args::WinTest& a, int result) const {
    return result == MPI_SUCCESS && *a.flag == 0;
  }
  PollMember asked(const args::WinTest& a, RegionId region) const {
    PollMember what = asks(PollKind::kExposure, region);
    if (const Window* window = remembered_window<find_window>(the_recorder, a.win))
      what.window = window->id;
    return what;
  }
  template <class C>
  void after(const args::WinTest& a, int result, C& call) {
    if constexpr (C::kOn) {
      if (found_nothing(a, result) && joins_polls()) {
        Window* const window = cached_window(the_recorder, a.win);
        if (window != nullptr && !use_in_poll(call, *window)) return call.leave();
        if (poll_joins(call, *this, a)) return;
      }
    }
    EndEpochHook<ExposureSide>::after(a, result, call);
  }
};

// Passive target; ranks are of the window.
struct LockHook {
  template <class C>
  static void open(Window& window, int rank, std::uint8_t bits, C& call, int assertion) {
    if (PeerState* state = peer_state(window, static_cast<std::uint32_t>(rank))) {
      const unsigned no_check = (assertion & MPI_MODE_NOCHECK) != 0 ? kOpenNoCheck : 0u;
      // Nobody asks here how many peers are locked, so the window's own count is left alone.
      state->standing.lock(static_cast<std::uint8_t>(bits | no_check));
      state->operations = 0;
      state->serial = window.serial;
      note_changed(window, static_cast<std::uint32_t>(rank), *state);
    }
    if constexpr (C::kOn) record_assertion(call, window, assertion);
  }
  static void close(Window& window, std::uint32_t rank) {
    PeerState* const state = peer_state(window, rank);
    if (state == nullptr) return;
    state->standing.unlock();
    state->operations = 0;
    note_changed(window, rank, *state);
  }
};
template <>
struct Hook<args::WinLock> : LockHook {
  static constexpr bool kBeginsReads = true;

  template <class C>
  void after(const args::WinLock& a, int result, C& call) {
    Window* const window = window_after(
        a, result == MPI_SUCCESS && a.rank == MPI_PROC_NULL ? MPI_ERR_RANK : result, call);
    if (window == nullptr) return;
    const bool exclusive = a.lock_type == MPI_LOCK_EXCLUSIVE;
    open(*window, a.rank, exclusive ? kOpenExclusive : kOpenShared, call, a.assertion);
    if constexpr (C::kOn) {
      if (!call.good) return;
      const std::uint32_t target = window->peer(a.rank);
      if (target == kAbsent) [[unlikely]] {
        return leave_other_world(call, *window, a.rank,
                                 exclusive ? kOtherExclusiveLock : kOtherSharedLock);
      }
      call.event(MpiWinLock{call.r.lid, call.exit, static_cast<PeerId>(target), id_of(*window),
                            Byte{static_cast<std::uint8_t>(exclusive ? 1 : 0)}});
      call.leave();
    }
  }
};
template <>
struct Hook<args::WinUnlock> : LockHook {
  static constexpr bool kCompletesReads = true, kEndsLock = true;

  template <class C>
  void after(const args::WinUnlock& a, int result, C& call) {
    Window* const window = window_after(
        a, result == MPI_SUCCESS && a.rank == MPI_PROC_NULL ? MPI_ERR_RANK : result, call);
    if (window == nullptr) return;
    unlocked(call, *window, a.rank);
    close(*window, static_cast<std::uint32_t>(a.rank));
    completed_reads(call, *window, window->peer(a.rank));
    if constexpr (C::kOn) {
      if (!call.good) return;
      const std::uint32_t target = window->peer(a.rank);
      if (target == kAbsent) [[unlikely]]
        return leave_other_world(call, *window, a.rank, kOtherUnlock);
      call.event(MpiWinUnlock{call.r.lid, call.exit, static_cast<PeerId>(target), id_of(*window)});
      call.leave();
    }
  }
};

// Lock_all is on every member at once: kept in the window, not in as many peer states.
template <>
struct Hook<args::WinLockAll> {
  template <class C>
  void after(const args::WinLockAll& a, int result, C& call) {
    Window* const window = window_after(a, result, call);
    if (window == nullptr) return;
    window->standing.lock_all(static_cast<std::uint8_t>(
        kOpenShared | ((a.assertion & MPI_MODE_NOCHECK) != 0 ? kOpenNoCheck : 0)));
    window->changed = true;
    begin_epoch_of_all(*window);
    if constexpr (C::kOn) {
      if (!call.good) return;
      record_assertion(call, *window, a.assertion);
      call.event(MpiWinLockAll{call.r.lid, call.exit, id_of(*window)});
      call.leave();
    }
  }
};
template <>
struct Hook<args::WinUnlockAll> {
  template <class C>
  void after(const args::WinUnlockAll& a, int result, C& call) {
    Window* const window = window_after(a, result, call);
    if (window == nullptr) return;
    window->standing.unlock_all();
    window->changed = true;
    begin_epoch_of_all(*window);
    completed_reads(call, *window, kAbsent);
    if constexpr (C::kOn) {
      if (!call.good) return;
      call.event(MpiWinUnlockAll{call.r.lid, call.exit, id_of(*window)});
      call.leave();
    }
  }
};

template <bool kLocal>
struct FlushHook {
  static constexpr bool kCompletesReads = true, kSyncs = true;

  template <class A, class C>
  void after(const A& a, int result, C& call) {
    if constexpr (C::kOn) {
      int rank = MPI_PROC_NULL;
      constexpr bool kOne = requires {
        a.rank;
      };
      if constexpr (kOne) rank = a.rank;
      if (kOne && rank == MPI_PROC_NULL) result = MPI_ERR_RANK;
      Window* const window = window_after(a, result, call);
      if (window == nullptr || !call.good) return;
      const PeerId target = kOne ? static_cast<PeerId>(window->peer(rank)) : absent<PeerId>();
      if (kOne && is_absent(target)) [[unlikely]] {
        return leave_other_world(call, *window, rank, kLocal ? kOtherFlushLocal : kOtherFlush);
      }
      recorded_sync(call.r, a, *window, call.region, call.exit);
      completed_reads(call, *window, raw(target), kLocal);
      if (!call.good) return;
      call.event(MpiWinFlush{call.r.lid, call.exit, target, id_of(*window), Byte{kLocal ? 1 : 0}});
      call.leave();
    } else if (Window* const window = result == MPI_SUCCESS ? find_window(a.win) : nullptr) {
      ++window->completions;
    }
  }
};
template <>
struct Hook<args::WinFlush> : FlushHook<false> {};
template <>
struct Hook<args::WinFlushAll> : FlushHook<false> {};
template <>
struct Hook<args::WinFlushLocal> : FlushHook<true> {};
template <>
struct Hook<args::WinFlushLocalAll> : FlushHook<true> {};

template <>
struct Hook<args::WinSync> {
  static constexpr bool kSyncs = true;

  template <class C>
  void after(const args::WinSync& a, int result, C& call) {
    if constexpr (C::kOn) {
      Window* const window = window_after(a, result, call);
      if (window == nullptr || !call.good) return;
      recorded_sync(call.r, a, *window, call.region, call.exit);
      call.event(MpiWinSync{call.r.lid, call.exit, id_of(*window)});
      call.leave();
    }
  }
};

}  // namespace kojak::measure
