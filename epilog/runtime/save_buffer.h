// The files of a local trace, as the measured process makes and fills them, and the process that
// keeps its buffers where that one cannot.
//
// Names are relative to a folder's descriptor, or absolute. Functions return 0 or an errno. No
// allocation; whoever may get SIGXFSZ blocks it, and whoever saves computes with doubles.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
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

// The buffer file: the header alone, and room for the records where the file system can reserve it.
// A full one is known at once then, and what the buffer holds at the end is never lost to it.
inline int make_buffer_file(int folder, const char* name, const LocalBufferHeader& header) {
  const std::size_t size = kSavedRecordsAt + header.capacity;
  const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  int error = 0;
  while (fallocate(fd, 0, 0, static_cast<off_t>(size)) != 0 && (error = errno) == EINTR) error = 0;
  const bool cannot_reserve = error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
  if (cannot_reserve) error = 0;
  if (error == 0 && !write_fully(fd, &header, sizeof header, 0)) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error != 0) unlinkat(folder, name, 0);
  return error;
}

// The trace file, empty, and the buffer file, or neither. `there`: the trace file has been made
// already. `made`: which file it is.
inline int make_trace_files(int folder, const char* trace, const char* buffer,
                            const LocalBufferHeader& header, bool there, struct stat& made) {
  const int create = there ? O_NOFOLLOW : O_CREAT | O_EXCL;
  const int fd = openat(folder, trace, O_WRONLY | create | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  int error = fstat(fd, &made) != 0 ? errno : 0;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) error = make_buffer_file(folder, buffer, header);
  if (error != 0) unlinkat(folder, trace, 0);
  return error;
}

// Copies the newest records of a local trace from memory into its buffer file, and behind them what
// is noted of the call that the thread was in, and `last`, records. Done when the measured process
// has died, and where the trace could not be written. The header that says so is written last, with
// the errno if something failed. Gives back what was reserved and is not needed.
inline int save_buffer(int folder, const char* name, const std::byte* memory,
                       const std::byte* last = nullptr, std::size_t last_size = 0) {
  LocalBufferHeader header = *reinterpret_cast<const LocalBufferHeader*>(memory);
  if (header.end - header.base > header.capacity) return EINVAL;
  const std::size_t size = header.end - header.base;
  const auto& note = *reinterpret_cast<const LocalBufferNote*>(memory + kBufferNoteAt);
  const NotedRecords noted(header, note);
  if (size + noted.size + last_size == 0)
    return unlinkat(folder, name, 0) == 0 || errno == ENOENT ? 0 : errno;
  const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  const std::byte* const records = memory + header.start;
  header.state = LocalBufferHeader::kSaved;
  header.error = 0;
  header.start = kSavedRecordsAt;
  int error = write_fully(fd, records, size, kSavedRecordsAt) ? 0 : errno;
  std::size_t saved = size;
  const auto add = [&](const std::byte* more, std::size_t bytes) {
    if (error != 0 || bytes == 0) return;
    if (!write_fully(fd, more, bytes, kSavedRecordsAt + saved)) return;
    if (header.capacity < saved + bytes) header.capacity = saved + bytes;
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

// Writes a local trace that lies in memory as a whole into a file of its own, which must not be
// there yet, and what save_buffer() puts behind the records. The file has another name until all of
// it is there.
inline int save_trace(int folder, const char* name, const char* unfinished, const std::byte* memory,
                      const std::byte* last, std::size_t last_size) {
  const auto& header = *reinterpret_cast<const LocalBufferHeader*>(memory);
  if (header.base != 0 || header.end > header.capacity) return EINVAL;
  const auto& note = *reinterpret_cast<const LocalBufferNote*>(memory + kBufferNoteAt);
  const NotedRecords noted(header, note);
  if (faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
  const int fd = openat(folder, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  int error = 0;
  std::uint64_t size = 0;
  const auto add = [&](const std::byte* bytes, std::size_t count) {
    if (error == 0 && !write_fully(fd, bytes, count, size)) error = errno;
    size += count;
  };
  add(memory + header.start, header.end);
  add(noted.bytes, noted.size);
  add(last, last_size);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && renameat(folder, unfinished, folder, name) != 0) error = errno;
  if (error != 0) unlinkat(folder, unfinished, 0);
  return error;
}

}  // namespace kojak::measure
