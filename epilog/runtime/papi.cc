#include "epilog/runtime/papi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

namespace kojak::measure::papi {

constinit Library library;

namespace {

// The newest version first: its name has both numbers, and only developers' packages have the name
// without.
void* find_library(const char* file, char* name, std::size_t size) {
  if (file != nullptr) {
    snprintf(name, size, "%s", file);
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
  }
  for (int major = 8; major >= 5; --major) {
    for (int minor = 9; minor >= 0; --minor) {
      snprintf(name, size, "libpapi.so.%d.%d", major, minor);
      if (void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
    }
  }
  snprintf(name, size, "libpapi.so");
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

template <class F>
bool find(void* handle, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(handle, name));
  return function != nullptr;
}

bool find_functions(void* handle) {
  Library& l = library;
  return find(handle, "PAPI_get_opt", l.get_opt) &&
         find(handle, "PAPI_library_init", l.library_init) &&
         find(handle, "PAPI_thread_init", l.thread_init) &&
         find(handle, "PAPI_register_thread", l.register_thread) &&
         find(handle, "PAPI_unregister_thread", l.unregister_thread) &&
         find(handle, "PAPI_event_name_to_code", l.event_name_to_code) &&
         find(handle, "PAPI_get_event_component", l.get_event_component) &&
         find(handle, "PAPI_create_eventset", l.create_eventset) &&
         find(handle, "PAPI_add_event", l.add_event) && find(handle, "PAPI_start", l.start) &&
         find(handle, "PAPI_read", l.read) && find(handle, "PAPI_stop", l.stop) &&
         find(handle, "PAPI_cleanup_eventset", l.cleanup_eventset) &&
         find(handle, "PAPI_destroy_eventset", l.destroy_eventset) &&
         find(handle, "PAPI_strerror", l.strerror);
}

unsigned long thread_number() {
  return static_cast<unsigned long>(pthread_self());
}

}  // namespace

bool open_papi(const char* file, char* why, std::size_t size) {
  // A thread has one running set of a component: the program's own would no longer start.
  if (dlsym(RTLD_DEFAULT, "PAPI_library_init") != nullptr) {
    snprintf(why, size, "the program uses PAPI itself, and its counters are left to it");
    return false;
  }
  char name[256];
  void* const handle = find_library(file, name, sizeof name);
  if (handle == nullptr) {
    const char* const said = dlerror();
    snprintf(why, size,
             "PAPI is not there (%s; Debian has it as libpapi7.0 or libpapi7.1t64, ELG_PAPI names "
             "the file of "
             "another)",
             said != nullptr ? said : name);
    return false;
  }
  if (!find_functions(handle)) {
    snprintf(why, size, "%s is no library of PAPI", name);
    return false;
  }
  constexpr int kLibraryVersion = 21;  // an option of PAPI_get_opt
  const int version = static_cast<int>(
      static_cast<unsigned>(library.get_opt(kLibraryVersion, nullptr)) & 0xFFFF0000u);
  const int got = library.library_init(version);
  if (got != version) {
    snprintf(why, size, "%s does not start (%s)", name, library.strerror(got));
    return false;
  }
  if (const int error = library.thread_init(thread_number); error != kOk) {
    snprintf(why, size, "%s counts no threads (%s)", name, library.strerror(error));
    return false;
  }
  return true;
}

}  // namespace kojak::measure::papi
