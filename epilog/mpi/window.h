// Windows of this process: members, identity, and the epochs that are open, whose rule is that of
// epilog/model/window_standing.h.
//
// Found by handle; one that was never seen is defined on first use, with unknown identity. Ranks of
// peers are ranks of the window's group. Callers hold the bookkeeping lock. Without memory
// functions give nullptr, and the call that asked goes unrecorded.
#pragma once

#include "epilog/model/window_standing.h"
#include "epilog/mpi/comm.h"
#include "epilog/mpi/mpi.h"

namespace kojak::measure {

struct PeerState {
  [[no_unique_address]] PeerStanding standing;
  bool changed;
  std::uint32_t serial;      // of the window when `operations` was counted
  std::uint64_t operations;  // issued in the open epoch
};
static_assert(sizeof(PeerState) == 32, "each operation computes a place among them");

// To whom operations have been issued that are not complete.
struct OpenTargets {
  static constexpr std::uint32_t kSeveral = kAbsent - 1;
  std::uint32_t target = kAbsent;
  bool none() const { return target == kAbsent; }
  bool are_at(std::uint32_t at) const {  // absent: anywhere
    return !none() && (at == kAbsent || at == target || target == kSeveral);
  }
  void issue(std::uint32_t to) { target = none() || target == to ? to : kSeveral; }
  void complete(std::uint32_t at) {  // absent: all
    if (at == kAbsent || at == target) target = kAbsent;
  }
};

struct Window {
  std::uint32_t id = 0;
  Word key = 0;
  Comm* comm = nullptr;
  Group* group = nullptr;
  MPI_Group mpi_group = MPI_GROUP_NULL;
  Identity identity;
  std::uint8_t flavour = 0, model = 0;  // as in WIN_IDENTITY
  WindowStanding standing;
  bool changed = false;
  bool count_lost = false;  // as in CommObject: no call on it is recorded as one on a window
  std::uint64_t base = 0, size = 0, unit = 0;     // as in MPI_WIN_PART; unit 0: not known
  std::uint32_t completions = 0;                  // calls that have completed operations
  OpenTargets reads, others;                      // of recorded operations
  std::uint32_t serial = 1;                       // changes when an epoch with all members ends
  Group* start_group = nullptr;                   // of the open access epoch
  Group* post_group = nullptr;                    // of the open exposure epoch
  Vector<std::uint32_t> start_ranks, post_ranks;  // their members, as ranks of the window
  PeerState* peers = nullptr;                     // by rank, made when needed
  Vector<std::uint32_t> changed_peers;
  std::atomic<std::uint64_t> defined{0};
  ObjectName name;
  Window* next = nullptr;
  Window* previous = nullptr;

  std::uint32_t peer(int rank) const {
    return static_cast<std::uint32_t>(rank) < group->count ? group->ranks[rank] : kAbsent;
  }
};

// None of them finds one whose count is lost.
Window* find_window(MPI_Win win);
Window* window_of(MPI_Win win);  // the handle must be valid
Window* adopt_window(MPI_Win win, Comm* comm, const Identity& identity);
Window* forget_window(MPI_Win win);
void remember_window(Window* window, MPI_Win win);
void destroy_window(Window* window);
Window* first_window();

PeerState* peer_state(Window& window, std::uint32_t rank);
void note_changed(Window& window, std::uint32_t rank, PeerState& state);
// A fence, or another end of all epochs: what is issued from now on counts anew.
void begin_epoch_of_all(Window& window);

KOJAK_INLINED inline void count_operation(Window& window, int rank) {
  if (window.peers == nullptr) [[unlikely]] {
    if (peer_state(window, 0) == nullptr) return;
  }
  PeerState& state = window.peers[rank];
  if (state.serial != window.serial) {
    state.serial = window.serial;
    state.operations = 0;
  }
  ++state.operations;
  if (!state.changed) [[unlikely]]
    note_changed(window, static_cast<std::uint32_t>(rank), state);
}

extern std::atomic<std::uint64_t> window_serial;
// The window used last by this thread, else what Look finds: window_of() or find_window().
template <Window* (*Look)(MPI_Win)>
KOJAK_INLINED inline Window* remembered_window(Recorder& r, MPI_Win win) {
  const std::uint64_t serial = window_serial.load(std::memory_order_relaxed);
  if (r.window_key == word(win) && r.window_serial == serial) [[likely]] {
    return static_cast<Window*>(r.window);
  }
  Window* const found = Look(win);
  if (found == nullptr) return nullptr;
  r.window_key = word(win);
  r.window = found;
  r.window_serial = window_serial.load(std::memory_order_relaxed);
  return found;
}
KOJAK_INLINED inline Window* cached_window(Recorder& r, MPI_Win win) {
  return remembered_window<window_of>(r, win);
}

}  // namespace kojak::measure
