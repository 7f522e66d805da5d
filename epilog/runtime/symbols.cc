#include "epilog/runtime/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "epilog/runtime/code.h"

namespace kojak::measure {
namespace {

struct Symbol {
  std::uint64_t address;
  const char* name;  // in the mapped file
};

// One module's functions, in the order of their addresses.
struct Symbols {
  std::uint64_t key;
  Vector<Symbol> functions;
  Symbols* next;
};
Symbols* known = nullptr;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct MappedFile {
  const char* data = nullptr;
  std::size_t size = 0;

  explicit MappedFile(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0) {
      void* const p =
          mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (p != MAP_FAILED) {
        data = static_cast<const char*>(p);
        size = static_cast<std::size_t>(info.st_size);
      }
    }
    if (fd >= 0) close(fd);
  }
  void unmap() {
    if (data != nullptr) munmap(const_cast<char*>(data), size);
    data = nullptr;
    size = 0;
  }
  // `count` objects of T at an offset, if the file has them.
  template <class T>
  const T* at(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size || count > (size - offset) / sizeof(T) || offset % alignof(T) != 0) {
      return nullptr;
    }
    return reinterpret_cast<const T*>(data + offset);
  }
};

// f(symbol, its name) for the functions of one symbol table.
template <class F>
void each_function(const MappedFile& file, const ElfW(Shdr) & table, const ElfW(Shdr) & names,
                   const F& f) {
  const std::uint64_t count = table.sh_size / sizeof(ElfW(Sym));
  const auto* const symbols = file.at<ElfW(Sym)>(table.sh_offset, count);
  const char* const text = file.at<char>(names.sh_offset, names.sh_size);
  if (symbols == nullptr || text == nullptr || names.sh_size == 0 ||
      text[names.sh_size - 1] != '\0') {
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const ElfW(Sym)& symbol = symbols[i];
    if ((symbol.st_info & 0xF) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_name >= names.sh_size) {
      continue;
    }
    f(symbol, text + symbol.st_name);
  }
}

// Calls f for each function of a file: of its full table or, in a stripped one, of the exported
// names.
template <class F>
void each_function(const MappedFile& file, const F& f) {
  const auto* const head = file.at<ElfW(Ehdr)>(0, 1);
  if (head == nullptr || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
      head->e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      head->e_shentsize != sizeof(ElfW(Shdr))) {
    return;
  }
  const auto* const sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  if (sections == nullptr) return;
  bool any = false;
  for (const std::uint32_t wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (unsigned i = 0; i < head->e_shnum && !any; ++i) {
      if (sections[i].sh_type != wanted || sections[i].sh_link >= head->e_shnum) continue;
      each_function(file, sections[i], sections[sections[i].sh_link],
                    [&](const ElfW(Sym) & symbol, const char* name) {
                      any = true;
                      f(symbol, name);
                    });
    }
  }
}

void read_symbols(const char* path, Vector<Symbol>& functions) {
  const MappedFile file(path);  // stays mapped
  each_function(file, [&](const ElfW(Sym) & symbol, const char* name) {
    functions.push_back({symbol.st_value, name});
  });
  std::sort(functions.begin(), functions.end(),
            [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

const Symbols* symbols_of(const Module& module) {
  std::uint64_t key = module.base;
  for (const char* c = module.path; *c != '\0'; ++c)
    key = mix(key + static_cast<unsigned char>(*c));
  for (const Symbols* s = known; s != nullptr; s = s->next) {
    if (s->key == key) return s;
  }
  auto* const symbols = create<Symbols>();
  if (symbols == nullptr) return nullptr;
  symbols->key = key;
  read_symbols(module.path, symbols->functions);
  symbols->next = known;
  known = symbols;
  return symbols;
}

}  // namespace

void visit_functions(const Module& module,
                     void (*visit)(void*, const char*, std::uintptr_t, std::uintptr_t),
                     void* data) {
  MappedFile file(module.path);
  each_function(file, [&](const ElfW(Sym) & symbol, const char* name) {
    visit(data, name, module.base + symbol.st_value, symbol.st_size);
  });
  file.unmap();
}

void symbol_of(const void* function, char* name, std::size_t size) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  Module module;
  if (!find_module(address, module)) {
    snprintf(name, size, "0x%zx", static_cast<std::size_t>(address));
    return;
  }
  const std::uint64_t offset = address - module.base;
  pthread_mutex_lock(&mutex);
  const Symbols* const symbols = symbols_of(module);
  const Symbol* found = nullptr;
  if (symbols != nullptr) {
    const Symbol* const end = symbols->functions.end();
    const Symbol* const at =
        std::lower_bound(symbols->functions.begin(), end, offset,
                         [](const Symbol& s, std::uint64_t value) { return s.address < value; });
    if (at != end && at->address == offset) found = at;
  }
  if (found != nullptr) {
    snprintf(name, size, "%s", found->name);
  } else {
    const char* const slash = strrchr(module.path, '/');
    snprintf(name, size, "%s+0x%zx", slash != nullptr ? slash + 1 : module.path,
             static_cast<std::size_t>(offset));
  }
  pthread_mutex_unlock(&mutex);
}

}  // namespace kojak::measure
