#include "epilog/format/io/log_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "epilog/format/io/unnamed_file.h"

namespace kojak {

namespace {

constexpr std::size_t kSmall = std::size_t{64} << 10;  // a multiple of the system's pages
constexpr std::size_t kLarge = std::size_t{2} << 20;   // a large page
// Of addresses for an array, so that it can grow at its place; they cost nothing.
constexpr std::size_t kAddresses = std::size_t{4} << 30;

std::size_t multiple(std::size_t bytes, std::size_t of) {
  return (bytes + of - 1) / of * of;
}

// Large arrays are mapped on their own: what is given back has left memory at once.
void* enlarge_in_memory(void* place, std::size_t bytes, std::size_t wanted) {
  void* larger = nullptr;
  if (wanted < LogMemory::kLeastFile) {
    larger = std::realloc(place, wanted);
  } else if (bytes < LogMemory::kLeastFile) {
    larger = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (larger != MAP_FAILED && place != nullptr) {
      std::memcpy(larger, place, bytes);
      std::free(place);
    }
  } else {
    larger = ::mremap(place, bytes, wanted, MREMAP_MAYMOVE);
  }
  if (larger == nullptr || larger == MAP_FAILED) throw std::bad_alloc();
  return larger;
}

// What a file was told to have, but nobody wrote, costs a fault for each small page, and the
// file system's work in each of them: a sixth of that where it was written in large pieces, since
// the system then keeps it in large pages.
void write_zeros(int file, std::size_t offset, std::size_t bytes, std::size_t unit) {
  static const std::array<char, kSmall> zeros{};
  std::array<iovec, kLarge / kSmall> pieces{};
  for (iovec& piece : pieces) piece = {const_cast<char*>(zeros.data()), zeros.size()};
  for (const std::size_t end = offset + bytes; offset < end; offset += unit) {
    const auto count = static_cast<int>(unit / kSmall);
    // (It would do as well without.)
    if (::pwritev(file, pieces.data(), count, static_cast<off_t>(offset)) <= 0) return;
  }
}

}  // namespace

LogMemory::~LogMemory() {
  if (file_ >= 0) ::close(file_);
}

void* LogMemory::enlarge(void* place, std::size_t used, std::size_t bytes, std::size_t wanted,
                         bool many) {
  const auto known = place != nullptr ? mapped_.find(place) : mapped_.end();
  const bool in_file = known != mapped_.end();
  const std::size_t others = in_memory_ - (in_file ? 0 : bytes);
  if (in_file && grow(static_cast<char*>(place), known->second, wanted, many)) {
    in_files_ += wanted - bytes;
    return place;
  }
  if ((in_file || others + wanted > limit_) && wanted >= kLeastFile && !failed_) {
    if (void* const file = map(wanted, many)) {
      move(file, place, used);
      if (place != nullptr) give_back(place, bytes);
      return file;
    }
    failed_ = true;
  }
  if (!in_file) {
    void* const larger = enlarge_in_memory(place, bytes, wanted);
    in_memory_ = others + wanted;
    return larger;
  }
  void* const memory = enlarge_in_memory(nullptr, 0, wanted);
  in_memory_ += wanted;
  move(memory, place, used);
  give_back(place, bytes);
  return memory;
}

void LogMemory::give_back(void* place, std::size_t bytes) {
  const auto mapped = mapped_.find(place);
  if (mapped != mapped_.end()) {
    ::munmap(place, mapped->second.room);
    free(mapped->second);
    mapped_.erase(mapped);
    in_files_ -= bytes;
    return;
  }
  if (bytes >= kLeastFile) {
    ::munmap(place, bytes);
  } else {
    std::free(place);
  }
  in_memory_ -= bytes;
}

void LogMemory::free(const Mapped& mapped) {
  std::vector<Part>& unused = mapped.unit == kLarge ? large_ : small_;
  unused.insert(unused.end(), mapped.parts.begin(), mapped.parts.end());
  parts_ -= mapped.parts.size();
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

void* LogMemory::map(std::size_t bytes, bool many) {
  if (file_ < 0) file_ = open_unnamed_file(directory_);
  if (file_ < 0) return nullptr;
  Mapped mapped;
  mapped.unit = many || bytes < kLarge ? kSmall : kLarge;
  char* place = nullptr;
  for (const std::size_t room : {std::max(kAddresses, 4 * bytes), bytes}) {
    mapped.room = multiple(room, mapped.unit);
    // More, of which the ends are given back: large pages lie at multiples of their size.
    const std::size_t all = mapped.room + mapped.unit;
    void* const found =
        ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(found);
    const std::size_t before = multiple(begin, mapped.unit) - begin;
    place = static_cast<char*>(found) + before;
    if (before != 0) ::munmap(found, before);
    if (before != mapped.unit) ::munmap(place + mapped.room, mapped.unit - before);
    break;
  }
  if (place == nullptr) return nullptr;
  if (!grow(place, mapped, bytes, many)) {
    ::munmap(place, mapped.room);
    free(mapped);
    return nullptr;
  }
  mapped_.emplace(place, std::move(mapped));
  in_files_ += bytes;
  return place;
}

// False: it has to move to another place.
bool LogMemory::grow(char* place, Mapped& mapped, std::size_t bytes, bool many) {
  if (bytes <= mapped.bytes) return true;
  if (!many && mapped.unit == kSmall && bytes >= kLarge) return false;
  const std::size_t more = multiple(bytes - mapped.bytes, mapped.unit);
  if (mapped.room - mapped.bytes < more || parts_ >= kMostParts) return false;
  const std::size_t known = mapped.parts.size();
  const bool taken = take(more, mapped.unit, mapped.parts);
  parts_ += mapped.parts.size() - known;
  if (!taken) return false;
  for (std::size_t i = known; i < mapped.parts.size(); ++i) {
    const Part& part = mapped.parts[i];
    if (::mmap(place + mapped.bytes, part.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
               file_, static_cast<off_t>(part.offset)) == MAP_FAILED) {
      return false;
    }
    mapped.bytes += part.bytes;
  }
  return true;
}

// From what was given back, then at the end of the file. All space is taken now: a full disk must
// not end the program later.
bool LogMemory::take(std::size_t bytes, std::size_t unit, std::vector<Part>& parts) {
  std::vector<Part>& unused = unit == kLarge ? large_ : small_;
  while (bytes != 0 && !(unused.empty() && large_.empty())) {
    if (unused.empty()) {  // a large one serves those that need small ones
      Part& large = large_.back();
      large.bytes -= kLarge;
      small_.push_back({large.offset + large.bytes, kLarge});
      if (large.bytes == 0) large_.pop_back();
    }
    Part& last = unused.back();
    const std::size_t taken = std::min(bytes, last.bytes);
    parts.push_back({last.offset, taken});
    last = {last.offset + taken, last.bytes - taken};
    bytes -= taken;
    if (last.bytes == 0) unused.pop_back();
  }
  if (bytes == 0) return true;
  const std::size_t offset = multiple(file_bytes_, unit);
  if (::posix_fallocate(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
    return false;
  }
  write_zeros(file_, offset, bytes, unit);
  parts.push_back({offset, bytes});
  file_bytes_ = offset + bytes;
  return true;
}

void LogMemory::rest() {
  for (const auto& [place, mapped] : mapped_) ::madvise(place, mapped.bytes, MADV_DONTNEED);
}

}  // namespace kojak
