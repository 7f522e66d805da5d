#include "epilog/shmem/place.h"

#include <link.h>

#include <atomic>

#include "epilog/runtime/memory.h"

namespace kojak::measure {
namespace {

constexpr std::uint64_t kProgram = std::uint64_t{1} << 62, kLibrary = std::uint64_t{1} << 61;

struct Range {
  std::uintptr_t begin = 0, end = 0, base = 0;
  bool holds(std::uintptr_t a) const { return a >= begin && a < end; }
};

// Written by whoever allocates, read by all.
std::atomic<std::uintptr_t> heap_begin{~std::uintptr_t{0}}, heap_end{0};
std::uintptr_t heap_base = 0;
Range program;

// What of a loaded file can be written.
Range writable(const dl_phdr_info& info) {
  Range range{~std::uintptr_t{0}, 0, info.dlpi_addr};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& part = info.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (begin < range.begin) range.begin = begin;
    if (begin + part.p_memsz > range.end) range.end = begin + part.p_memsz;
  }
  return range;
}

struct Search {
  std::uintptr_t address;
  std::uint64_t place;
};

int look_into_library(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const Range range = writable(*info);
  if (!range.holds(search.address)) return 0;
  const char* name = info->dlpi_name;
  for (const char* c = name; *c != '\0'; ++c) {
    if (*c == '/') name = c + 1;
  }
  std::uint64_t hash = 1;
  for (const char* c = name; *c != '\0'; ++c)
    hash = mix(hash * 31 + static_cast<unsigned char>(*c));
  search.place = kLibrary | (hash & 0xFFFFu) << 40 | (search.address - range.base);
  return 1;
}

int take_program(dl_phdr_info* info, std::size_t, void*) {
  program = writable(*info);
  return 1;  // the first one is the program
}

}  // namespace

void start_places(const void* first) {
  heap_base = reinterpret_cast<std::uintptr_t>(first);
  dl_iterate_phdr(take_program, nullptr);
}

void note_allocation(const void* block, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  if (begin == 0) return;
  if (begin < heap_begin.load(std::memory_order_relaxed))
    heap_begin.store(begin, std::memory_order_relaxed);
  if (begin + bytes > heap_end.load(std::memory_order_relaxed))
    heap_end.store(begin + bytes, std::memory_order_relaxed);
}

std::uint64_t place_of(const volatile void* address) {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  if (a >= heap_begin.load(std::memory_order_relaxed) &&
      a < heap_end.load(std::memory_order_relaxed)) {
    // Below the first one: counted from the other end of the same 2^40 bytes.
    return (a - heap_base) & ((std::uint64_t{1} << 40) - 1);
  }
  if (program.holds(a)) return kProgram | (a - program.base);
  // (Who polls asks for the same again and again.)
  [[gnu::tls_model("initial-exec")]] constinit thread_local Search latest{0, kUnknownPlace};
  if (latest.address == a) return latest.place;
  Search search{a, kUnknownPlace};
  dl_iterate_phdr(look_into_library, &search);
  latest = search;
  return search.place;
}

LockId lock_of(const volatile void* address) {
  const std::uint64_t place = place_of(address);
  const std::uint64_t where = place >> 61 & 3u;
  return static_cast<LockId>(
      static_cast<std::uint32_t>(where << 30 | (place / sizeof(long) & 0x3FFFFFFFu)));
}

}  // namespace kojak::measure
