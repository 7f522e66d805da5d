// The memory of the Python interpreter that the process has, and where in it what stands
// (python_layout.h). Nothing of the interpreter is called but PyGILState_GetThisThreadState, which
// reads a thread-local slot.
#pragma once

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "epilog/runtime/code.h"
#include "epilog/runtime/python_layout.h"

namespace kojak::measure {

struct Python {
  void* (*thread_state)() = nullptr;
  std::uint64_t code_type = 0, text_type = 0, bytes_type = 0;
  PythonLayout layout{};
  CodeRange interpreter{};
};
// Filled by find_python(), then as it is.
extern Python the_python;
// Looks for an interpreter whose layout is known, and keeps the answer.
bool find_python();
// Whether find_python() has found one. Safe in a signal handler.
bool python_is_found();

struct PythonObject {
  std::uint64_t references, type, size;  // the size of those that have one: code, strings, bytes
};

// A piece of memory, and where it can be looked at.
struct Piece {
  std::uint64_t from;
  std::size_t size;
  const std::byte* here;
  template <class T>
  T as() const {
    T value;
    memcpy(&value, here, sizeof value);
    return value;
  }
};

// Reads memory of the process, where it may not be there by a copy that the kernel makes.
struct PythonReader {
  bool direct;
  bool copy(std::uint64_t from, void* to, std::size_t size) const {
    if (from == 0) return false;
    if (direct) {
      memcpy(to, reinterpret_cast<const void*>(from), size);
      return true;
    }
    const iovec here{to, size};
    const iovec there{reinterpret_cast<void*>(from), size};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
  }
  // Pieces at once, without touching them where the memory itself can be looked at.
  template <std::size_t kCount>
  bool look(Piece (&pieces)[kCount], Vector<std::byte>& room) const {
    std::size_t total = 0;
    for (Piece& piece : pieces) {
      piece.here = reinterpret_cast<const std::byte*>(piece.from);
      total += piece.size;
    }
    if (direct) return true;
    if (!room.reserve(total)) return false;
    iovec there[kCount];
    std::size_t at = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      there[i] = {reinterpret_cast<void*>(pieces[i].from), pieces[i].size};
      pieces[i].here = room.data() + at;
      at += pieces[i].size;
    }
    const iovec here{room.data(), total};
    return process_vm_readv(getpid(), &here, 1, there, kCount, 0) == static_cast<ssize_t>(total);
  }
};

// The calling thread's chain of frames: where it begins.
struct PythonChain {
  std::uint64_t thread, frames;  // its state, and what of it points to the innermost frame
  std::uint64_t innermost;       // 0: there is none
};
PythonChain python_chain(const PythonReader& reader);
bool read_python_frame(const PythonReader& reader, std::uint64_t at, PythonFrame& frame);

}  // namespace kojak::measure
