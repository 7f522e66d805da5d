// Any number of input files through a bounded number of descriptors, and a shared spill file.
//
// Files are opened when they are read and closed, least recently used first, when the limit is
// reached. What cannot seek (gzip, pipes) is copied into one unnamed temporary file when it is
// added. Owns its descriptors and the temporary file. Several threads may read at a time; all else
// is for one thread, before or meanwhile. Errors: an Error naming the file; a file that vanished or
// shrank since the start is one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::merge {

class FileCache {
 public:
  using FileId = std::uint32_t;
  static constexpr FileId kSpill = 0xFFFFFFFFu;

  // At most `limit` input files open at a time; 0: what the process's own limit allows beside
  // `others` of the caller.
  explicit FileCache(std::size_t limit = 0, std::size_t others = 0);
  ~FileCache();
  FileCache(const FileCache&) = delete;
  FileCache& operator=(const FileCache&) = delete;

  FileId add(std::string path);
  const std::string& path(FileId file) const;
  // Reads exactly `size` bytes, from an input file or from the spill file.
  Status read(FileId file, std::uint64_t offset, void* to, std::size_t size);

  // Closes all input files, which nobody may be reading; they are opened again when they are read.
  void close_files();
  // Appends to the spill file; returns where.
  Result<std::uint64_t> spill(const void* data, std::size_t size);
  // Sets a part of the spill file aside, to be filled by write().
  std::uint64_t reserve(std::size_t size) {
    spill_size_ += size;
    return spill_size_ - size;
  }
  Status write(std::uint64_t offset, const void* data, std::size_t size);
  std::uint64_t spilled() const { return spill_size_; }

 private:
  struct Entry {
    std::string path;
    int fd = -1;
    std::uint32_t newer = 0, older = 0;  // ring of open files, through entry 0
    std::uint32_t readers = 0;           // it stays open meanwhile
  };
  Status open(Entry& entry, std::uint32_t index, std::unique_lock<std::mutex>& lock);
  std::uint32_t oldest_unread() const;
  void close_oldest();  // of those that nobody reads, which there must be
  Status read(int fd, FileId file, std::uint64_t offset, void* to, std::size_t size) const;
  void unlink_entry(Entry& entry);
  void link_newest(std::uint32_t index);

  std::vector<Entry> entries_;  // [0] is the ring's anchor: FileId + 1 is the index
  std::size_t limit_;
  std::mutex mutex_;  // for the entries' descriptors, ring and readers
  std::condition_variable read_;
  std::size_t open_ = 0;
  std::string spill_directory_;  // $TMPDIR or /tmp, once there is the file
  int spill_fd_ = -1;
  std::uint64_t spill_size_ = 0;
};

}  // namespace kojak::merge
