// Which windows lie over the same memory of a process: a RUN_PROPERTY that the merge writes and the
// analysis reads, so that bytes are compared by address and not by window.
//
//   key "windows.memory", of a process; value "WINDOW:ADDRESS:BYTES ...", in decimal numbers, each
//   window with its part of that process's memory. BYTES 0: all memory (a dynamic window). Of many
//   windows each thousand has a property: "windows.memory.1", ... tell of those behind the first.
//
// Pure functions; what is no such text is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kojak {

namespace run_property {
inline constexpr const char* kWindowsMemory = "windows.memory";
}

struct WindowMemory {
  std::uint32_t window = 0;
  std::uint64_t address = 0, bytes = 0;

  bool meets(const WindowMemory& other) const {
    return address < other.end() && other.address < end();
  }
  std::uint64_t end() const {
    const std::uint64_t last = address + bytes;
    return bytes == 0 || last < address ? ~std::uint64_t{0} : last;
  }
};

inline std::string written(const std::vector<WindowMemory>& windows) {
  std::string text;
  for (const WindowMemory& w : windows) {
    if (!text.empty()) text += ' ';
    text +=
        std::to_string(w.window) + ':' + std::to_string(w.address) + ':' + std::to_string(w.bytes);
  }
  return text;
}

inline std::vector<WindowMemory> windows_in(std::string_view text) {
  std::vector<WindowMemory> windows;
  std::uint64_t numbers[3] = {};
  unsigned at = 0;
  bool any = false;
  const auto take = [&] {
    if (at == 2 && any) {
      windows.push_back({static_cast<std::uint32_t>(numbers[0]), numbers[1], numbers[2]});
    }
    at = 0;
    any = false;
    numbers[0] = numbers[1] = numbers[2] = 0;
  };
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      numbers[at] = 10 * numbers[at] + static_cast<std::uint64_t>(c - '0');
      any = true;
    } else if (c == ':' && any && at < 2) {
      ++at;
      any = false;
    } else {
      take();
    }
  }
  take();
  return windows;
}

}  // namespace kojak
