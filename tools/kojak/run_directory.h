// The directory that holds the traces of a run: where it goes, what is in it, what it is called.
//
// How many processes a run has and what its program is called is known when it is over. So it
// records into a directory with a name that no other run has, which then gets the name that the
// measurement library would have given it. Functions return errors, print nothing, never overwrite.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::run {

// What the local traces in a directory say of their run.
struct RunFacts {
  std::string program;
  std::string command;  // the words of its first process, or empty
  std::uint32_t processes = 0;
};

// Empty if the directory holds no local trace that can be read.
std::optional<RunFacts> read_run_facts(const std::string& directory);

bool holds_traces(const std::string& directory);

// Checks a directory that the user named: nothing there, or a directory.
Status check_kind(const std::string& directory);
// That it holds no traces.
Status check_free(const std::string& directory);

// Checks that traces can be written there, by writing a little and removing it again: no
// permission, a read-only or full disk, a path through a file. Leaves nothing behind.
Status check_writable(const std::string& directory);

// A name in the working directory that does not exist yet.
std::string unused_name();

// Renames a run's directory to elg_<program>_<processes>, with .2, .3 ... if that is taken. Returns
// the name that it has in the end, the old one if it cannot be renamed.
std::string give_final_name(const std::string& directory, const RunFacts& facts);

// Some process of the run did not end its trace: it ended before, or could not write.
bool has_unended_trace(const std::string& directory);

// Removes the local traces, when a merged one has taken their place.
void remove_local_traces(const std::string& directory);

}  // namespace kojak::run
