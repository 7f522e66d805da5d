// Identities of communicators and windows, computed locally and equal on all members.
//
// A 128-bit hash of where an object comes from: its parent's identity, the kind of call, the
// ordinal of that call on the parent, and the world rank of the new object's first member. Nothing
// communicates. Values only. Source: docs/measurement.md.
#pragma once

#include <cstdint>

#include "epilog/runtime/memory.h"

namespace kojak::measure {

struct Identity {
  std::uint64_t hi = 0, lo = 0;
  bool known = false;
};

// Two lanes with different constants; each added word reaches all bits of both.
class IdentityHash {
 public:
  IdentityHash& add(std::uint64_t value) {
    hi_ = mix(hi_ ^ value) * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
    lo_ = mix(lo_ + (value ^ 0xD1B54A32D192ED03u)) * 0xBF58476D1CE4E5B9u + (hi_ >> 17);
    return *this;
  }
  IdentityHash& add(const Identity& other) { return add(other.hi).add(other.lo); }
  Identity get() const { return {mix(hi_ ^ (lo_ << 1)), mix(lo_ ^ 0x2545F4914F6CDD1Du), true}; }

 private:
  std::uint64_t hi_ = 0x6A09E667F3BCC908u, lo_ = 0xBB67AE8584CAA73Bu;
};

}  // namespace kojak::measure
