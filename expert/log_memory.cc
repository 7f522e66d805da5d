#include "expert/log_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "epilog/format/unnamed_file.h"

namespace kojak::expert {

void* LogMemory::take(std::size_t bytes) {
  if (in_memory_ + bytes > limit_ && bytes >= kLeastFile && !failed_ &&
      mapped_.size() < kMostFiles) {
    if (void* place = map(bytes)) return place;
    failed_ = true;
  }
  void* place = ::operator new(bytes);
  in_memory_ += bytes;
  return place;
}

void LogMemory::give_back(void* place, std::size_t bytes) {
  if (mapped_.erase(place) != 0) {
    ::munmap(place, bytes);
    in_files_ -= bytes;
    return;
  }
  ::operator delete(place);
  in_memory_ -= bytes;
}

void* LogMemory::map(std::size_t bytes) {
  const int fd = open_unnamed_file(directory_);
  if (fd < 0) return nullptr;
  // All space is taken now: a full disk must not end the program later.
  void* place = MAP_FAILED;
  if (::posix_fallocate(fd, 0, static_cast<off_t>(bytes)) == 0) {
    place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  ::close(fd);
  if (place == MAP_FAILED) return nullptr;
  rest();
  mapped_.emplace(place, bytes);
  in_files_ += bytes;
  return place;
}

void LogMemory::rest() {
  for (const auto& [place, bytes] : mapped_) ::madvise(place, bytes, MADV_DONTNEED);
}

}  // namespace kojak::expert
