// Where Fortran's calls of MPI go that come to us, found when they are first called.
//
// Our libraries must load into C programs without pulling a Fortran library in, so nothing here is
// linked: names are looked up in the running program. A call goes to the next definition of its
// very name behind us, if that is another library's than the MPI's (chain.h), else to the MPI's
// own: the entry of the profiling interface (pmpi_put_), where it has one. The caller's own objects
// are searched too, because a program may have loaded MPI with RTLD_LOCAL, and at last the library
// is loaded by name, because a linker may have dropped it when all of the program's calls found us.
// Thread-safe; nothing is owned. get() gives nullptr if there is no such function anywhere.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "epilog/mpi/mpi.h"
#include "epilog/runtime/recorder.h"

namespace kojak::measure::fortran {

enum class Interface : std::uint8_t {
  kMpifH,         // and `use mpi`, which shares its entry points
  kF08,           // mpi_put_f08_: choice buffers are addresses
  kF08Described,  // mpi_put_f08ts_: choice buffers are array descriptors
};

class Entry {
 public:
  // `name` without suffix, in lower case: "mpi_put". `large` is its form with counts of
  // MPI_COUNT_KIND.
  constexpr Entry(const char* name, Interface interface, bool large = false)
      : name_(name), interface_(interface), large_(large) {}

  // `caller` is an address in the code that called us.
  template <class Function>
  Function* get(const void* caller) {
    void* address = address_.load(std::memory_order_acquire);
    if (address == nullptr) [[unlikely]]
      address = find_apart(caller);
    return reinterpret_cast<Function*>(address);
  }
  Interface interface() const { return interface_; }
  const CodeRange& library() const { return library_; }  // the MPI's, once get() found it
  // What get() found is a library's between the program and MPI.
  bool goes_to_another() const { return goes_to_another_; }

 private:
  [[gnu::cold, gnu::noinline]] void* find_apart(const void* caller);
  void* find(const void* caller);

  std::atomic<void*> address_{nullptr};
  const char* name_;
  Interface interface_;
  bool large_;
  bool goes_to_another_ = false;
  CodeRange library_;
};

// Fortran's ierror, which mpi_f08 may leave out.
inline void give_error(void* ierror, int error) {
  if (ierror != nullptr) *static_cast<MPI_Fint*>(ierror) = error;
}

// The function exists nowhere: the call fails as one that the library does not support.
[[gnu::cold, gnu::noinline]] void say_missing(void* ierror, const char* name);

}  // namespace kojak::measure::fortran
