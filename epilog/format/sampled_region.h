// The region that a sample's call path enters at its end: the measurement writes it, the merge knows
// samples by it.
#pragma once

namespace kojak {

inline constexpr const char* kSampledRegion = "COMPUTING";

}  // namespace kojak
