#include "epilog/runtime/library_code.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <atomic>

#include "epilog/runtime/code.h"
#include "epilog/runtime/own_stack.h"

namespace kojak::measure {
namespace {

constexpr const char* kPrefixes[] = {"libmpi",    "libpmpi",    "libelg_", "mca_",     "libopen-",
                                     "libompi",   "liboshmem",  "libmca",  "libhcoll", "libucp",
                                     "libfabric", "linux-vdso", "ld-linux"};

// Parts of files that were asked about. They are not taken back: what is loaded later in the place
// of a file that is gone keeps its answer.
constexpr unsigned kMostParts = 64;
struct Part {
  CodeRange range;
  bool library;
};
constinit Part parts[kMostParts]{};
std::atomic<unsigned> part_count{0};
std::atomic_flag adding = ATOMIC_FLAG_INIT;
// An address in each file that was noted.
constexpr unsigned kMostNoted = 256;
std::atomic<const void*> noted[kMostNoted];
std::atomic<unsigned> noted_count{0};

struct Question {
  const void* address;
  Part answer;
};

bool lies_in(const dl_phdr_info& info, const void* address, CodeRange& range) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    range = {begin, begin + part.p_memsz};
    if (range.holds(address)) return true;
  }
  return false;
}

bool is_noted(const dl_phdr_info& info) {
  CodeRange range;
  const unsigned count = noted_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count && i < kMostNoted; ++i) {
    const void* const inside = noted[i].load(std::memory_order_relaxed);
    if (inside != nullptr && lies_in(info, inside, range)) return true;
  }
  return false;
}

int look_at(dl_phdr_info* info, std::size_t, void* data) {
  auto& question = *static_cast<Question*>(data);
  CodeRange range, other;
  if (!lies_in(*info, question.address, range)) return 0;
  const char* const name = info->dlpi_name != nullptr ? info->dlpi_name : "";
  const char* const slash = strrchr(name, '/');
  const bool ours = lies_in(*info, &parts, other) && *name != '\0';
  question.answer = {
      range, ours || is_noted(*info) || is_library_file_name(slash != nullptr ? slash + 1 : name)};
  return 1;
}

bool look_up(const void* address) {
  Question question{address, {}};
  if (dl_iterate_phdr(look_at, &question) == 0) return false;
  if (!adding.test_and_set(std::memory_order_acquire)) {
    const unsigned count = part_count.load(std::memory_order_relaxed);
    if (count < kMostParts) {
      parts[count] = question.answer;
      part_count.store(count + 1, std::memory_order_release);
    }
    adding.clear(std::memory_order_release);
  }
  return question.answer.library;
}

}  // namespace

bool is_library_file_name(const char* name) {
  for (const char* const prefix : kPrefixes) {
    if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

void note_library_code(const void* inside) {
  // In a program that is not position-independent the address may be an entry in the program's own
  // table.
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  if (dladdr1(inside, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
              RTLD_DL_SYMENT) != 0 &&
      symbol != nullptr && symbol->st_shndx == SHN_UNDEF) {
    return;
  }
  const unsigned at = noted_count.load(std::memory_order_relaxed);
  if (at == kMostNoted) return;
  noted[at].store(inside, std::memory_order_relaxed);
  noted_count.store(at + 1, std::memory_order_release);
}

bool is_library_code(const void* return_address) {
  const void* const address = static_cast<const char*>(return_address) - 1;  // within the call
  const unsigned count = part_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    if (parts[i].range.holds(address)) return parts[i].library;
  }
  return on_own_stack([address] { return look_up(address); });
}

}  // namespace kojak::measure
