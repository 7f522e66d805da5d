#include "epilog/mpi/chain.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "epilog/mpi/below.h"
#include "epilog/runtime/library_code.h"
#include "epilog/runtime/own_stack.h"

namespace kojak::measure {

Chain the_chain;
std::atomic<void*> the_below[kSlots];
std::atomic<bool> chain_is_there{false};
TheMpi the_mpi;

namespace {

constexpr unsigned kNoSlot = ~0u;
struct Row {
  const char* name;
  unsigned stands_for;  // another name of the same function
};
constexpr Row kRows[] = {
#define KOJAK_SLOT(name, stands_for, strength) {#name, stands_for},
#include "epilog/mpi/slots.inc"
#undef KOJAK_SLOT
};

// In the place of a function that nobody has.
template <unsigned Slot>
int nobody_has() {
  return missing_function(kRows[Slot].name);
}
template <unsigned... Slot>
void* nobody_of(unsigned slot, std::integer_sequence<unsigned, Slot...>) {
  static int (*const kNobody[])() = {nobody_has<Slot>...};
  return reinterpret_cast<void*>(kNobody[slot]);
}
void* nobody_of(unsigned slot) {
  return nobody_of(slot, std::make_integer_sequence<unsigned, kSlots>{});
}

void fill_gaps(Chain& chain) {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    void* const nobody = nobody_of(slot);
    if (chain.own[slot] == nullptr) chain.own[slot] = nobody;
    if (chain.next[slot] == nullptr) chain.next[slot] = chain.own[slot];
  }
}

// Their calls within a call are none of the program's. Without memory they are not known.
void note_libraries_between(const Chain& chain, TheMpi& mpi) {
  static Vector<LoadedFile> found;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    void* const next = chain.next[slot];
    if (next == chain.own[slot]) continue;
    const auto holds = [next](const LoadedFile& file) { return file.holds(next); };
    if (std::any_of(found.begin(), found.end(), holds)) continue;
    const LoadedFile file = file_of(next);
    if (!found.push_back(file)) break;
    // It stays, or the chain would lead to nowhere where a program closes it.
    if (file.path != nullptr && *file.path != '\0') dlopen(file.path, RTLD_LAZY | RTLD_NOLOAD);
    note_library_code(next);
  }
  mpi.between_count = static_cast<unsigned>(found.size());
  mpi.between = found.data();
}

void find_next(Chain& chain, const TheMpi& mpi, const Behind& behind) {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    void* const next = behind.find(kRows[slot].name);
    // An MPI has both names for one function, and the program's name may be that of its own entry.
    chain.next[slot] = next == nullptr || mpi.file.holds(next) ? nullptr : next;
  }
}

void share_names(Chain& chain) {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    const unsigned other = kRows[slot].stands_for;
    if (other == kNoSlot) continue;
    if (chain.own[other] == nullptr) chain.own[other] = chain.own[slot];
    if (chain.own[slot] == nullptr) chain.own[slot] = chain.own[other];
  }
}

std::atomic_flag placing = ATOMIC_FLAG_INIT;

void make() {
  Chain chain{};
  TheMpi mpi;
  {
    Behind behind;
    find_own(chain, mpi, behind);
    share_names(chain);
    find_next(chain, mpi, behind);
  }
  fill_gaps(chain);
  if (placing.test_and_set(std::memory_order_acquire)) {
    while (!chain_is_there.load(std::memory_order_acquire)) syscall(SYS_sched_yield);
    return;
  }
  note_libraries_between(chain, mpi);
  the_chain = chain;
  the_mpi = mpi;
  chain_is_there.store(true, std::memory_order_release);
}

}  // namespace

bool TheMpi::is_between(const void* return_address) const {
  const void* const address = static_cast<const char*>(return_address) - 1;  // within the call
  for (unsigned i = 0; i < between_count; ++i) {
    if (between[i].holds(address)) return true;
  }
  return is_in_our_file(address);
}

const char* slot_name(unsigned slot) {
  return kRows[slot].name;
}

void find_next_for(unsigned slot, const void* caller) {
  std::atomic_ref<void*> next(the_chain.next[slot]);
  if (next.load(std::memory_order_acquire) != nobody_of(slot)) return;
  const int error = errno;
  void* const found = on_own_stack([&] { return find_for(caller, kRows[slot].name); });
  errno = error;
  if (found != nullptr) next.store(found, std::memory_order_release);
}

void* find_below(unsigned slot, const void* caller) {
  const int error = errno;
  char name[128];
  snprintf(name, sizeof name, "P%s", slot_name(slot));
  void* const address = on_own_stack([&] {
    void* const found = find_for(caller, name);
    return found != nullptr ? found : find_own_alone(slot_name(slot));
  });
  errno = error;
  if (address == nullptr) {
    need_chain();
    return the_chain.own[slot];
  }
  the_below[slot].store(address, std::memory_order_release);
  return address;
}

void make_chain() {
  const int error = errno;
  on_own_stack([] { make(); });
  errno = error;
}

}  // namespace kojak::measure
