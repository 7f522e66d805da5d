// Names of functions as a page holds them: whole, unless they would fill it.
//
// Names of C++ templates can be 10 kB long and thousands. A page takes two megabytes of them, then
// it keeps the beginning and the end of each. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "expert/profile/model.h"

namespace kojak::html {

inline constexpr std::size_t kAnyLength = static_cast<std::size_t>(-1);

// How long a name of the report may be, in bytes.
std::size_t longest_name(const cube::Report& report);

// At most `length` bytes, cut between characters; kAnyLength: as it is.
std::string fitting_name(std::string_view name, std::size_t length);

}  // namespace kojak::html
