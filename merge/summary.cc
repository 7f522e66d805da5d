#include "merge/summary.h"

namespace kojak::merge {

const FindingInfo& finding_info(Finding finding) {
  static constexpr FindingInfo kInfos[] = {
#define KOJAK_FINDING(Name, severity, text, advice) {#Name, Severity::severity, text, advice},
      KOJAK_FINDINGS
#undef KOJAK_FINDING
  };
  return kInfos[static_cast<std::size_t>(finding)];
}

bool Summary::suspect() const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].count != 0 &&
        finding_info(static_cast<Finding>(i)).severity == Severity::kWarning) {
      return true;
    }
  }
  return false;
}

}  // namespace kojak::merge
