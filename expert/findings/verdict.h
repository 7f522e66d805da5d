// The verdict: in a few sentences whether a run waits, who makes it wait and where, what it would
// gain, and what to try. Terminal, JSON and page print the same rows.
//
// Pure functions on a report; nothing fails; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expert/findings/bar.h"
#include "expert/findings/statement.h"
#include "expert/profile/report.h"

namespace kojak::expert {

struct Sentence {
  enum class Is : std::uint8_t {
    kMissing,        // records were lost or are damaged
    kEnded,          // the run was ended
    kServes,         // who serves the others, so that its time is not counted
    kProcessors,     // processors were missing
    kShare,          // how much of the time is waiting
    kWho,            // who makes the others wait, where, and the gain
    kNotAttributed,  // how much of the waiting has no cause
    kTry
  } is;
  Statement said;
  // The same in fewer words: whom it makes wait by their number. Empty: there are none.
  Statement shorter;
};

struct Verdict {
  std::vector<std::string> kinds;  // "deadlock", "processors", "few", "pairs", "nothing", ...
  std::vector<Sentence> sentences;
  double share = 0;                  // of the time that is waiting
  std::optional<std::size_t> group;  // that is spoken of, of CauseGroups::listed
  std::string shared;          // what would stay with each if the work were shared; may be empty
  std::optional<double> gain;  // in seconds, of what is spoken of
  const Sentence* find(Sentence::Is is) const {
    for (const Sentence& s : sentences) {
      if (s.is == is) return &s;
    }
    return nullptr;
  }
};

Verdict verdict_of(const Report& report);
// All of it as one text.
std::string text_of(const Statement& said);
std::string text_of(const Verdict& verdict);

}  // namespace kojak::expert
