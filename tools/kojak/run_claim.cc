#include "tools/kojak/run_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "epilog/format/io/run_file.h"
#include "epilog/format/io/running.h"
#include "epilog/format/io/temporary_files.h"

namespace kojak::run {
namespace {

namespace fs = std::filesystem;

std::string host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Since when the machine runs, and where numbers of processes come from.
std::string kernel() {
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(boot, text);
  struct stat names {};
  ::stat("/proc/self/ns/pid", &names);
  return text + ' ' + std::to_string(names.st_ino);
}

// When a process began, as the kernel counts; numbers of processes come again.
std::string begin_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name = text.rfind(')');
  if (name == std::string::npos) return "";
  std::istringstream fields(text.substr(name + 1));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  return field;
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string content(int fd) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t got = ::pread(fd, part, sizeof part, static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part, static_cast<std::size_t>(got));
  }
}

// Each line's word and the rest.
std::vector<std::pair<std::string, std::string>> lines_of(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string::npos)
      lines.emplace_back(line.substr(0, blank), line.substr(blank + 1));
  }
  return lines;
}

std::string first_word(const std::string& text) {
  return text.substr(0, text.find(' '));
}

// "the run of process 7 on node3, since 2026-11-27T07:30:00Z", and whether that process is gone for
// certain.
struct Holder {
  std::string words;
  bool gone = false;
};
Holder holder_of(const std::string& text) {
  std::map<std::string, std::string> said;
  for (auto& [word, rest] : lines_of(text)) said.emplace(word, rest);
  const std::string number = first_word(said[run_file::kProcess]);
  if (number.empty()) return {"another run", false};
  Holder holder;
  holder.words = "the run of process " + number + " on " + said[run_file::kHost] + ", since " +
                 said[run_file::kSince];
  if (said[run_file::kHost] != host()) return holder;
  const std::string there = said[run_file::kKernel], here = kernel();
  if (first_word(there) != first_word(here)) {
    holder.gone = true;  // the machine was started again
  } else if (there == here) {
    const auto process = static_cast<std::uint32_t>(std::strtoul(number.c_str(), nullptr, 10));
    holder.gone =
        !is_running(process) || number + ' ' + begin_of(number) != said[run_file::kProcess];
  }
  return holder;
}

bool write_holder(int fd) {
  const std::string number = std::to_string(::getpid());
  const std::string text = std::string(run_file::kHost) + ' ' + host() + '\n' + run_file::kKernel +
                           ' ' + kernel() + '\n' + run_file::kProcess + ' ' + number + ' ' +
                           begin_of(number) + '\n' + run_file::kSince + ' ' + now() + '\n';
  return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool still_named(int fd, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

Error refused(const std::string& file, std::string reason, std::string remedy) {
  return {ExitCode::kOutputFailed, file, std::nullopt, "", "", std::move(reason),
          std::move(remedy)};
}

Error taken(const std::string& folder, const std::string& by, const std::string& path) {
  return refused(
      folder, "taken by " + by,
      "nothing was run; name another place with -o, or remove " + path + " if that run has ended");
}

// Makes the folders above a file; those that were not there.
std::vector<std::string> make_above(const fs::path& file) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path at = file.parent_path(); at.has_relative_path() && !fs::exists(at, ignored);
       at = at.parent_path()) {
    missing.push_back(at);
  }
  std::vector<std::string> made;
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    if (fs::create_directory(*at, ignored)) made.push_back(at->string());
  }
  return made;
}

}  // namespace

Result<RunClaim> RunClaim::take(const std::string& folder) {
  RunClaim claim;
  // One name for one folder, whatever leads there.
  std::error_code ignored;
  const fs::path place = fs::weakly_canonical(folder, ignored);
  claim.path_ = (ignored ? folder : place.string()) + ".lock";
  claim.made_ = make_above(claim.path_);
  constexpr int kCommon = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  bool inside = false;
  for (int tries = 0; tries < 100; ++tries) {
    int fd = ::open(claim.path_.c_str(), kCommon | O_CREAT | O_EXCL, 0600);
    if (fd >= 0) {
      // Held as long as this process lives, however it ends. Some file systems have no such locks.
      (void)!::flock(fd, LOCK_EX);
      claim.fd_ = fd;
      remember_temporary_file(claim.path_);
      if (write_holder(fd)) return claim;
      return refused(claim.path_, std::string("cannot be written: ") + std::strerror(errno),
                     "nothing was run; name another place for the traces with -o");
    }
    const bool may_not = errno == EACCES || errno == EPERM || errno == EROFS;
    if (may_not && !inside && fs::is_directory(folder)) {
      inside = true;
      claim.path_ = folder + "/run.lock";
      continue;
    }
    if (errno != EEXIST) {
      return refused(claim.path_, std::string("cannot be made: ") + std::strerror(errno),
                     "nothing was run; name another place for the traces with -o");
    }
    fd = ::open(claim.path_.c_str(), kCommon);
    if (fd < 0 && errno == ENOENT) continue;  // its owner has ended just now
    if (fd < 0) return taken(folder, "another run", claim.path_);
    const bool alive = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const Holder holder = holder_of(content(fd));
    if (alive || !holder.gone) {
      ::close(fd);
      return taken(folder, holder.words, claim.path_);
    }
    if (!still_named(fd, claim.path_)) {
      ::close(fd);
      continue;
    }
    claim.fd_ = fd;
    remember_temporary_file(claim.path_);
    claim.taken_from_ = holder.words;
    if (::ftruncate(fd, 0) == 0 && write_holder(fd)) return claim;
    return refused(claim.path_, std::string("cannot be written: ") + std::strerror(errno),
                   "nothing was run; name another place for the traces with -o");
  }
  return taken(folder, "other runs in turn", claim.path_);
}

RunClaim::RunClaim(RunClaim&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      taken_from_(std::move(other.taken_from_)),
      made_(std::exchange(other.made_, {})) {}

RunClaim::~RunClaim() {
  if (fd_ >= 0) {
    if (still_named(fd_, path_)) ::unlink(path_.c_str());
    forget_temporary_file(path_);
    ::close(fd_);
  }
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) ::rmdir(folder->c_str());
}

RunLines RunClaim::lines() const {
  RunLines all;
  const auto ranked = [](const std::string& rest) {
    const auto rank = static_cast<std::uint32_t>(std::strtoul(rest.c_str(), nullptr, 10));
    const std::size_t blank = rest.find(' ');
    return std::pair(rank, blank == std::string::npos ? "" : rest.substr(blank + 1));
  };
  for (const auto& [word, rest] : lines_of(content(fd_))) {
    if (word == run_file::kProgram) all.programs.push_back(rest);
    if (word == run_file::kAbort) all.aborts.push_back(ranked(rest));
    if (word == run_file::kStopped) all.stopped.push_back(ranked(rest));
    if (word == run_file::kReason) all.reasons.push_back(rest);
    if (word == run_file::kInside) all.inside.push_back(rest);
    if (word == run_file::kWorld && rest.size() > 2) {
      const auto [processes, folder] = ranked(rest.substr(2));
      all.worlds.push_back({rest[0] == '1', processes, folder});
    }
  }
  return all;
}

std::string RunClaim::outer() {
  const char* const path = std::getenv(run_file::kVariable);
  return path != nullptr ? path : "";
}

void RunClaim::tell_outer(const std::string& folder) {
  const std::string path = outer();
  if (path.empty()) return;
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  const std::string line = std::string(run_file::kInside) + ' ' + folder + '\n';
  (void)!::write(fd, line.data(), line.size());
  ::close(fd);
}

}  // namespace kojak::run
