// The few functions of PAPI that read counters, taken from its library when the program runs.
//
// Declared here, so that neither building nor running kojak needs PAPI, and any of its versions
// since 5 serves. Source: PAPI 7.0, papi.h. Nothing of it may be called before open_papi() was
// true. Threads: each has sets of its own.
#pragma once

#include <cstddef>

namespace kojak::measure::papi {

inline constexpr int kOk = 0, kNoSet = -1;

struct Library {
  int (*get_opt)(int option, void* value) = nullptr;
  int (*library_init)(int version) = nullptr;
  int (*thread_init)(unsigned long (*id)()) = nullptr;
  int (*register_thread)() = nullptr;
  int (*unregister_thread)() = nullptr;
  int (*event_name_to_code)(const char* name, int* code) = nullptr;
  int (*get_event_component)(int code) = nullptr;
  int (*create_eventset)(int* set) = nullptr;
  int (*add_event)(int set, int code) = nullptr;
  int (*start)(int set) = nullptr;
  int (*read)(int set, long long* values) = nullptr;
  int (*stop)(int set, long long* values) = nullptr;
  int (*cleanup_eventset)(int set) = nullptr;
  int (*destroy_eventset)(int* set) = nullptr;
  char* (*strerror)(int error) = nullptr;
};
extern Library library;

// Opens and initialises the library, `file` or null: the one that is found; on failure `why` says
// why not.
bool open_papi(const char* file, char* why, std::size_t size);

}  // namespace kojak::measure::papi
