#include "epilog/format/io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "epilog/format/io/random_name.h"
#include "epilog/format/io/temporary_files.h"

namespace kojak {

Error OutputFile::failure(const char* what, int code) const {
  const char* remedy = code == ENOSPC || code == EDQUOT
                           ? "free some space or choose another place with -o"
                           : "choose another place with -o";
  return {ExitCode::kOutputFailed,
          path_ == "-" ? "standard output" : path_,
          std::nullopt,
          "",
          "",
          std::string(what) + ": " + strerror(code),
          remedy};
}

// Beside the output, so that giving it its name moves nothing.
std::string OutputFile::hidden_name() const {
  const std::size_t name = path_.rfind('/') + 1;  // 0 without a directory
  return path_.substr(0, name) + "." + path_.substr(name) + "." + RandomName().text + ".part";
}

// Tries hidden names until nobody has that one: make() is given it, and tells whether it succeeded.
// 0, or the errno of the last attempt.
template <class Make>
int OutputFile::with_hidden_name(Make make) {
  for (int attempt = 1;; ++attempt) {
    temporary_ = hidden_name();
    remember_temporary_file(temporary_);
    if (make(temporary_.c_str())) return 0;
    const int code = errno;
    forget_temporary();
    if (code != EEXIST || attempt == kNameAttempts) return code;
  }
}

Result<OutputFile> OutputFile::create(const std::string& path, Temporary temporary) {
  OutputFile file;
  file.path_ = path;
  if (path == "-") {
    file.stream_ = true;
    file.fd_ = ::dup(STDOUT_FILENO);
    if (file.fd_ < 0) return file.failure("cannot be written", errno);
    return file;
  }
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) return file.failure("cannot be written", EISDIR);
    // A device or a named pipe has no "complete or not at all": write it directly.
    file.stream_ = true;
    file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.fd_ < 0) return file.failure("cannot be written", errno);
    return file;
  }
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  // It gets its name by way of /proc, which some containers do not have.
  if (temporary == Temporary::kUnnamed && ::access("/proc/self/fd", X_OK) == 0) {
    file.fd_ = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  }
  if (file.fd_ < 0) {
    const int code = file.with_hidden_name([&](const char* name) {
      file.fd_ = ::open(name, O_WRONLY | kNewFile, 0666);
      return file.fd_ >= 0;
    });
    if (code != 0) return file.failure("cannot be written", code);
  }
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(other.fd_),
      stream_(other.stream_) {
  other.fd_ = -1;
  other.temporary_.clear();
}

void OutputFile::forget_temporary() {
  forget_temporary_file(temporary_);
  temporary_.clear();
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    forget_temporary();
  }
}

Status OutputFile::write(const void* data, std::size_t size) {
  const char* p = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(fd_, p, size);
    if (n < 0) {
      if (errno == EINTR) continue;
      return failure("cannot be written", errno);
    }
    p += n;
    size -= static_cast<std::size_t>(n);
  }
  return {};
}

Status OutputFile::overwrite(std::uint64_t offset, const void* data, std::size_t size) {
  const char* p = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::pwrite(fd_, p, size, static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      return failure("cannot be written", errno);
    }
    p += n;
    offset += static_cast<std::uint64_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  return {};
}

Status OutputFile::sync() {
  if (stream_ || ::fsync(fd_) == 0) return {};
  return failure("cannot be written", errno);
}

Status OutputFile::commit() {
  if (!stream_) {
    if (temporary_.empty()) {  // an unnamed file gets a hidden name first: linkat never replaces
      const std::string self = "/proc/self/fd/" + std::to_string(fd_);
      const int code = with_hidden_name([&](const char* name) {
        return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
      });
      if (code != 0) return failure("cannot be written", code);
    }
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
      return failure("cannot be written", errno);
    }
    forget_temporary();
  }
  const int result = ::close(fd_);
  fd_ = -1;
  if (result != 0) return failure("cannot be written", errno);
  return {};
}

Status OutputFile::write_whole(const std::string& path, std::span<const std::byte> bytes) {
  auto file = create(path);
  if (!file) return file.error();
  if (Status written = file->write(bytes.data(), bytes.size()); !written) return written;
  return file->commit();
}

}  // namespace kojak
