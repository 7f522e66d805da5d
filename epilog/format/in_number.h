// Texts that agree with a count: "{process has|processes have} no trace" becomes "process has no
// trace" for one.
//
// Tables of findings hold such texts, and whoever shows a count chooses the words. Pure; nothing
// fails; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kojak {

// Keeps of each "{one|several}" in a text the word that fits the count. Other braces are left as
// they are.
inline std::string in_number(std::string_view text, std::uint64_t count) {
  std::string words;
  std::size_t at = 0;
  for (;;) {
    const std::size_t open = text.find('{', at);
    const std::size_t middle = text.find('|', open);
    const std::size_t close = text.find('}', middle);
    if (open == text.npos || middle == text.npos || close == text.npos) break;
    words += text.substr(at, open - at);
    words += count == 1 ? text.substr(open + 1, middle - open - 1)
                        : text.substr(middle + 1, close - middle - 1);
    at = close + 1;
  }
  return words.append(text.substr(at));
}

}  // namespace kojak
