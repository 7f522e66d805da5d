// A group of root causes as the page's cards have it: a title, what it would gain, and how much of
// all waiting the groups are.
//
// Pure functions on a report; nothing fails; any thread.
#pragma once

#include <string>

#include "expert/profile/report.h"

namespace kojak::expert {

// "rank 1 computes 2.0 s longer in reaction_rate()"
std::string title_of(const Report& report, const CauseGroup& group);
// "without it the run would take 0.005 s less"; empty where the gain is not known.
std::string gain_of_card(const Report& report, double run, const CauseGroup& group);
// "3 groups are 97 % of 5.7 s of waiting. 0.15 s in 25 more below 1 % each, 0.004 s not
// attributed."
std::string groups_said(const CauseGroups& groups);
// "Wait at Fence 3.0 s, Late Post 0.13 s, passed on 0.06 s": how others wait for it.
std::string patterns_said(const CauseGroup& group);

}  // namespace kojak::expert
