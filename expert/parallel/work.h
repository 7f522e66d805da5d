// What a process does for another one.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::parallel {

// Its bytes, or why it has none.
using Bytes = Result<std::vector<std::byte>>;

// What `work` gives; or why it gives nothing, also where it throws.
Bytes guarded(const std::function<Bytes()>& work);

}  // namespace kojak::parallel
