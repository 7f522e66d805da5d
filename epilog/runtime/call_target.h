// Which function a call leads to, from the instruction that ends at its return address.
//
// A function that ends by jumping to another one leaves no frame on the stack; the instruction by
// which the program called it still names it. Known are calls of an address that stands in the
// code (x86-64: E8; aarch64: BL), through a slot that the dynamic linker has filled (FF 15), and to
// stubs that jump through such a slot. A call through a register says nothing, and what stands
// before a return address may look like a call and be none: whoever asks checks that a function
// begins there. Reads code and slots of loaded files only; nothing fails.
#pragma once

#include <cstdint>

namespace kojak::measure {

// 0: not known.
std::uintptr_t called_function(std::uintptr_t return_address);

}  // namespace kojak::measure
