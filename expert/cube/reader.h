// Reads CUBE 3 reports: those of `expert`, and those of the classic tools.
//
// A forward pass with libxml2's reader interface, plain or gzip files. Unknown elements and
// attributes are passed over, so that reports of related tools can be read; identifiers need not
// be consecutive. Throws nothing; an Error names the file, the byte offset and the line.
#pragma once

#include <string>

#include "epilog/format/error.h"
#include "expert/profile/model.h"

namespace kojak::cube {

Result<Report> read_report(const std::string& path);

}  // namespace kojak::cube
