// Writes a report as CUBE XML 3.0, which CUBE opens.
//
// Streams: the file is written through libxml2's xmlTextWriter as the rows are computed, to a file
// that appears under its name when it is complete, or not at all. Any bytes in names give valid
// XML; the same report gives the same bytes. Errors: exit code 4, naming the file.
// Source: docs/report.md.
#pragma once

#include <string>

#include "epilog/format/error.h"
#include "expert/profile/report.h"

namespace kojak::expert {

struct CubeOptions {
  // Where patterns.html lies; written as the report's mirror, with a '/' at its end.
  std::string doc_url;
};

// `path` "-" writes to standard output.
Status write_cube(const Report& report, const std::string& path, const CubeOptions& options);

}  // namespace kojak::expert
