#include "epilog/mpi/window.h"

#include "epilog/format/field_values.h"
#include "epilog/mpi/args.h"
#include "epilog/runtime/own_stack.h"

namespace kojak::measure {

std::atomic<std::uint64_t> window_serial{1};

namespace {

HashMap<Window*> windows_by_handle;
Window* live_windows = nullptr;
std::uint32_t windows = 0;

// Attributes of windows are addresses of ints.
int attribute(MPI_Win win, int keyval) {
  int* value = nullptr;
  int found = 0;
  if (mpi::Win_get_attr(win, keyval, &value, &found) != MPI_SUCCESS || found == 0) return -1;
  return *value;
}

std::uint8_t flavour_of(MPI_Win win) {
  switch (attribute(win, MPI_WIN_CREATE_FLAVOR)) {
    case MPI_WIN_FLAVOR_CREATE:
      return kFlavourCreated;
    case MPI_WIN_FLAVOR_ALLOCATE:
      return kFlavourAllocated;
    case MPI_WIN_FLAVOR_DYNAMIC:
      return kFlavourDynamic;
    case MPI_WIN_FLAVOR_SHARED:
      return kFlavourShared;
    default:
      return 0;
  }
}

std::uint8_t model_of(MPI_Win win) {
  switch (attribute(win, MPI_WIN_MODEL)) {
    case MPI_WIN_SEPARATE:
      return 1;
    case MPI_WIN_UNIFIED:
      return 2;
    default:
      return 0;
  }
}

Window* known_window(MPI_Win win) {
  Window** const found = windows_by_handle.find(word(win));
  return found == nullptr ? nullptr : *found;
}

Window* make_window(MPI_Win win, Comm* comm, const Identity& identity) {
  auto* window = create<Window>();
  if (window == nullptr) return nullptr;
  if (mpi::Win_get_group(win, &window->mpi_group) == MPI_SUCCESS)
    window->group = group_of(window->mpi_group);
  if (window->group == nullptr) return destroy(window), nullptr;
  // Its members are not the communicator's, if a library between made it of another one, unseen.
  if (comm != nullptr && comm->group != window->group) comm = nullptr;
  window->id = windows++;
  window->comm = comm;
  window->identity = identity;
  window->flavour = flavour_of(win);
  window->model = model_of(win);
  if (comm != nullptr) keep_comm(comm);
  remember_window(window, win);
  window->next = live_windows;
  if (live_windows != nullptr) live_windows->previous = window;
  live_windows = window;
  return window;
}

}  // namespace

Window* find_window(MPI_Win win) {
  Window* const found = known_window(win);
  return found == nullptr || found->count_lost ? nullptr : found;
}

Window* window_of(MPI_Win win) {
  Window* const found = known_window(win);
  if (found == nullptr) return adopt_window(win, nullptr, Identity{});
  return found->count_lost ? nullptr : found;
}

Window* adopt_window(MPI_Win win, Comm* comm, const Identity& identity) {
  return on_own_stack([&] { return make_window(win, comm, identity); });
}

Window* forget_window(MPI_Win win) {
  Window* const window = known_window(win);
  if (window == nullptr) return nullptr;
  windows_by_handle.erase(word(win));
  window_serial.fetch_add(1, std::memory_order_relaxed);
  return window;
}

void remember_window(Window* window, MPI_Win win) {
  window->key = word(win);
  windows_by_handle.set(window->key, window);
  window_serial.fetch_add(1, std::memory_order_relaxed);
}

void destroy_window(Window* window) {
  (window->previous != nullptr ? window->previous->next : live_windows) = window->next;
  if (window->next != nullptr) window->next->previous = window->previous;
  if (window->peers != nullptr) release(window->peers, window->group->count * sizeof(PeerState));
  if (window->mpi_group != MPI_GROUP_NULL) mpi::Group_free(&window->mpi_group);
  if (window->comm != nullptr) drop_comm(window->comm);
  window->name.clear();
  window->start_ranks.clear();
  window->post_ranks.clear();
  window->changed_peers.clear();
  destroy(window);
}

Window* first_window() {
  return live_windows;
}

PeerState* peer_state(Window& window, std::uint32_t rank) {
  if (window.peers == nullptr) {
    window.peers = static_cast<PeerState*>(allocate(window.group->count * sizeof(PeerState)));
  }
  return window.peers == nullptr || rank >= window.group->count ? nullptr : &window.peers[rank];
}

void note_changed(Window& window, std::uint32_t rank, PeerState& state) {
  if (!state.changed) state.changed = window.changed_peers.push_back(rank);
}

void begin_epoch_of_all(Window& window) {
  ++window.serial;
}

}  // namespace kojak::measure
