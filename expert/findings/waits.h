// What to look at first: the waiting that takes most, who is to blame, and what else takes much.
//
// Pure functions on a report; nothing fails; any thread.
#pragma once

#include <string>
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

inline constexpr const char* kNoEvents =
    "The trace has no events: nothing was recorded, or recording was off all the time.";

// "long MPI calls that no pattern explains take 50.9 % of ..., is in " and then a place.
inline std::string unexplained_words(const std::string& share, const std::string& seconds,
                                     const std::string& largest) {
  return "long MPI calls that no pattern explains take " + share + " of the processes' time (" +
         seconds + " s); the largest part, " + largest + ", is in ";
}

}  // namespace kojak::expert
