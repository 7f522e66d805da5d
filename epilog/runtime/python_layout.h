// Where what is read of a Python interpreter stands in its memory (python.h), for each version that
// is known.
//
// CPython 3.11 and 3.12 have fixed places. From 3.13 on the interpreter publishes its own at the
// beginning of _PyRuntime, and only these count; where which one is published differs from version
// to version. A build without the interpreter's lock ("free-threaded") has other objects and is not
// known.
//
// Source: CPython's Include/cpython/pystate.h, Include/cpython/code.h,
// Include/internal/pycore_frame.h (3.14: pycore_interpframe_structs.h), pycore_runtime.h (3.14:
// pycore_debug_offsets.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak::measure {

// Bytes from the beginning of the object.
struct PythonLayout {
  struct {
    std::uint16_t ident;
    // The frames lie in the thread's state itself, or where a pointer in it leads to.
    bool frames_apart;
    std::uint16_t frames;   // that pointer
    std::uint16_t current;  // in the frames: the innermost one
  } thread;
  struct {
    std::uint16_t code, previous, instruction, owner;
    std::uint16_t size;          // up to the last of these
    std::uint16_t tag;           // bits of the pointer to the code object that do not belong to it
    std::uint8_t first_owner_c;  // owners from here on: a frame of the interpreter's, without code
  } frame;
  struct {
    std::uint16_t file, qualified_name, lines, first_line;
    std::uint16_t size;  // up to the last of these
    std::uint16_t instructions;
  } code;
  std::uint16_t ascii_text, other_text;  // characters of a string
};

constexpr std::size_t kMostPythonFrame = 256;   // `frame.size` is no more than this
constexpr std::size_t kMostPythonCode = 512;    // `code.size` likewise
constexpr std::size_t kPythonPublished = 1024;  // bytes of _PyRuntime that are looked at

// The layout of a version (Py_Version). `published`: the beginning of _PyRuntime, or null. False if
// the version is not known, or what it publishes is not there or cannot be.
bool find_python_layout(unsigned long version, const std::byte* published, PythonLayout& layout);

// What a frame says; `code` is 0 if it is one of the interpreter's own.
struct PythonFrame {
  std::uint64_t code, previous, instruction;
};
PythonFrame python_frame(const PythonLayout& layout, const std::byte* frame);

// What a code object says; the first three are objects.
struct PythonCode {
  std::uint64_t file, qualified_name, lines;
  std::uint32_t first_line;
};
PythonCode python_code(const PythonLayout& layout, const std::byte* code);

}  // namespace kojak::measure
