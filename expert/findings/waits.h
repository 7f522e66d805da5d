// What to look at first: the waiting that takes most, who is to blame, and what else takes much.
//
// Pure functions on a report; nothing fails; any thread.
#pragma once

#include <vector>

#include "expert/findings/statement.h"
#include "expert/profile/report.h"

namespace kojak::expert {

// What belongs together. Empty if nothing was recorded.
struct FirstLook {
  std::vector<Statement> before;  // processors that were missing, that there are hardly any waits,
                                  // or the first cause
  std::vector<Statement> waits;   // of which these are the waits; or what else takes time
  bool caused = false;            // before ends with the cause of these waits
};
FirstLook what_to_look_at_first(const Report& report);

}  // namespace kojak::expert
