// A local trace as the measurement writes it: in compact records without checksums, with times in
// ticks, and with joint items where what OpenMP tells stands together. No state.
#pragma once

#include <cstddef>
#include <vector>

namespace kojak::support {

// Of a whole trace of version 2.0 in this machine's byte order.
std::vector<std::byte> as_measured(const std::vector<std::byte>& trace);

}  // namespace kojak::support
