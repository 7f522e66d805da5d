#include "epilog/openmp/team.h"

#include "epilog/runtime/memory.h"

namespace kojak::measure::openmp {

thread_local constinit OmpThread the_thread __attribute__((tls_model("initial-exec"))) = {};

namespace {

std::atomic<std::uint64_t> threads{0};

[[gnu::cold, gnu::noinline]] Team* add_team(OmpThread& thread) {
  Team* const team = create<Team>();
  if (team == nullptr) return nullptr;
  number(thread);
  team->master = &thread;
  team->next = thread.teams;
  thread.teams = team;
  return team;
}

}  // namespace

void number(OmpThread& thread) {
  if (thread.number == 0) thread.number = threads.fetch_add(1) + 1;
}

Team* take_team(OmpThread& thread, const void* place) {
  Team* team = thread.teams;
  // Whoever has let go of the team has read its end.
  while (team != nullptr && (team->open || team->holders.load(std::memory_order_acquire) != 0)) {
    team = team->next;
  }
  if (team == nullptr && (team = add_team(thread)) == nullptr) return nullptr;
  team->open = true;
  team->forked = false;
  team->end.store(0, std::memory_order_relaxed);
  team->number = thread.number << 40 | ++thread.made;
  team->place = place;
  return team;
}

}  // namespace kojak::measure::openmp
