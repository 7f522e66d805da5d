// The layout of a local trace's buffer file.
//
// While a location records, its newest records lie in `<rank>.<thread>.buf`, a shared mapping of
// the measured process, so that a process that is killed loses nothing. Layout, in the byte order
// of the machine: LocalBufferHeader, zeros up to `start`, then records exactly as in a trace file.
// The bytes [base, end) of the local trace stand at `start`; the file `<rank>.<thread>.elg` is
// valid up to `base`. A flush appends them to that file and then sets base = end in one store, so
// at every moment
//   trace = file[0, base) + buffer[0, end - base)
// and whatever the file holds beyond `base` is a part that an interrupted flush had already copied.
// `end` is stored after the records it covers. A finished location has no buffer file. Written by
// the measured process alone, read by anyone at any time; a plain struct.
#pragma once

#include <cstdint>

namespace kojak {

struct LocalBufferHeader {
  static constexpr char kMagic[8] = {'E', 'L', 'G', 'B', 'U', 'F', '1', '\0'};
  char magic[8];
  std::uint64_t start;     // offset of the records in the buffer file
  std::uint64_t capacity;  // bytes from there on
  std::uint64_t base;      // length of the trace file that is valid
  std::uint64_t end;       // length of the whole trace, the buffer's part included
};

}  // namespace kojak
