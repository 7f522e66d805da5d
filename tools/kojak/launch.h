// The command that runs a program under the measurement, and its environment.
//
// A launcher that we know is told to set the settings for its processes, on other nodes too; itself
// it stays as it is, unless what MPI_Comm_spawn starts gets its settings from there (Open MPI 5).
// Any other command inherits them. Where the user's own command names a variable that we set, too,
// the later of two would win: LD_PRELOAD and ASAN_OPTIONS of the user's are replaced by ours and
// his in one. Only the words up to the program's are looked at: what follows is the program's.
//
// A list of programs (mpirun --app FILE) is copied into a folder of our own, which lives as long as
// this object, with the settings at the head of each line. Fails where the file cannot be copied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilog/format/io/temporary_files.h"
#include "tools/kojak/find_mpi.h"

namespace kojak::run {

struct Launch {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // added to ours: NAME=VALUE
  std::optional<TemporaryFolder> folder;
};

// `library`: what is preloaded; `settings`: of the program's processes, NAME=VALUE each.
Result<Launch> make_launch(const std::vector<std::string>& command, const MpiUse& use,
                           const std::string& library, const std::vector<std::string>& settings);

// LD_PRELOAD with the library first.
std::string preload_value(const std::string& library, const std::string& theirs);
// What lets AddressSanitizer, linked dynamically, start behind a library that is preloaded: its own
// library then is not the first, but still precedes the C library, and ours defines nothing that it
// intercepts. Of two values of one option the last counts, so the user's own stays.
std::string asan_options(const std::string& theirs);

}  // namespace kojak::run
