// What people call a process of a report.
#pragma once

#include <string_view>

#include "expert/profile/model.h"

namespace kojak::cube {

// "rank"; UPC's are threads, where none has several.
std::string_view process_word(const Report& report);

}  // namespace kojak::cube
