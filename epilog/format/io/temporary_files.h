// Names of files that are not complete yet, so that a program that a signal ends leaves none, and
// folders for files that only this program needs.
//
// A table of fixed size for the whole process, because a signal handler can ask nobody. Names that
// do not fit are not kept: such a file then stays behind. Remembering and forgetting is safe from
// any thread; remove_temporary_files() is safe in a signal handler.
#pragma once

#include <string>

#include "epilog/format/error.h"

namespace kojak {

void remember_temporary_file(const std::string& path);
void forget_temporary_file(const std::string& path);
// Unlinks all that are remembered, of a folder all that is in it; they stay in the table.
void remove_temporary_files();

// SIGINT, SIGTERM, SIGHUP and SIGPIPE remove them and then end the program as they would have,
// unless they are ignored. For programs, not for libraries.
void remove_temporary_files_on_signals();

// A folder with a name of its own, with all that is in it (down to four folders one in
// the other). It goes with its owner, and is remembered like a file. Fails (exit code 4) where none
// can be made.
class TemporaryFolder {
 public:
  // `name` is how its own name begins.
  static Result<TemporaryFolder> create(const std::string& parent, const std::string& name);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path);
  void remove();
  std::string path_;
};

}  // namespace kojak
