// Numbers and handles that are the SHMEM library's own, from the shmem.h at hand.
#pragma once

#include "epilog/shmem/handles.h"

namespace kojak::measure {

// As in SHMEM_WAIT; 0 for a comparison that is none.
std::uint8_t recorded_comparison(int cmp);
int not_equal();
bool is_default_context(Context ctx);
bool is_thread_multiple(int level);

}  // namespace kojak::measure
