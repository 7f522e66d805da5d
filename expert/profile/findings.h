// What an analysis noticed about the trace itself: counted rows of one table, each with advice.
//
// A note explains what a number means or why one is missing; a suspect row says that a result may
// be wrong, and makes the command end with exit code 3. Plain values, owned by the caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kojak::expert {

struct Finding {
  enum class Severity : std::uint8_t { kNote, kSuspect } severity = Severity::kNote;
  std::uint64_t count = 0;
  std::string what;    // "messages received without a send in the trace"
  std::string advice;  // what it means for the report, and what can be done
};

// The suspect rows in short: "2 x receive without send, 1 x collective incomplete".
inline std::string suspects(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.severity != Finding::Severity::kSuspect) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(finding.count) + " x " + finding.what;
  }
  return text;
}

inline bool any_suspect(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.severity == Finding::Severity::kSuspect) return true;
  }
  return false;
}

}  // namespace kojak::expert
