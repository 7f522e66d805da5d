#include "epilog/runtime/sampled_modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "epilog/runtime/code.h"

namespace kojak::measure {

#ifdef DLFO_STRUCT_HAS_EH_DBASE

namespace {

int (*find_object)(void*, dl_find_object*) = nullptr;
char program_path[4096];

bool is_noted(const SampleMemory& memory, std::uint32_t number, std::uintptr_t address) {
  for (std::uint32_t i = 0; i < number; ++i) {
    const SampledModule& module = memory.modules[i];
    if (module.ready.load(std::memory_order_acquire) != 0 && module.holds(address)) return true;
  }
  return false;
}

// What the file's head says of its parts, if the head is loaded, too.
dl_phdr_info parts_of(const dl_find_object& object) {
  dl_phdr_info info{};
  const auto begin = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
  const std::size_t size = reinterpret_cast<std::uintptr_t>(object.dlfo_map_end) - begin;
  const auto* const head = static_cast<const ElfW(Ehdr)*>(object.dlfo_map_start);
  if (size < 4096 || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return info;
  if (head->e_phentsize != sizeof(ElfW(Phdr)) ||
      head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) > 4096) {
    return info;
  }
  info.dlpi_addr = object.dlfo_link_map->l_addr;
  info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(begin + head->e_phoff);
  info.dlpi_phnum = head->e_phnum;
  return info;
}

}  // namespace

void prepare_sampled_modules() {
  find_object = reinterpret_cast<decltype(find_object)>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  const ssize_t length = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
  program_path[length > 0 ? length : 0] = '\0';
}

void note_sampled_module(SampleMemory& memory, std::uintptr_t address) {
  std::uint64_t used = memory.modules_used.load(std::memory_order_acquire);
  if (find_object == nullptr || is_noted(memory, static_cast<std::uint32_t>(used >> 32), address)) {
    return;
  }
  dl_find_object object;
  if (find_object(reinterpret_cast<void*>(address), &object) != 0) return;
  const link_map& map = *object.dlfo_link_map;
  const char* const path = map.l_name == nullptr || *map.l_name == '\0' ? program_path : map.l_name;
  const auto length = static_cast<std::uint32_t>(strlen(path));  // and a NUL
  std::uint32_t number, at;
  do {
    number = static_cast<std::uint32_t>(used >> 32);
    at = static_cast<std::uint32_t>(used);
    if (number == SampleMemory::kMostModules || length >= SampleMemory::kTexts - at) return;
  } while (!memory.modules_used.compare_exchange_weak(
      used, used + (std::uint64_t{1} << 32) + length + 1));
  SampledModule& module = memory.modules[number];
  module.begin = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
  module.end = reinterpret_cast<std::uintptr_t>(object.dlfo_map_end);
  module.base = map.l_addr;
  module.path = at;
  module.path_size = length;
  memcpy(memory.texts + at, path, length + 1);
  const std::span<const unsigned char> id = build_id_of(parts_of(object));
  module.build_id_size = 0;
  if (id.size() <= sizeof module.build_id && !id.empty()) {
    memcpy(module.build_id, id.data(), id.size());
    module.build_id_size = static_cast<std::uint32_t>(id.size());
  }
  module.ready.store(1, std::memory_order_release);
}

#else

void prepare_sampled_modules() {}
void note_sampled_module(SampleMemory&, std::uintptr_t) {}

#endif

}  // namespace kojak::measure
