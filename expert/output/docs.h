// The pages about the patterns, made from what each pattern says about itself.
//
// Pure functions of constant data; thread-safe.
#pragma once

#include <string>

#include "expert/metrics/metric.h"

namespace kojak::expert {

// patterns.html: every metric, with an anchor of its unique name, which reports link to.
std::string patterns_html();
// One page of a metric, in Markdown, and the index of all such pages.
std::string pattern_page(const Metric& metric);
std::string pattern_index();
// `expert --list-patterns`: the tree with unique names and summaries, within `width` columns.
std::string pattern_list(unsigned width);

}  // namespace kojak::expert
