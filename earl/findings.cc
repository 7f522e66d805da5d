#include "earl/findings.h"

namespace kojak::earl {

const FindingInfo& info(Finding finding) {
  static constexpr FindingInfo kInfos[] = {
#define KOJAK_EARL_FINDING(id, suspect, name, advice) {name, advice, suspect},
      KOJAK_EARL_FINDINGS(KOJAK_EARL_FINDING)
#undef KOJAK_EARL_FINDING
  };
  return kInfos[static_cast<std::size_t>(finding)];
}

void Findings::add(Finding finding, std::uint64_t pos, LocationId loc, std::uint64_t count) {
  if (count == 0 || (counts_ && !counts_(pos, loc))) return;
  Row& row = rows_[static_cast<std::size_t>(finding)];
  if (row.count == 0) {
    row.first_pos = pos;
    row.first_loc = loc;
  }
  row.count += count;
}

bool Findings::suspect() const {
  bool any = false;
  for_each([&](Finding finding, const Row&) { any = any || info(finding).suspect; });
  return any;
}

}  // namespace kojak::earl
