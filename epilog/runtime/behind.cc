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

Behind::Behind() {
  if (dlsym(RTLD_NEXT, kOurs) != nullptr) take_files(true);
}

Behind::~Behind() {
  while (count_ != 0) drop(count_ - 1);
}

void Behind::drop(unsigned file) {
  if (files_[file].handle != nullptr) dlclose(files_[file].handle);
  memmove(files_ + file, files_ + file + 1, (count_ - file - 1) * sizeof(File));
  --count_;
}

int Behind::take(dl_phdr_info* info, std::size_t, void* data) {
  auto& behind = *static_cast<Behind*>(data);
  const LoadedFile file = loaded_file(*info);
  if (file.holds(&in_our_file)) {
    behind.from_here_ = true;
    return 0;
  }
  if (!behind.from_here_ || file.path == nullptr || *file.path == '\0') return 0;
  if (behind.count_ == kMost) return 1;
  behind.files_[behind.count_++] = {file, nullptr, info->dlpi_addr, info->dlpi_phdr,
                                    info->dlpi_phnum};
  return 0;
}

void Behind::take_files(bool behind_us) {
  while (count_ != 0) drop(count_ - 1);
  from_here_ = !behind_us;
  dl_iterate_phdr(take, this);
  for (unsigned i = 0; i < count_;) {
    files_[i].handle = dlopen(files_[i].loaded.path, RTLD_LAZY | RTLD_NOLOAD);
    // One cannot be opened that the kernel brings along.
    if (files_[i].handle == nullptr || find_in(files_[i], kOurs) != nullptr) {
      drop(i);
    } else {
      ++i;
    }
  }
}

void Behind::look_through_files(const char* name) {
  take_files(true);
  if (find(name) == nullptr) take_files(false);
}

// dlsym looks through what a file needs, as well.
void* Behind::find_in(const File& file, const char* name) const {
  void* const address = dlsym(file.handle, name);
  return file.loaded.holds(address) ? address : nullptr;
}

void* Behind::find(const char* name) const {
  if (count_ == 0) return dlsym(RTLD_NEXT, name);
  for (unsigned i = 0; i < count_; ++i) {
    if (void* const address = find_in(files_[i], name)) return address;
  }
  return nullptr;
}

void Behind::leave_out_stubs(const LoadedFile& mpi) {
  for (unsigned i = 0; i < count_;) {
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
