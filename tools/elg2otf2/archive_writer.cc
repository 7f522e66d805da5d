#include "tools/elg2otf2/archive_writer.h"

#include <cstdarg>
#include <cstddef>
#include <filesystem>
#include <new>

#include "tools/elg2otf2/carried.h"

namespace kojak::otf2 {
namespace {

namespace fs = std::filesystem;

// What the library says goes into our messages, not to standard error.
OTF2_ErrorCode keep_quiet(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                          const char*, std::va_list) {
  return code;
}

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}
constexpr OTF2_FlushCallbacks kFlush = {flush, nullptr};  // null: no BUFFER_FLUSH records

// Without these the library keeps up to 128 MiB of each location before it writes. Events have one
// chunk; when it is full the library gets no other one, and writes. Definitions may have many.
// Chunks stay for their writer's next ones.
struct Chunks {
  std::vector<std::unique_ptr<std::byte[]>> all;
  std::size_t used = 0;
};
void* allocate(void*, OTF2_FileType type, OTF2_LocationRef, void** kept, std::uint64_t size) {
  try {
    if (*kept == nullptr) *kept = std::make_unique<Chunks>().release();
    Chunks& chunks = *static_cast<Chunks*>(*kept);
    if (type == OTF2_FILETYPE_EVENTS && chunks.used != 0) return nullptr;
    if (chunks.used == chunks.all.size()) {
      chunks.all.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    }
    return chunks.all[chunks.used++].get();
  } catch (const std::bad_alloc&) {  // the library is C: its callers get an error of it
    return nullptr;
  }
}
void free_all(void*, OTF2_FileType, OTF2_LocationRef, void** kept, bool final) {
  if (*kept == nullptr) return;
  static_cast<Chunks*>(*kept)->used = 0;
  if (!final) return;
  const std::unique_ptr<Chunks> last(static_cast<Chunks*>(*kept));
  *kept = nullptr;
}
constexpr OTF2_MemoryCallbacks kMemory = {allocate, free_all};

constexpr const char* kName = "traces";
constexpr const char* kRemedy = "write where there is room and you may write";

bool is_archive(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / "traces.otf2", none);
}

}  // namespace

Error ArchiveWriter::failure(const std::string& what) const {
  return {ExitCode::kOutputFailed, path_, std::nullopt, "", "", what, kRemedy};
}

Result<ArchiveWriter> ArchiveWriter::create(const std::string& name, std::uint32_t locations) {
  std::string path = name;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::error_code none;
  if (fs::exists(path, none) && !is_archive(path) && !fs::is_empty(path, none)) {
    return Error{ExitCode::kOutputFailed,
                 path,
                 std::nullopt,
                 "",
                 "",
                 "this is there and is no OTF2 archive, so it is not replaced",
                 "name a folder that is not there yet"};
  }
  OTF2_Error_RegisterCallback(keep_quiet, nullptr);
  auto folder = TemporaryFolder::create(fs::path(path).parent_path().string(), ".elg2otf2-");
  if (!folder) return folder.error();
  ArchiveWriter writer(path, std::move(*folder));
  // A folder of its own in the temporary one, which nobody else may read: the archive obeys the
  // umask.
  fs::create_directory(writer.made(), none);
  writer.archive_.reset(OTF2_Archive_Open(writer.made().c_str(), kName, OTF2_FILEMODE_WRITE,
                                          OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                                          OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE));
  OTF2_Archive* const archive = writer.archive_.get();
  if (archive == nullptr) return writer.failure("no archive can be made here");
  writer.check(OTF2_Archive_SetFlushCallbacks(archive, &kFlush, nullptr));
  writer.check(OTF2_Archive_SetMemoryCallbacks(archive, &kMemory, nullptr));
  writer.check(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
  writer.check(OTF2_Archive_SetCreator(archive, std::string(kOwnCreator).c_str()));
  writer.check(OTF2_Archive_OpenEvtFiles(archive));
  for (std::uint32_t i = 0; i < locations; ++i) {
    writer.events_.push_back(OTF2_Archive_GetEvtWriter(archive, i));
    if (writer.events_.back() == nullptr) return writer.failure("no events can be written");
  }
  return writer;
}

std::vector<std::uint64_t> ArchiveWriter::close_events() {
  OTF2_Archive* const archive = archive_.get();
  std::vector<std::uint64_t> counts;
  for (OTF2_EvtWriter* writer : events_) {
    counts.push_back(0);
    check(OTF2_EvtWriter_GetNumberOfEvents(writer, &counts.back()));
    check(OTF2_Archive_CloseEvtWriter(archive, writer));
  }
  check(OTF2_Archive_CloseEvtFiles(archive));
  // Readers want a file of definitions from each location, though nothing stands in it.
  check(OTF2_Archive_OpenDefFiles(archive));
  for (std::uint32_t i = 0; i < events_.size(); ++i) {
    OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive, i);
    if (local != nullptr) check(OTF2_Archive_CloseDefWriter(archive, local));
  }
  check(OTF2_Archive_CloseDefFiles(archive));
  definitions_ = OTF2_Archive_GetGlobalDefWriter(archive);
  if (definitions_ == nullptr) check(OTF2_ERROR_FILE_CAN_NOT_OPEN);
  return counts;
}

OTF2_StringRef ArchiveWriter::string(const std::string& text) {
  const auto [it, added] = strings_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()));
  if (added) check(OTF2_GlobalDefWriter_WriteString(definitions_, it->second, text.c_str()));
  return it->second;
}

Status ArchiveWriter::commit() {
  check(OTF2_Archive_CloseGlobalDefWriter(archive_.get(), definitions_));
  check(OTF2_Archive_Close(archive_.release()));
  if (failed_ != OTF2_SUCCESS) {
    return failure(std::string("the archive cannot be written: ") +
                   OTF2_Error_GetDescription(failed_));
  }
  std::error_code failed;
  if (is_archive(path_)) {
    const fs::path older = fs::path(folder_.path()) / "older";  // goes with the temporary folder
    fs::rename(path_, older, failed);
    if (!failed) fs::rename(made(), path_, failed);
    std::error_code ignored;
    if (failed) fs::rename(older, path_, ignored);
  } else {
    fs::rename(made(), path_, failed);  // over an empty folder, too
  }
  if (failed) return failure(failed.message());
  return {};
}

}  // namespace kojak::otf2
