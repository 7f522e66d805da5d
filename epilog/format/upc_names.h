// What the recorder calls the sets of UPC's threads, on which nothing needs to be said: there are
// no others.
#pragma once

#include <string_view>

namespace kojak {

inline constexpr const char* kUpcEverybody = "all threads of UPC";
inline constexpr const char* kUpcPhases = "all threads of UPC, in barriers";

inline bool names_all_of_upc(std::string_view name) {
  return name == kUpcEverybody || name == kUpcPhases;
}

}  // namespace kojak
