// The table of dynamic symbols of a loaded file, as the dynamic linker itself uses it: in memory.
//
// Nothing is owned; valid while the file is loaded.
#pragma once

#include <link.h>

#include <cstddef>

namespace kojak::measure {

struct DynamicSymbols {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  std::size_t strings_size = 0;
  std::size_t count = 0;               // of symbols that may be undefined
  const ElfW(Rela) * jumps = nullptr;  // slots that calls go through
  std::size_t jump_count = 0;
  bool bound_at_once = false;  // they lead to the functions from the start
};

// `base`, `headers` and `count` are those of dl_iterate_phdr.
DynamicSymbols dynamic_symbols(ElfW(Addr) base, const ElfW(Phdr) * headers, int count);

// Whether the file calls functions of others whose names begin so.
bool imports_by_prefix(ElfW(Addr) base, const ElfW(Phdr) * headers, int count, const char* prefix);

// Whether it asks for a library of this name, maybe with a folder in front.
bool needs_file(ElfW(Addr) base, const ElfW(Phdr) * headers, int count, const char* name);

}  // namespace kojak::measure
