// The buffer file beside a local trace, and reading both as one.
//
// The layout of the buffer file is in local_buffer_header.h.
// Ownership: the source owns its files. Errors: an Error naming the file; a buffer file that
// contradicts itself is refused, the trace file alone can still be read.
#pragma once

#include <memory>
#include <string>

#include "epilog/format/error.h"
#include "epilog/format/local_buffer_header.h"
#include "epilog/format/reader.h"

namespace kojak {

// "dir/3.0.elg" -> "dir/3.0.buf"
std::string local_buffer_path(const std::string& trace_path);

// The whole local trace: the file, and what its buffer file adds if there is one. Seekable.
Result<std::unique_ptr<ByteSource>> open_local_source(const std::string& trace_path);

}  // namespace kojak
