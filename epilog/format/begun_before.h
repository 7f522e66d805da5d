// REQUEST_STATE, more flags: of operations that processes begin together, in a cut.
#pragma once

#include <cstdint>

namespace kojak {

// This process had begun it before the cut, and another one had not; and it was complete here.
inline constexpr std::uint8_t kBegunBefore = 8, kCompleteBefore = 16;

}  // namespace kojak
