// Opens files that a trace or somebody else's folder names.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace kojak {

// For reading; -1 with errno for what is no regular file, or is not there. Opening a named pipe in
// the usual way would wait until somebody writes to it.
inline int open_regular_file(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fd;
  struct stat info;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return fd;
  ::close(fd);
  errno = EINVAL;
  return -1;
}

// Whether something is there that opening and reading could wait for.
inline bool is_irregular_file(const char* path) {
  struct stat info;
  return ::stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

}  // namespace kojak
