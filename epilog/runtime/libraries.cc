#include "epilog/runtime/libraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "epilog/format/communication_libraries.h"
#include "epilog/runtime/call_target.h"
#include "epilog/runtime/code.h"
#include "epilog/runtime/session.h"
#include "epilog/runtime/symbols.h"
#include "epilog/runtime/thread_start.h"

namespace kojak::measure {
namespace {

// Beginnings of functions' names, where a library is linked into the program.
constexpr const char* kFunctions[] = {"_gfortran_caf_",
                                      "_caf_extensions_",
                                      "PARMCI_",
                                      "ARMCI_",
                                      "ARMCIX_",
                                      "ARMCII_",
                                      "wnga_",
                                      "pnga_",
                                      "gmr_",
                                      "comex_",
                                      "armci_",
                                      "ngai_",
                                      "gai_",
                                      "_ZN2GA11GlobalArray",
                                      "_ZNK2GA11GlobalArray",
                                      "_ZN2GA10GAServices",
                                      "_ZNK2GA10GAServices",
                                      "_ZN2GA6PGroup",
                                      "_ZNK2GA6PGroup"};
// Functions within OpenCoarrays that stand in the place of an entry point, which ended with calling
// them, and the one that ComEx's threads begin with. They count only where the file has entry
// points. So do GA::Initialize and GA::Terminate, with any arguments, whose names others may have.
constexpr const char* kInner[] = {"mutex_lock", "mutex_unlock", "finalize_internal",
                                  "_progress_server"};
constexpr const char* kInnerOfCpp[] = {"_ZN2GA10InitializeE", "_ZN2GA9TerminateE"};
// Those by which the program calls Global Arrays. A program's own function may have such a name, so
// it counts only where it calls one of the others.
constexpr const char* kFronts[] = {"ga_", "nga_", "GA_", "NGA_"};
constexpr const char* kNoFront = "_internal";  // what those end with that are called by the others

template <std::size_t kCount>
bool begins(const char* name, const char* const (&prefixes)[kCount]) {
  for (const char* prefix : prefixes) {
    if (*prefix == *name && strncmp(name, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

bool is_inner(const char* name) {
  for (const char* inner : kInner) {
    if (strcmp(inner, name) == 0) return true;
  }
  return begins(name, kInnerOfCpp);
}

bool is_named_by_user(const char* name) {
  return is_in_libraries(the_session.config.libraries, name);
}

const char* file_name(const char* path) {
  const char* const slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

struct Range {
  std::uintptr_t begin, end;
  bool front;
};

// What a file has of libraries.
struct File {
  std::uint64_t key;
  bool whole;
  bool extension;  // of Python
  bool any;        // of the ranges is sure to be a library's
  Vector<Range> ranges;
  File* next;
};
File* files = nullptr;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void take_function(void* data, const char* name, std::uintptr_t begin, std::uintptr_t size) {
  const std::size_t length = strlen(name), end = strlen(kNoFront);
  const bool front = begins(name, kFronts);
  const bool inner =
      is_inner(name) || (front && length > end && strcmp(name + length - end, kNoFront) == 0);
  const bool sure = begins(name, kFunctions) || is_named_by_user(name);
  if (!front && !inner && !sure) return;
  auto& file = *static_cast<File*>(data);
  file.any = file.any || sure;
  // A symbol without a size ends with its first bytes: too short a range finds nothing wrong.
  file.ranges.push_back({begin, begin + (size != 0 ? size : 1), front && !sure && !inner});
}

// The file that holds an address; nullptr if nobody knows it.
const File* file_of(std::uintptr_t address) {
  static Module module;  // the mutex is held
  if (!find_module(address, module)) return nullptr;
  std::uint64_t key = mix(module.base);
  for (const char* c = module.path; *c != '\0'; ++c) {
    key = mix(key + static_cast<unsigned char>(*c));
  }
  for (const File* f = files; f != nullptr; f = f->next) {
    if (f->key == key) return f;
  }
  auto* const file = create<File>();
  if (file == nullptr) return nullptr;
  file->key = key;
  file->whole = is_library_file(module.path, the_session.config.libraries);
  file->extension = file->whole && is_of_library_package(module.path);
  if (!file->whole) visit_functions(module, take_function, file);
  if (!file->any) file->ranges.clear();
  file->next = files;
  files = file;
  return file;
}

enum class Kind { kProgram, kFront, kFunction, kFile };

Kind kind_of(std::uintptr_t return_address) {
  const std::uintptr_t address = return_address - 1;  // within the call
  const File* const file = file_of(address);
  if (file == nullptr) return Kind::kProgram;
  if (file->whole) return Kind::kFile;
  for (std::size_t i = 0; i < file->ranges.size(); ++i) {
    const Range& range = file->ranges[i];
    if (address >= range.begin && address < range.end) {
      return range.front ? Kind::kFront : Kind::kFunction;
    }
  }
  return Kind::kProgram;
}

// What a function of a library's that begins there is; kProgram if none does.
Kind begins_at(std::uintptr_t function) {
  const File* const file = function != 0 ? file_of(function) : nullptr;
  if (file == nullptr) return Kind::kProgram;
  if (file->whole) {
    Dl_info info;
    const bool begins = dladdr(reinterpret_cast<void*>(function), &info) != 0 &&
                        info.dli_saddr == reinterpret_cast<void*>(function);
    return begins ? Kind::kFile : Kind::kProgram;
  }
  for (std::size_t i = 0; i < file->ranges.size(); ++i) {
    const Range& range = file->ranges[i];
    if (range.begin == function) return range.front ? Kind::kFront : Kind::kFunction;
  }
  return Kind::kProgram;
}

}  // namespace

bool may_be_library(const void* caller) {
  pthread_mutex_lock(&mutex);
  const File* const file = file_of(reinterpret_cast<std::uintptr_t>(caller) - 1);
  const bool may_be = file != nullptr && (file->whole || !file->ranges.empty());
  pthread_mutex_unlock(&mutex);
  return may_be;
}

bool is_extension(const void* caller) {
  pthread_mutex_lock(&mutex);
  const File* const file = file_of(reinterpret_cast<std::uintptr_t>(caller) - 1);
  const bool is = file != nullptr && file->extension;
  pthread_mutex_unlock(&mutex);
  return is;
}

bool is_library_script(const char* path) {
  return is_of_library_package(path) || is_named_by_user(file_name(path));
}

LibraryEntry library_entry(const CallStack& stack) {
  pthread_mutex_lock(&mutex);
  LibraryEntry entry{0, 0};
  unsigned& program = entry.program;
  bool front = false;
  for (unsigned i = 0; i < stack.count; ++i) {
    const Kind kind = kind_of(stack.address[i]);
    // A library that is linked into the program has helpers whose names say nothing; between two
    // of its functions they are its own.
    if (kind == Kind::kFunction || (kind == Kind::kFile && i == program)) {
      program = i + 1;
      front = false;
    }
    // What has a front's name and calls one is the program's.
    if (kind == Kind::kFront && i != 0 && i == program && !front &&
        begins_at(called_function(stack.address[i])) != Kind::kFront) {
      ++program;
      front = true;
    }
  }
  if (program != 0 && program < stack.count) {
    const std::uintptr_t called = called_function(stack.address[program]);
    if (begins_at(called) != Kind::kProgram) entry.function = called;
  } else {
    program = 0;
  }
  pthread_mutex_unlock(&mutex);
  return entry;
}

std::uintptr_t library_thread(const CallStack& stack, unsigned program) {
  if (stack.count == kMostFrames) return 0;
  const ThreadStart start = start_of_this_thread();
  if (start.function == 0) return 0;
  for (unsigned i = program; i < stack.count; ++i) {
    if (!start.caller.holds(reinterpret_cast<const void*>(stack.address[i]))) return 0;
  }
  pthread_mutex_lock(&mutex);
  const Kind kind = kind_of(start.function + 1);
  pthread_mutex_unlock(&mutex);
  return kind == Kind::kFile || kind == Kind::kFunction ? start.function : 0;
}

}  // namespace kojak::measure
