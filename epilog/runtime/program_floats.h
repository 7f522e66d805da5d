// Keeps the program's floating-point state as it is, while we compute with doubles.
//
// The flags that a computation raises, the traps that end the program at such a flag, and the
// rounding mode belong to the program: it looks at them, and relies on them. No recorded call
// computes with doubles, therefore (records hold ticks); what has to, at the start, at the end and
// where a library is asked, does so while one of these lives: nothing traps, results are rounded
// to the nearest, and what was there before comes back. Nothing is called, so there is nothing to
// link with. On other processors than these two it does nothing.
#pragma once

#include <cstdint>

namespace kojak::measure {

#if defined(__x86_64__)

class ProgramFloats {
 public:
  ProgramFloats() {
    // (This one masks the traps of the old unit, too.)
    __asm__ volatile("fnstenv %0\n\tstmxcsr %1" : "=m"(old_unit_), "=m"(status_) : : "memory");
    const std::uint32_t usual = 0x1F80;
    __asm__ volatile("ldmxcsr %0" : : "m"(usual) : "memory");
  }
  ~ProgramFloats() {
    __asm__ volatile("ldmxcsr %0\n\tfldenv %1" : : "m"(status_), "m"(old_unit_) : "memory");
  }

 private:
  struct {
    std::uint32_t words[7];
  } old_unit_;
  std::uint32_t status_;

#elif defined(__aarch64__)

class ProgramFloats {
 public:
  ProgramFloats() {
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control_), "=r"(status_) : : "memory");
    __asm__ volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}) : "memory");
  }
  ~ProgramFloats() {
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(control_), "r"(status_) : "memory");
  }

 private:
  std::uint64_t control_, status_;

#else

class ProgramFloats {
 public:
  ProgramFloats() {}
  ~ProgramFloats() {}

 private:

#endif
  ProgramFloats(const ProgramFloats&) = delete;
  ProgramFloats& operator=(const ProgramFloats&) = delete;
};

}  // namespace kojak::measure
