#include "epilog/format/io/kept_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "epilog/format/io/output_file.h"
#include "epilog/format/mixed.h"

namespace kojak {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kEnding = ".kept";
constexpr char kMagic[8] = {'k', 'o', 'j', 'a', 'k', 'e', 'p', '1'};

// Of a file that is being written, where it has a name (io/output_file.h).
bool is_incomplete(const std::string& name) {
  return name.starts_with('.') && name.ends_with(".part") &&
         name.find(std::string(kEnding) + '.') != std::string::npos;
}

}  // namespace

// As it lies in memory: other machines' files are not whole.
struct KeptFiles::Head {
  char magic[8];
  Hash key, request, bytes;
  std::uint64_t size;  // of the bytes
  Hash head;           // of all before
  Hash own() const {
    return hash_of(std::as_bytes(std::span(this, 1)).first(offsetof(Head, head)));
  }
};

class KeptFiles::File {
 public:
  explicit File(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status {};
    ours_ = fd_ >= 0 && ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) &&
            read(&head_, sizeof head_.magic) &&
            std::memcmp(head_.magic, kMagic, sizeof kMagic) == 0;
    constexpr std::size_t kRest = sizeof head_ - sizeof head_.magic;
    whole_ = ours_ && read(reinterpret_cast<char*>(&head_) + sizeof head_.magic, kRest) &&
             head_.head == head_.own() &&
             static_cast<std::uint64_t>(status.st_size) == sizeof head_ + head_.size;
  }
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool ours() const { return ours_; }    // a file of this kind, damaged or not
  bool whole() const { return whole_; }  // as far as its head tells
  const Head& head() const { return head_; }
  bool read(void* to, std::size_t size) {
    for (auto* p = static_cast<char*>(to); size != 0;) {
      const ssize_t n = ::read(fd_, p, size);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      p += n;
      size -= static_cast<std::size_t>(n);
    }
    return true;
  }

 private:
  int fd_;
  bool ours_ = false, whole_ = false;
  Head head_{};
};

KeptFiles::KeptFiles(std::string folder, std::string_view key)
    : folder_(std::move(folder)), key_(hash_of(std::as_bytes(std::span(key)))) {}

// Two numbers that no word changes alike.
KeptFiles::Hash KeptFiles::hash_of(std::span<const std::byte> bytes) {
  Hash hash{mixed(bytes.size()), mixed(~bytes.size())};
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), n);
    hash = {mixed(hash.hi ^ word), mixed(hash.lo + word)};
    bytes = bytes.subspan(n);
  }
  return hash;
}

std::string KeptFiles::path_of(const std::string& name) const {
  return (fs::path(folder_) / name).string() + std::string(kEnding);
}

Status KeptFiles::open() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  fs::directory_iterator at;
  if (!error) at = fs::directory_iterator(folder_, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    if (!at->path().string().ends_with(kEnding)) continue;
    const File file(at->path().string());
    if (!file.whole() || file.head().key == key_) continue;
    return Error{.code = ExitCode::kUsage,
                 .file = folder_,
                 .reason =
                     "parts of another analysis are kept here: of other traces, options or "
                     "number of processes, or by another version",
                 .remedy = "give the command that it was, or another folder"};
  }
  if (!error && ::access(folder_.c_str(), W_OK | X_OK) == 0) return {};
  if (!error) error.assign(errno, std::generic_category());
  return Error{.code = ExitCode::kOutputFailed,
               .file = folder_,
               .reason = "nothing can be kept here: " + error.message(),
               .remedy = "name a folder in which you may write"};
}

bool KeptFiles::has(const std::string& name) const {
  if (folder_.empty()) return false;
  const File file(path_of(name));
  return file.whole() && file.head().key == key_;
}

std::optional<std::vector<std::byte>> KeptFiles::find(const std::string& name,
                                                      std::span<const std::byte> request) const {
  if (folder_.empty()) return std::nullopt;
  File file(path_of(name));
  const Head& head = file.head();
  if (!file.whole() || head.key != key_) return std::nullopt;
  if (head.request != hash_of(request) && head.request != hash_of({})) return std::nullopt;
  std::vector<std::byte> bytes(head.size);
  if (!file.read(bytes.data(), bytes.size()) || head.bytes != hash_of(bytes)) return std::nullopt;
  return bytes;
}

Status KeptFiles::keep(const std::string& name, std::span<const std::byte> request,
                       std::span<const std::byte> bytes) const {
  if (folder_.empty()) return {};
  Head head{{}, key_, hash_of(request), hash_of(bytes), bytes.size(), {}};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.head = head.own();
  const auto write = [&]() -> Status {
    auto file = OutputFile::create(path_of(name));
    if (!file) return file.error();
    if (Status status = file->write(&head, sizeof head); !status) return status;
    if (Status status = file->write(bytes.data(), bytes.size()); !status) return status;
    if (Status status = file->sync(); !status) return status;
    return file->commit();
  };
  Status status = write();
  if (!status) {
    status.error().remedy =
        "what is kept must have room in a folder that all processes see; what lies there is taken "
        "when the same command is given again";
  }
  return status;
}

void KeptFiles::clear() const {
  if (folder_.empty()) return;
  std::error_code error;
  std::vector<fs::path> gone;
  fs::directory_iterator at(folder_, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const auto is_ours = [&] {
      const File file(at->path().string());
      return file.ours() && (!file.whole() || file.head().key == key_);
    };
    if (is_incomplete(name) || (name.ends_with(kEnding) && is_ours())) gone.push_back(at->path());
  }
  for (const fs::path& path : gone) fs::remove(path, error);
}

}  // namespace kojak
