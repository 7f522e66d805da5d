// The directory of a run: chosen once by rank 0, entered by all.
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
  snprintf(partial, sizeof partial, "%s", path);
  for (char* slash = strchr(partial + 1, '/'); slash != nullptr; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(partial, 0777) != 0 && errno != EEXIST) return false;
    *slash = '/';
  }
  return mkdir(path, 0777) == 0;
}

void no_directory(const char* path, const char* reason) {
  say("no traces in %s: %s; nothing is recorded, the program runs on", path, reason);
  the_session.directory[0] = '\0';
}

// Calls `use` with the directories that the run may have, in order, until it takes one. `numbered`
// says that there is another name when one is taken.
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
  // own.
  const bool numbered = wish == nullptr || spawned;
  for (int i = 1; i < kMostNames; ++i) {
    if (i == 1) {
      snprintf(s.directory, sizeof s.directory, "%s", base);
    } else {
      snprintf(s.directory, sizeof s.directory, "%s.%d", base, i);
    }
    const bool made = make_with_parents(s.directory);
    if (!made && errno != EEXIST) return no_directory(s.directory, strerror(errno));
    if (use(s.directory, made, numbered)) return;
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
  try_names(spawned, [](const char* path, bool made, bool numbered) {
    return made || (!numbered && !holds_traces(path));
  });
}

bool join_run_directory(bool (*claim)(const char* directory)) {
  try_names(false, [claim](const char* path, bool, bool numbered) {
    errno = 0;
    if (claim(path)) return true;
    // Somebody else's, or a file system that does not let us say that it is ours.
    if (errno == 0 || errno == ENOENT || numbered) return false;
    no_directory(path, strerror(errno));
    return true;
  });
  return the_session.directory[0] != '\0';
}

bool enter_run_directory() {
  return make_with_parents(the_session.directory) || errno == EEXIST;
}

}  // namespace kojak::measure
