// All ways to read a compact trace (version 3.0), whatever its bytes, against one another: one
// record after the other with a large and with the smallest buffer, after seeking, in blocks as
// random access has them, and packed again. No state.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kojak::test {

// Which way has other records than the first; empty if none. Of a trace that can be opened.
std::string compact_difference(const std::vector<std::byte>& trace);

}  // namespace kojak::test
