// What a process does for another one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "epilog/format/error.h"
#include "epilog/format/io/kept_files.h"

namespace kojak::parallel {

// Its bytes, or why it has none.
using Bytes = Result<std::vector<std::byte>>;

// What `work` gives; or why it gives nothing, also where it throws.
Bytes guarded(const std::function<Bytes()>& work);

// What is kept of that name for that request; else what `work` gives, which is kept then. Of an
// answer that depends on the kept files' key and on the request alone.
Bytes kept_or(const KeptFiles& kept, const std::string& name, const std::vector<std::byte>& request,
              const std::function<Bytes()>& work);

}  // namespace kojak::parallel
