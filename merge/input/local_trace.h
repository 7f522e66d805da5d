// One local trace: where its bytes are, the parts of the trace file and of the buffer file beside
// it, one after the other. A description only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "epilog/format/error.h"
#include "epilog/format/record/codec.h"
#include "merge/input/file_cache.h"

namespace kojak::merge {

struct LocalTrace {
  struct Part {
    FileCache::FileId file = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  std::string path;
  std::vector<Part> parts;
  std::uint64_t size = 0;  // of all parts
  Dialect dialect;
  std::uint64_t run_hi = 0, run_lo = 0;
  std::uint32_t run_size = 0;
  std::uint32_t rank = 0;
  std::uint32_t thread = 0;
  std::uint64_t part = 0;  // what LOCAL_PART says: not 0 where threads may share the file
  bool damaged = false;    // the source ended with an error: what was read is kept
  std::uint64_t device = 0, inode = 0;
};

// Reads as much of [at, at + n) as there is.
Status read_trace(FileCache& files, const LocalTrace& trace, std::uint64_t at, std::byte* to,
                  std::size_t n, std::size_t& got);
// Where the whole record with this offset, as LocalInput counts, stands in the trace, for messages:
// of compact records that takes time.
std::uint64_t place_in_trace(FileCache& files, const LocalTrace& trace, std::uint64_t offset);

}  // namespace kojak::merge
