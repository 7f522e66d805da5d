#include "epilog/runtime/behind.h"

#include <dlfcn.h>
#include <string.h>

#include "epilog/runtime/dynamic_symbols.h"

namespace kojak::measure {
namespace {

// Something that lies in this library's file, whichever that is.
const char in_our_file = 0;

// A name that every copy of this library has, and nobody else.
constexpr char kOurs[] = "elg_start_is_seen";

struct FileSearch {
  const void* address;
  LoadedFile found;
};

int look_for_file(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<FileSearch*>(data);
  const LoadedFile file = loaded_file(*info);
  if (!file.holds(search.address)) return 0;
  search.found = file;
  return 1;
}

struct NeedSearch {
  const char* name;
  bool found;
};

int look_for_need(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<NeedSearch*>(data);
  search.found = needs_file(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, search.name);
  return search.found ? 1 : 0;
}

// By its file's name, which is mostly that by which it is needed.
bool is_needed(const char* name) {
  NeedSearch search{name, false};
  dl_iterate_phdr(look_for_need, &search);
  return search.found;
}

}  // namespace

const char* LoadedFile::name() const {
  if (path == nullptr) return "";
  const char* const slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

LoadedFile loaded_file(const dl_phdr_info& info) {
  LoadedFile file{{~std::uintptr_t{0}, 0}, info.dlpi_name};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (begin < file.range.begin) file.range.begin = begin;
    if (begin + part.p_memsz > file.range.end) file.range.end = begin + part.p_memsz;
  }
  return file;
}

LoadedFile file_of(const void* address) {
  FileSearch search{address, {}};
  dl_iterate_phdr(look_for_file, &search);
  return search.found;
}

bool is_in_our_file(const void* address) {
  // Threads that meet here write the same.
  static const LoadedFile ours = file_of(&in_our_file);
  return ours.holds(address);
}

void* find_for(const void* caller, const char* name) {
  const LoadedFile file = file_of(caller);
  if (file.path == nullptr) return nullptr;
  const char* const path = *file.path != '\0' ? file.path : nullptr;
  void* const object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return nullptr;
  void* const address = dlsym(object, name);
  dlclose(object);
  return is_in_our_file(address) ? nullptr : address;
}

Behind::Behind() {
  if (dlsym(RTLD_NEXT, kOurs) != nullptr) take_files(true);
}

Behind::~Behind() {
  while (!files_.empty()) drop(files_.size() - 1);
  files_.clear();
}

void Behind::drop(std::size_t file) {
  if (files_[file].handle != nullptr) dlclose(files_[file].handle);
  for (std::size_t i = file + 1; i < files_.size(); ++i) files_[i - 1] = files_[i];
  files_.resize(files_.size() - 1);
}

int Behind::take(dl_phdr_info* info, std::size_t, void* data) {
  auto& behind = *static_cast<Behind*>(data);
  const LoadedFile file = loaded_file(*info);
  if (file.holds(&in_our_file)) {
    behind.from_here_ = true;
    return 0;
  }
  if (!behind.from_here_ || file.path == nullptr || *file.path == '\0') return 0;
  behind.files_.push_back({file, nullptr, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum});
  return 0;
}

void Behind::take_files(bool behind_us) {
  while (!files_.empty()) drop(files_.size() - 1);
  from_here_ = !behind_us;
  dl_iterate_phdr(take, this);
  std::size_t kept = 0;
  for (File file : files_) {
    file.handle = dlopen(file.loaded.path, RTLD_LAZY | RTLD_NOLOAD);
    if (file.handle == nullptr) continue;  // the kernel brings it along
    if (find_in(file, kOurs) != nullptr) {
      dlclose(file.handle);
    } else {
      files_[kept++] = file;
    }
  }
  files_.resize(kept);
}

void Behind::look_through_files(const char* name) {
  sign_ = name;
  take_files(true);
  if (find(name) == nullptr) take_files(false);
}

// dlsym looks through what a file needs, as well.
void* Behind::find_in(const File& file, const char* name) const {
  void* const address = dlsym(file.handle, name);
  return file.loaded.holds(address) ? address : nullptr;
}

bool Behind::stands_between(const File& file, const char* name, const void* address) const {
  if (sign_ == nullptr || find_in(file, sign_) != nullptr) return true;
  return dlsym(RTLD_NEXT, name) == address || is_needed(file.loaded.name());
}

void* Behind::find(const char* name) const {
  if (files_.empty()) return dlsym(RTLD_NEXT, name);
  for (const File& file : files_) {
    void* const address = find_in(file, name);
    if (address != nullptr && stands_between(file, name, address)) return address;
  }
  return nullptr;
}

void Behind::leave_out_stubs(const LoadedFile& mpi) {
  for (std::size_t i = 0; i < files_.size();) {
    const File& file = files_[i];
    if (file.loaded.path != mpi.path && find_in(file, "MPI_Init") != nullptr &&
        !imports_by_prefix(file.base, file.headers, file.header_count, "PMPI_")) {
      drop(i);
    } else {
      ++i;
    }
  }
}

}  // namespace kojak::measure
