// How many bytes each process moved to each other one, by messages, by one-sided transfers, or
// both.
//
// A message counts from its source to its destination, at the SEND; a put from its origin to its
// target, a get from its target to its origin, at the start. Makes one pass over the trace. Source:
// docs/earl.md.
#pragma once

#include <vector>

#include "earl/access/archive.h"

namespace kojak::earl {

struct ByteMatrix {
  std::uint32_t processes = 0;
  std::vector<std::uint64_t> bytes;  // row: where from, column: where to
  std::uint64_t operator()(ProcessId from, ProcessId to) const {
    return bytes[std::size_t{raw(from)} * processes + raw(to)];
  }
};

ByteMatrix byte_matrix(const Archive& archive, bool messages, bool transfers);

}  // namespace kojak::earl
