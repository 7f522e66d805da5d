// The verdict and the groups of root causes as JSON: the keys `verdict` and `bar`, `groups`,
// `groups_left_out` and `not_attributed`, `what_if`.
//
// Nothing fails; not thread-safe for one Json.
#pragma once

#include "expert/output/json.h"
#include "expert/profile/report.h"

namespace kojak::expert {

// Both in the open object.
void add_verdict(html::Json& json, const Report& report);
// How what took longer was spent: `ran`, `blocked`, `blocked_by`, `no_processor`; nothing if that
// is not known.
void add_spending(html::Json& json, const std::optional<Spending>& spent);
// Nothing if the analysis was not asked for causes.
void add_groups(html::Json& json, const Report& report);
void add_what_if(html::Json& json, const Report& report);

}  // namespace kojak::expert
