// Numbers of the contexts in which non-blocking operations are issued: one for each address or
// value of a handle, which programs use again. Callers hold the bookkeeping lock.
#pragma once

#include "epilog/runtime/memory.h"

namespace kojak::measure {

class HandleNumbers {
 public:
  // 0: none. Behind kMost handles a number may stand for several.
  std::uint32_t of(const void* handle) {
    if (handle == nullptr) return 0;
    const auto key = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
    if (const std::uint32_t* const known = numbers_.find(key)) return *known;
    if (numbers_.size() >= kMost) return static_cast<std::uint32_t>(mix(key)) & 0x7FFFFFFFu;
    numbers_.set(key, next_);
    return next_++;
  }

 private:
  static constexpr std::size_t kMost = 1 << 16;
  HashMap<std::uint32_t> numbers_;
  std::uint32_t next_ = 1;
};

}  // namespace kojak::measure
