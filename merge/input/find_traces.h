// Which local traces the arguments of elg_merge mean: directories and files, in any order.
//
// In a directory, only files that carry a run's identity are taken; other traces there are noted.
// A file that several threads share is several traces. The result is sorted by rank and thread.
// What cannot seek is copied into the cache's spill file. Errors (exit code 2): nothing to merge, a
// file that is no local trace, files of two runs, two files for one location.
#pragma once

#include <string>
#include <vector>

#include "merge/input/local_trace.h"
#include "merge/summary.h"

namespace kojak::merge {

Result<std::vector<LocalTrace>> find_local_traces(const std::vector<std::string>& arguments,
                                                  FileCache& files, Summary& summary);

}  // namespace kojak::merge
