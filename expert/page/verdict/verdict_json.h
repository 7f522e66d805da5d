// The verdict, the bar and the groups of root causes as the page's JSON has them.
//
// Nothing fails; not thread-safe for one Json.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expert/output/json.h"
#include "expert/page/page.h"
#include "expert/page/verdict/excerpt.h"

namespace kojak::html {

// Of each group the number of its file and the rows of it; none where its source is not shown.
struct GroupSource {
  std::size_t file = 0;
  std::vector<ExcerptRow> rows;
};
// `number` gives a file its number in the page; adds to `places` what is to be read for the rows.
std::vector<GroupSource> read_excerpts(
    const VerdictPart& verdict, const std::vector<std::string>& files,
    std::vector<SourcePlace>& places, const SourceSearch& search,
    const std::function<std::size_t(const std::string&)>& number);

// In the open object: `verdict`, `bar`, `groups`. `source`: by group, or empty.
void add_verdict(Json& json, const TracePart& part, const std::vector<GroupSource>& source);
// Of a page's object: `chain` and `leftOut`; nothing if there are no steps.
void add_chain(Json& json, const ChainSteps& chain);

}  // namespace kojak::html
