#include "epilog/runtime/code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>

#include "epilog/runtime/libraries.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/python.h"

namespace kojak::measure {
namespace {

struct Search {
  std::uintptr_t address;
  Module* module;
};

// The build id in a part with notes; empty if there is none.
std::span<const unsigned char> build_id_in(const dl_phdr_info& info, const ElfW(Phdr) & part) {
  const auto* p = reinterpret_cast<const unsigned char*>(info.dlpi_addr + part.p_vaddr);
  const unsigned char* const end = p + part.p_memsz;
  const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  while (end - p >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
    ElfW(Nhdr) note;
    memcpy(&note, p, sizeof note);
    p += sizeof note;
    const std::size_t size = padded(note.n_namesz) + padded(note.n_descsz);
    if (static_cast<std::size_t>(end - p) < size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(p, "GNU", 4) == 0) {
      return {p + 4, note.n_descsz};
    }
    p += size;
  }
  return {};
}

// Whether these bytes are part of what was loaded.
bool is_loaded(const dl_phdr_info& info, std::uintptr_t address, std::size_t size) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz &&
        size <= part.p_memsz - (address - begin)) {
      return true;
    }
  }
  return false;
}

struct RangeSearch {
  const void* address;
  CodeRange range;
};

int note_range(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<RangeSearch*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    const CodeRange range{begin, begin + part.p_memsz};
    if (part.p_type == PT_LOAD && range.holds(search.address)) {
      search.range = range;
      return 1;
    }
  }
  return 0;
}

// The first of the loaded objects is the program; an address in it.
int take_program(dl_phdr_info* info, std::size_t, void* data) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    *static_cast<std::uintptr_t*>(data) = info->dlpi_addr + part.p_vaddr;
    break;
  }
  return 1;
}

// The lines of /proc/self/maps, read piece by piece: "from-to rights offset device inode path".
class MapLines {
 public:
  MapLines() : fd_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~MapLines() {
    if (fd_ >= 0) close(fd_);
  }
  // The next line, which the next call overwrites; nullptr at the end. What is too long is cut.
  const char* next() {
    for (;;) {
      char* const end = static_cast<char*>(memchr(text_ + at_, '\n', size_ - at_));
      if (end != nullptr) {
        *end = '\0';
        const char* const line = text_ + at_;
        at_ = static_cast<std::size_t>(end - text_) + 1;
        return line;
      }
      memmove(text_, text_ + at_, size_ - at_);
      size_ -= at_;
      at_ = 0;
      if (size_ == sizeof text_) size_ = sizeof text_ / 2;
      const ssize_t got = fd_ < 0 ? 0 : read(fd_, text_ + size_, sizeof text_ - size_);
      if (got <= 0) return nullptr;
      size_ += static_cast<std::size_t>(got);
    }
  }

 private:
  static char text_[2 * PATH_MAX];
  int fd_;
  std::size_t at_ = 0, size_ = 0;
};
char MapLines::text_[2 * PATH_MAX];

// The path of the file that is mapped at an address. Empty if the kernel does not say.
void find_mapped_file(std::uintptr_t address, char (&path)[PATH_MAX]) {
  path[0] = '\0';
  MapLines lines;
  while (const char* line = lines.next()) {
    char* after = nullptr;
    const unsigned long begin = strtoul(line, &after, 16);
    const unsigned long end = *after == '-' ? strtoul(after + 1, nullptr, 16) : 0;
    if (address < begin || address >= end) continue;
    const char* const name = strchr(line, '/');
    if (name == nullptr) return;
    std::size_t length = 0;
    for (const char* c = name; *c != '\0' && length + 1 < sizeof path; ++c) {
      const bool line_end = strncmp(c, "\\012", 4) == 0;  // as it is written there
      path[length++] = line_end ? '\n' : *c;
      if (line_end) c += 3;
    }
    path[length] = '\0';
    return;
  }
}

// Started by the dynamic linker, by name, the program is not what /proc/self/exe says: that is the
// linker. Without /proc the words of its start must do.
char program_path[PATH_MAX];
void find_program() {
  const int error = errno;
  std::uintptr_t address = 0;
  dl_iterate_phdr(take_program, &address);
  find_mapped_file(address, program_path);
  if (program_path[0] != '/') {
    const ssize_t length = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
    program_path[std::max<ssize_t>(length, 0)] = '\0';
  }
  if (program_path[0] != '/') {
    const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    // Who was not loaded by the linker is the linker, or needs none.
    const char* const first = getauxval(AT_BASE) == 0 ? program_invocation_name : started;
    for (const char* name : {first, started, static_cast<const char*>(program_invocation_name)}) {
      if (name != nullptr && realpath(name, program_path) != nullptr) break;
      program_path[0] = '\0';
    }
  }
  errno = error;
}

int note_module(dl_phdr_info* info, std::size_t, void* data) {
  const auto& search = *static_cast<Search*>(data);
  if (!is_loaded(*info, search.address, 1)) return 0;
  Module& module = *search.module;
  module.base = info->dlpi_addr;
  const char* const name = info->dlpi_name;
  if (name == nullptr || *name == '\0') {
    strncpy(module.path, program_file(), sizeof module.path - 1);
    module.path[sizeof module.path - 1] = '\0';
  } else if (*name == '/' || realpath(name, module.path) == nullptr) {
    strncpy(module.path, name, sizeof module.path - 1);
    module.path[sizeof module.path - 1] = '\0';
  }
  const std::span<const unsigned char> id = build_id_of(*info);
  if (id.size() <= sizeof module.build_id && !id.empty()) {
    memcpy(module.build_id, id.data(), id.size());
    module.build_id_size = static_cast<std::uint32_t>(id.size());
  }
  return 1;
}

// In place of an identifier: calls from there come out of a communication library, and are named by
// the line that called it.
constexpr std::uint32_t kThroughLibrary = kAbsent;
// Calls from there are named by a line of Python.
constexpr std::uint32_t kThroughPython = kAbsent - 1;

// Such a place, where nothing but the library is on the stack.
RegionId plain_site(Recorder& r, unsigned function, std::uint64_t key, const void* caller) {
  const std::uint64_t own = mix(key) | std::uint64_t{1} << 63;
  const std::uint32_t* const known = r.trace->code->places.find(own);
  if (known != nullptr) return static_cast<RegionId>(*known);
  return add_site(r, region_of(function), own, caller, absent<Count>());
}

}  // namespace

const char* program_file() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_program);
  return program_path;
}

std::span<const unsigned char> build_id_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type != PT_NOTE || !is_loaded(info, info.dlpi_addr + part.p_vaddr, part.p_memsz)) {
      continue;
    }
    const std::span<const unsigned char> id = build_id_in(info, part);
    if (!id.empty()) return id;
  }
  return {};
}

bool find_module(std::uintptr_t address, Module& module) {
  module.base = 0;
  module.build_id_size = 0;
  Search search{address, &module};
  return dl_iterate_phdr(note_module, &search) != 0;
}

CodeRange code_around(const void* address) {
  RangeSearch search{address, {}};
  dl_iterate_phdr(note_range, &search);
  return search.range;
}

void open_code_table(Recorder& r) {
  static_assert(sizeof(PathSlot) * kPathSlots > 0);
  LocalTrace& trace = *r.trace;
  trace.code = create<CodeTable>();
  if (trace.code != nullptr) {
    trace.code->slots = static_cast<CodeSlot*>(allocate(sizeof(CodeSlot) * kCodeSlots));
  }
  if (trace.code == nullptr || trace.code->slots == nullptr) {
    destroy(trace.code);
    trace.code = nullptr;
    r.sites = nullptr;
    return;
  }
  r.codes = trace.code->slots;
  const unsigned depth = the_session.config.call_path;
  if (depth > 1) {
    trace.code->paths = static_cast<PathSlot*>(allocate(sizeof(PathSlot) * kPathSlots));
    r.paths = trace.code->paths;
  }
  // Where callers are followed, no slot matches, and each call comes to define_site().
  if (depth == 0) {
    r.sites = nullptr;
  } else if (trace.code->paths == nullptr) {
    r.sites = r.codes;
  }
}

void close_code_table(LocalTrace& trace) {
  CodeTable* const code = trace.code;
  if (code == nullptr) return;
  trace.code = nullptr;
  code->places.clear();
  code->frames.clear();
  code->modules.clear();
  for (PathSlot* slots : {code->paths, code->library_paths}) {
    if (slots != nullptr) release(slots, sizeof(PathSlot) * kPathSlots);
  }
  release_python_places(code->python);
  release(code->slots, sizeof(CodeSlot) * kCodeSlots);
  destroy(code);
}

Count define_module(Recorder& r, std::uint64_t& address, Moment moment) {
  Module module;
  if (!find_module(address, module)) return absent<Count>();
  address -= module.base;
  std::uint64_t key = mix(module.base);
  const std::size_t length = strlen(module.path);
  for (std::size_t i = 0; i < length; ++i) {
    key = mix(key + static_cast<unsigned char>(module.path[i]));
  }
  CodeTable& code = *r.trace->code;
  if (const std::uint32_t* known = code.modules.find(key)) return Count{*known};
  const auto make = moment == Moment::kWithinCall ? need_room : make_room_for;
  if (!make(r, string_room(length) + kMaxRecord)) return absent<Count>();
  const Count number{code.next_module++};
  const StringId path = define_string(r, module.path, length);
  const ByteArray build_id(reinterpret_cast<const std::byte*>(module.build_id),
                           module.build_id_size, false);
  publish(r, put(r, r.cursor, LocalModule{number, path, build_id}));
  code.modules.set(key, raw(number));
  return number;
}

void remember(Recorder& r, std::uint64_t key, RegionId id) {
  r.trace->code->places.set(key, raw(id));
  r.codes[code_slot(key)] = {key, id};
}
RegionId new_place(LocalTrace& trace) {
  return static_cast<RegionId>(trace.code->next_place++);
}
bool more_places(const LocalTrace& trace) {
  return trace.code->places.size() < kMostPlaces;
}

namespace {

bool has_region(const Recorder& r, unsigned function) {
  return (r.regions[function / 64] >> (function % 64) & 1) != 0;
}

// What is found without defining anything; absent if it must be.
RegionId known_site(Recorder& r, unsigned function, const void* caller, const void* frame) {
  if (r.trace == nullptr || r.trace->code == nullptr || r.trace->code->paths != nullptr ||
      !has_region(r, function)) {
    return absent<RegionId>();
  }
  const std::uint64_t key = site_key(function, caller);
  const std::uint32_t* const known = r.trace->code->places.find(key);
  if (known == nullptr) return absent<RegionId>();
  if (*known == kThroughPython) return define_python_site(r, function, nullptr);
  if (*known == kThroughLibrary) return known_library_site(r, function, key, frame);
  const auto id = static_cast<RegionId>(*known);
  r.codes[code_slot(key)] = {key, id};
  return id;
}

[[gnu::noinline]] RegionId find_site(Recorder& r, unsigned function, const void* caller,
                                     const void* frame) {
  const RegionId plain = region_of(function);
  if (r.trace == nullptr && !make_room(r)) return absent<RegionId>();
  if (!has_region(r, function)) define_region(r, function);
  if (!has_region(r, function)) return absent<RegionId>();  // paused or stopped just now
  if (r.sites == nullptr) return plain;
  LocalTrace& trace = *r.trace;
  const std::uint64_t key = site_key(function, caller);
  if (trace.code->paths != nullptr) return define_path(r, function, key, caller, frame);
  if (const std::uint32_t* known = trace.code->places.find(key)) {
    if (*known == kThroughLibrary || *known == kThroughPython) {
      RegionId site = absent<RegionId>();
      if (*known == kThroughPython) site = define_python_site(r, function, nullptr);
      if (site == absent<RegionId>()) {
        site = define_library_site(r, function, key, caller, frame);
      }
      if (is_within_library(r)) return absent<RegionId>();
      return site == absent<RegionId>() ? plain_site(r, function, key, caller) : site;
    }
    const auto id = static_cast<RegionId>(*known);
    r.codes[code_slot(key)] = {key, id};
    return id;
  }
  if (more_places(trace) && may_be_library(caller)) {
    RegionId site = absent<RegionId>();
    std::uint32_t through = kThroughLibrary;
    if (is_extension(caller)) {
      site = define_python_site(r, function, nullptr);
      if (site != absent<RegionId>()) through = kThroughPython;
    }
    if (site == absent<RegionId>()) site = define_library_site(r, function, key, caller, frame);
    if (is_within_library(r)) return absent<RegionId>();
    if (site != absent<RegionId>()) {
      trace.code->places.set(key, through);
      return site;
    }
  }
  return add_site(r, plain, key, caller, absent<Count>());
}

}  // namespace

RegionId define_site(Recorder& r, unsigned function, const void* caller, const void* frame) {
  const PathSlot* const path = known_path(r.paths, site_key(function, caller), frame);
  if (path != nullptr) return path->region;
  const RegionId known = known_site(r, function, caller, frame);
  if (known != absent<RegionId>()) return known;
  return on_own_stack([&] { return find_site(r, function, caller, frame); });
}

RegionId define_construct(Recorder& r, std::uint64_t key) {
  const auto function = static_cast<unsigned>(key >> 48);
  const std::uint64_t caller = key & ((std::uint64_t{1} << 48) - 1);
  const RegionId plain = region_of(function);
  if (!has_region(r, function)) define_region(r, function);
  if (!has_region(r, function)) return absent<RegionId>();  // paused or stopped just now
  if (caller == 0 || the_session.config.call_path == 0) {
    remember(r, key, plain);
    return plain;
  }
  return add_site(r, plain, key, reinterpret_cast<const void*>(caller), absent<Count>());
}

RegionId add_site(Recorder& r, RegionId entered, std::uint64_t key, const void* caller,
                  Count called_by) {
  if (!more_places(*r.trace)) {
    r.codes[code_slot(key)] = {key, entered};
    return entered;
  }
  auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(caller));
  const Count module = define_module(r, address);
  if (!make_room_for(r, kMaxRecord)) return entered;
  const RegionId id = new_place(*r.trace);
  publish(r, put(r, r.cursor, LocalSite{id, entered, module, Count64{address}, called_by}));
  remember(r, key, id);
  return id;
}

}  // namespace kojak::measure
