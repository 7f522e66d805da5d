// The directory of a run: chosen once by rank 0, entered by all.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "epilog/format/io/run_file.h"
#include "epilog/runtime/run_file.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {
namespace {

constexpr int kMostNames = 10000;

bool has_suffix(const char* name, const char* suffix) {
  const std::size_t n = strlen(name), m = strlen(suffix);
  return n > m && strcmp(name + n - m, suffix) == 0;
}

constexpr char kTaken[] = "it holds traces already; remove it or name another in ELG_DIR";

// Why a directory that is there already cannot take a run's traces; null if it can.
const char* why_taken(const char* path) {
  DIR* dir = opendir(path);
  if (dir == nullptr && errno == ENOTDIR) return "it is a file; name a directory in ELG_DIR";
  if (dir == nullptr) return strerror(errno);
  bool found = false;
  while (const dirent* entry = readdir(dir)) {
    if (has_suffix(entry->d_name, ".elg") || has_suffix(entry->d_name, ".buf")) found = true;
  }
  closedir(dir);
  return found ? kTaken : nullptr;
}

bool make_with_parents(const char* path) {
  if (mkdir(path, 0777) == 0) return true;
  if (errno != ENOENT) return false;
  char partial[sizeof the_session.directory];
  const std::size_t size = strlen(path) + 1;
  if (size > sizeof partial) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(partial, path, size);
  for (char* slash = strchr(partial + 1, '/'); slash != nullptr; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(partial, 0777) != 0 && errno != EEXIST) return false;
    *slash = '/';
  }
  return mkdir(path, 0777) == 0;
}

void no_directory(const char* path, const char* reason) {
  say_why_not("no traces in %s: %s; nothing is recorded, the program runs on", path, reason);
  the_session.directory[0] = '\0';
}

// Several runs may find the same directory empty: it is that one's whose first process can make its
// trace file there.
bool take_directory(const char* path) {
  char name[sizeof the_session.directory + 16];
  snprintf(name, sizeof name, "%.4095s/0.0.elg", path);
  const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno != EEXIST;  // what is wrong is said when traces are written
  close(fd);
  the_session.first_file_made = true;
  return true;
}

void tell_of_world(bool spawned) {
  const Session& s = the_session;
  if (s.directory[0] == '\0') return;
  char text[sizeof s.directory + 32];
  snprintf(text, sizeof text, "%d %u %.4095s", spawned ? 1 : 0, s.run.size, s.directory);
  tell_run(run_file::kWorld, text);
}

// Calls `use` with the directories that the run may have, in order, until it takes one: with its
// name, whether it was made just now, and whether it may be taken at all.
template <class F>
void try_names(bool spawned, const F& use) {
  Session& s = the_session;
  char name[sizeof s.directory / 2];
  const char* wish = s.config.directory;
  if (wish != nullptr) {
    if (strlen(wish) >= sizeof name) return no_directory("ELG_DIR", strerror(ENAMETOOLONG));
    snprintf(name, sizeof name, "%s", wish);
  } else {
    snprintf(name, sizeof name, "elg_%s_%u", s.program, s.run.size);
  }
  char base[sizeof s.directory - 16];
  if (name[0] == '/') {
    snprintf(base, sizeof base, "%s", name);
  } else {
    char here[sizeof base - sizeof name - 2];
    if (getcwd(here, sizeof here) == nullptr) return no_directory(name, strerror(errno));
    snprintf(base, sizeof base, "%s/%s", here, name);
  }
  // A world started by MPI_Comm_spawn inherits ELG_DIR from its parents and needs a name of its
  // own. So does each further one of what one `kojak run` starts.
  const bool numbered = wish == nullptr || spawned || run_file() != nullptr;
  for (int i = 1; i < kMostNames; ++i) {
    if (i == 1) {
      snprintf(s.directory, sizeof s.directory, "%s", base);
    } else {
      snprintf(s.directory, sizeof s.directory, "%s.%d", base, i);
    }
    const bool made = make_with_parents(s.directory);
    if (!made && errno != EEXIST) return no_directory(s.directory, strerror(errno));
    // The name that was asked for may be there already, without traces.
    const bool possible = made || (i == 1 && wish != nullptr && !spawned);
    if (use(s.directory, made, possible)) return;
    if (!numbered) {
      const char* const taken = why_taken(s.directory);
      return no_directory(s.directory, taken != nullptr ? taken : kTaken);
    }
  }
  no_directory(base, "all numbered names are taken");
}

}  // namespace

// A directory that cannot be listed counts as holding some.
bool holds_traces(const char* path) {
  return why_taken(path) != nullptr;
}

void make_run_directory(bool spawned) {
  try_names(spawned, [](const char* path, bool made, bool possible) {
    return possible && (made || !holds_traces(path)) && take_directory(path);
  });
  tell_of_world(spawned);
}

bool join_run_directory(bool (*claim)(const char* directory)) {
  const bool numbered = the_session.config.directory == nullptr;
  try_names(false, [claim, numbered](const char* path, bool, bool) {
    errno = 0;
    if (claim(path)) return true;
    // Somebody else's, or a file system that does not let us say that it is ours.
    if (errno == 0 || errno == ENOENT || numbered) return false;
    no_directory(path, strerror(errno));
    return true;
  });
  if (the_session.run.rank == 0) tell_of_world(false);
  return the_session.directory[0] != '\0';
}

bool enter_run_directory() {
  Session& s = the_session;
  struct stat found {};
  if ((!make_with_parents(s.directory) && errno != EEXIST) || stat(s.directory, &found) != 0) {
    return false;
  }
  s.directory_device = found.st_dev;
  s.directory_inode = found.st_ino;
  return true;
}

int reach_run_directory() {
  const Session& s = the_session;
  struct stat found {};
  if (stat(s.directory, &found) != 0) return errno;
  return found.st_dev == s.directory_device && found.st_ino == s.directory_inode ? 0 : ESTALE;
}

}  // namespace kojak::measure
