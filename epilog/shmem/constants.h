// Numbers and handles that are the SHMEM library's own. They are asked for when it has started: no
// shmem.h is compiled in, since every library has other ones.
#pragma once

#include "epilog/shmem/handles.h"

namespace kojak::measure {

// `text` is what the library calls itself, or empty; `file` the name of its file. Says what is not
// known, where the user wants to hear more.
void choose_constants(const char* text, const char* file);

// As in SHMEM_WAIT; 0 for a comparison that is none, or unknown.
std::uint8_t recorded_comparison(int cmp);
bool is_default_context(Context ctx);
Team world_team();  // null if there is none
bool is_shared_team(Team team);
inline bool is_thread_multiple(int level) {
  return level == 3;  // in every library
}

}  // namespace kojak::measure
