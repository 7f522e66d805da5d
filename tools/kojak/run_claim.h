// The claim of one `kojak run` to the folder that its traces go to, from before its program starts,
// and what the processes of its run tell it meanwhile: both in one file (format/io/run_file.h).
//
// The file lies beside the folder, FOLDER.lock: the program may remove the folder. Where nothing
// can be made beside it, it lies inside. Made with O_EXCL, so that of two only one has it; it names
// host, process and time. One whose process is gone from this host is taken over. Removed with its
// owner, with what folders it had to make. Errors: exit code 4, the folder has somebody or the file
// cannot be made.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::run {

// What the processes of a run told.
struct RunLines {
  struct World {
    bool spawned = false;
    std::uint32_t processes = 0;
    std::string folder;
  };
  std::vector<std::string> programs;                           // that had the library, by name
  std::vector<World> worlds;                                   // in the order in which they began
  std::vector<std::pair<std::uint32_t, std::string>> aborts;   // rank, code
  std::vector<std::pair<std::uint32_t, std::string>> stopped;  // rank, why
  std::vector<std::string> reasons;                            // why nothing is recorded
  std::vector<std::string> inside;                             // folders of runs in this run
};

class RunClaim {
 public:
  static Result<RunClaim> take(const std::string& folder);
  RunClaim(RunClaim&& other) noexcept;
  RunClaim& operator=(RunClaim&&) = delete;
  ~RunClaim();

  const std::string& path() const { return path_; }
  // Whose claim this was before, if it was taken over; else empty.
  const std::string& taken_from() const { return taken_from_; }
  RunLines lines() const;

  // The file of the `kojak run` that this one runs in, or empty.
  static std::string outer();
  // Tells that one where the report is.
  static void tell_outer(const std::string& folder);

 private:
  RunClaim() = default;
  int fd_ = -1;
  std::string path_, taken_from_;
  std::vector<std::string> made_;  // folders above it, the innermost last
};

}  // namespace kojak::run
