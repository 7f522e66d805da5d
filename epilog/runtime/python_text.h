// What strings and tables of the Python interpreter say, from copies of their bytes (python.h).
//
// Bytes may be anything: nothing behind them is read, nothing fails. Source: CPython's
// Include/cpython/unicodeobject.h (PEP 393), Objects/locations.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak::measure {

// A string of characters with `kind` bytes each (1, 2 or 4) as UTF-8, with a NUL behind; its
// length. `to` has room for 4 bytes a character and the NUL.
std::size_t utf8_of(const std::byte* raw, std::uint64_t length, unsigned kind, char* to);

// The line of an instruction by a code object's table of locations (Objects/locations.md), 0 if it
// has none. `unit` counts code units of two bytes.
std::uint32_t python_line(const unsigned char* table, std::size_t size, std::uint32_t first_line,
                          std::uint64_t unit);

}  // namespace kojak::measure
