// Local traces of the two threads of an OpenMP program, as texts, in which each joint item of
// compact files (epilog/format/compact/joint.h) could stand for some records. No state.
#pragma once

#include <string>
#include <vector>

namespace kojak::support {

std::vector<std::string> openmp_threads();

}  // namespace kojak::support
