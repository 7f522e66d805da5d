// Places in memory that processes allocate together, each its own part: which allocation an address
// of a process lies in, and how far behind the beginning of its part there.
//
// That is ARMCI's memory: all members are told where each one's part begins, and nobody how long
// the others' parts are. So an address belongs to the part that begins last before it. Places of
// the latest transfers' parts are remembered; another one looks at all allocations. Callers hold
// the bookkeeping lock. Without memory, and behind kMostBases beginnings, an allocation is not
// kept, and nothing is known of addresses in it or behind it. Owns the beginnings.
#pragma once

#include <algorithm>
#include <cstdint>

#include "epilog/format/field_values.h"
#include "epilog/runtime/memory.h"

namespace kojak::measure {

class Allocations {
 public:
  // What a process says of an allocation: `bases` by number of the process, 0: it has no part.
  // `owner`: whose ordinals number it. False: it is not kept.
  bool add(const void* owner, std::uint32_t number, const Vector<std::uintptr_t>& bases) {
    forget_recent();
    Part* const parts = bases_ + bases.size() > kMostBases
                            ? nullptr
                            : static_cast<Part*>(allocate(bases.size() * sizeof(Part)));
    if (parts == nullptr || !live_.push_back({owner, number, parts, bases.size()})) {
      if (parts != nullptr) release(parts, bases.size() * sizeof(Part));
      lost_ = true;
      return false;
    }
    bases_ += bases.size();
    std::copy(bases.begin(), bases.end(), parts);
    return true;
  }
  // It is freed, as this process says by its own part, which is null where that is empty. Then, if
  // several may be meant, nothing is known of any that this owner numbers.
  void remove(const void* owner, std::uint32_t process, const void* own) {
    forget_recent();
    const auto base = reinterpret_cast<std::uintptr_t>(own);
    const auto is = [&](const Allocation& a) {
      return (base != 0 || a.owner == owner) && process < a.size && a.parts[process] == base;
    };
    const auto count = std::count_if(live_.begin(), live_.end(), is);
    for (std::size_t i = live_.size(); i-- != 0;) {
      if (!is(live_[i])) continue;
      drop(i);
      if (base != 0) return;  // the latest there
    }
    if (count > 1) lost_ = true;
  }
  // kUnknown64: nobody knows.
  Count64 place(std::uint32_t process, const void* at) {
    if (at == nullptr || lost_) return kUnknown64;
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    Recent& recent = recent_[process % kRecent];
    if (recent.process != process || address < recent.begin || address >= recent.end) {
      recent = find(process, address);
    }
    const std::uintptr_t distance = address - recent.begin;
    if (recent.number == 0 || distance >> kAllocationShift != 0) return kUnknown64;
    return Count64{std::uint64_t{recent.number} << kAllocationShift | distance};
  }

 private:
  using Part = std::uintptr_t;
  struct Allocation {
    const void* owner;
    std::uint32_t number;
    Part* parts;
    std::size_t size;
  };
  struct Recent {
    std::uint32_t process = ~std::uint32_t{0}, number = 0;
    std::uintptr_t begin = 0, end = 0;
  };
  static constexpr std::size_t kRecent = 64, kMostBases = 1 << 20;

  void forget_recent() { std::fill(recent_, recent_ + kRecent, Recent{}); }
  void drop(std::size_t i) {
    bases_ -= live_[i].size;
    release(live_[i].parts, live_[i].size * sizeof(Part));
    std::copy(live_.begin() + i + 1, live_.end(), live_.begin() + i);
    live_.pop_back();
  }
  Recent find(std::uint32_t process, std::uintptr_t address) const {
    Recent found{process, 0, 0, ~std::uintptr_t{0}};
    for (const Allocation& a : live_) {
      const std::uintptr_t base = process < a.size ? a.parts[process] : 0;
      if (base == 0) continue;
      if (base > address) {
        found.end = std::min(found.end, base);
      } else if (base >= found.begin) {
        found.begin = base;
        found.number = a.number;
      }
    }
    return found;
  }

  Vector<Allocation> live_;
  Recent recent_[kRecent];
  std::size_t bases_ = 0;
  bool lost_ = false;
};

}  // namespace kojak::measure
