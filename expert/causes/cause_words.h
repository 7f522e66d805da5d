// Root causes in words, for the terminal.
//
// Pure functions on a report; nothing fails; any thread.
#pragma once

#include <string>

#include "expert/report.h"
#include "expert/store_places.h"

namespace kojak::expert {

// "relax, between MPI_Win_fence at halo.c:39 and MPI_Win_fence at halo.c:44"; a call's name and
// place for time in a call. Names of the program are as it gave them.
std::string stretch_name(const Report& report, const StorePlaces& places, const Stretch& stretch);
// "rank 1 computes 0.110 s longer in relax, between ..."
std::string cause_words(const Report& report, const StorePlaces& places, const RootCause& cause);
// "Wait at Fence 1.600 s, Late Post 0.800 s"
std::string pattern_words(const RootCause& cause);

}  // namespace kojak::expert
