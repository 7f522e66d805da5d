#include "earl/access/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "epilog/format/io/compression.h"
#include "epilog/format/io/reader.h"

namespace kojak::earl {
namespace {

Error failed(const std::string& path, const char* what, ExitCode code, const char* remedy) {
  return Error{code,  path, std::nullopt, "", "", std::string(what) + ": " + std::strerror(errno),
               remedy};
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

bool write_all(int fd, const std::byte* p, std::size_t n) {
  while (n > 0) {
    const ssize_t done = ::write(fd, p, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    p += done;
    n -= static_cast<std::size_t>(done);
  }
  return true;
}

}  // namespace

Status MappedFile::map(int fd, const std::string& path, std::size_t size) {
  if (size == 0) return {};
  void* const p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) return failed(path, "cannot be mapped", ExitCode::kOutputFailed, "");
  mapping_ = p;
  bytes_ = {static_cast<const std::byte*>(p), size};
  return {};
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  MappedFile result;
  struct stat kind {};
  // A pipe can be opened only once: its writer would find it closed.
  const bool pipe = ::stat(path.c_str(), &kind) == 0 && !S_ISREG(kind.st_mode);
  if (path != "-" && !pipe) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return failed(path, "cannot be opened", ExitCode::kBadInput, "");
    struct stat status {};
    std::array<std::byte, kCompressionMagic> first{};
    const bool known = ::fstat(fd, &status) == 0;
    const ssize_t got = ::pread(fd, first.data(), first.size(), 0);
    const std::size_t size = got > 0 ? static_cast<std::size_t>(got) : 0;
    const bool plain = known && S_ISREG(status.st_mode) &&
                       compression_of({first.data(), size}) == Compression::kNone;
    if (known) {
      result.file_size_ = static_cast<std::uint64_t>(status.st_size);
      result.changed_ = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1000000000u +
                        static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
    }
    const Status mapped =
        plain ? result.map(fd, path, static_cast<std::size_t>(status.st_size)) : Status();
    ::close(fd);
    if (!mapped) return mapped.error();
    if (plain) return result;
  }
  auto source = open_source(path);
  if (!source) return source.error();
  const std::unique_ptr<std::FILE, CloseFile> file(std::tmpfile());
  if (!file) {
    return failed(path, "no temporary file for the uncompressed trace", ExitCode::kOutputFailed,
                  "set TMPDIR to a folder with room, or uncompress the trace");
  }
  const int fd = ::fileno(file.get());
  std::vector<std::byte> buffer(1u << 18);
  std::size_t size = 0;
  while (true) {
    const std::ptrdiff_t got = (*source)->read(buffer.data(), buffer.size());
    if (got < 0) {
      result.damage_ =
          Error{ExitCode::kBadInput, path, size, "", "", (*source)->error(), "repeat the copy"};
    }
    if (got <= 0) break;
    if (!write_all(fd, buffer.data(), static_cast<std::size_t>(got))) {
      return failed(path, "the uncompressed trace cannot be kept", ExitCode::kOutputFailed,
                    "make room on the disk of temporary files, or uncompress the trace elsewhere");
    }
    size += static_cast<std::size_t>(got);
    // What is no trace need not be copied, perhaps without end, to be refused.
    if (size == static_cast<std::size_t>(got) && got >= 6 &&
        std::memcmp(buffer.data(), "EPILOG", 6) != 0) {
      break;
    }
  }
  if (const Status mapped = result.map(fd, path, size); !mapped) return mapped.error();
  return result;
}

MappedFile MappedFile::from(std::vector<std::byte> bytes) {
  MappedFile result;
  result.owned_ = std::move(bytes);
  result.bytes_ = result.owned_;
  return result;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : owned_(std::move(other.owned_)),
      bytes_(std::exchange(other.bytes_, {})),
      mapping_(std::exchange(other.mapping_, nullptr)),
      damage_(std::move(other.damage_)),
      file_size_(other.file_size_),
      changed_(other.changed_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  owned_ = std::move(other.owned_);
  bytes_ = std::exchange(other.bytes_, {});
  mapping_ = std::exchange(other.mapping_, nullptr);
  damage_ = std::move(other.damage_);
  file_size_ = other.file_size_;
  changed_ = other.changed_;
  return *this;
}

MappedFile::~MappedFile() {
  close();
}

void MappedFile::close() {
  if (mapping_ != nullptr) ::munmap(mapping_, bytes_.size());
  mapping_ = nullptr;
}

}  // namespace kojak::earl
