// The most severe instances of each pattern in a trace, as a page lists them.
//
// An instance begins with one call that waited long; other processes that wait for the same thing
// belong to it. Reads the trace twice: first for the calls that waited longest, of each pattern and
// at each call path, then for who waited with them. Fails as opening a trace does, and if the trace
// is of another run than the report (exit code 2). Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "epilog/format/error.h"
#include "expert/cube/model.h"
#include "expert/html/page.h"
#include "expert/worst_instances.h"

namespace kojak::html {

struct Instances {
  std::vector<Instance> instances;             // times are the trace's own
  std::vector<expert::PatternInstance> first;  // the call that each began with
  std::vector<std::string> callers;            // see PageOptions
};

Result<Instances> find_instances(const std::string& path, const cube::Report& report);

}  // namespace kojak::html
