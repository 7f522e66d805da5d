// Communicators, windows, locks and allocations of ARMCI in the words that the terminal, the JSON
// and the page share: by the name that the program gave them, else by the line that made them, else
// by number.
//
// Names are as the program gave them: who prints them makes them printable(). Pure functions;
// nothing fails; any thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "expert/profile/report.h"

namespace kojak::expert {

// "window", "communicator", "lock", "allocation", or empty.
std::string_view object_kind(const Operation& operation);
// "window 0", "window 0 of rank 2", "communicator 3": by number; empty if it is about neither.
std::string object_name(const Operation& operation);
// "halo", "MPI_COMM_WORLD", "table_lock"; empty if it has no name.
std::string_view given_name(const Definitions& definitions, const Operation& operation);

// "MPI_COMM_WORLD", "communicator halo", "the lock table_lock (table.c)"; without a name "the
// window made at halo.c:12", where `made_at` is known, else object_name(). Of a process's part:
// "rank 2's part of window field"; of ARMCI's memory "allocation 3 (ARMCI_Malloc at scf.c:40)",
// where `made_at` has the function, too. Objects that would have the same words have their numbers,
// too.
std::string object_words(const Definitions& definitions, const Operation& operation,
                         const std::string& made_at, bool others_made_there = false);
std::string object_words(const Report& report, const Operation& operation);
// The calls that made the objects of a kind, by number; null: none are known.
const std::unordered_map<std::uint32_t, CallPathIndex>* calls_that_made(const WaitResults& waits,
                                                                        Operation::Object object);

}  // namespace kojak::expert
