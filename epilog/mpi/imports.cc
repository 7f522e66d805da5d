#include "epilog/mpi/imports.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epilog/format/run_property_keys.h"
#include "epilog/mpi/args.h"
#include "epilog/mpi/chain.h"
#include "epilog/runtime/code.h"
#include "epilog/runtime/dynamic_symbols.h"
#include "epilog/runtime/library_code.h"
#include "epilog/runtime/run_properties.h"

namespace kojak::measure {
namespace {

// Longer names are no MPI function's.
constexpr std::size_t kLongestName = 120;

// What is said already: at MPI_Init, or of another file.
struct Said {
  struct Entry {
    const char* what;  // the property
    char name[kLongestName];
  };
  Entry entries[2 * kMostUnrecorded];
  std::size_t count = 0;
  std::size_t imported = 0;
  unsigned more = 0;
};
constinit Said said{};

struct Walk {
  Recorder* recorder;
  const void* ours;  // where this library lies in memory
  bool first;        // the program itself comes first
};

bool starts_with(const char* text, const char* prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}
bool ends_with(const char* text, const char* suffix) {
  const std::size_t n = strlen(text), m = strlen(suffix);
  return n >= m && strcmp(text + n - m, suffix) == 0;
}

// Functions that neither communicate nor wait: tools' interface, clock, conversions of handles and
// statuses.
bool is_harmless(const char* name) {
  if (*name == 'P') ++name;
  if (starts_with(name, "MPI_T_") || starts_with(name, "MPI_Wti") || starts_with(name, "mpi_wti"))
    return true;
  return strstr(name, "2f") != nullptr || strstr(name, "f2") != nullptr ||
         ends_with(name, "_DUP_FN") || ends_with(name, "_dup_fn_") ||
         ends_with(name, "_NULL_COPY_FN") || ends_with(name, "_NULL_DELETE_FN") ||
         ends_with(name, "_null_copy_fn_") || ends_with(name, "_null_delete_fn_") ||
         starts_with(name, "MPIX_Type_iov") || starts_with(name, "MPI_Aint_") ||
         starts_with(name, "mpi_aint_") || strcmp(name, "MPI_Pcontrol") == 0;
}

bool is_mpi_name(const char* name) {
  return starts_with(name, "MPI_") || starts_with(name, "MPIX_") || starts_with(name, "mpi_");
}

// Where the file lies that holds this address; null if none does.
const void* base_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// The function that a name leads to in the program; null for data, and for what nobody has.
const void* function_of(const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (address == nullptr) return nullptr;
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
              RTLD_DL_SYMENT) == 0) {
    return nullptr;
  }
  if (symbol == nullptr) return nullptr;
  const unsigned type = ELF64_ST_TYPE(symbol->st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC ? info.dli_fbase : nullptr;
}

void say_once(Recorder& r, const char* what, const char* name, const char* file) {
  for (std::size_t i = 0; i < said.count; ++i) {
    if (said.entries[i].what == what && strcmp(said.entries[i].name, name) == 0) return;
  }
  const bool import = what == run_property::kUnrecorded;
  if (said.count == 2 * kMostUnrecorded || (import && said.imported == kMostUnrecorded)) {
    if (import) ++said.more;
    return;
  }
  Said::Entry& entry = said.entries[said.count++];
  said.imported += import ? 1 : 0;
  entry.what = what;
  snprintf(entry.name, sizeof entry.name, "%s", name);
  char key[kLongestName + 32];
  snprintf(key, sizeof key, "%s%s", what, name);
  if (make_room_for(r, 4 * kMaxRecord)) define_property(r, key, file);
}

// The part of a path behind the last slash; of the program, its own.
void name_file(const dl_phdr_info& info, char (&name)[kLongestName]) {
  const char* from = info.dlpi_name;
  if (from == nullptr || *from == '\0') from = program_file();
  const char* slash = strrchr(from, '/');
  snprintf(name, sizeof name, "%.*s", static_cast<int>(sizeof name - 1),
           slash != nullptr ? slash + 1 : from);
}

// Whether the file has called the function: where the linker binds at the first call, the call's
// slot leads out of the file from then on. A program whose calls are bound at once, or through no
// slot, is taken to call what it refers to; a library is not, since most programs use few of its
// functions.
bool has_called(const dl_phdr_info& info, const DynamicSymbols& table, std::size_t symbol,
                bool program) {
  const char* const at_once = getenv("LD_BIND_NOW");
  if (table.bound_at_once || (at_once != nullptr && *at_once != '\0')) return program;
  for (std::size_t i = 0; table.jumps != nullptr && i < table.jump_count; ++i) {
    const ElfW(Rela)& jump = table.jumps[i];
    if (ELF64_R_SYM(jump.r_info) != symbol) continue;
    const auto* const slot =
        reinterpret_cast<const std::uintptr_t*>(info.dlpi_addr + jump.r_offset);
    return base_of(reinterpret_cast<const void*>(*slot)) != base_of(table.symbols);
  }
  return program;
}

int look_into(dl_phdr_info* info, std::size_t, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const bool program = walk.first;
  walk.first = false;
  char file[kLongestName];
  name_file(*info, file);
  if (is_library_file_name(file)) return 0;
  const DynamicSymbols table = dynamic_symbols(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
  if (table.symbols == nullptr || table.strings == nullptr) return 0;
  if (base_of(table.symbols) == walk.ours || the_mpi.file.holds(table.symbols)) return 0;
  for (std::size_t i = 1; i < table.count; ++i) {
    const ElfW(Sym)& symbol = table.symbols[i];
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_name >= table.strings_size) continue;
    const char* const name = table.strings + symbol.st_name;
    const bool direct = program && *name == 'P' && is_mpi_name(name + 1);
    if ((!direct && !is_mpi_name(name)) || is_harmless(name) || strlen(name) >= kLongestName)
      continue;
    const void* const leads_to = function_of(name);
    // Some of PMPI_ lead to us, too, and record nothing.
    if (leads_to == nullptr || (leads_to == walk.ours && !direct)) continue;
    say_once(*walk.recorder, run_property::kUnrecorded, name, file);
    if (has_called(*info, table, i, program)) {
      say_once(*walk.recorder, run_property::kUnrecordedCalled, name, file);
    }
  }
  return 0;
}

}  // namespace

void note_unrecorded_functions(Recorder& r) {
  if (r.trace == nullptr) return;
  Walk walk{&r, base_of(reinterpret_cast<const void*>(&said)), true};
  if (walk.ours == nullptr) return;  // linked into a static program
  const unsigned before = said.more;
  dl_iterate_phdr(look_into, &walk);
  if (said.more != before && make_room_for(r, 4 * kMaxRecord)) {
    char count[16];
    snprintf(count, sizeof count, "%u", said.more);
    define_property(r, run_property::kUnrecordedMore, count);
  }
}

}  // namespace kojak::measure
