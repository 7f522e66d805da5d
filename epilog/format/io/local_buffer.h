// The buffer file beside a local trace, and reading both as one.
//
// The layout of the buffer file is in local_buffer_header.h.
// Ownership: the source owns its files. Errors: an Error naming the file; a buffer file that
// contradicts itself, or is not that of the trace, is refused: the trace file alone can still be
// read. Where the process has just died and its records are being saved, opening waits for that.
#pragma once

#include <memory>
#include <string>

#include "epilog/format/error.h"
#include "epilog/format/io/local_buffer_header.h"
#include "epilog/format/io/reader.h"

namespace kojak {

// "dir/3.0.elg" -> "dir/3.0.buf"
std::string local_buffer_path(const std::string& trace_path);

// What the buffer file beside a trace file is.
struct BufferFile {
  enum class Kind : std::uint8_t {
    kNone,       // there is none, or it adds nothing
    kRecords,    // it has what follows [0, header.base) of the trace file
    kElsewhere,  // its records were in memory only: of a process that still runs, or that died
                 // together with the one that keeps them; `reason` says which
    kForeign,    // of another run, process or thread, or older than the trace file
    kBad,        // no buffer file, or one that contradicts itself
  } kind = Kind::kNone;
  std::string path;
  LocalBufferHeader header{};
  std::string reason;  // for kElsewhere, kForeign and kBad, to follow the path
};
BufferFile find_buffer(const std::string& trace_path);

// The whole local trace: the file, and what its buffer file adds if there is one. Seekable.
Result<std::unique_ptr<ByteSource>> open_local_source(const std::string& trace_path);

}  // namespace kojak
