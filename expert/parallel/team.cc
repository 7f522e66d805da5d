#include "expert/parallel/team.h"

#include <dlfcn.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "epilog/format/archive.h"
#include "expert/parallel/launched.h"
#include "expert/parallel/mpi/expert_mpi.h"
#include "expert/parallel/task.h"

namespace kojak::parallel {
namespace {
namespace fs = std::filesystem;

std::string library_of(const std::string& mpi, const std::vector<fs::path>& folders) {
  const fs::path name =
      fs::path("kojak") / (mpi == KOJAK_DEFAULT_MPI ? "" : mpi) / "libexpert_mpi.so";
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (fs::exists(folder / name, error)) return (folder / name).string();
  }
  return "";
}

constexpr std::size_t kPiece = std::size_t{64} << 20;
constexpr std::size_t kWorthPacking = 64 * 1024;

struct Answer {
  bool failed = false;
  ExitCode code{};
  std::string why;
  std::vector<std::byte> bytes;
  template <class Archive>
  void visit(Archive& archive) {
    archive(failed, code, why, bytes);
  }
};

// The same in fewer bytes; none where that is not worth it.
std::vector<std::byte> smaller(const std::vector<std::byte>& bytes) {
  if (bytes.size() <= kWorthPacking) return {};
  uLongf size = compressBound(bytes.size());
  std::vector<std::byte> packed(size);
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1) != Z_OK ||
      size >= bytes.size())
    return {};
  packed.resize(size);
  return packed;
}

// What is wrong with how it was started.
Error cannot_join(const Launched& start, const std::string& why) {
  return Error{.code = ExitCode::kOutputFailed,
               .reason = "was started as one of " + std::to_string(start.size) + " processes by " +
                         start.launcher + ", but " + why,
               .remedy = "expert --alone asks nobody"};
}

Result<const ExpertMpi*> load(const Launched& start, const std::vector<fs::path>& folders) {
  const std::string library = library_of(start.mpi, folders);
  if (library.empty()) {
    return cannot_join(start, "this installation has no libexpert_mpi.so for " + start.mpi);
  }
  // Parts of an MPI that it loads itself look for its symbols.
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  const char* const why = handle == nullptr ? dlerror() : nullptr;
  const auto* const mpi =
      handle == nullptr ? nullptr : static_cast<const ExpertMpi*>(dlsym(handle, kExpertMpiSymbol));
  if (mpi == nullptr || mpi->version != kExpertMpiVersion) {
    Error error =
        cannot_join(start, std::string("the library cannot be used: ") +
                               (why != nullptr ? why : "it is of another version of kojak"));
    error.file = library;
    return error;
  }
  return mpi;
}

// The leader compares all tasks with its own and tells everybody. True: they are all equal.
bool compare(const ExpertMpi& mpi, int rank, int size, const std::string& task) {
  std::uint8_t equal = 1;
  if (rank != 0) {
    const std::uint64_t length = task.size();
    mpi.send(0, &length, sizeof length);
    if (length != 0) mpi.send(0, task.data(), length);
    mpi.receive(0, &equal, sizeof equal);
    return equal != 0;
  }
  for (int from = 1; from < size; ++from) {
    std::uint64_t length = 0;
    mpi.receive(from, &length, sizeof length);
    std::string other(length, '\0');
    if (length != 0) mpi.receive(from, other.data(), length);
    if (other != task) equal = 0;
  }
  for (int to = 1; to < size; ++to) mpi.send(to, &equal, sizeof equal);
  return equal != 0;
}

}  // namespace

Team::Team(Team&& other) noexcept
    : patience_(std::move(other.patience_)),
      mpi_(std::exchange(other.mpi_, nullptr)),
      rank_(other.rank_),
      size_(other.size_) {}

Team::~Team() {
  abort();
}

void Team::abort() {
  if (mpi_ != nullptr) mpi_->abort(static_cast<int>(ExitCode::kOutputFailed));
}

Result<Team> Team::join(const Options& options) {
  Team team;
  const std::optional<Launched> start = launched();
  if (!start) return team;
  Result<const ExpertMpi*> mpi = load(*start, options.libraries);
  if (!mpi) return mpi.error();
  const Watch watch(std::chrono::seconds(10), [&] {
    options.note("waits for the other processes of this " + start->launcher + "; --alone does not");
  });
  int rank = 0, size = 1;
  if ((*mpi)->init(&rank, &size) != 0 || size != start->size) {
    return cannot_join(*start, "MPI knows of " + std::to_string(size));
  }
  if (compare(**mpi, rank, size, task_of(options.command, options.input))) {
    team.patience_ = Patience(options.note);
    team.mpi_ = *mpi;
    team.rank_ = rank;
    team.size_ = size;
  } else {
    (*mpi)->finalize();
  }
  return team;
}

// In pieces, since an MPI counts with 31 bits; packed where that is worth it.
void Team::send(int first, int last, std::vector<std::byte> bytes) {
  std::uint64_t sizes[2] = {bytes.size(), bytes.size()};  // as they are, and as they go
  Bytes packed = guarded([&] { return smaller(bytes); });
  if (packed && !packed->empty()) {
    bytes = std::move(*packed);
    sizes[1] = bytes.size();
  }
  for (int to = first; to <= last; ++to) {
    mpi_->send(to, sizes, sizeof sizes);
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      mpi_->send(to, bytes.data() + at, std::min(kPiece, bytes.size() - at));
    }
  }
}

std::vector<std::byte> Team::receive(int from) {
  std::uint64_t sizes[2] = {};
  mpi_->receive(from, sizes, sizeof sizes);
  std::vector<std::byte> bytes(sizes[1]);
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    mpi_->receive(from, bytes.data() + at, std::min(kPiece, bytes.size() - at));
  }
  if (sizes[0] == sizes[1]) return bytes;
  std::vector<std::byte> unpacked(sizes[0]);
  uLongf size = unpacked.size();
  if (uncompress(reinterpret_cast<Bytef*>(unpacked.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != Z_OK) {
    unpacked.clear();  // who reads it says that it cannot be read
  }
  return unpacked;
}

void Team::ask(int first, int last, const std::vector<std::byte>& work) {
  const std::uint8_t goes_on = 1;
  for (int rank = first; rank <= last; ++rank) mpi_->send(rank, &goes_on, sizeof goes_on);
  send(first, last, work);
}

std::optional<std::vector<std::byte>> Team::next_work() {
  if (mpi_ == nullptr) return std::nullopt;
  std::uint8_t goes_on = 0;
  mpi_->receive(0, &goes_on, sizeof goes_on);
  if (goes_on != 0) return receive(0);
  std::int32_t status = 0;
  mpi_->receive(0, &status, sizeof status);
  std::exchange(mpi_, nullptr)->finalize();
  status_ = static_cast<ExitCode>(status);
  return std::nullopt;
}

void Team::answer(Bytes result) {
  const auto packed = [](Answer answer) -> Bytes {
    Packer packer;
    packer(answer);
    return packer.take();
  };
  if (result) {
    result = guarded([&] { return packed({.bytes = std::move(*result)}); });
    if (result) return send(0, 0, std::move(*result));
  }
  const Error& error = result.error();
  send(0, 0, *packed({.failed = true, .code = error.code, .why = error.message()}));
}

Bytes Team::answer_of(int rank) {
  const std::string who = "process " + std::to_string(rank) + " of " + std::to_string(size_);
  const auto bytes = patience_.waiting_for(who, [&] { return receive(rank); });
  Answer answer;
  Unpacker unpacker(bytes);
  unpacker(answer);
  const auto failed = [&](ExitCode code, const std::string& why) {
    return Error{.code = code, .reason = who + " could not analyse its part: " + why};
  };
  if (!unpacker.good()) return failed(ExitCode::kOutputFailed, "what it tells cannot be read");
  if (answer.failed) return failed(answer.code, answer.why);
  return std::move(answer.bytes);
}

ExitCode Team::wait_for_leader(const std::string& why) {
  while (next_work()) {
    answer(Error{.code = ExitCode::kOutputFailed, .reason = why});
  }
  return status_;
}

void Team::end(ExitCode status) {
  if (mpi_ == nullptr) return;
  const std::uint8_t goes_on = 0;
  const auto told = static_cast<std::int32_t>(status);
  for (int to = 1; to < size_; ++to) {
    mpi_->send(to, &goes_on, sizeof goes_on);
    mpi_->send(to, &told, sizeof told);
  }
  std::exchange(mpi_, nullptr)->finalize();
}

}  // namespace kojak::parallel
