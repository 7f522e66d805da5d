// What a classic file (version 1.9) cannot hold.
//
// The layouts themselves are the codec's. Classic files know locks of single targets, communicators
// as one set of world ranks, and counts of 32 bits. A trace that needs more is refused: nothing is
// written (exit code 2). Records that are only left out are counted in the summary: those of ours
// at which the classic tools would stop, and those that the classic merge left out, because the
// old analysis stops with an error at them. Pure functions. Source: docs/format.md, dialects.
#pragma once

#include "epilog/format/error.h"
#include "merge/complete/survey.h"

namespace kojak::merge {

inline constexpr std::uint8_t kClassicMajor = 1, kClassicMinor = 9;

// Whether a merged classic file holds records of this kind. Requests and attributes stood in local
// traces only: the tools behind the classic merge do not expect them.
template <class R>
constexpr bool in_classic_files() {
  return R::kDialect == RecordDialect::kBoth;
}

// The refusal of something that stands in this trace.
Error no_classic(const std::string& path, std::string what);

// What definitions and pass 1's counts tell before anything is written. Notes go into the summary.
Status check_classic(const Survey& survey, const std::vector<LocalTrace>& traces, Summary& summary);

}  // namespace kojak::merge
