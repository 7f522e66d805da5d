#include "tools/kojak/elf_needs.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include "epilog/format/io/regular_file.h"

namespace kojak::run {
namespace {

// A file mapped for reading.
class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const int fd = open_regular_file(path.c_str());
    if (fd < 0) return;
    struct stat info;
    if (::fstat(fd, &info) == 0 && info.st_size > 0) {
      size_ = static_cast<std::size_t>(info.st_size);
      void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (data != MAP_FAILED) data_ = static_cast<const char*>(data);
    }
    ::close(fd);
  }
  ~Mapped() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (data_ == nullptr || offset > size_ || size_ - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, data_ + offset, sizeof value);
    return value;
  }
  // Whether the file holds this string, with an end behind it.
  bool holds(std::string_view word) const {
    if (data_ == nullptr) return false;
    const std::string ended(word.data(), word.size());
    return ::memmem(data_, size_, ended.c_str(), ended.size() + 1) != nullptr;
  }
  std::string text(std::uint64_t offset) const {
    if (data_ == nullptr || offset >= size_) return "";
    return {data_ + offset, ::strnlen(data_ + offset, size_ - offset)};
  }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

// The header of a file of this machine's kind.
std::optional<Elf64_Ehdr> header_of(const Mapped& file) {
  const auto header = file.at<Elf64_Ehdr>(0);
  constexpr unsigned char kOrder =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != kOrder) {
    return std::nullopt;
  }
  return header;
}

}  // namespace

namespace {

// Calls `found(name, symbol)` for each function that the file's tables of symbols have, if its text
// has one of the names at all: few files have, and some have very many symbols.
template <class F, std::size_t N>
void for_each_function(const std::string& path, const std::string_view (&names)[N],
                       const F& found) {
  const Mapped file(path);
  const auto header = header_of(file);
  if (!header || std::none_of(std::begin(names), std::end(names),
                              [&](std::string_view name) { return file.holds(name); })) {
    return;
  }
  const auto section = [&](std::uint64_t number) {
    return file.at<Elf64_Shdr>(header->e_shoff + number * sizeof(Elf64_Shdr));
  };
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || (symbols->sh_type != SHT_DYNSYM && symbols->sh_type != SHT_SYMTAB)) continue;
    const auto texts = section(symbols->sh_link);
    if (!texts) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sh_size;
         at += sizeof(Elf64_Sym)) {
      const auto symbol = file.at<Elf64_Sym>(symbols->sh_offset + at);
      if (!symbol) break;
      const unsigned char kind = ELF64_ST_TYPE(symbol->st_info);
      if (kind != STT_FUNC && kind != STT_NOTYPE) continue;
      found(file.text(texts->sh_offset + symbol->st_name), *symbol);
    }
  }
}

template <std::size_t N>
bool is_one_of(const std::string& name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

MpiEntries read_mpi_entries(const std::string& path) {
  static constexpr std::string_view kInit[] = {"MPI_Init", "MPI_Init_thread", "mpi_init_",
                                               "mpi_init_thread_"};
  MpiEntries entries;
  for_each_function(path, kInit, [&](const std::string& name, const Elf64_Sym& symbol) {
    if (symbol.st_shndx == SHN_UNDEF) return;
    entries.init = entries.init || is_one_of(name, kInit);
    entries.profiled_init = entries.profiled_init || name == "PMPI_Init";
  });
  return entries;
}

ShmemEntries read_shmem_entries(const std::string& path) {
  static constexpr std::string_view kInit[] = {"shmem_init", "shmem_init_thread", "start_pes"};
  ShmemEntries entries;
  for_each_function(path, kInit, [&](const std::string& name, const Elf64_Sym& symbol) {
    if (!is_one_of(name, kInit)) return;
    (symbol.st_shndx == SHN_UNDEF ? entries.calls : entries.has) = true;
  });
  return entries;
}

ElfNeeds read_elf_needs(const std::string& path) {
  ElfNeeds needs;
  const Mapped file(path);
  const auto header = header_of(file);
  if (!header) return needs;
  needs.elf = true;
  const auto holds_any = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return file.holds(word); });
  };
  needs.mpi = holds_any({"MPI_Init", "MPI_Init_thread", "MPI_Session_init", "mpi_init_",
                         "mpi_init_thread_", "mpi_init_f08_", "mpi_init_thread_f08_"});
  needs.shmem = holds_any({"shmem_init", "shmem_init_thread", "start_pes"});
  needs.armci = holds_any({"PARMCI_Init"});
  needs.armci_front = holds_any({"elg_armci_table"});
  needs.gasp_front = holds_any({"elg_gasp_front"});
  std::vector<Elf64_Phdr> segments;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = file.at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment) segments.push_back(*segment);
  }
  const auto offset_of = [&](std::uint64_t address) -> std::uint64_t {
    for (const Elf64_Phdr& segment : segments) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz) {
        return segment.p_offset + (address - segment.p_vaddr);
      }
    }
    return UINT64_MAX;
  };
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    needs.dynamic = true;
    std::vector<std::uint64_t> names;
    std::uint64_t strings = UINT64_MAX, run_path = UINT64_MAX, old_path = UINT64_MAX;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz;
         at += sizeof(Elf64_Dyn)) {
      const auto entry = file.at<Elf64_Dyn>(segment.p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) names.push_back(entry->d_un.d_val);
      if (entry->d_tag == DT_STRTAB) strings = offset_of(entry->d_un.d_ptr);
      if (entry->d_tag == DT_RUNPATH) run_path = entry->d_un.d_val;
      if (entry->d_tag == DT_RPATH) old_path = entry->d_un.d_val;
    }
    if (strings == UINT64_MAX) continue;
    for (const std::uint64_t name : names) needs.libraries.push_back(file.text(strings + name));
    if (run_path == UINT64_MAX) run_path = old_path;
    if (run_path != UINT64_MAX) needs.run_path = file.text(strings + run_path);
  }
  return needs;
}

}  // namespace kojak::run
