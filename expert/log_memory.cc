#include "expert/log_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "epilog/format/unnamed_file.h"

namespace kojak::expert {

void* LogMemory::enlarge(void* place, std::size_t used, std::size_t bytes, std::size_t wanted) {
  const bool in_file = place != nullptr && mapped_.contains(place);
  const std::size_t others = in_memory_ - (in_file ? 0 : bytes);
  if ((in_file || others + wanted > limit_) && wanted >= kLeastFile && !failed_ &&
      mapped_.size() < kMostFiles) {
    if (void* const file = map(wanted)) {
      move(file, place, used);
      if (place != nullptr) give_back(place, bytes);
      return file;
    }
    failed_ = true;
  }
  if (!in_file) {
    void* const larger = std::realloc(place, wanted);
    if (larger == nullptr) throw std::bad_alloc();
    in_memory_ = others + wanted;
    return larger;
  }
  void* const memory = std::malloc(wanted);
  if (memory == nullptr) throw std::bad_alloc();
  in_memory_ += wanted;
  move(memory, place, used);
  give_back(place, bytes);
  return memory;
}

void LogMemory::give_back(void* place, std::size_t bytes) {
  if (mapped_.erase(place) != 0) {
    ::munmap(place, bytes);
    in_files_ -= bytes;
    return;
  }
  std::free(place);
  in_memory_ -= bytes;
}

// What was moved leaves memory on the way, if it lies in files.
void LogMemory::move(void* to, void* from, std::size_t bytes) {
  constexpr std::size_t kAtOnce = std::size_t{4} << 20;
  for (std::size_t done = 0; done < bytes; done += kAtOnce) {
    std::memcpy(static_cast<char*>(to) + done, static_cast<const char*>(from) + done,
                std::min(kAtOnce, bytes - done));
    if (done != 0) rest();
  }
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
