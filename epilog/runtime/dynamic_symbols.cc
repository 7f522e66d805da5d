#include "epilog/runtime/dynamic_symbols.h"

#include <elf.h>
#include <string.h>

#include <cstdint>

namespace kojak::measure {

DynamicSymbols dynamic_symbols(ElfW(Addr) base, const ElfW(Phdr) * headers, int count) {
  DynamicSymbols found;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;
  for (int i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + headers[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      // The linker has made addresses of these; where it has not (vdso), they are offsets.
      ElfW(Addr) address = entry->d_un.d_ptr;
      if (address < base) address += base;
      if (entry->d_tag == DT_SYMTAB) found.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      if (entry->d_tag == DT_STRTAB) found.strings = reinterpret_cast<const char*>(address);
      if (entry->d_tag == DT_STRSZ) found.strings_size = entry->d_un.d_val;
      if (entry->d_tag == DT_JMPREL) found.jumps = reinterpret_cast<const ElfW(Rela)*>(address);
      if (entry->d_tag == DT_PLTRELSZ) found.jump_count = entry->d_un.d_val / sizeof(ElfW(Rela));
      if (entry->d_tag == DT_PLTREL && entry->d_un.d_val != DT_RELA) found.bound_at_once = true;
      if (entry->d_tag == DT_BIND_NOW ||
          (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_BIND_NOW) != 0) ||
          (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NOW) != 0)) {
        found.bound_at_once = true;
      }
      if (entry->d_tag == DT_GNU_HASH) gnu_hash = reinterpret_cast<const std::uint32_t*>(address);
      if (entry->d_tag == DT_HASH) hash = reinterpret_cast<const std::uint32_t*>(address);
    }
  }
  // Where there is a GNU hash, undefined symbols stand before the hashed ones; the other kind of
  // hash counts all.
  if (hash != nullptr) {
    found.count = hash[1];
  } else if (gnu_hash != nullptr) {
    found.count = gnu_hash[1];
  }
  return found;
}

bool imports_by_prefix(ElfW(Addr) base, const ElfW(Phdr) * headers, int count, const char* prefix) {
  const DynamicSymbols table = dynamic_symbols(base, headers, count);
  if (table.symbols == nullptr || table.strings == nullptr) return false;
  const std::size_t length = strlen(prefix);
  for (std::size_t i = 1; i < table.count; ++i) {
    const ElfW(Sym)& symbol = table.symbols[i];
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_name < table.strings_size &&
        strncmp(table.strings + symbol.st_name, prefix, length) == 0) {
      return true;
    }
  }
  return false;
}

bool needs_file(ElfW(Addr) base, const ElfW(Phdr) * headers, int count, const char* name) {
  const DynamicSymbols table = dynamic_symbols(base, headers, count);
  if (table.strings == nullptr) return false;
  for (int i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + headers[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag != DT_NEEDED || entry->d_un.d_val >= table.strings_size) continue;
      const char* const needed = table.strings + entry->d_un.d_val;
      const char* const slash = strrchr(needed, '/');
      if (strcmp(slash != nullptr ? slash + 1 : needed, name) == 0) return true;
    }
  }
  return false;
}

}  // namespace kojak::measure
