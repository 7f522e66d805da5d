#include "merge/input/file_cache.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "epilog/format/io/unnamed_file.h"

namespace kojak::merge {
namespace {

// Descriptors that are not ours to use: standard streams, output, spill file, a second cursor.
constexpr std::size_t kReserved = 24;
constexpr std::size_t kMost = 1024;

std::size_t limit_beside(std::size_t others) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 64;
  const std::size_t taken = kReserved + others;
  const auto soft = static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, kMost + taken));
  return soft > taken + 4 ? soft - taken : 4;
}

}  // namespace

FileCache::FileCache(std::size_t limit, std::size_t others)
    : limit_(limit != 0 ? limit : limit_beside(others)) {
  entries_.emplace_back();
}

FileCache::~FileCache() {
  for (Entry& entry : entries_) {
    if (entry.fd >= 0) ::close(entry.fd);
  }
  if (spill_fd_ >= 0) ::close(spill_fd_);
}

FileCache::FileId FileCache::add(std::string path) {
  entries_.push_back({std::move(path), -1, 0, 0});
  return static_cast<FileId>(entries_.size() - 2);
}

const std::string& FileCache::path(FileId file) const {
  static const std::string kSpillName = "temporary file";
  return file == kSpill ? kSpillName : entries_[file + 1].path;
}

void FileCache::unlink_entry(Entry& entry) {
  entries_[entry.newer].older = entry.older;
  entries_[entry.older].newer = entry.newer;
}

void FileCache::link_newest(std::uint32_t index) {
  Entry& entry = entries_[index];
  entry.newer = 0;
  entry.older = entries_[0].older;  // the anchor's older neighbour is the newest entry
  entries_[entry.older].newer = index;
  entries_[0].older = index;
}

// 0 if all open files are being read.
std::uint32_t FileCache::oldest_unread() const {
  std::uint32_t index = entries_[0].newer;
  while (index != 0 && entries_[index].readers != 0) index = entries_[index].newer;
  return index;
}

void FileCache::close_oldest() {
  Entry& victim = entries_[oldest_unread()];
  ::close(victim.fd);
  victim.fd = -1;
  unlink_entry(victim);
  --open_;
}

Status FileCache::open(Entry& entry, std::uint32_t index, std::unique_lock<std::mutex>& lock) {
  // (Meanwhile another thread may open it.)
  while (entry.fd < 0 && open_ >= limit_ && oldest_unread() == 0) read_.wait(lock);
  if (entry.fd >= 0) {
    if (entries_[0].older != index) {
      unlink_entry(entry);
      link_newest(index);
    }
    return {};
  }
  if (open_ >= limit_) close_oldest();
  entry.fd = ::open(entry.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (entry.fd < 0) {
    return Error{ExitCode::kBadInput,
                 entry.path,
                 std::nullopt,
                 "",
                 "",
                 std::string("cannot be opened: ") + strerror(errno),
                 errno == EMFILE ? "raise the limit of open files" : "check the file"};
  }
  ++open_;
  link_newest(index);
  return {};
}

void FileCache::close_files() {
  while (open_ != 0) close_oldest();
}

Status FileCache::read(FileId file, std::uint64_t offset, void* to, std::size_t size) {
  if (file == kSpill) return read(spill_fd_, file, offset, to, size);
  Entry& entry = entries_[file + 1];
  std::unique_lock lock(mutex_);
  if (Status status = open(entry, file + 1, lock); !status) return status;
  ++entry.readers;
  lock.unlock();
  Status status = read(entry.fd, file, offset, to, size);
  lock.lock();
  --entry.readers;
  lock.unlock();
  read_.notify_all();
  return status;
}

Status FileCache::read(int fd, FileId file, std::uint64_t offset, void* to,
                       std::size_t size) const {
  char* p = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::pread(fd, p, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return Error{ExitCode::kBadInput,
                   path(file),
                   offset,
                   "",
                   "",
                   n == 0 ? std::string("has become shorter while it was read")
                          : std::string("cannot be read: ") + strerror(errno),
                   "merge again when nothing else writes the file"};
    }
    p += n;
    offset += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return {};
}

Result<std::uint64_t> FileCache::spill(const void* data, std::size_t size) {
  const std::uint64_t where = reserve(size);
  if (Status status = write(where, data, size); !status) return status.error();
  return where;
}

Status FileCache::write(std::uint64_t offset, const void* data, std::size_t size) {
  const auto failure = [&](int code) {
    return Error{ExitCode::kOutputFailed,
                 spill_directory_,
                 std::nullopt,
                 "",
                 "",
                 std::string("a temporary file cannot be written: ") + strerror(code),
                 "free some space or set TMPDIR to another place"};
  };
  if (spill_fd_ < 0) {
    spill_fd_ = open_unnamed_file(spill_directory_);
    if (spill_fd_ < 0) return failure(errno);
  }
  const char* p = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::pwrite(spill_fd_, p, size, static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      return failure(errno);
    }
    p += n;
    offset += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace kojak::merge
