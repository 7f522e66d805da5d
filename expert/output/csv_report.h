// The severities as comma-separated values, for spreadsheets and scripts: a line for each metric,
// call path and thread, where any thread has a value.
//
// Columns: metric, title, unit, call_path, process, thread, value. Values are as in the CUBE
// report: of a metric with all metrics below it, of a call path without the calls below it. Writes
// the file complete or not at all, as it goes. Deterministic. Not thread-safe; fails by its Status.
// Source: RFC 4180, with the ends of lines of this machine.
#pragma once

#include <string>

#include "epilog/format/error.h"

namespace kojak::expert {

class Report;

// path "-": standard output.
Status write_csv(const Report& report, const std::string& path);

}  // namespace kojak::expert
