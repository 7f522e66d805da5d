// Copies the newest records of a local trace from memory into its buffer file, and behind them what
// is noted of the call that the thread was in.
//
// Done by the process that keeps them when the measured one has died, and by the measured process
// itself where the trace could not be written. The header that says so is written last. Gives back
// what was reserved and is not needed. Returns 0 or an errno, which the file's header then names.
// No allocation; whoever may get SIGXFSZ blocks it. Computes with doubles.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "epilog/format/io/buffer_file.h"
#include "epilog/format/io/local_buffer_header.h"
#include "epilog/runtime/noted_records.h"

namespace kojak::measure {

// Writes all of it at an offset; false: errno says why.
inline bool write_fully(int fd, const void* data, std::size_t size, std::uint64_t offset) {
  const auto* from = static_cast<const std::byte*>(data);
  while (size != 0) {
    const ssize_t written = pwrite(fd, from, size, static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    from += written;
    size -= static_cast<std::size_t>(written);
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

// `last`: a record that follows those of the memory and of the note.
inline int save_buffer(const std::byte* memory, const std::byte* last = nullptr,
                       std::size_t last_size = 0) {
  LocalBufferHeader header = *reinterpret_cast<const LocalBufferHeader*>(memory);
  const char* const name = reinterpret_cast<const char*>(memory) + kBufferNameAt;
  if (header.end - header.base > header.capacity) return EINVAL;
  const std::size_t size = header.end - header.base;
  const auto& note = *reinterpret_cast<const LocalBufferNote*>(memory + kBufferNoteAt);
  const NotedRecords noted(header, note);
  if (size + noted.size == 0) return unlink(name) == 0 || errno == ENOENT ? 0 : errno;
  const int fd = open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  const std::byte* const records = memory + header.start;
  header.state = LocalBufferHeader::kSaved;
  header.start = kSavedRecordsAt;
  int error = write_fully(fd, records, size, kSavedRecordsAt) ? 0 : errno;
  std::size_t saved = size;
  const auto add = [&](const std::byte* more, std::size_t bytes) {
    if (error != 0 || bytes == 0 || bytes > header.capacity - saved) return;
    if (!write_fully(fd, more, bytes, kSavedRecordsAt + saved)) return;
    saved += bytes;
    header.end += bytes;
  };
  add(noted.bytes, noted.size);
  add(last, last_size);
  // What was reserved for more is given back; it does no harm.
  if (error == 0) (void)!ftruncate(fd, static_cast<off_t>(kSavedRecordsAt + saved));
  if (error != 0) {
    header.state = LocalBufferHeader::kInMemory;
    header.error = error;
  }
  if (!write_fully(fd, &header, sizeof header, kSavedHeaderAt) && error == 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace kojak::measure
