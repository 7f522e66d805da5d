// Names of temporary files, in folders to which others may write.
//
// Nobody can guess one, so nobody has put a link there to a file that is to be overwritten. Opened
// with O_EXCL and O_NOFOLLOW all the same. No allocation.
#pragma once

#include <fcntl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace kojak {

inline constexpr int kNewFile = O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
inline constexpr int kNameAttempts = 100;  // if all were taken, something else is wrong

// Twelve digits, always others.
struct RandomName {
  char text[13];
  RandomName() {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof number)) {
      timespec now{};
      ::clock_gettime(CLOCK_MONOTONIC, &now);
      number = static_cast<std::uint64_t>(now.tv_nsec) * 0x9E3779B97F4A7C15 +
               static_cast<std::uint64_t>(::getpid());
    }
    std::snprintf(text, sizeof text, "%012llx",
                  static_cast<unsigned long long>(number & 0xFFFFFFFFFFFF));
  }
};

}  // namespace kojak
