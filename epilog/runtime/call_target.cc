#include "epilog/runtime/call_target.h"

#include <string.h>

#include "epilog/runtime/code.h"

namespace kojak::measure {
namespace {

// `size` bytes at an address, if a loaded file has them.
bool read(std::uintptr_t address, void* to, std::size_t size) {
  const auto* const from = reinterpret_cast<const void*>(address);
  const CodeRange range = code_around(from);
  if (!range.holds(from) || !range.holds(static_cast<const char*>(from) + size - 1)) return false;
  memcpy(to, from, size);
  return true;
}

template <class T>
T value_at(const unsigned char* bytes) {
  T value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

[[maybe_unused]] std::uintptr_t in_slot(std::uintptr_t slot) {
  std::uintptr_t function = 0;
  return read(slot, &function, sizeof function) ? function : 0;
}

#if defined(__x86_64__)

// [endbr64] [bnd] jmp *disp32(%rip): what the slot holds; else the address itself.
std::uintptr_t behind_stub(std::uintptr_t address) {
  constexpr unsigned char kEndBranch[] = {0xF3, 0x0F, 0x1E, 0xFA};
  unsigned char code[11];
  if (!read(address, code, sizeof code)) return 0;
  std::size_t at = memcmp(code, kEndBranch, sizeof kEndBranch) == 0 ? sizeof kEndBranch : 0;
  if (code[at] == 0xF2) ++at;
  if (code[at] != 0xFF || code[at + 1] != 0x25) return address;
  const auto distance = value_at<std::int32_t>(code + at + 2);
  return in_slot(address + at + 6 + static_cast<std::uintptr_t>(std::intptr_t{distance}));
}

std::uintptr_t decode(std::uintptr_t return_address) {
  unsigned char code[6];
  if (!read(return_address - sizeof code, code, sizeof code)) return 0;
  const auto distance = std::intptr_t{value_at<std::int32_t>(code + 2)};
  const std::uintptr_t there = return_address + static_cast<std::uintptr_t>(distance);
  if (code[0] == 0xFF && code[1] == 0x15) return in_slot(there);
  return code[1] == 0xE8 ? behind_stub(there) : 0;
}

#elif defined(__aarch64__)

// [bti c] adrp x16, page; ldr x17, [x16, #off]: what the slot holds; else the address itself.
std::uintptr_t behind_stub(std::uintptr_t address) {
  constexpr std::uint32_t kBranchTarget = 0xD503245F;
  std::uint32_t code[3];
  if (!read(address, code, sizeof code)) return 0;
  const unsigned at = code[0] == kBranchTarget ? 1 : 0;
  const std::uint32_t page = code[at], load = code[at + 1];
  if ((page & 0x9F00001F) != 0x90000010 || (load & 0xFFC003FF) != 0xF9400211) return address;
  const std::uint32_t pages = (page >> 29 & 3) | (page >> 3 & 0x1FFFFC);
  const auto distance = std::intptr_t{static_cast<std::int32_t>(pages << 11) >> 11} * 4096;
  const std::uintptr_t base = (address + at * 4) & ~std::uintptr_t{4095};
  return in_slot(base + static_cast<std::uintptr_t>(distance) + (load >> 10 & 0xFFF) * 8);
}

std::uintptr_t decode(std::uintptr_t return_address) {
  std::uint32_t code;
  if (!read(return_address - sizeof code, &code, sizeof code)) return 0;
  if (code >> 26 != 0x25) return 0;
  const auto words = static_cast<std::int32_t>(code << 6) >> 6;
  return behind_stub(return_address - 4 + static_cast<std::uintptr_t>(std::intptr_t{words} * 4));
}

#else

std::uintptr_t decode(std::uintptr_t) {
  return 0;
}

#endif

}  // namespace

std::uintptr_t called_function(std::uintptr_t return_address) {
  return decode(return_address);
}

}  // namespace kojak::measure
